"""The types of the plan's expressions, and the ranges that flow through them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ANY", "Range", "Type"]


class Type(StrEnum):
    """What a column or an expression holds. It is part of the schema, so it is public."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        return self in (Type.INTEGER, Type.REAL)


@dataclass(frozen=True)
class Range:
    """Public limits of a value, both inclusive; None is no limit.

    Integers count as themselves, dates in days and timestamps in microseconds since 1970, truths as 0 and 1.
    """

    low: int | float | None = None
    high: int | float | None = None

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def largest(self) -> float:
        """The largest magnitude; infinity if there is none."""
        if self.low is None or self.high is None:
            return math.inf
        return max(abs(self.low), abs(self.high))


ANY = Range()
