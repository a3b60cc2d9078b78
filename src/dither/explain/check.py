"""Arguments of explanations, checked. ε = 0 can be explained, though no mechanism takes
it; a boolean is not a number.
"""

from __future__ import annotations

from typing import Any

from dither.errors import ArgumentError
from dither.privacy.numbers import (
    fraction,
    not_negative,
    positive,
    small_probability,
    whole,
)

__all__ = [
    "between",
    "bounds",
    "confidence",
    "count",
    "delta",
    "epsilon",
    "loss",
    "number",
]

LARGEST = 10**15
WIDEST = 1e150


def number(argument: str, value: Any, way_out: str) -> Any:
    """The value, unless it is a boolean, which Python would take for 0 or 1."""
    if type(value).__name__ in ("bool", "bool_"):
        raise ArgumentError(argument, f"must be a number, not {value}; {way_out}")
    return value


def epsilon(value: Any) -> float:
    """An ε of 0 or more."""
    way_out = "pass an ε such as 0.5, or 0 for perfect privacy"
    return not_negative("epsilon", number("epsilon", value, way_out), way_out)


def loss(value: Any) -> float:
    """An ε above 0."""
    way_out = "pass an ε such as 0.5"
    return positive("epsilon", number("epsilon", value, way_out), way_out)


def delta(value: Any, *, zero: bool = True) -> float:
    return small_probability(
        "delta",
        number("delta", value, "pass a small probability such as 1e-6"),
        zero=zero,
    )


def between(argument: str, value: Any, way_out: str) -> float:
    """A number strictly between 0 and 1 that stays there as a float."""
    found = float(fraction(argument, number(argument, value, way_out), way_out))
    if not 0.0 < found < 1.0:
        raise ArgumentError(
            argument, f"must lie strictly between 0 and 1, not {value}; {way_out}"
        )
    return found


def bounds(value: Any) -> tuple[float, float]:
    """A public low and high end, neither farther from 0 nor closer to one another than
    floats can bear.
    """
    way_out = "pass the public low and high end, such as (0, 110)"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ArgumentError("bounds", f"must be a pair of numbers; {way_out}")
    low, high = (
        fraction("bounds", number("bounds", end, way_out), way_out) for end in value
    )
    if not -WIDEST <= low < high <= WIDEST:
        raise ArgumentError(
            "bounds", f"must be two increasing numbers within ±{WIDEST:g}; {way_out}"
        )
    if float(high) - float(low) < 1 / WIDEST:
        raise ArgumentError(
            "bounds",
            f"are too close together; {way_out}, or use smaller units",
        )
    return float(low), float(high)


def confidence(value: Any) -> float:
    return between("confidence", value, "pass a probability such as 0.95")


def count(argument: str, value: Any, way_out: str) -> int:
    """A whole number from 1 to 10^15."""
    found = whole(argument, number(argument, value, way_out), way_out)
    if found > LARGEST:
        raise ArgumentError(argument, f"must be at most {LARGEST:,}; {way_out}")
    return found
