"""A quantile by the exponential mechanism, among equally spaced public points."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.selection import Exponential
from dither.mechanisms.values import Integers, numbers
from dither.privacy import ROW, BoundedRange, Relation, Unit
from dither.privacy.numbers import fraction, pair, whole

__all__ = ["QuantileExponential"]

POINTS = 1 << 14
MAX = Fraction(np.finfo(np.float64).max.item())
FINEST = 10_000
"""A q is a fraction with a denominator up to this, so that ranks are whole numbers.
"""


@dataclass(frozen=True, kw_only=True)
class QuantileExponential:
    """The point that is nearest to a quantile in rank, by a private choice among
    `points` between the bounds.

    A q of 0.5 is the median. Each value counts at its nearest point, those outside
    at the ends. `dither.quantile` gives the same with an interval; for many quantiles
    of the same data use `TreeMechanism`.

    Guarantee: epsilon-bounded range, hence epsilon-differential privacy, and zCDP with
    rho = ε² / 8.
    Why: the penalty of a point is how far the ranks it covers are from the wanted one;
    a value that comes in or goes moves it by at most max(q, 1 − q), one that is
    replaced by 1 (Smith 2011; docs/proofs/mechanisms.md).
    Assumes: one value for each unit.
    """

    q: float
    bounds: tuple[float, float]
    epsilon: float
    points: int = POINTS
    unit: Unit = ROW

    def __post_init__(self) -> None:
        if not 0 <= fraction("q", self.q) <= 1:
            raise ArgumentError("q", "must lie from 0 to 1; pass 0.5 for the median")
        low, high = (fraction("bounds", end) for end in pair("bounds", self.bounds))
        if max(abs(low), abs(high), high - low) > MAX or not float(low) < float(high):
            raise ArgumentError(
                "bounds",
                "must be two finite numbers (low, high), with low below high; pass for "
                "example (0, 110)",
            )
        object.__setattr__(
            self,
            "points",
            whole("points", self.points, "pass the number of points to choose from"),
        )
        if not 2 <= self.points <= 1 << 24:
            raise ArgumentError(
                "points", "must lie from 2 to 2**24; pass a number such as 1001"
            )
        object.__setattr__(self, "epsilon", self.choice.epsilon)

    @cached_property
    def rank(self) -> Fraction:
        """q as a fraction with a small denominator."""
        return Fraction(str(float(self.q))).limit_denominator(FINEST)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The bounds as floats."""
        low, high = self.bounds
        return float(low), float(high)

    @cached_property
    def choice(self) -> Exponential:
        """The private choice. Penalties are in units of 1 / denominator of q."""
        top, bottom = self.rank.numerator, self.rank.denominator
        moved = (
            bottom if self.unit.relation is Relation.REPLACE else max(top, bottom - top)
        )
        return Exponential(sensitivity=moved, epsilon=self.epsilon, unit=self.unit)

    @property
    def guarantee(self) -> BoundedRange:
        """What one release promises."""
        return self.choice.guarantee

    @cached_property
    def grid(self) -> NDArray[np.float64]:
        """The points to choose among."""
        return np.linspace(*self.ends, self.points)

    def release(self, values: Any) -> float:
        """One of the points. NaN, and what is no number, counts as the low end."""
        clean = numbers(values, "values", missing=self.ends[0])
        if not isinstance(clean, np.ndarray) or clean.ndim != 1:
            raise ArgumentError(
                "values", "must be a list with one number for each unit"
            )
        return float(
            self.grid[self.choice.release(-self.penalties(self._counts(clean)))]
        )

    def _counts(self, values: NDArray[Any]) -> Integers:
        low, high = self.ends
        inside = np.clip(np.nan_to_num(values.astype(np.float64), nan=low), low, high)
        # A value that underflows must not raise where the caller asked for that
        with np.errstate(all="ignore"):
            place = np.rint((inside - low) / (high - low) * (self.points - 1)).astype(
                np.int64
            )
        return np.bincount(np.clip(place, 0, self.points - 1), minlength=self.points)

    def penalties(self, counts: Integers) -> Integers:
        """How far the ranks that each point covers are from the wanted one, in units of
        1 / denominator.
        """
        top, bottom = self.rank.numerator, self.rank.denominator
        upto = np.cumsum(counts)
        wanted = top * int(upto[-1])
        penalty: Integers = np.maximum(
            0, np.maximum(bottom * (upto - counts) - wanted, wanted - bottom * upto)
        )
        return penalty

    def error(self, confidence: float = 0.95) -> float:
        """How many values too far in rank the chosen point may lie, at most, with this
        probability.
        """
        return (
            self.choice.error(confidence, candidates=self.points)
            / self.rank.denominator
        )
