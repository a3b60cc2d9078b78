"""Stored values as their declared types in Spark: what cannot be read is NULL, nothing
is raised (rule R1), and nothing is rounded to an integer.
"""

from __future__ import annotations

from dither.query.catalogue.types import Type
from dither.query.engines.spark.words import NAMES, once
from dither.query.operations import forms

__all__ = ["of_text", "one_or_zero", "whole_decimal", "whole_real", "written"]

EXACT = "DECIMAL(38,18)"
WHOLE_DECIMAL = r"^-?[0-9]+(\\.0*)?\\z"
BLANKS = r" \t\n\r\f\u000B"
BEYOND = "9223372036854775808e0"
REPLACE = "regexp_replace({}, '{}', replace('{}', '#', char(36)))"
"""The groups of a replacement begin with $, which a statement has for parameters."""
COMPLETED = (
    ("([.][0-9]{6})[0-9]+", "#1"),
    ("([ T][0-9]+:[0-9]+)($|[Z+-])", "#1:00#2"),
    ("(:[0-9.]+[+-][0-9]{2})$", "#1:00"),
)
"""Spark reads no digits beyond microseconds, no offset without seconds before it, and
no offset of hours alone.
"""


def of_text(sql: str, type_: Type) -> str:
    """A string as a value, if it is one in `forms`."""
    return once(sql, lambda it: _of_text(it, type_))


def _of_text(sql: str, type_: Type) -> str:
    match type_:
        case Type.INTEGER:
            whole = whole_decimal(f"try_cast({sql} AS {EXACT})")
            return f"(CASE WHEN {_is(sql, forms.INTEGER)} THEN {whole} END)"
        case Type.REAL:
            # beyond the largest double, Spark reads an infinity
            number = f"{_is(sql, forms.NUMBER)} OR {_is(sql, forms.INFINITE)}"
            return f"(CASE WHEN {number} THEN try_cast({sql} AS DOUBLE) END)"
        case Type.BOOLEAN:
            return (
                f"(CASE WHEN {_is(sql, forms.TRUE)} THEN TRUE "
                f"WHEN {_is(sql, forms.FALSE)} THEN FALSE END)"
            )
        case Type.DATE | Type.TIMESTAMP:
            iso = sql
            for pattern, groups in forms.DATES:
                year, month, day, rest = (f"#{group}" for group in groups)
                made = f"{year}-{month}-{day}{rest}"
                iso = REPLACE.format(iso, written(pattern), made)
            return once(iso, lambda it: _moment(it, type_))
    return sql


def _moment(sql: str, type_: Type) -> str:
    """A time in UTC, or its day."""
    plain = f"replace(trim('{BLANKS}' FROM {sql}), ' UTC', 'Z')"
    for pattern, completed in COMPLETED:
        plain = REPLACE.format(plain, pattern, completed)
    time = f"CAST(try_cast({plain} AS TIMESTAMP) AS TIMESTAMP_NTZ)"
    read = time if type_ is Type.TIMESTAMP else f"CAST({time} AS {NAMES[type_]})"
    return f"(CASE WHEN {_is(sql, forms.MOMENT)} THEN {read} END)"


def _is(sql: str, form: str) -> str:
    return (
        f"(length({sql}) <= {forms.LONGEST} AND "
        rf"{sql} RLIKE '^(?:{written(form)})\\z')"
    )


def written(pattern: str) -> str:
    """A pattern in a literal, where a backslash is written twice."""
    return pattern.replace("\\", "\\\\")


def whole_decimal(sql: str) -> str:
    """A decimal as an INTEGER, if it is one. It is compared as a string, because there
    is no type that holds both it and what it is rounded to.
    """
    return once(
        sql,
        lambda it: (
            f"(CASE WHEN CAST({it} AS STRING) RLIKE '{WHOLE_DECIMAL}' "
            f"THEN try_cast({it} AS BIGINT) END)"
        ),
    )


def whole_real(sql: str) -> str:
    """A real as an INTEGER, if it is one that 64 bits hold. A plain cast would make the
    largest BIGINT of the next larger real.
    """
    return (
        f"(CASE WHEN {sql} = rint({sql}) AND {sql} >= -{BEYOND} AND {sql} < {BEYOND} "
        f"THEN CAST({sql} AS BIGINT) END)"
    )


def one_or_zero(sql: str) -> str:
    """A number as a boolean."""
    return f"(CASE WHEN {sql} = 1 THEN TRUE WHEN {sql} = 0 THEN FALSE END)"
