"""The words of Spark's SQL that all its writers share."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Type
from dither.query.engines.calls import Args, Writer

__all__ = ["LARGEST", "NAMES", "WIDE", "Args", "Writer", "finite", "once", "written"]


NAMES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "STRING",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP_NTZ",
}
WIDE = "DECIMAL(38,0)"
LARGEST = "1.7976931348623157e308"
SHORT = 100


def once(sql: str, body: Callable[[str], str]) -> str:
    """A body that needs a value more than once. A long value is named: nested guards
    must not multiply its text.
    """
    if len(sql) <= SHORT:
        return body(sql)
    return f"transform(array({sql}), it -> {body('it')})[0]"


def finite(sql: str) -> str:
    """NULL for the infinities and for NaN, which Spark holds to be larger than all
    numbers.
    """
    return once(sql, lambda it: f"(CASE WHEN abs({it}) <= {LARGEST} THEN {it} END)")


def written(place: float, type_: Type) -> str:
    """A date or a time as SQL, from its place in a range."""
    if type_ is Type.DATE:
        return f"DATE '{dates.day(int(place)).isoformat()}'"
    return f"TIMESTAMP_NTZ '{dates.moment(int(place)).isoformat(sep=' ')}'"
