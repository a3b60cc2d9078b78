"""Spark's way of writing the plan: constants, stored columns and owners.

The operations' SQL is in their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.spark.bounding import Bounding
from dither.query.engines.spark.sources import Stored
from dither.query.engines.spark.words import LARGEST, NAMES, written
from dither.query.operations.calls import write
from dither.query.operations.expressions import Call
from dither.query.operations.writing import SPARK

__all__ = ["SparkDialect"]

YEARS = {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}


class SparkDialect(Bounding):
    """SQL for Spark 4 in ANSI mode, with the session's time zone set to UTC. `tables`
    are those of the engine.
    """

    name = "spark"

    def __init__(self, tables: Mapping[str, Stored]) -> None:
        self._tables = tables

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, SPARK)

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        if value is None:
            return f"CAST(NULL AS {NAMES[type]})"
        if type is Type.BOOLEAN:
            return "TRUE" if value else "FALSE"
        if type.numeric:
            return _number(value, type)
        # A Python time would be taken for one in the zone of this machine, so both go
        # as texts.
        parameters.append(value.isoformat() if isinstance(value, date) else value)
        return f"CAST(${len(parameters)} AS {NAMES[type]})"

    def read(self, table: Table, field: Field) -> str:
        sql = self._tables[table.name].columns[field.name]
        if field.type in (Type.TEXT, Type.BOOLEAN) or (
            field.type is Type.INTEGER and field.range == ANY
        ):
            return sql
        return _clipped(sql, field.type, field.range)

    def owner(self, table: Table) -> str:
        if table.owner is None:
            return self._tables[table.name].row
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
        return self._tables[table.name].columns[field.name]

    def relation(self, table: Table) -> str:
        return self._tables[table.name].relation


def _number(value: float, type_: Type) -> str:
    """Written with an exponent, a real is read as a double at once and not as a decimal
    first.
    """
    text = repr(float(value)) if type_ is Type.REAL else str(int(value))
    return (
        f"CAST({text if 'e' in text or type_ is Type.INTEGER else text + 'e0'} "
        f"AS {NAMES[type_]})"
    )


def _clipped(column: str, type_: Type, range_: Range) -> str:
    """Within the declared bounds. Where there is none on a side, an infinity there is
    NULL; a NaN always is.
    """
    whole = YEARS.get(type_, ANY)
    low, high = _side(range_.low, whole.low), _side(range_.high, whole.high)
    # NaN is larger than all numbers here, and is found first.
    cases = [f"WHEN {_lost(column, range_)} THEN NULL"] if type_ is Type.REAL else []
    for sign, end in (("<", low), (">", high)):
        if end is not None:
            cases.append(
                f"WHEN {column} {sign} {_bound(end, type_)} THEN {_bound(end, type_)}"
            )
    return f"(CASE {' '.join(cases)} ELSE {column} END)" if cases else column


def _lost(column: str, range_: Range) -> str:
    """Whether a real has no place: a NaN, or an infinity on a side without a bound."""
    beyond = [f"{column} > {LARGEST}"] if range_.high is None else [f"isnan({column})"]
    beyond += [f"{column} < -{LARGEST}"] if range_.low is None else []
    return " OR ".join(beyond)


def _side(declared: float | None, otherwise: float | None) -> float | None:
    return otherwise if declared is None else declared


def _bound(value: float, type_: Type) -> str:
    return _number(value, type_) if type_.numeric else written(value, type_)
