"""DuckDB's way of writing the plan: constants, stored columns and owners.

The operations' SQL is in their records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.duckdb.bounding import Bounding
from dither.query.engines.duckdb.words import NAMES, quoted, written
from dither.query.operations.calls import write
from dither.query.operations.expressions import Call
from dither.query.operations.writing import DUCKDB

__all__ = ["DuckDBDialect", "quoted"]

ROW_ID = "rowid"


class DuckDBDialect(Bounding):
    """SQL for DuckDB 2. A session should have its time zone set to UTC, for stored
    times with a zone.
    """

    name = "duckdb"

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, DUCKDB)

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        if value is None:
            return f"CAST(NULL AS {NAMES[type]})"
        if type is Type.BOOLEAN:
            return "TRUE" if value else "FALSE"
        if type.numeric:
            return _number(value, type)
        parameters.append(value)
        return f"CAST(${len(parameters)} AS {NAMES[type]})"

    def read(self, table: Table, field: Field) -> str:  # noqa: ARG002 - other engines qualify the column
        column = f"TRY_CAST({quoted(field.name)} AS {NAMES[field.type]})"
        if field.type is Type.TEXT:
            # compared byte by byte, whatever the column was declared with
            return f"({column} COLLATE C)"
        if field.type is Type.BOOLEAN or (
            field.type is Type.INTEGER and field.range == ANY
        ):
            return column
        return _clipped(column, field.type, field.range)

    def owner(self, table: Table) -> str:
        if table.owner is None:
            return self._row_id(table)
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
        column = f"TRY_CAST({quoted(field.name)} AS {NAMES[field.type]})"
        return f"encode({column})" if field.type is Type.TEXT else column

    def _row_id(self, table: Table) -> str:
        if any(field.name.lower() == ROW_ID for field in table.fields):
            raise ArgumentError(
                "unit",
                (
                    f"{table.name} has a column {ROW_ID}, which hides the rows' own; "
                    "rename it"
                ),
            )
        return ROW_ID

    def relation(self, table: Table) -> str:
        # not a temporary table of the same name
        return f"memory.main.{quoted(table.name)}"


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
    whole = {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}.get(type_, ANY)
    low, high = _side(range_.low, whole.low), _side(range_.high, whole.high)
    inside = [f"{column} >= {_bound(low, type_)}"] if low is not None else []
    inside += [f"{column} <= {_bound(high, type_)}"] if high is not None else []
    inside += (
        [f"isfinite({column})"] if type_ is Type.REAL and not range_.bounded else []
    )
    cases = [f"WHEN {' AND '.join(inside)} THEN {column}"]
    if low is not None:
        cases.append(
            f"WHEN {column} < "
            f"{_bound(low, type_)}{_unless(column, range_.low)} THEN "
            f"{_bound(low, type_)}"
        )
    if high is not None:
        nan = (
            f" AND NOT isnan({column})"
            if type_ is Type.REAL
            else _unless(column, range_.high)
        )
        cases.append(
            f"WHEN {column} > {_bound(high, type_)}{nan} THEN {_bound(high, type_)}"
        )
    return f"(CASE {' '.join(cases)} END)"


def _side(declared: float | None, otherwise: float | None) -> float | None:
    return otherwise if declared is None else declared


def _unless(column: str, declared: float | None) -> str:
    """An infinite date is clipped to a declared bound only."""
    return f" AND isfinite({column})" if declared is None else ""


def _bound(value: float, type_: Type) -> str:
    return _number(value, type_) if type_.numeric else written(value, type_)
