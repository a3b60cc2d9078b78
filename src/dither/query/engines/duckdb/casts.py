"""Stored values as their declared types in DuckDB: what cannot be read is NULL, and
nothing is raised (rule R1).

TRY_CAST alone is not enough. From some values that a file can hold, DuckDB makes an
internal error, after which the whole database is closed: times beyond its calendar as
strings, and integers of any length as short ones. So such values are replaced before
they are cast. (To leave them out by a CASE is not enough either: where a column is
stored as a dictionary, DuckDB casts all its values, wanted or not.)
"""

from __future__ import annotations

import re

from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.words import NAMES, once
from dither.query.operations import forms

__all__ = ["DECIMAL", "REAL", "as_id", "as_type"]

DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
EARLIEST = "290309-12-22 (BC) 00:00:00"
"""Stored times reach some hours farther back than DuckDB's calendar does."""
REAL = ("FLOAT", "DOUBLE")
WHOLE_DECIMAL = r"-?[0-9]*(\.0*)?"
EXACT = "DECIMAL(38,18)"
BLANKS = " \t\n\r\f\v"


def as_type(sql: str, stored: str, type_: Type) -> str:
    """A stored column read as a type. Times are in UTC; the session's zone must be so.

    Numbers are never rounded to integers: 5.5 is NULL. A time has a day, and is read as
    that where a date is declared.
    """
    sql, stored = _usual(sql, stored)
    if stored == NAMES[type_]:
        return sql
    if type_ is Type.TEXT:
        return _text(sql, stored)
    if stored == NAMES[Type.TEXT]:
        return once(sql, lambda it: _of_text(it, type_))
    return _of_value(sql, stored, type_)


def _of_value(sql: str, stored: str, type_: Type) -> str:
    """A number, a boolean or a time as another of these."""
    read = f"TRY_CAST({sql} AS {NAMES[type_]})"
    if type_ is Type.BOOLEAN:
        return f"(CASE WHEN {sql} = 1 THEN TRUE WHEN {sql} = 0 THEN FALSE END)"
    if type_ is Type.INTEGER and stored in REAL:
        return f"(CASE WHEN trunc({sql}) = {sql} THEN {read} END)"
    decimal = DECIMAL.fullmatch(stored)
    if type_ is Type.INTEGER and decimal is not None and decimal[2] != "0":
        whole = f"regexp_full_match(CAST({sql} AS VARCHAR), '{WHOLE_DECIMAL}')"
        return f"(CASE WHEN {whole} THEN {read} END)"
    return read


def _of_text(sql: str, type_: Type) -> str:
    """A string as a value, if it is one in `forms`."""
    match type_:
        case Type.INTEGER:
            return _whole(sql)
        case Type.REAL:
            # beyond the largest double, DuckDB reads an infinity
            number = f"{_is(sql, forms.NUMBER)} OR {_is(sql, forms.INFINITE)}"
            return f"(CASE WHEN {number} THEN TRY_CAST({sql} AS DOUBLE) END)"
        case Type.BOOLEAN:
            return (
                f"(CASE WHEN {_is(sql, forms.TRUE)} THEN TRUE "
                f"WHEN {_is(sql, forms.FALSE)} THEN FALSE END)"
            )
    iso = once(forms.rewritten(sql), lambda it: _moment(it, type_))
    return (
        f"(CASE WHEN {_is(sql, forms.MOMENT)} THEN {_time(sql, type_)} ELSE {iso} END)"
    )


def _is(sql: str, form: str) -> str:
    return f"(length({sql}) <= {forms.LONGEST} AND regexp_full_match({sql}, '{form}'))"


def _whole(sql: str) -> str:
    """Most integers are written as DuckDB writes them, which is quicker to see than
    that they are of the form.
    """
    read, exact = f"TRY_CAST({sql} AS BIGINT)", f"TRY_CAST({sql} AS {EXACT})"
    return (
        f"(CASE WHEN CAST({read} AS VARCHAR) = {sql} THEN {read} "
        f"WHEN {_is(sql, forms.WHOLE)} THEN {read} "
        f"WHEN {_is(sql, forms.INTEGER)} AND trunc({exact}) = {exact} "
        f"THEN TRY_CAST({exact} AS BIGINT) END)"
    )


def _moment(sql: str, type_: Type) -> str:
    return f"(CASE WHEN {_is(sql, forms.MOMENT)} THEN {_time(sql, type_)} END)"


def _time(sql: str, type_: Type) -> str:
    """A time in UTC, or its day. A plain cast would drop a written offset."""
    # DuckDB reads no time between blanks
    plain = f"trim({sql}, '{BLANKS}')"
    time = f"(TRY_CAST({plain} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return time if type_ is Type.TIMESTAMP else f"CAST({time} AS DATE)"


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
    """The converted time; NULL if it is before DuckDB's calendar begins."""
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
    """Whether a value was read without loss; None if it always is."""
    if stored == NAMES[Type.TEXT]:
        return _exact_text(sql, type_)
    if (type_ is Type.DATE and stored.startswith("TIMESTAMP")) or (
        type_ is Type.TIMESTAMP and stored == "TIMESTAMP_NS"
    ):
        return f"TRY_CAST({read} AS {stored}) = {sql}"
    return None


def _exact_text(sql: str, type_: Type) -> str | None:
    match type_:
        case Type.INTEGER:
            return f"NOT regexp_matches({sql}, '[eE]')"
        case Type.DATE:
            return f"NOT contains({sql}, ':')"
        case Type.TIMESTAMP:
            return f"NOT regexp_matches({sql}, '{forms.FINER}')"
    return None
