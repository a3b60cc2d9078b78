"""Spark's way of bounding what a unit contributes: exact wide integers, hashed choices,
lists of public keys.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from dither.query.catalogue.types import Type
from dither.query.engines.spark.words import NAMES, WIDE
from dither.query.operations.dates import spark_number

__all__ = ["Bounding"]

LIMBS = 21
"""Sums of narrow integers are taken in parts of so many bits: 64-bit sums of 2^42 of
them cannot overflow.
"""
WIDEST = 126
LONG = 400


class Bounding:
    """The part of the dialect that clipping and keys need."""

    def kept(
        self,
        rows: str,
        columns: Sequence[str],
        most: int,
        salt: str,
        parameters: list[Any],
    ) -> str:
        """Those whose hash lies below the owner's (most + 1)-th smallest: never more
        than `most`, come what may.

        The hash decides which rows are kept, not how many, so privacy does not rest on
        it; the salt is secret and fresh, so nobody can aim at being kept.
        """
        parameters.append(salt)
        place = self.hashed([f"CAST(${len(parameters)} AS STRING)", "u", *columns])
        over = f"SELECT u FROM kept_rows GROUP BY u HAVING count(*) > {most}"
        lowest = (
            f"SELECT u, {self.lowest(place, most + 1)} AS top FROM kept_rows "
            f"WHERE u IN ({over}) GROUP BY u"
        )
        joined = f"kept_rows LEFT JOIN ({lowest}) kept_cut ON kept_rows.u = kept_cut.u"
        place = self.hashed(
            [
                f"CAST(${len(parameters)} AS STRING)",
                *(f"kept_rows.{one}" for one in ["u", *columns]),
            ]
        )
        return (
            f"WITH kept_rows AS ({rows}) SELECT kept_rows.* FROM {joined} "
            f"WHERE top IS NULL OR {place} < top"
        )

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
        """As one text, which is cheaper to pass on than thousands of constants."""
        parameters.append(
            json.dumps(
                [
                    [_written(value) for value in row]
                    for row in zip(*values, strict=True)
                ]
            )
        )
        rows = f"posexplode(from_json(${len(parameters)}, 'array<array<string>>'))"
        keys = ", ".join(
            f"CAST(get(col, {i}) AS {NAMES[type_]}) AS k{i}"
            for i, type_ in enumerate(types)
        )
        return f"SELECT {keys}, CAST(pos AS BIGINT) AS i FROM (SELECT {rows}) t"

    def number(self, x: str, type: Type) -> str:
        return spark_number(x, type)

    def numbered(self) -> str:
        return "row_number() OVER (ORDER BY NULL) - 1"

    def real(self, x: str) -> str:
        return f"CAST({x} AS DOUBLE)"

    def total(self, x: str) -> str:
        """Spark's own sum of BIGINT is one, and raises where it overflows. Decimals
        take several times as long, and are used for wide integers, which are all
        written by this dialect, and where what is added is too long to repeat."""
        if WIDE in x or len(x) > LONG:
            return f"sum({self.wide(x)})"
        narrow, mask = f"CAST({x} AS BIGINT)", (1 << LIMBS) - 1
        high, middle = (
            f"sum(shiftright({narrow}, {2 * LIMBS}))",
            f"sum(shiftright({narrow}, {LIMBS}) & {mask})",
        )
        parts = (
            f"{self.wide(high)} * {1 << 2 * LIMBS} + {self.wide(middle)} * {1 << LIMBS}"
        )
        return f"({parts} + sum({narrow} & {mask}))"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS {WIDE})"

    def divided(self, x: str, by: str) -> str:
        return f"({x} div {by})"

    def root_above(self, x: str) -> str:
        """The root rounded up. A step of Newton's from the double's root, which is
        within 2^-51, gives after rounding down the root rounded down or up; where its
        square is below, it is one more."""
        near = self.wide(f"greatest(ceil(sqrt(CAST({x} AS DOUBLE))), 1)")
        step = self.wide(f"({near} + {self.wide(f'{x} div {near}')}) div 2")
        return f"(CASE WHEN {step} * {step} < {x} THEN {step} + 1 ELSE {step} END)"

    def doublings(self, x: str, first: int, power: int) -> str:
        """The double's logarithm, and then the integers of the bins' ends to correct it
        by one.
        """
        ends = ", ".join(
            f"{_end(first, k, power)}BD"
            for k in range(power * WIDEST - first.bit_length() * power + 1)
        )
        near = (
            f"greatest(0, CAST(ceil({power} * log2(CAST({x} AS DOUBLE) / "
            f"{first})) AS INT))"
        )
        below, at = (
            f"coalesce(get(array({ends}), {near} - {back}), {edge})"
            for back, edge in ((1, -1), (0, f"{x}"))
        )
        return (
            f"(CASE WHEN {x} <= {below} THEN {near} - 1 WHEN {x} > {at} THEN "
            f"{near} + 1 ELSE {near} END)"
        )


def _end(first: int, k: int, power: int) -> int:
    """⌊first · 2^(k / power)⌋ for a power of 1 or 2."""
    return first << k if power == 1 else math.isqrt(first * first << k)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return repr(float(value)) if isinstance(value, float) else str(value)
