"""The words of PostgreSQL's SQL that all its writers share."""

from __future__ import annotations

import re
from collections.abc import Callable

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Type
from dither.query.engines.calls import Args, Writer

__all__ = [
    "BYTES",
    "NAMES",
    "Args",
    "Writer",
    "once",
    "quoted",
    "real",
    "storable",
    "text",
    "written",
]


NAMES = {
    Type.INTEGER: "bigint",
    Type.REAL: "double precision",
    Type.TEXT: "text",
    Type.BOOLEAN: "boolean",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
}
BYTES = 'COLLATE "C"'
"""Texts are compared byte by byte, whatever the database's collation is."""
SHORT = 100
PLACES = "abcd"
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
NOWHERE = "\uffff\ufffe"
"""Two characters that stand in no text, in place of what no text in PostgreSQL can
hold.
"""


def quoted(name: str) -> str:
    """An identifier, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text in SQL, where `standard_conforming_strings` is on."""
    return "'" + value.replace("'", "''") + "'"


def storable(value: str) -> str:
    """A text that can be sent. One with a NUL or half a character equals no stored
    text, and so does this.
    """
    return UNSTORABLE.sub(NOWHERE, value)


def real(value: float) -> str:
    """A constant of double precision, exactly."""
    return f"CAST('{float(value)!r}' AS double precision)"


def once(args: Args, body: Callable[..., str]) -> str:
    """A body that needs its values more than once. Long values are named: nested guards
    must not multiply their text.

    OFFSET 0 keeps the planner from putting the values back where their names are.
    """
    long = [sql for sql in dict.fromkeys(args) if len(sql) > SHORT]
    if not long:
        return body(*args)
    names = {sql: f"it_{place}" for sql, place in zip(long, PLACES, strict=False)}
    listed = ", ".join(f"{sql} AS {name}" for sql, name in names.items())
    return (
        f"(SELECT {body(*(names.get(sql, sql) for sql in args))} FROM "
        f"(SELECT {listed} OFFSET 0) it)"
    )


def written(place: float, type_: Type) -> str:
    """A date or a time as SQL, from its place in a range."""
    if type_ is Type.DATE:
        return f"DATE '{dates.day(int(place)).isoformat()}'"
    return f"TIMESTAMP '{dates.moment(int(place)).isoformat(sep=' ')}'"
