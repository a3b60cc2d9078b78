"""Spark's own dialect."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.dialect import Dialect
from dither.query.engines.spark.stored import StoredTable
from dither.query.engines.spark.words import LARGEST, NAMES, WIDE
from dither.query.operations.calls import write
from dither.query.operations.dates import spark_number
from dither.query.operations.expressions import Call
from dither.query.operations.writing import SPARK

__all__ = ["SparkDialect"]

LIMBS = 21
"""Number of bits of the parts in which narrow integers are summed: 64-bit sums of 2^42
of them cannot overflow.
"""
WIDEST = 126
LONG = 400


class SparkDialect(Dialect):
    """SQL for Spark 4 in ANSI mode, with the session's time zone set to UTC. `tables`
    are those of the engine.
    """

    name = "spark"
    types = NAMES
    widest = WIDE
    division = "div"
    # After ON, both sides have a column u, so the columns of one are named in full.
    same_owner = "ON kept_rows.u = kept_cut.u"
    qualifier = "kept_rows."

    def __init__(self, tables: Mapping[str, StoredTable]) -> None:
        self._tables = tables

    def call(self, expr: Call, args: Sequence[str]) -> str:
        return write(expr, args, SPARK)

    def sent(self, value: Any, type: Type) -> Any:  # noqa: ARG002 - other engines ask for it
        # A Python time would be taken for one in the zone of this machine, so both go
        # as texts.
        return value.isoformat() if isinstance(value, date) else value

    def relation(self, table: Table) -> str:
        return self._tables[table.name].relation

    def column(self, table: Table, field: Field) -> str:
        return self._tables[table.name].columns[field.name]

    def row_id(self, table: Table) -> str:
        return self._tables[table.name].row

    def clipped(self, x: str, type: Type, range: Range) -> str:
        low, high = self.ends(type, range)
        # NaN is larger than all numbers here, and is found first.
        cases = [f"WHEN {_lost(x, range)} THEN NULL"] if type is Type.REAL else []
        for sign, end in (("<", low), (">", high)):
            if end is not None:
                bound = self.bound(end, type)
                cases.append(f"WHEN {x} {sign} {bound} THEN {bound}")
        return f"(CASE {' '.join(cases)} ELSE {x} END)" if cases else x

    def keyed(self, owned: Sequence[str], secret: str) -> str:
        return self.hashed([secret, *owned])

    def hashed(self, parts: Sequence[str]) -> str:
        return f"xxhash64({', '.join(parts)})"

    def lowest(self, x: str, place: int) -> str:
        return f"get(sort_array(collect_list({x})), {place - 1})"

    def listed(
        self,
        values: Sequence[Sequence[Any]],
        types: Sequence[Type],
        parameters: list[Any],
    ) -> str:
        """A single string, which is cheaper to pass on than thousands of constants."""
        written = [list(map(_written, row)) for row in zip(*values, strict=True)]
        parameters.append(json.dumps(written))
        rows = f"posexplode(from_json(${len(parameters)}, 'array<array<string>>'))"
        keys = ", ".join(
            f"CAST(get(col, {i}) AS {self.types[type_]}) AS k{i}"
            for i, type_ in enumerate(types)
        )
        return f"SELECT {keys}, CAST(pos AS BIGINT) AS i FROM (SELECT {rows}) t"

    def number(self, x: str, type: Type) -> str:
        return spark_number(x, type)

    def numbered(self) -> str:
        return "row_number() OVER (ORDER BY NULL) - 1"

    def total(self, x: str) -> str:
        """Spark's own sum of BIGINT is one, and raises where it overflows. Decimals
        take several times as long, and are used for wide integers, which are all
        written by this dialect, and where what is added is too long to repeat."""
        if WIDE in x or len(x) > LONG:
            return f"sum({self.wide(x)})"
        narrow, mask = f"CAST({x} AS BIGINT)", (1 << LIMBS) - 1
        high = self.wide(f"sum(shiftright({narrow}, {2 * LIMBS}))")
        middle = self.wide(f"sum(shiftright({narrow}, {LIMBS}) & {mask})")
        parts = f"{high} * {1 << 2 * LIMBS} + {middle} * {1 << LIMBS}"
        return f"({parts} + sum({narrow} & {mask}))"

    def without_low_bits(self, x: str, shift: int) -> str:
        return f"shiftright({x} + {(1 << shift) - 1}, {shift})"

    def root_near(self, x: str) -> str:
        """A step of Newton's from the double's root, which is within 2^-51."""
        near = self.wide(f"greatest(ceil(sqrt({self.real(x)})), 1)")
        return self.wide(f"({near} + {self.wide(f'{x} div {near}')}) div 2")

    def doublings(self, x: str, first: int, power: int) -> str:
        """The double's logarithm, and then the integers of the bins' ends to correct it
        by one.
        """
        bins = power * (WIDEST - first.bit_length()) + 1
        ends = ", ".join(f"{_end(first, k, power)}BD" for k in range(bins))
        logarithm = f"{power} * log2({self.real(x)} / {first})"
        near = f"greatest(0, CAST(ceil({logarithm}) AS INT))"
        below = f"coalesce(get(array({ends}), {near} - 1), -1)"
        at = f"coalesce(get(array({ends}), {near} - 0), {x})"
        return (
            f"(CASE WHEN {x} <= {below} THEN {near} - 1 WHEN {x} > {at} THEN "
            f"{near} + 1 ELSE {near} END)"
        )


def _lost(x: str, range_: Range) -> str:
    """Whether a real has no place: a NaN, or an infinity on a side without a bound."""
    beyond = [f"{x} > {LARGEST}"] if range_.high is None else [f"isnan({x})"]
    beyond += [f"{x} < -{LARGEST}"] if range_.low is None else []
    return " OR ".join(beyond)


def _end(first: int, k: int, power: int) -> int:
    """⌊first · 2^(k / power)⌋ for a power of 1 or 2."""
    return first << k if power == 1 else math.isqrt(first * first << k)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return repr(float(value)) if isinstance(value, float) else str(value)
