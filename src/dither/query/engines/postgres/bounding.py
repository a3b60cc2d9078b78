"""PostgreSQL's way of bounding what a unit contributes: exact wide integers, hashed
choices, lists of public keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.query.catalogue.types import Type
from dither.query.engines.postgres.words import BYTES, NAMES, once, storable
from dither.query.operations.dates import postgres_number

__all__ = ["Bounding"]

DOUBLINGS = 256
"""No norm of a unit doubles more often than this, not even its square."""


class Bounding:
    """The part of the dialect that clipping and keys need. Wide integers are NUMERIC,
    without a limit that matters.
    """

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
        place = self.hashed(["u", *columns, f"CAST(${len(parameters)} AS text)"])
        over = "SELECT u FROM kept_rows GROUP BY u HAVING count(*) > " + str(most)
        top = self.lowest(place, most + 1)
        lowest = f"SELECT u, {top} AS top FROM kept_rows WHERE u IN ({over}) GROUP BY u"
        joined = f"kept_rows LEFT JOIN ({lowest}) kept_cut USING (u)"
        return (
            f"WITH kept_rows AS ({rows}) SELECT kept_rows.* FROM {joined} "
            f"WHERE top IS NULL OR {place} < top"
        )

    def hashed(self, parts: Sequence[str]) -> str:
        """The first 64 bits of SHA-256 of all values, each set apart from the next as
        in the text of a row.

        Both zeros of a real are one value, so they are one text.
        """
        same = [
            (
                f"(CASE CAST({part} AS text) WHEN '-0' THEN '0' ELSE CAST({part} "
                "AS text) END)"
            )
            for part in parts
        ]
        digest = f"sha256(convert_to(CAST(ROW({', '.join(same)}) AS text), 'UTF8'))"
        return (
            f"CAST(CAST('x' || encode(substr({digest}, 1, 8), 'hex') AS "
            "bit(64)) AS bigint)"
        )

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
            arrays.append(f"CAST(${len(parameters)} AS {NAMES[type_]}[])")
            names.append(f"k{i} {BYTES} AS k{i}" if type_ is Type.TEXT else f"k{i}")
        columns = ", ".join(f"k{i}" for i in range(len(values)))
        listed = (
            f"unnest({', '.join(arrays)}) WITH ORDINALITY AS listed({columns}, place)"
        )
        return f"SELECT {', '.join(names)}, place - 1 AS i FROM {listed}"

    def number(self, x: str, type: Type) -> str:
        return postgres_number(x, type) if type in (Type.DATE, Type.TIMESTAMP) else x

    def numbered(self) -> str:
        return "row_number() OVER () - 1"

    def real(self, x: str) -> str:
        return f"CAST({x} AS double precision)"

    def total(self, x: str) -> str:
        return f"CAST(sum({x}) AS numeric)"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS numeric)"

    def divided(self, x: str, by: str) -> str:
        return f"div({self.wide(x)}, {by})"

    def root_above(self, x: str) -> str:
        """The root rounded up: PostgreSQL's own may be off in what it leaves out, so
        its square is looked at.
        """
        rounded = f"trunc(sqrt({self.wide(x)}))"
        return once(
            [rounded, x],
            lambda n, square: (
                f"(CASE WHEN {n} * {n} >= {square} THEN {n} ELSE {n} + 1 END)"
            ),
        )

    def doublings(self, x: str, first: int, power: int) -> str:
        """How often `first` has to be doubled (to this power) to reach x: counted among
        exact limits, from 0 on.
        """
        limits = ", ".join(str(first**power << place) for place in range(DOUBLINGS))
        value = once([self.wide(x)], lambda it: " * ".join([it] * power))
        return f"width_bucket({value} - 1, CAST('{{{limits}}}' AS numeric[]))"


def _sendable(value: Any, type_: Type) -> Any:
    """A value in the one Python type whose lists PostgreSQL takes for its own."""
    if type_ is Type.TEXT:
        return storable(value)
    return float(value) if type_ is Type.REAL else value
