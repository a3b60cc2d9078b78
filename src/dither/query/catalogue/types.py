"""The types of the plan's expressions, and the ranges that flow through them."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

__all__ = ["ANY", "NUMERIC", "Keys", "Range", "Type"]


class Type(StrEnum):
    """The type of a column or an expression. It is part of the schema, so it is public."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        return self in NUMERIC


NUMERIC = frozenset({Type.INTEGER, Type.REAL})


class Keys(tuple[Any, ...]):
    """Public values in order. There can be very many, and plans mention them often:
    their hashes are computed once.
    """

    _hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other or (isinstance(other, Keys) and hash(self) != hash(other)):
            return self is other
        return super().__eq__(other)

    @cached_property
    def digest(self) -> bytes:
        """A hash that is the same in every process."""
        return hashlib.sha256(
            repr(tuple(self)).encode("utf-8", "surrogatepass")
        ).digest()


@dataclass(frozen=True)
class Range:
    """Public limits of a value, both inclusive; None is not a limit.

    Integers are treated as themselves, dates in days and timestamps in microseconds
    since 1970, booleans as 0 and 1.
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
