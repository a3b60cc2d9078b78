"""Values of text files, counted for the guesses of `dither init`.

These are facts about private rows, for the curator alone (rule R6). A draft keeps a
type of each column and nothing else; what is counted here is shown on her terminal and
never written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import duckdb

from dither.errors import ArgumentError
from dither.progress import working
from dither.query.catalogue.model import Table
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.casts import as_type
from dither.query.engines.duckdb.connection import connect, text
from dither.query.engines.duckdb.readers.text_files import CsvFile
from dither.query.engines.duckdb.words import NAMES
from dither.query.operations import forms

__all__ = ["COMMAS", "DATED", "Looks", "Values", "values_of"]

PAIRS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("1", "0"))
DIGITS = 4
"""The place of the pair 1 and 0, which may be numbers."""
SPELLED_OUT = 2
"""Pairs of which one word is enough."""
MOSTLY = 0.9
"""Share of the values of a column named like a number or a date that have to fit."""
DATED = "dates in another format; write them as 2024-12-31"
COMMAS = "numbers with a comma; write a point before decimals"
MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
YEAR = r"[-./ ,]+[0-9]{2,4}(?:[ t].*)?"
FORMS = {
    DATED: (
        rf"(?:[0-9]{{1,2}}[-./ ]+(?:[0-9]{{1,2}}|{MONTH})|{MONTH}[-. ]+[0-9]{{1,2}})"
        rf"{YEAR}|[0-9]{{4}}[. ][0-9]{{1,2}}[. ][0-9]{{1,2}}"
    ),
    COMMAS: "[+-]?[0-9][0-9. ]*,[0-9]+",
}
"""How strings may look, and what to do if all values of a column look like it."""
COUNTED = {
    "integers": Type.INTEGER,
    "reals": Type.REAL,
    "booleans": Type.BOOLEAN,
    "moments": Type.TIMESTAMP,
}


COUNTS = ("number", *COUNTED, "clocks", "padded", "long", "words")


@dataclass(frozen=True)
class Values:
    """Number of values of a column, without missing ones, and of those that can be read
    as each type. `clocks` have a time of day, `padded` are digits with a leading zero,
    and `long` digits are more than any number here holds. `words` has a bit for each
    word of `PAIRS`."""

    number: int = 0
    integers: int = 0
    reals: int = 0
    booleans: int = 0
    moments: int = 0
    clocks: int = 0
    padded: int = 0
    long: int = 0
    words: int = 0
    missing: tuple[str, ...] = ()
    looks: str = ""

    def fitting(self, type_: Type | None) -> int:
        """Number of values that are not NULL if the column is declared so."""
        counted = {
            Type.INTEGER: self.integers,
            Type.REAL: self.reals,
            Type.BOOLEAN: self.booleans,
            Type.DATE: self.moments,
            Type.TIMESTAMP: self.moments,
        }
        return self.number if type_ is None else counted.get(type_, self.number)

    def type(self, named: Type | None, *, id: bool = False) -> Type | None:
        """The type that all values have; None is text. A name only decides between
        types that fit, or where few values do not.
        """
        number = named is Type.INTEGER or named is Type.REAL
        dated = named is Type.DATE or named is Type.TIMESTAMP
        if dated and self.moments == self.number:
            return self._moment
        if self._is_boolean(named, number=number or id):
            return Type.BOOLEAN
        if (self.padded and not number) or (self.long and self.integers < self.number):
            return None
        if self.reals == self.number:
            real = named is Type.REAL or self.integers < self.number
            return Type.REAL if real else Type.INTEGER
        return self._moment if self.moments == self.number else self._mostly(named)

    @property
    def _moment(self) -> Type:
        return Type.TIMESTAMP if self.clocks else Type.DATE

    def _is_boolean(self, named: Type | None, *, number: bool) -> bool:
        if self.booleans < self.number:
            return False
        if named is Type.BOOLEAN:
            return True
        for place in range(len(PAIRS)):
            pair = 3 << 2 * place
            both = self.words == pair
            if place == DIGITS and number:
                return False
            if both or (place < SPELLED_OUT and not self.words & ~pair):
                return True
        return False

    def _mostly(self, named: Type | None) -> Type | None:
        """A number of which some are written otherwise, such as the age "90+"."""
        wanted = (
            Type.REAL
            if named is Type.INTEGER and self.reals > self.integers
            else self._moment
            if named in (Type.DATE, Type.TIMESTAMP)
            else named
        )
        fits = wanted is not None and wanted is not Type.TEXT
        return wanted if fits and self.fitting(wanted) >= MOSTLY * self.number else None


@dataclass(frozen=True)
class Looks:
    """Number of rows of a file that can be read, and its columns' values."""

    rows: int
    columns: Mapping[str, Values]


def values_of(reader: CsvFile) -> Looks | None:
    """Count the values of all columns; None if the file cannot be read to the end."""
    unreadable = suppress(duckdb.Error, ArgumentError)
    with unreadable, connect() as connection, working("reading the values"):
        stored = reader.store(connection, Table("file", ()))
        names = list(stored.columns)
        counted = [_counted(stored.columns[name].sql) for name in names]
        listed = ", ".join(["count(*)", *(sql for one in counted for sql in one)])
        (found,) = connection.execute(
            f"SELECT {listed} FROM {stored.relation}"
        ).fetchall()
        rows, *rest = found
        width = len(counted[0]) if counted else 0
        each = (rest[place : place + width] for place in range(0, len(rest), width))
        return Looks(
            rows, {name: _seen(one) for name, one in zip(names, each, strict=True)}
        )
    return None


def _counted(sql: str) -> list[str]:
    """The SQL of the facts about a column. No sign of a missing value is of any other form."""
    plain = f"trim({sql}, ' \t')"
    lower = f"lower({plain})"
    missing = f"{lower} IN ({', '.join(map(text, forms.MISSING))})"
    types = (as_type(sql, NAMES[Type.TEXT], type_) for type_ in COUNTED.values())
    words = [word for pair in PAIRS for word in pair]
    bits = " ".join(
        f"WHEN {text(word)} THEN {1 << place}" for place, word in enumerate(words)
    )
    return [
        f"count({sql}) - {_count(missing)}",
        *(f"count({read})" for read in types),
        _count(f"contains({sql}, ':')"),
        _count(f"regexp_full_match({plain}, '[+-]?0[0-9]+')"),
        _count(f"regexp_full_match({plain}, '[+-]?[0-9]{{17,}}')"),
        f"coalesce(bit_or(CASE {lower} {bits} END), 0)",
        f"list(DISTINCT {plain}) FILTER ({missing})",
        *(_count(f"regexp_full_match({lower}, '{form}')") for form in FORMS.values()),
    ]


def _count(condition: str) -> str:
    return f"count(*) FILTER ({condition})"


def _seen(found: Sequence[Any]) -> Values:
    counts, (missing, dated, commas) = found[:-3], found[-3:]
    spelled = tuple(sorted(word for word in missing or () if word))
    alike = zip(FORMS, (dated, commas), strict=True)
    looks = [words for words, number in alike if 0 < number == counts[0]]
    facts: dict[str, int] = dict(zip(COUNTS, counts, strict=True))
    return Values(**facts, missing=spelled, looks="".join(looks))
