"""Genotypes in VCF-Zarr, as bio2zarr and sgkit write it: read chunk by chunk, so that
memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import (
    Counts,
    Integers,
    Tally,
    counted,
    dosages,
    groups,
)
from dither.science.genomes.panel import Panel, text

__all__ = ["VcfZarr"]

CALLS = "call_genotype"
NEEDED = (CALLS, "sample_id")


@dataclass(frozen=True)
class VcfZarr:
    """A zarr group with `call_genotype` (variants, samples, alleles), `sample_id`, and
    `variant_id` or contigs, positions and alleles.
    """

    store: Any

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the arrays are there; what they hold is not looked at."""
        if isinstance(self.store, Path) and not self.store.exists():
            raise ArgumentError("X", f"there is no folder {self.store.name}")
        group = self._group()
        lacking = [name for name in NEEDED if name not in group]
        if lacking:
            raise ArgumentError(
                "X", f"is no VCF-Zarr: it has no {lacking[0]}; write it with vcf2zarr"
            )

    def _group(self) -> Any:
        if not isinstance(self.store, Path):
            return self.store
        zarr = frames.package("zarr")
        try:
            return zarr.open_group(str(self.store), mode="r")
        except Exception:
            name = self.store.name
            raise ArgumentError("X", f"{name} is no zarr group") from None

    def count(self, panel: Panel, roster: Roster) -> Counts:
        group = self._group()
        calls, people = group[CALLS], _texts(group["sample_id"][:])
        places = roster.places(calls.shape[1], people)
        tally = Tally(len(panel), len(roster.names))
        step = max(1, calls.chunks[0])
        for start in range(0, calls.shape[0], step):
            part = slice(start, min(start + step, calls.shape[0]))
            found = list(_found(group, part, panel))
            if found:
                planes = _counted(calls, part, found, places, roster)
                tally.add([entry for entry, *_ in found], planes)
        return tally.done()


def _counted(
    calls: Any,
    part: slice,
    found: list[tuple[int, int, int, int]],
    places: NDArray[np.intp],
    roster: Roster,
) -> Integers:
    """Counts of some records, added up over the chunks of people."""
    planes = np.zeros((3, len(roster.names), len(found)), np.int64)
    step = max(1, calls.chunks[1])
    records = np.array([record for _, record, _, _ in found], np.intp)
    alleles = np.array([[allele] for _, _, allele, _ in found])
    last = np.array([[most] for _, _, _, most in found])
    for start in range(0, calls.shape[1], step):
        rows = groups(places[start : start + step], roster)
        block = np.asarray(calls[part, start : start + step])
        if block.shape[-1] == 2:
            copies = dosages(block[records], alleles, last)
            planes += counted(copies.T, rows)
    return planes


def _found(
    group: Any, part: slice, panel: Panel
) -> Iterator[tuple[int, int, int, int]]:
    """(entry of the panel, record of the chunk, counted allele, last allele)"""
    names = _column(group, "variant_id", part, "")
    contigs = _contigs(group, part)
    positions = _column(group, "variant_position", part, -1)
    alleles = _alleles(group, part)
    for record, name in enumerate(names):
        own = alleles[record]
        known = panel.found(text(name), contigs[record], int(positions[record]), own)
        for entry, allele in known:
            yield entry, record, allele, len(own) - 1


def _column(group: Any, name: str, part: slice, missing: Any) -> Any:
    if name in group:
        return group[name][part]
    return [missing] * (part.stop - part.start)


def _contigs(group: Any, part: slice) -> list[str]:
    if "variant_contig" not in group or "contig_id" not in group:
        return [""] * (part.stop - part.start)
    names = _texts(group["contig_id"][:])
    numbers = group["variant_contig"][part]
    return [names[at] if 0 <= at < len(names) else "" for at in numbers]


def _alleles(group: Any, part: slice) -> list[tuple[str, ...]]:
    """The alleles of each record. Where the group has none, there are two."""
    if "variant_allele" not in group:
        return [("", "")] * (part.stop - part.start)
    rows = group["variant_allele"][part]
    return [tuple(one for one in _texts(row) if one) for row in rows]


def _texts(values: Any) -> list[str]:
    return [text(one) for one in values]
