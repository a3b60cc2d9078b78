"""A catalogue drafted from the schema alone (`dither init`): bounds and keys are for the curator to declare."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dither.errors import ArgumentError
from dither.query.catalogue_file import OPEN
from dither.query.catalogue_text import key, value
from dither.query.engines.databases import DatabaseTable
from dither.query.engines.sources import name_of, source_of
from dither.query.engines.storage import Schema, connect
from dither.query.sql.types import Type

__all__ = ["draft"]

HEAD = """\
# A catalogue drafted from the schema alone: no value was read.
# Declare what is known without looking at the data, and say from whom with by = "…": bounds that are read off the data
# reveal it. Remove the columns that nobody may ask about.
"""
NUMBERS = "# add low = … and high = … for sums, means and quantiles"
HINTS = {
    Type.INTEGER: NUMBERS,
    Type.REAL: NUMBERS,
    Type.DATE: "# add low = 2020-01-01 and high = 2024-12-31",
    Type.TIMESTAMP: "# add low = 2020-01-01T00:00:00 and high = 2024-12-31T23:59:59",
    Type.TEXT: '# add keys = ["…", "…"] if its values are public',
}
TEXTS = """\
# The file holds texts. Write age = { type = "integer", low = 0, high = 110 } for numbers ("real", "date", "timestamp",
# "boolean" likewise), and ward = { type = "text", keys = ["A", "B"], by = "…" } for public values."""
UNLISTED = """\
# The file does not list its columns. Write those that may be asked about, such as name = "text"."""


@dataclass(frozen=True)
class _Drafted:
    """A table to be: its name, where its rows are, and its schema."""

    name: str
    source: str
    stored: str
    schema: Schema | None


def draft(sources: Sequence[str | Path]) -> str:
    """The text of a catalogue for some files. `load_catalogue` refuses it until the curator has completed it."""
    if not sources:
        raise ArgumentError("sources", "there is none; name the files that hold the tables")
    tables = _distinct([table for source in sources for table in _tables(str(source))])
    return "\n".join([HEAD, *_top(tables), *(line for table in tables for line in _table(table))]) + "\n"


def _tables(source: str) -> Iterator[_Drafted]:
    found = source_of(source)
    if not isinstance(found, DatabaseTable):
        yield _Drafted(name_of(source), source, "", found.schema())
        return
    with connect() as connection:
        names = list(found.tables(connection))
    for name in names:
        yield _Drafted(name_of(source, name), source, name, source_of(source, name).schema())


def _distinct(tables: list[_Drafted]) -> list[_Drafted]:
    """The tables under names of their own."""
    found: dict[str, _Drafted] = {}
    for table in tables:
        names = (table.name if count == 1 else f"{table.name}_{count}" for count in itertools.count(1))
        free = next(name for name in names if name.casefold() not in found)
        found[free.casefold()] = replace(table, name=free)
    return list(found.values())


def _top(tables: list[_Drafted]) -> Iterator[str]:
    name = tables[0].name
    yield f"name = {value(name)}"
    yield '# Whom to protect: the column with a person\'s id, or "row".' + _candidates(tables)
    yield f'unit = "{OPEN}"'
    yield '# relation = "replace"       # neighbours differ by one replaced unit; add/remove if absent'
    yield "# population = 10000         # a public size; delta is at most 1/(1000·population) if it is not stated"
    yield 'version = "1"                # change it when the data changes'
    yield f"# book = {value(name + '.dither.db')}    # where spending is kept"
    yield from ("", "[budget]", f'epsilon = "{OPEN}"                # what all answers together may cost, such as 3.0')
    yield "# delta = 1e-8"
    yield from ("", "# [analysts]", "# alice = 0.25               # the share of the budget that she may spend")


def _candidates(tables: list[_Drafted]) -> str:
    """Columns that may be ids, by their names: those in several tables, and those that end like one."""
    names = Counter(name for table in tables for name in table.schema or ())
    likely = [name for name, count in names.most_common() if count > 1 or re.search(r"(^|_)id$", name, re.IGNORECASE)]
    return f" By their names: {', '.join(likely[:5])}." if likely else ""


def _table(table: _Drafted) -> Iterator[str]:
    yield from ("", f"[tables.{key(table.name)}]", f"source = {value(table.source)}")
    if table.stored:
        yield f"table = {value(table.stored)}"
    yield '# owner = "…"                # the column with the unit\'s id, if it is not named like the unit'
    yield '# link = { column = "…", to = "table.column" }    # or whose rows these rows belong to'
    yield "# public = true              # or nobody's"
    yield from ("", f"[tables.{key(table.name)}.columns]", *_columns(table.schema))


def _columns(schema: Schema | None) -> Iterator[str]:
    if schema is None:
        yield UNLISTED
        return
    if None in schema.values():
        yield TEXTS
    for name, type_ in schema.items():
        if type_ is None:
            yield f"{key(name)} = {value(Type.TEXT.value)}"
        else:
            yield f"{key(name)} = {{ type = {value(type_.value)} }}    {HINTS.get(type_, '')}".rstrip()
