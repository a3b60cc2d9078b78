"""Genotypes in PLINK's binary files: .bed with .bim and .fam beside it.

Two bits hold one genotype, so people are counted by the bits that are set, without
ever spreading them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts, Integers, Tally
from dither.science.genomes.panel import ABSENT, Panel, position

__all__ = ["Plink"]

MAGIC = b"\x6c\x1b\x01"  # the last byte: one variant after the other
LOW = np.uint64(0x5555_5555_5555_5555)
STEP = 4096
FIRST, SECOND = 1, 2


@dataclass(frozen=True)
class Plink:
    """A .bed file. An id counts the .bim file's first allele (A1), a place with its
    alleles the alternative that it names.
    """

    allele: ClassVar[str] = (
        "A1 of the .bim file, or of the alternative that the panel names"
    )
    path: Path

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the three files are there, and of the kind that is read here."""
        for suffix in (".bed", ".bim", ".fam"):
            if not self.path.with_suffix(suffix).is_file():
                name = self.path.with_suffix(suffix).name
                raise ArgumentError(
                    "X",
                    f"the file {name!r} does not exist; keep the .bed, .bim and .fam "
                    "files of PLINK in one folder",
                )
        with self.path.with_suffix(".bed").open("rb") as file:
            if file.read(3) != MAGIC:
                raise ArgumentError(
                    "X",
                    f"{self.path.name!r} is not a .bed file in variant-major order; write "
                    "one with plink --make-bed",
                )

    def count(self, panel: Panel, roster: Roster) -> Counts:
        people = [words[1] for words in _lines(self.path.with_suffix(".fam"), 2)]
        places = roster.places(len(people), people)
        masks = _masks(places, len(roster.names))
        tally = Tally.of(len(panel), places, roster)
        found = list(self._found(panel))
        data = _genotypes(self.path.with_suffix(".bed"), len(people))
        for start in range(0, len(found), STEP):
            part = [one for one in found[start : start + STEP] if one[0] < len(data)]
            if not part:
                break
            records, entries, counts, sure = map(np.array, zip(*part, strict=True))
            planes = _counted(data[records], masks)
            second, absent = counts == SECOND, counts == ABSENT
            planes[:, :, second] = planes[::-1][:, :, second]
            planes[0, :, absent] = planes[:, :, absent].sum(axis=0).T
            planes[1:, :, absent] = 0
            tally.add(entries, planes, sure)
        return tally.done()

    def _found(self, panel: Panel) -> Iterator[tuple[int, int, int, bool]]:
        """(record, entry of the panel, which allele is counted, whether for sure)"""
        for number, words in enumerate(_lines(self.path.with_suffix(".bim"), 6)):
            chromosome, name, _, place, first, second = words[:6]
            placed = set()
            for entry, reference, other in panel.at(chromosome, position(place) or 0):
                counted = _allele(first, second, reference, other)
                if counted is not None:
                    placed.add(entry)
                    yield number, entry, counted, counted != ABSENT
            for entry in panel.named(name):
                if entry not in placed:
                    yield number, entry, FIRST, entry not in panel.places


def _allele(first: str, second: str, reference: str, other: str) -> int | None:
    """Which of a record's alleles is the alternative, or ABSENT if nobody has it. PLINK
    writes 0 for an allele that nobody has.
    """
    if other == first and second in (reference, "0"):
        return FIRST
    if other == second and first in (reference, "0"):
        return SECOND
    return ABSENT if reference in (first, second) else None


def _lines(path: Path, least: int) -> Any:
    """The words of each line; a line that is too short has empty ones."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words:
                yield words + [""] * (least - len(words))


def _genotypes(path: Path, people: int) -> NDArray[np.uint8]:
    """One row of bytes for each variant that is there in full."""
    width = max(1, (people + 3) // 4)
    count = max(0, path.stat().st_size - len(MAGIC)) // width
    if not count:
        return np.zeros((0, width), np.uint8)
    shape = (count, width)
    return np.memmap(path, np.uint8, "r", offset=len(MAGIC), shape=shape)


def _masks(places: NDArray[np.intp], clusters: int) -> list[NDArray[np.uint64]]:
    """For each cluster, the low bits of its people."""
    masks = []
    for one in range(clusters):
        bits = np.zeros((places.size, 2), np.uint8)
        bits[places == one, 0] = 1
        packed = np.packbits(bits.ravel(), bitorder="little")
        masks.append(_words(packed[None, :])[0])
    return masks


def _words(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bytes as 64-bit words, filled up with zeros."""
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 8))).view(np.uint64)


def _counted(rows: NDArray[np.uint8], masks: list[NDArray[np.uint64]]) -> Integers:
    """Counts of records: 00 two copies of A1, 10 one, 11 none, 01 missing."""
    words = _words(np.asarray(rows))
    low, high = words & LOW, (words >> np.uint64(1)) & LOW
    planes = np.zeros((3, len(masks), len(words)), np.int64)
    for number, mask in enumerate(masks):
        for copies, bits in enumerate((low & high, high & ~low, ~low & ~high)):
            ones = np.bitwise_count(bits & mask)
            planes[copies, number] = ones.sum(axis=1, dtype=np.int64)
    return planes
