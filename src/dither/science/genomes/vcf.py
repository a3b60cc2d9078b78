"""Genotypes in a VCF file: text is read line by line, BCF by cyvcf2.

Phase does not matter. A call with a missing half, or of other than two alleles, is
missing. htslib fails, or gives up on the file, where one person's field of a text is
malformed; here such a field is that person's missing call and nobody else's.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import OTHER, Counts, Tally, counted, dosages, groups
from dither.science.genomes.panel import Found, Panel, position

__all__ = ["Vcf"]

Record = tuple[list[Found], int, NDArray[Any]]
"""What a record is counted for, its last allele, and its calls."""
DIGITS = 4


@dataclass(frozen=True)
class Vcf:
    """A .vcf, .vcf.gz or .bcf file."""

    allele: ClassVar[str] = OTHER
    path: Path

    @property
    def _binary(self) -> bool:
        return self.path.suffix.casefold() == ".bcf"

    def check(self, roster: Roster) -> None:  # noqa: ARG002
        """Whether the file is there and can be read here at all."""
        if not self.path.is_file():
            raise ArgumentError(
                "X", f"the file {self.path.name!r} does not exist; check the path"
            )
        if self._binary:
            frames.package("cyvcf2")
        elif not next(_lines(self.path), "").startswith("##fileformat=VCF"):
            raise ArgumentError(
                "X",
                f"{self.path.name!r} does not begin like a VCF file; pass a .vcf, .vcf.gz "
                "or .bcf file",
            )

    def count(self, panel: Panel, roster: Roster) -> Counts:
        read = _by_cyvcf2 if self._binary else _by_line
        people, records = read(self.path, panel)
        places = roster.places(len(people), people)
        rows = groups(places, roster)
        tally = Tally.of(len(panel), places, roster)
        for found, last, calls in records:
            for entry, allele, named in found:
                copies = dosages(calls, allele, last)
                tally.add([entry], counted(copies[:, None], rows), named)
        return tally.done()


def _by_cyvcf2(path: Path, panel: Panel) -> tuple[list[str], Iterator[Record]]:
    file = frames.package("cyvcf2").VCF(str(path))

    def records() -> Iterator[Record]:
        for one in file:
            alleles = (one.REF, *one.ALT)
            found = list(panel.found(one.ID or "", one.CHROM, one.POS, alleles))
            if found:
                yield found, len(alleles) - 1, _calls(one, len(file.samples))

    return list(file.samples), records()


def _calls(record: Any, people: int) -> NDArray[Any]:
    try:
        return np.asarray(record.genotype.array())[:, :-1]
    except KeyboardInterrupt:
        raise
    except BaseException:  # a record without genotypes, in whatever way cyvcf2 says so
        return np.full((people, 2), -1, np.int16)


def _by_line(path: Path, panel: Panel) -> tuple[list[str], Iterator[Record]]:
    lines = _lines(path)
    header = next((one for one in lines if one.startswith("#CHROM")), "")
    people = header.rstrip("\r\n").split("\t")[9:]

    def records() -> Iterator[Record]:
        for line in lines:
            words = line.rstrip("\r\n").split("\t")
            if len(words) < 9:
                continue
            chromosome, place, name, reference, other = words[:5]
            others = () if other == "." else tuple(other.split(","))
            alleles = (reference, *others)
            known = "" if name == "." else name
            at = position(place)
            found = list(
                panel.found(known, chromosome, -1 if at is None else at, alleles)
            )
            if found:
                yield found, len(others), _parsed(words[8], words[9:], len(people))

    return people, records()


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; one whose packing is broken ends there. Only a line feed
    ends a line, whatever else a field holds.
    """
    packed = path.suffix.casefold() in (".gz", ".bgz")
    opened: Any = gzip.open if packed else open
    try:
        with opened(
            path, "rt", encoding="utf-8", errors="replace", newline="\n"
        ) as file:
            yield from file
    except (OSError, EOFError, zlib.error):
        return


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
        if len(halves) == 2 and all(map(_allele, halves)):
            calls[person] = [int(half) for half in halves]
    return calls


def _allele(half: str) -> bool:
    return half.isascii() and half.isdecimal() and len(half) <= DIGITS
