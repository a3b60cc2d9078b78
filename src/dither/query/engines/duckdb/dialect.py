"""DuckDB's own dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.dialect import Dialect
from dither.query.engines.duckdb.words import NAMES, quoted
from dither.query.operations.calls import write
from dither.query.operations.expressions import Call
from dither.query.operations.writing import DUCKDB

__all__ = ["DuckDBDialect"]

ROW_ID = "rowid"
FARTHEST = 500_000
"""Up to this place, DuckDB finds the lowest of some values."""


class DuckDBDialect(Dialect):
    """SQL for DuckDB 2. A session should have its time zone set to UTC, for stored
    times with a zone.
    """

    name = "duckdb"
    types = NAMES
    widest = "HUGEINT"

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, DUCKDB)

    def relation(self, table: Table) -> str:
        # not a temporary table of the same name
        return f"memory.main.{quoted(table.name)}"

    def column(self, table: Table, field: Field) -> str:  # noqa: ARG002 - other engines qualify the column
        column = self._typed(field)
        # compared byte by byte, whatever the column was declared with
        return f"({column} COLLATE C)" if field.type is Type.TEXT else column

    def id_column(self, table: Table, field: Field) -> str:  # noqa: ARG002 - as above
        column = self._typed(field)
        return f"encode({column})" if field.type is Type.TEXT else column

    def _typed(self, field: Field) -> str:
        return f"TRY_CAST({quoted(field.name)} AS {self.types[field.type]})"

    def row_id(self, table: Table) -> str:
        if any(field.name.lower() == ROW_ID for field in table.fields):
            hidden = (
                f"{table.name!r} has a column {ROW_ID!r}, which hides the rows' own ids"
            )
            raise ArgumentError("unit", f"the table {hidden}; rename it")
        return ROW_ID

    def hashed(self, parts: Sequence[str]) -> str:
        # Signed, because DuckDB finds the lowest of signed integers twice as fast as of
        # unsigned ones.
        return f"CAST(hash({', '.join(parts)}) >> 1 AS BIGINT)"

    def lowest(self, x: str, place: int) -> str:
        # DuckDB would refuse it too, but only where some unit has so many rows
        if place > FARTHEST:
            raise ArgumentError(
                "groups",
                f"must be below {FARTHEST:,}; pass the most groups of one unit",
            )
        return f"min({x}, {place})[{place}]"

    def listed(
        self,
        values: Sequence[Sequence[Any]],
        types: Sequence[Type],
        parameters: list[Any],
    ) -> str:
        columns = []
        for i, (column, type_) in enumerate(zip(values, types, strict=True)):
            parameters.append(list(column))
            array = f"CAST(${len(parameters)} AS {self.types[type_]}[])"
            columns.append(f"unnest({array}) AS k{i}")
        return f"SELECT {', '.join(columns)}, unnest(range({len(values[0])})) AS i"

    def number(self, x: str, type: Type) -> str:
        if type is Type.DATE:
            return f"date_diff('day', DATE '1970-01-01', {x})"
        return f"epoch_us({x})" if type is Type.TIMESTAMP else x

    def root_near(self, x: str) -> str:
        """A step of Newton's from the double's root, which is within 2^-51."""
        near = f"greatest({self.wide(f'ceil(sqrt({self.real(x)}))')}, 1)"
        return f"(({near} + {x} // {near}) // 2)"

    def doublings(self, x: str, first: int, power: int) -> str:
        return f"CAST(ceil({power} * log2({self.real(x)} / {first})) AS INTEGER)"
