"""Stored values as their declared types in DuckDB: what cannot be read is NULL, and
nothing is raised (rule R1).

TRY_CAST alone is not enough. From some values that a file can hold, DuckDB makes an
internal error, after which the whole database is closed: times beyond its calendar as
texts, and integers of any length as short ones. So such values are replaced before they
are cast. (To leave them out by a CASE is not enough either: where a column is stored as
a dictionary, DuckDB casts all its values, wanted or not.)
"""

from __future__ import annotations

import re

from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.words import NAMES, once

__all__ = ["DECIMAL", "REAL", "as_id", "as_type"]

DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
EARLIEST = "290309-12-22 (BC) 00:00:00"
"""Stored times reach some hours farther back than DuckDB's calendar does."""
REAL = ("FLOAT", "DOUBLE")
WHOLE = r"\s*[+-]?[0-9]+(\.0*)?\s*"
WHOLE_DECIMAL = r"-?[0-9]*(\.0*)?"
DAY = r"\s*[0-9]+[-/][0-9]+[-/][0-9]+\s*"
FINER = r"\.[0-9]{6}[0-9]*[1-9]"
"""Digits of a second that a TIMESTAMP has no place for."""


def as_type(sql: str, stored: str, type_: Type) -> str:
    """A stored column read as a type. Times are in UTC; the session's zone must be so."""
    sql, stored = _usual(sql, stored)
    if stored == NAMES[type_]:
        return sql
    if type_ is Type.TEXT:
        return _text(sql, stored)
    if type_ is Type.TIMESTAMP and stored == NAMES[Type.TEXT]:
        # a plain cast would drop a written offset
        return f"(TRY_CAST({sql} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return f"TRY_CAST({sql} AS {NAMES[type_]})"


def _usual(sql: str, stored: str) -> tuple[str, str]:
    """A column as a type that every cast from is total, and which holds all its values
    that can be read.
    """
    if stored == "TIMESTAMPTZ_NS":  # all of these lie within the calendar
        return f"({sql} AT TIME ZONE 'UTC')", "TIMESTAMP_NS"
    if stored == "TIMESTAMP WITH TIME ZONE":
        return _of_calendar(
            sql, "TIMESTAMPTZ", "{} AT TIME ZONE 'UTC'", "TIMESTAMP '-infinity'"
        ), "TIMESTAMP"
    if stored in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return f"TRY_CAST({sql} AS TIMESTAMP)", "TIMESTAMP"
    return (
        (f"CAST({sql} AS VARCHAR)", "VARCHAR") if stored == "BIGNUM" else (sql, stored)
    )


def _of_calendar(sql: str, type_: str, made: str, before_all: str) -> str:
    """What is made of a time; NULL of one before DuckDB's calendar begins."""
    first = f"{type_} '{EARLIEST}'"
    made = made.format(f"greatest({sql}, {first})")
    return (
        f"(CASE WHEN {sql} >= {first} THEN {made} WHEN {sql} = {type_} "
        f"'-infinity' THEN {before_all} END)"
    )


def _text(sql: str, stored: str) -> str:
    """A value as a text, in one form for each number and each time, however many digits
    it is stored with.
    """
    if stored == "TIMESTAMP":
        return _of_calendar(sql, stored, "CAST({} AS VARCHAR)", "'-infinity'")
    decimal = DECIMAL.fullmatch(stored)
    if decimal is None or decimal[2] == "0":
        return f"TRY_CAST({sql} AS VARCHAR)"
    digits = f"rtrim(rtrim(CAST({sql} AS VARCHAR), '0'), '.')"
    return rf"regexp_replace({digits}, '^(-?)(\.|$)', '\1" + r"0\2')"


def as_id(sql: str, stored: str, type_: Type) -> str:
    """An id read as a type: NULL unless it is exactly that, or two ids could become one
    owner (rule R10).
    """
    read = as_type(sql, stored, type_)
    exact = _exactly(*_usual(sql, stored), read, type_)
    return read if exact is None else f"(CASE WHEN {exact} THEN {read} END)"


def _exactly(sql: str, stored: str, read: str, type_: Type) -> str | None:
    """Whether a value was read without loss; None where it always is."""
    if stored == NAMES[Type.TEXT]:
        return _exact_text(sql, read, type_)
    if type_ is Type.INTEGER and stored in REAL:
        return f"trunc({sql}) = {sql}"
    if type_ is Type.INTEGER and DECIMAL.fullmatch(stored):
        return f"regexp_full_match(CAST({sql} AS VARCHAR), '{WHOLE_DECIMAL}')"
    if (type_ is Type.DATE and stored.startswith("TIMESTAMP")) or (
        type_ is Type.TIMESTAMP and stored == "TIMESTAMP_NS"
    ):
        return f"TRY_CAST({read} AS {stored}) = {sql}"
    return None


def _exact_text(sql: str, read: str, type_: Type) -> str | None:
    match type_:
        case Type.INTEGER:
            # Most ids are written as DuckDB writes them, which is quicker to see
            return once(
                sql,
                lambda it: (
                    f"(CAST({read} AS VARCHAR) = {it} OR regexp_full_match({it}, "
                    f"'{WHOLE}'))"
                ),
            )
        case Type.DATE:
            return f"regexp_full_match({sql}, '{DAY}')"
        case Type.TIMESTAMP:
            return f"NOT regexp_matches({sql}, '{FINER}')"
    return None
