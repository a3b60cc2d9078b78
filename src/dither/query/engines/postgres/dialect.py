"""PostgreSQL's way of writing the plan: constants, stored columns and owners.

The operations' SQL is in their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.postgres.bounding import Bounding
from dither.query.engines.postgres.stored import StoredTable
from dither.query.engines.postgres.words import (
    BYTES,
    NAMES,
    once,
    real,
    storable,
    written,
)
from dither.query.operations.calls import write
from dither.query.operations.expressions import Call
from dither.query.operations.writing import POSTGRES

__all__ = ["PostgresDialect"]

INFINITE = "CAST('{}Infinity' AS double precision)"


class PostgresDialect(Bounding):
    """SQL for PostgreSQL 14 and later, over tables whose columns and types are known.

    `collation` is the one by whose rules texts have upper and lower case; they are
    always compared byte by byte.
    """

    name = "postgres"

    def __init__(self, tables: Mapping[str, StoredTable], collation: str = "C") -> None:
        self.tables = tables
        self._spelling = replace(POSTGRES, collation=collation)

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, self._spelling)

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        if value is None:
            return f"CAST(NULL AS {NAMES[type]})"
        if type is Type.BOOLEAN:
            return "TRUE" if value else "FALSE"
        if type.numeric:
            return _number(value, type)
        parameters.append(storable(value) if type is Type.TEXT else value)
        sql = f"CAST(${len(parameters)} AS {NAMES[type]})"
        return f"({sql} {BYTES})" if type is Type.TEXT else sql

    def read(self, table: Table, field: Field) -> str:
        column = self.tables[table.name].read(table, field)
        if field.type in (Type.TEXT, Type.BOOLEAN) or (
            field.type is Type.INTEGER and field.range == ANY
        ):
            return column
        return _clipped(column, field.type, field.range)

    def owner(self, table: Table) -> str:
        """An id as its declared type, texts compared byte by byte."""
        stored = self.tables[table.name]
        if table.owner is None:
            return stored.row_id()
        field = next((one for one in table.fields if one.name == table.owner), None)
        if field is None:
            raise ArgumentError(
                "unit",
                (
                    f"the table {table.name} has no column {table.owner}; declare it "
                    "with its type"
                ),
            )
        if field.type in (Type.REAL, Type.BOOLEAN):
            name = field.type.value.upper()
            raise ArgumentError(
                "unit",
                (
                    f"{table.owner} is {name}, which is no id; declare it as INTEGER "
                    "or TEXT"
                ),
            )
        return stored.read(table, field)

    def relation(self, table: Table) -> str:
        return self.tables[table.name].relation


def _number(value: float, type_: Type) -> str:
    return real(value) if type_ is Type.REAL else f"CAST({int(value)} AS bigint)"


def _clipped(column: str, type_: Type, range_: Range) -> str:
    """Within the declared bounds. Where there is none on a side, an infinity there is
    NULL; a NaN always is.

    PostgreSQL takes a NaN for larger than all numbers, infinity included.
    """
    whole = {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}.get(type_, ANY)
    low, high = _side(range_.low, whole.low), _side(range_.high, whole.high)

    def clipped(x: str) -> str:
        sides = [_inside(x, ">", low, type_), _inside(x, "<", high, type_)]
        cases = [f"WHEN {' AND '.join(filter(None, sides))} THEN {x}"]
        if low is not None:
            cases.append(
                f"WHEN {x} < {_bound(low, type_)}{_unless(x, range_.low, type_)} "
                f"THEN {_bound(low, type_)}"
            )
        if high is not None:
            cases.append(
                f"WHEN {x} > "
                f"{_bound(high, type_)}{_unless(x, range_.high, type_)} THEN "
                f"{_bound(high, type_)}"
            )
        return f"(CASE {' '.join(cases)} END)"

    return once([column], clipped)


def _side(declared: float | None, otherwise: float | None) -> float | None:
    return otherwise if declared is None else declared


def _inside(x: str, sign: str, end: float | None, type_: Type) -> str:
    if end is not None:
        return f"{x} {sign}= {_bound(end, type_)}"
    return (
        f"{x} {sign} {INFINITE.format('-' if sign == '>' else '')}"
        if type_ is Type.REAL
        else ""
    )


def _unless(x: str, declared: float | None, type_: Type) -> str:
    """A NaN is never clipped to a bound, and an infinite date to a declared one only."""
    if type_ is Type.REAL:
        return f" AND {x} <> 'NaN'"
    return f" AND isfinite({x})" if declared is None else ""


def _bound(value: float, type_: Type) -> str:
    return _number(value, type_) if type_.numeric else written(value, type_)
