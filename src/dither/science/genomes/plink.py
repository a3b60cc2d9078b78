"""Genotypes in PLINK's binary files: .bed with .bim and .fam beside it.

Two bits hold one genotype, so people are counted by the bits that are set, without
ever spreading them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts, Integers, Tally
from dither.science.genomes.panel import Panel

__all__ = ["Plink"]

MAGIC = b"\x6c\x1b\x01"  # the last byte: one variant after the other
LOW = np.uint64(0x5555_5555_5555_5555)
STEP = 4096


@dataclass(frozen=True)
class Plink:
    """A .bed file. The counted allele is the .bim file's first one (A1), unless an
    entry of the panel names the second as its alternative.
    """

    path: Path

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the three files are there, and of the kind that is read here."""
        for suffix in (".bed", ".bim", ".fam"):
            if not self.path.with_suffix(suffix).is_file():
                name = self.path.with_suffix(suffix).name
                raise ArgumentError("X", f"there is no file {name}; PLINK needs three")
        with self.path.with_suffix(".bed").open("rb") as file:
            if file.read(3) != MAGIC:
                raise ArgumentError(
                    "X", "is no .bed file by variants; write one with plink --make-bed"
                )

    def count(self, panel: Panel, roster: Roster) -> Counts:
        people = [words[1] for words in _lines(self.path.with_suffix(".fam"), 2)]
        masks = _masks(roster.places(len(people), people), len(roster.names))
        tally = Tally(len(panel), len(roster.names))
        found = list(self._found(panel))
        data = _genotypes(self.path.with_suffix(".bed"), len(people))
        for start in range(0, len(found), STEP):
            part = [one for one in found[start : start + STEP] if one[0] < len(data)]
            records = np.array([one[0] for one in part], np.intp)
            planes = _counted(data[records], masks)
            turned = np.array([one[2] for one in part], np.bool_)
            planes[:, :, turned] = planes[::-1][:, :, turned]
            tally.add([one[1] for one in part], planes)
        return tally.done()

    def _found(self, panel: Panel) -> Any:
        """(record, entry of the panel, whether A2 is counted)"""
        for number, words in enumerate(_lines(self.path.with_suffix(".bim"), 6)):
            chromosome, name, _, place, first, second = words[:6]
            position = int(place) if place.isdecimal() else -1
            for entry, _ in panel.found(name, chromosome, position, (second, first)):
                yield number, entry, False
            if panel.by_place:
                for entry, _ in panel.found("", chromosome, position, (first, second)):
                    yield number, entry, True


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
