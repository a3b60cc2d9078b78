"""Numbers on a grid between two public bounds, and what is asked about them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.domain import filled
from dither.local.words import Words

__all__ = [
    "ASKED",
    "AUTOMATIC",
    "DISTRIBUTION",
    "LARGEST",
    "MEAN",
    "VARIANCE",
    "Numbers",
]

Whole = NDArray[np.int64]

MEAN, VARIANCE, DISTRIBUTION = "mean", "variance", "distribution"
ASKED = (MEAN, VARIANCE, DISTRIBUTION)
WHOLE = 10  # a shorter range needs to say its step
AUTOMATIC = 0  # until a task is made: then the best is chosen
LARGEST = {MEAN: 1 << 24, VARIANCE: 1 << 15, DISTRIBUTION: 1 << 20}
"""Steps of the grid. Squares of places are drawn from 32-bit words."""
FAR = 400  # decimal digits beyond which a float is 0 or infinite


@dataclass(frozen=True)
class Numbers:
    """The numbers low, low + step, …, high. Others are rounded to the nearest, and to an
    end if they lie outside; what is no number is no answer.

    `ask` is "mean", "variance" (with the mean) or "distribution" (with quantiles). No
    answer is a random number of the grid, unless `none` gives it a place of its own,
    which a distribution can have. `step` is 1 if it is left out, for a range of 10 or
    more. `branching` is how many nodes of a level of the tree make one of the level
    above; a task chooses it.
    """

    low: float
    high: float
    step: float | None = None
    ask: str = MEAN
    none: bool = False
    branching: int = 0

    def __post_init__(self) -> None:
        self._check_bounds()
        if self.ask not in ASKED:
            raise ArgumentError("ask", f"must be one of: {', '.join(ASKED)}")
        if self.top > LARGEST[self.ask]:
            raise ArgumentError(
                "step",
                f"is too small: the range must have at most {LARGEST[self.ask]:,} "
                "steps; pass a larger step",
            )
        if type(self.none) is not bool or (self.none and self.ask != DISTRIBUTION):
            raise ArgumentError(
                "none", 'must be False, or True with ask="distribution" only'
            )
        whole = type(self.branching) is int
        tree = self.ask == DISTRIBUTION and self.branching != AUTOMATIC
        if not whole or not (
            2 <= self.branching <= 1 << 20 if tree else not self.branching
        ):
            raise ArgumentError(
                "branching",
                'must be a whole number from 2 to 1,048,576 with ask="distribution", '
                "and "
                "left out otherwise",
            )

    def _check_bounds(self) -> None:
        self._check_number("low")
        self._check_number("high")
        self._say_step()
        self._check_number("step")
        if not self._step > 0 or not self.low < self.high:
            raise ArgumentError(
                "high",
                "must be above low, and step must be above 0; pass for example low=0, "
                "high=5 and step=1",
            )
        steps = (self.high - self.low) / self._step
        if not math.isfinite(steps):
            raise ArgumentError("step", "is too small for the range; pass a larger one")
        if abs(steps - round(steps)) > 1e-6:
            even = (self.high - self.low) / max(1, round(steps))
            raise ArgumentError(
                "step",
                "must divide the range from low to high evenly; pass another one, such "
                f"as {even:.6g}",
            )

    def _check_number(self, name: str) -> None:
        value = getattr(self, name)
        if type(value) not in (int, float) or not _plain(value):
            raise ArgumentError(
                name, "must be 0, or a number of absolute value 0.0001 to 1e15"
            )
        object.__setattr__(self, name, float(value))

    def _say_step(self) -> None:
        """Whole numbers, where they are many enough to be meant."""
        if self.step is not None:
            return
        if 0 < self.high - self.low < WHOLE:
            raise ArgumentError(
                "step",
                f"is required for a range below {WHOLE}; pass the smallest difference "
                "that matters, such as 0.01, or 1 for whole numbers",
            )
        object.__setattr__(self, "step", 1)

    @property
    def _step(self) -> float:
        assert self.step is not None
        return self.step

    def __str__(self) -> str:
        ends = f"from {self.low:g} to {self.high:g} in steps of {self._step:g}"
        return f"the {self.ask} of numbers {ends}"

    @property
    def top(self) -> int:
        """How many steps there are from low to high."""
        return round((self.high - self.low) / self._step)

    @property
    def range(self) -> float:
        return self.high - self.low

    def number(self, place: Any) -> Any:
        """The number at a place."""
        return self.low + place * self._step

    @property
    def different(self) -> int:
        return max(self.sizes) - self.none

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many places each level's nodes span, from the top of the tree down."""
        if self.branching == AUTOMATIC:
            raise ArgumentError(
                "branching",
                "is not chosen yet; make a task with local.task, which chooses it, or "
                "pass branching=4",
            )
        widths = [1]
        while self._nodes(widths[-1] * self.branching) > 1:
            widths.append(widths[-1] * self.branching)
        return tuple(widths[::-1])

    def _nodes(self, width: int) -> int:
        return -(-(self.top + 1) // width)

    @property
    def sizes(self) -> tuple[int, ...]:
        if self.ask == MEAN:
            return (self.top + 1,)
        if self.ask == VARIANCE:
            return (self.top + 1, self.top**2 + 1)
        return tuple(self._nodes(width) + self.none for width in self.widths)

    def place(self, value: object) -> int:
        """The nearest place of the grid; −1 for what is no number."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, np.floating):  # wider than Python's, and stays so
            finite = np.isfinite(plain)
            plain = Fraction(*plain.as_integer_ratio()) if finite else float(plain)
        if isinstance(plain, bool) or not isinstance(
            plain, int | float | Decimal | Fraction
        ):
            return -1
        if _is_nan(plain):
            return -1
        if isinstance(plain, Decimal):
            plain = _as_fraction(plain)
        if plain <= self.low:
            return 0
        if plain >= self.high:
            return self.top
        if isinstance(plain, Fraction):
            steps = (plain - Fraction(self.low)) / Fraction(self._step)
            return min(math.floor(steps + Fraction(1, 2)), self.top)
        # in the order that every language keeps: devices must agree
        return min(math.floor((float(plain) - self.low) / self._step + 0.5), self.top)

    def _seen(self, places: Any, part: int) -> Any:
        """The values of a part of the question, from places."""
        if self.ask == VARIANCE and part == 1:
            return (2 * places - self.top) ** 2
        if self.ask == DISTRIBUTION:
            return places // self.widths[part]
        return places

    def places(self, values: Any, words: Words) -> NDArray[Any]:
        if isinstance(values, str | bytes):
            raise ArgumentError("values", "must be a list of numbers, not one string")
        found = self._found(values)
        columns = []
        for part, items in enumerate(self.sizes):
            seen = np.where(found < 0, -1, self._seen(found, part))
            columns.append(filled(seen, self.nothing(part), items, words))
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _found(self, values: Any) -> Whole:
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
            listed = values.tolist() if isinstance(values, np.ndarray) else values
            return np.fromiter(map(self.place, listed), np.int64)
        if values.dtype.itemsize > 8:  # wider than what is computed here
            return np.fromiter(map(self.place, values), np.int64)
        inside = np.clip(values.astype(np.float64), self.low, self.high)
        steps = np.floor((inside - self.low) / self._step + 0.5)
        places = np.minimum(np.nan_to_num(steps, nan=-1.0), self.top)
        found: Whole = places.astype(np.int64)
        return found

    def answer(self, value: object, part: int = 0) -> tuple[bytes | None, int]:
        place = self.place(value)
        if place < 0:
            return None, -1
        seen = int(self._seen(place, part))
        return b"i:%d" % seen, seen

    def nothing(self, part: int = 0) -> int | None:
        return self.sizes[part] - 1 if self.none else None

    def name(self, part: int, item: int) -> str:
        """An interval of numbers, in a distribution."""
        if self.none and item == self.sizes[part] - 1:
            return "none"
        if self.ask != DISTRIBUTION:
            return f"{self.number(item):g}"
        width = self.widths[part]
        low, high = item * width, min((item + 1) * width - 1, self.top)
        ends = f"{self.number(low):g}"
        return ends if low == high else f"{ends} to {self.number(high):g}"

    def written(self) -> dict[str, Any]:
        ends = {name: _written(getattr(self, name)) for name in ("low", "high", "step")}
        return ends | {
            "ask": self.ask,
            "none": self.none,
            "branching": self.branching,
        }


def _is_nan(value: int | float | Decimal | Fraction) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and math.isnan(value)


def _as_fraction(value: Decimal) -> Fraction | float:
    """The number itself; as a float, 0 or infinite, if its fraction would have more
    digits than a device can hold.
    """
    near = value.is_finite() and abs(value.adjusted()) <= FAR
    return Fraction(value) if near else float(value)


def _plain(value: float) -> bool:
    """Whether every language writes a number alike: without an exponent."""
    return value == 0 or 1e-4 <= abs(value) <= 1e15


def _written(value: float) -> int | float:
    return int(value) if value.is_integer() else value
