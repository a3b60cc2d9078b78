"""PostgreSQL's own dialect. Its wide integers are NUMERIC, without a limit that
matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.dialect import CALENDAR, Dialect
from dither.query.engines.postgres.stored import StoredTable
from dither.query.engines.postgres.words import BYTES, NAMES, once, real, storable
from dither.query.operations.calls import write
from dither.query.operations.dates import postgres_number
from dither.query.operations.expressions import Call
from dither.query.operations.writing import POSTGRES

__all__ = ["PostgresDialect"]

INFINITE = "CAST('{}Infinity' AS double precision)"
DOUBLINGS = 256
"""No norm of a unit doubles more often than this, not even its square."""


class PostgresDialect(Dialect):
    """SQL for PostgreSQL 14 and later, over tables whose columns and types are known.

    `collation` is the one by whose rules strings have upper and lower case; they are
    always compared byte by byte.
    """

    name = "postgres"
    types = NAMES
    widest = "numeric"

    def __init__(self, tables: Mapping[str, StoredTable], collation: str = "C") -> None:
        self.tables = tables
        self._spelling = replace(POSTGRES, collation=collation)

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, self._spelling)

    def constant(self, value: float, type: Type) -> str:
        return real(value) if type is Type.REAL else f"CAST({int(value)} AS bigint)"

    def sent(self, value: Any, type: Type) -> Any:
        return storable(value) if type is Type.TEXT else value

    def parameter(self, place: int, type: Type) -> str:
        sql = super().parameter(place, type)
        return f"({sql} {BYTES})" if type is Type.TEXT else sql

    def relation(self, table: Table) -> str:
        return self.tables[table.name].relation

    def column(self, table: Table, field: Field) -> str:
        return self.tables[table.name].read(table, field)

    def row_id(self, table: Table) -> str:
        return self.tables[table.name].row_id()

    def clipped(self, x: str, type: Type, range: Range) -> str:
        clip = super().clipped
        return once([x], lambda named: clip(named, type, range))

    def inside(
        self, x: str, type: Type, low: float | None, high: float | None
    ) -> list[str]:
        """PostgreSQL takes a NaN for larger than all numbers, infinity included."""
        if type is not Type.REAL:
            return super().inside(x, type, low, high)
        below = INFINITE.format("-") if low is None else self.bound(low, type)
        above = INFINITE.format("") if high is None else self.bound(high, type)
        return [
            f"{x} {'>' if low is None else '>='} {below}",
            f"{x} {'<' if high is None else '<='} {above}",
        ]

    def unless(self, x: str, sign: str, type: Type, declared: float | None) -> str:
        if type is Type.REAL:
            return f" AND {x} <> 'NaN'"
        return super().unless(x, sign, type, declared)

    def hashed(self, parts: Sequence[str]) -> str:
        """The first 64 bits of SHA-256 of all values, each set apart from the next as
        in the text of a row.
        """
        row = f"ROW({', '.join(map(_one_zero, parts))})"
        digest = f"sha256(convert_to(CAST({row} AS text), 'UTF8'))"
        bits = f"'x' || encode(substr({digest}, 1, 8), 'hex')"
        return f"CAST(CAST({bits} AS bit(64)) AS bigint)"

    def lowest(self, x: str, place: int) -> str:
        return f"(array_agg({x} ORDER BY {x}))[{place}]"

    def listed(
        self,
        values: Sequence[Sequence[Any]],
        types: Sequence[Type],
        parameters: list[Any],
    ) -> str:
        arrays, names = [], []
        for i, (column, type_) in enumerate(zip(values, types, strict=True)):
            parameters.append([_sendable(value, type_) for value in column])
            arrays.append(f"CAST(${len(parameters)} AS {self.types[type_]}[])")
            names.append(f"k{i} {BYTES} AS k{i}" if type_ is Type.TEXT else f"k{i}")
        columns = ", ".join(f"k{i}" for i in range(len(values)))
        rows = f"unnest({', '.join(arrays)}) WITH ORDINALITY"
        listed = f"{rows} AS listed({columns}, place)"
        return f"SELECT {', '.join(names)}, place - 1 AS i FROM {listed}"

    def number(self, x: str, type: Type) -> str:
        return postgres_number(x, type) if type in CALENDAR else x

    def total(self, x: str) -> str:
        return self.wide(f"sum({x})")

    def divided(self, x: str, by: str) -> str:
        return f"div({self.wide(x)}, {by})"

    def root_above(self, x: str) -> str:
        return once(
            [self.root_near(x), x],
            lambda root, square: (
                f"(CASE WHEN {root} * {root} >= {square} "
                f"THEN {root} ELSE {root} + 1 END)"
            ),
        )

    def root_near(self, x: str) -> str:
        """PostgreSQL's own root, which may be off in what it leaves out."""
        return f"trunc(sqrt({self.wide(x)}))"

    def doublings(self, x: str, first: int, power: int) -> str:
        """Number of doublings of `first` (to this power) until x is reached: counted
        among exact limits, from 0 on.
        """
        limits = ", ".join(str(first**power << place) for place in range(DOUBLINGS))
        value = once([self.wide(x)], lambda it: " * ".join([it] * power))
        return f"width_bucket({value} - 1, CAST('{{{limits}}}' AS numeric[]))"


def _one_zero(part: str) -> str:
    """A value as a text. Both zeros of a real are one value, so they are one text."""
    text = f"CAST({part} AS text)"
    return f"(CASE {text} WHEN '-0' THEN '0' ELSE {text} END)"


def _sendable(value: Any, type_: Type) -> Any:
    """A value in the one Python type whose lists PostgreSQL takes for its own."""
    if type_ is Type.TEXT:
        return storable(value)
    return float(value) if type_ is Type.REAL else value
