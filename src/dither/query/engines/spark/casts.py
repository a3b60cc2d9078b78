"""Casts in Spark's SQL that cannot fail: what cannot be cast is NULL, and rounding is
the same as in other engines.
"""

from __future__ import annotations

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.engines.spark.words import NAMES, finite, once, written

__all__ = ["DAY", "WHOLE", "between_years", "cast"]

NUMBER = r"^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*\\z"
MOMENT = r"^\\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?\\s*\\z"
WHOLE = r"^\\s*[+-]?[0-9]+(\\.0*)?\\s*\\z"
DAY = r"^\\s*[0-9]+-[0-9]+-[0-9]+\\s*\\z"
"""Ids that are surely whole numbers, or days without a time."""
EXACT = "DECIMAL(38,18)"
"""Enough digits before the point for every BIGINT, and enough after it to round by."""
BEYOND = "9223372036854775808e0"


def cast(sql: str, source: Type, wanted: Type) -> str:
    """A value of one type as another."""
    if source is wanted:
        return sql
    if source is Type.TEXT:
        return _of_text(sql, wanted)
    if source is Type.REAL and wanted is Type.INTEGER:
        # a plain cast would cut, and make the largest BIGINT of what is just beyond
        whole = f"rint({sql})"
        return once(
            whole,
            lambda it: (
                f"(CASE WHEN {it} >= -{BEYOND} AND {it} < {BEYOND} THEN CAST({it} "
                "AS BIGINT) END)"
            ),
        )
    return f"CAST({sql} AS {NAMES[wanted]})"


def _of_text(sql: str, wanted: Type) -> str:
    """Spark reads more than others do ('1d', '2024', 'epoch'), and less ('1.5' is no
    integer to it).
    """
    match wanted:
        case Type.INTEGER:
            return (
                f"try_cast(round(try_cast({_shaped(sql, NUMBER)} AS {EXACT})) AS "
                "BIGINT)"
            )
        case Type.REAL:
            return finite(f"try_cast({_shaped(sql, NUMBER)} AS DOUBLE)")
        case Type.DATE | Type.TIMESTAMP:
            moment = (
                f"try_cast(rtrim('Z', trim({_shaped(sql, MOMENT)})) AS TIMESTAMP_NTZ)"
            )
            return between_years(f"CAST({moment} AS {NAMES[wanted]})", wanted)
    return f"try_cast({sql} AS {NAMES[wanted]})"


def _shaped(sql: str, pattern: str) -> str:
    return once(sql, lambda it: f"(CASE WHEN {it} RLIKE '{pattern}' THEN {it} END)")


def between_years(sql: str, type_: Type) -> str:
    """NULL outside of the years 1 to 9999."""
    whole: Range = dates.DAYS if type_ is Type.DATE else dates.MICROSECONDS
    low, high = written(whole.low or 0, type_), written(whole.high or 0, type_)
    return once(
        sql, lambda it: f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN {it} END)"
    )
