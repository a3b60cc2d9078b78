"""The words of DuckDB's SQL that all its writers share."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Type
from dither.query.engines.calls import Args, Writer

__all__ = ["NAMES", "Args", "Writer", "once", "quoted", "written"]


NAMES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
SHORT = 100


def quoted(name: str) -> str:
    """An identifier, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def once(sql: str, body: Callable[[str], str]) -> str:
    """A body that needs a value more than once. A long value is named: nested guards
    must not multiply its text.
    """
    if len(sql) <= SHORT:
        return body(sql)
    return f"list_transform([{sql}], lambda it: {body('it')})[1]"


def written(place: float, type_: Type) -> str:
    """A date or a time as SQL, from its place in a range."""
    if type_ is Type.DATE:
        return f"DATE '{dates.day(int(place)).isoformat()}'"
    return f"TIMESTAMP '{dates.moment(int(place)).isoformat(sep=' ')}'"
