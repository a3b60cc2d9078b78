"""Genotypes in a VCF file: read by cyvcf2 where it is installed (BCF too), else line by
line.

Phase does not matter. A call with a missing half, or of one allele only, is missing. A
record with several alternatives counts for entries of the panel that name theirs.
"""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts, Tally, counted, dosages, groups
from dither.science.genomes.panel import Panel

__all__ = ["Vcf"]

Entries = list[tuple[int, int]]
Record = tuple[Entries, int, NDArray[Any]]
"""Which entries of the panel a record is about, its last allele, and its calls."""


@dataclass(frozen=True)
class Vcf:
    """A .vcf, .vcf.gz or .bcf file."""

    path: Path

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the file is there and can be read here at all."""
        if not self.path.is_file():
            raise ArgumentError("X", f"there is no file {self.path.name}")
        if self.path.suffix == ".bcf":
            frames.package("cyvcf2")

    def count(self, panel: Panel, roster: Roster) -> Counts:
        tally = Tally(len(panel), len(roster.names))
        try:
            self._count(panel, roster, tally)
        except Exception:
            # Whether a line can be read may depend on one person's call, so a file that
            # breaks off is no failure: what is behind the break is missing (rule R1).
            return tally.done()
        return tally.done()

    def _count(self, panel: Panel, roster: Roster, tally: Tally) -> None:
        read = _by_cyvcf2 if _has_cyvcf2() else _by_line
        people, records = read(self.path, panel)
        rows = groups(roster.places(len(people), people), roster)
        for entries, last, calls in records:
            for entry, allele in entries:
                copies = dosages(calls, allele, last)
                tally.add([entry], counted(copies[:, None], rows))


def _has_cyvcf2() -> bool:
    return importlib.util.find_spec("cyvcf2") is not None


def _by_cyvcf2(path: Path, panel: Panel) -> tuple[list[str], Iterator[Record]]:
    import cyvcf2

    file = cyvcf2.VCF(str(path))

    def records() -> Iterator[Record]:
        for one in file:
            alleles = (one.REF, *one.ALT)
            entries = list(panel.found(one.ID or "", one.CHROM, one.POS, alleles))
            if entries:
                yield entries, len(alleles) - 1, _calls(one, len(file.samples))

    return list(file.samples), records()


def _calls(record: Any, people: int) -> NDArray[Any]:
    try:
        return np.asarray(record.genotype.array())[:, :-1]
    except Exception:  # a record without genotypes, in whatever way cyvcf2 says so
        return np.full((people, 2), -1, np.int16)


def _by_line(path: Path, panel: Panel) -> tuple[list[str], Iterator[Record]]:
    lines = _lines(path)
    header = next((one for one in lines if one.startswith("#CHROM")), "")
    people = header.rstrip("\r\n").split("\t")[9:]

    def records() -> Iterator[Record]:
        for line in lines:
            words = line.rstrip("\r\n").split("\t")
            if len(words) < 9 or not words[1].isdecimal():
                continue
            chromosome, place, name, reference, other = words[:5]
            others = () if other == "." else tuple(other.split(","))
            alleles = (reference, *others)
            known = "" if name == "." else name
            entries = list(panel.found(known, chromosome, int(place), alleles))
            if entries:
                yield entries, len(others), _parsed(words[8], words[9:], len(people))

    return people, records()


def _lines(path: Path) -> Iterator[str]:
    packed = path.suffix in (".gz", ".bgz")
    opened: Any = gzip.open if packed else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        yield from file


def _parsed(form: str, words: list[str], people: int) -> NDArray[np.int16]:
    """The two alleles of each person; -1 where a call is not of two alleles."""
    calls = np.full((people, 2), -1, np.int16)
    fields = form.split(":")
    if "GT" not in fields:
        return calls
    at = fields.index("GT")
    for person, word in zip(range(people), words, strict=False):
        parts = word.split(":")
        halves = parts[at].replace("|", "/").split("/") if at < len(parts) else []
        if len(halves) == 2 and all(half.isdecimal() for half in halves):
            calls[person] = [min(int(half), 32_767) for half in halves]
    return calls
