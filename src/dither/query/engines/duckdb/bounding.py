"""DuckDB's way of bounding what a unit contributes: exact wide integers, hashed
choices, lists of public keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.words import NAMES

__all__ = ["Bounding"]

FARTHEST = 500_000


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
        place = self.hashed(["u", *columns, f"CAST(${len(parameters)} AS VARCHAR)"])
        over = "SELECT u FROM kept_rows GROUP BY u HAVING count(*) > " + str(most)
        top = self.lowest(place, most + 1)
        lowest = f"SELECT u, {top} AS top FROM kept_rows WHERE u IN ({over}) GROUP BY u"
        joined = f"kept_rows LEFT JOIN ({lowest}) kept_cut USING (u)"
        return (
            f"WITH kept_rows AS ({rows}) SELECT kept_rows.* FROM {joined} "
            f"WHERE top IS NULL OR {place} < top"
        )

    def hashed(self, parts: Sequence[str]) -> str:
        # Signed, because DuckDB finds the lowest of signed integers twice as fast as of
        # unsigned ones.
        return f"CAST(hash({', '.join(parts)}) >> 1 AS BIGINT)"

    def lowest(self, x: str, place: int) -> str:
        # DuckDB would refuse it too, but only where some unit has so many rows
        if place > FARTHEST:
            raise ArgumentError(
                "groups",
                f"must be below {FARTHEST:,}; pass how many one unit may count for",
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
            columns.append(
                f"unnest(CAST(${len(parameters)} AS {NAMES[type_]}[])) AS k{i}"
            )
        return f"SELECT {', '.join(columns)}, unnest(range({len(values[0])})) AS i"

    def number(self, x: str, type: Type) -> str:
        if type is Type.DATE:
            return f"date_diff('day', DATE '1970-01-01', {x})"
        return f"epoch_us({x})" if type is Type.TIMESTAMP else x

    def numbered(self) -> str:
        return "row_number() OVER () - 1"

    def real(self, x: str) -> str:
        return f"CAST({x} AS DOUBLE)"

    def total(self, x: str) -> str:
        return f"sum({x})"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS HUGEINT)"

    def divided(self, x: str, by: str) -> str:
        return f"({x} // {by})"

    def root_above(self, x: str) -> str:
        """The root rounded up. A step of Newton's from the double's root, which is
        within 2^-51, gives after rounding down the root rounded down or up; where its
        square is below, it is one more."""
        near = f"greatest(CAST(ceil(sqrt(CAST({x} AS DOUBLE))) AS HUGEINT), 1)"
        step = f"(({near} + {x} // {near}) // 2)"
        return f"(CASE WHEN {step} * {step} < {x} THEN {step} + 1 ELSE {step} END)"

    def doublings(self, x: str, first: int, power: int) -> str:
        return f"CAST(ceil({power} * log2(CAST({x} AS DOUBLE) / {first})) AS INTEGER)"
