"""Genotypes in VCF-Zarr, as bio2zarr and sgkit write it: read chunk by chunk, so that
memory does not grow with the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import (
    OTHER,
    UNKNOWN,
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

    allele: ClassVar[str] = OTHER
    store: Any

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the arrays are there; what they hold is not looked at."""
        if isinstance(self.store, Path) and not self.store.exists():
            raise ArgumentError(
                "X", f"the folder {self.store.name!r} does not exist; check the path"
            )
        group = self._group()
        lacking = [name for name in NEEDED if name not in group]
        if lacking:
            raise ArgumentError(
                "X",
                f"the store is not a VCF-Zarr: it lacks {lacking[0]!r}; write it with "
                "vcf2zarr",
            )
        if group[CALLS].ndim != 3:
            raise ArgumentError(
                "X",
                f"the store is not a VCF-Zarr: {CALLS!r} must have three dimensions; "
                "write it with vcf2zarr",
            )

    def _group(self) -> Any:
        if not isinstance(self.store, Path):
            return self.store
        zarr = frames.package("zarr")
        try:
            return zarr.open_group(str(self.store), mode="r")
        except Exception:
            name = self.store.name
            words = f"{name!r} is not a zarr group; write it with vcf2zarr"
            raise ArgumentError("X", words) from None

    def count(self, panel: Panel, roster: Roster) -> Counts:
        group = self._group()
        calls, people = group[CALLS], _texts(group["sample_id"][:])
        places = roster.places(calls.shape[1], people)
        tally = Tally.of(len(panel), places, roster)
        step = max(1, calls.chunks[0])
        for start in range(0, calls.shape[0], step):
            part = slice(start, min(start + step, calls.shape[0]))
            found = list(_found(group, part, panel))
            if found:
                planes = _counted(calls, part, found, places, roster)
                named = np.array([one.named for one in found])
                tally.add([one.entry for one in found], planes, named)
        return tally.done()


def _counted(
    calls: Any,
    part: slice,
    found: list[_Found],
    places: NDArray[np.intp],
    roster: Roster,
) -> Integers:
    """Counts of some records, added up over the chunks of people."""
    planes = np.zeros((3, len(roster.names), len(found)), np.int64)
    step = max(1, calls.chunks[1])
    records = np.array([one.record for one in found], np.intp)
    alleles = np.array([[one.allele] for one in found])
    last = np.array([[one.last] for one in found])
    for start in range(0, calls.shape[1], step):
        rows = groups(places[start : start + step], roster)
        block = np.asarray(calls[part, start : start + step])
        copies = dosages(block[records], alleles, last)
        planes += counted(copies.T, rows)
    return planes


@dataclass(frozen=True)
class _Found:
    """An entry of the panel, the record of the chunk, the counted allele, whether the
    record names it, and its last allele.
    """

    entry: int
    record: int
    allele: int
    named: bool
    last: int


def _found(group: Any, part: slice, panel: Panel) -> Iterator[_Found]:
    names = _column(group, "variant_id", part, "")
    contigs = _contigs(group, part)
    positions = _column(group, "variant_position", part, -1)
    alleles = _column(group, "variant_allele", part, None)
    for record in range(part.stop - part.start):
        own = _alleles(alleles[record])
        at = _position(positions[record])
        known = panel.found(text(names[record]), contigs[record], at, own)
        last = UNKNOWN if alleles[record] is None else len(own) - 1
        for entry, allele, named in known:
            yield _Found(entry, record, allele, named, last)


def _column(group: Any, name: str, part: slice, missing: Any) -> list[Any]:
    """An array's part, as long as the chunk: what is not there is `missing`."""
    held = list(group[name][part]) if name in group else []
    return held + [missing] * (part.stop - part.start - len(held))


def _contigs(group: Any, part: slice) -> list[str]:
    names = _texts(group["contig_id"][:]) if "contig_id" in group else []
    numbers = _column(group, "variant_contig", part, -1)
    return [names[int(at)] if 0 <= at < len(names) else "" for at in numbers]


def _position(value: Any) -> int:
    return int(value) if math.isfinite(value) and abs(value) < 1 << 62 else -1


def _alleles(row: Any) -> tuple[str, ...]:
    return () if row is None else tuple(one for one in _texts(row) if one)


def _texts(values: Any) -> list[str]:
    return [text(one) for one in values]
