"""Declared facts of a study, checked before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dither.errors import ArgumentError
from dither.privacy.numbers import fraction, pair, whole

__all__ = [
    "GREATER",
    "LESS",
    "TWO_SIDED",
    "alternative",
    "bounds",
    "chosen",
    "confidence",
    "level",
    "share",
    "size",
    "sizes",
]

TWO_SIDED, LESS, GREATER = "two-sided", "less", "greater"
FARTHEST = Fraction(10) ** 300
NEAREST = Fraction(1, 10**300)
MOST_PEOPLE = 1 << 31
"""So many people that squares of their numbers still fit 64-bit integers."""


def chosen(argument: str, value: Any, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(f'"{one}"' for one in choices)
        # what else was passed may be private
        told = (
            f"{value!r:.40}"
            if isinstance(value, str)
            else f"of type {type(value).__name__}"
        )
        raise ArgumentError(argument, f"cannot be {told}; pass {listed}")
    return str(value)


def alternative(value: Any) -> str:
    """Which side of the null a test looks at, in scipy's words."""
    return chosen("alternative", value, (TWO_SIDED, LESS, GREATER))


def level(alpha: Any, argument: str = "alpha") -> float:
    """A probability of error, strictly between 0 and 1."""
    return _inside(argument, alpha, "pass a probability of error such as 0.05")


def confidence(value: Any, argument: str = "confidence_level") -> float:
    """A rate at which an interval holds, strictly between 0 and 1."""
    return _inside(argument, value, "pass a rate such as 0.95")


def _inside(argument: str, value: Any, way_out: str) -> float:
    if not 0 < fraction(argument, value, way_out) < 1:
        raise ArgumentError(argument, f"must lie strictly between 0 and 1; {way_out}")
    return float(value)


def share(argument: str, value: Any) -> float:
    """A proportion."""
    way_out = "pass a proportion such as 0.5"
    if not 0 <= fraction(argument, value, way_out) <= 1:
        raise ArgumentError(argument, f"must lie between 0 and 1; {way_out}")
    return float(value)


def size(value: Any, argument: str = "size") -> int:
    """A public number of people, 1 or more."""
    count = whole(argument, value, "pass how many people there are, such as 200")
    if not 1 <= count <= MOST_PEOPLE:
        raise ArgumentError(
            argument,
            f"must be 1 to {MOST_PEOPLE:,} people; pass the number from the study "
            "protocol",
        )
    return count


def sizes(value: Any, count: int | None = None) -> tuple[int, ...]:
    """The public numbers of people in each arm."""
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if not listed and not hasattr(value, "tolist"):
        raise ArgumentError(
            "sizes", "must be the numbers of people in each arm, such as (200, 200)"
        )
    found = tuple(size(one, "sizes") for one in list(value))
    if count is not None and len(found) != count:
        raise ArgumentError(
            "sizes",
            f"must be {count} numbers; pass a list with the number of people in each arm",
        )
    return found


def _least(low: Fraction, high: Fraction) -> Fraction:
    """How far apart bounds must be for floats between them to differ."""
    return max(max(abs(low), abs(high)) / (1 << 40), NEAREST)


def bounds(value: Any, argument: str = "bounds") -> tuple[float, float]:
    """Public limits of a value: two finite numbers, low before high."""
    way_out = "pass the public range of the values, such as (0, 10)"
    low, high = pair(argument, value)
    ends = fraction(argument, low, way_out), fraction(argument, high, way_out)
    if not ends[0] < ends[1]:
        raise ArgumentError(
            argument, f"must be two numbers, the low one first; {way_out}"
        )
    if max(map(abs, ends)) > FARTHEST or ends[1] - ends[0] < _least(*ends):
        raise ArgumentError(
            argument,
            "must lie within ±1e300, and far enough apart to distinguish the values "
            f"between them; {way_out}",
        )
    return float(ends[0]), float(ends[1])
