"""From noisy part sums to counts, sums, means, variances, covariances and correlations,
with intervals.

Everything here is a function of noisy whole numbers, their mechanism and the descriptor
of the parts, so it can be had again from stored sums. Intervals hold the true figure,
with what clipping hid (rule R30).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dither.mechanisms import Additive
from dither.query.statistics.intervals import (
    Combined,
    Line,
    Mean,
    Mixed,
    Ratio,
    Root,
    Sample,
    VarianceBox,
)
from dither.query.statistics.moments import Moments
from dither.query.statistics.totals import NOTHING, Ends, Estimate, Hidden, cut

__all__ = ["MOMENTS", "Sums"]


@dataclass(frozen=True)
class Sums:
    """Noisy part sums of one group, and what they tell."""

    moments: Moments
    parts: Sequence[int]
    mechanism: Additive
    hidden: Hidden = NOTHING

    def count(self) -> Estimate:
        """How many rows there are: all parts together."""
        line = Line(self._rows, 1 / self.moments.total, (0.0, math.inf))
        return Estimate(line.value, line)

    def total(self, of: int = 0) -> Estimate:
        """The sum of the value with this number."""
        (low, high), degree = self.moments.ranges[of], self.moments.degrees[of]
        line = Line(
            self._along(lambda place: low + (high - low) * place[of] / degree),
            1 / self.moments.total,
        )
        return Estimate(line.value, line)

    def mean(self, of: int = 0) -> Estimate:
        """The mean of the value with this number; the middle of its limits where noise
        drowned everything.
        """
        low, width = float(self.moments.ranges[of][0]), self.moments.width(of)
        rows = self.moments.degrees[of] * self._rows
        ratio = Ratio(self._amount(of), rows, (0.0, 1.0), scale=width, shift=low)
        return Estimate(ratio.value, Mean(ratio, self.hidden), ratio)

    def variance(self, *, sample: bool = False, of: int = 0) -> Estimate:
        """The variance of the value with this number, whose degree is 2; 0 where noise
        drowned everything.

        Of the rows themselves, or of what they are a sample of.
        """
        width, middle = self.moments.width(of), self._middle(of)
        scale = width * width
        ratio = Ratio(
            self._spread(of),
            4 * self._rows * self._rows,
            (0.0, 0.25),
            (self._rows,),
            scale,
        )
        swing = -ratio.value, scale * max(middle, 1 - middle) ** 2 - ratio.value
        found = self._mixed(ratio, swing, ratio.value if self._rows.value > 0 else 0.0)
        return self._sampled(found) if sample else found

    def variance_of(self, rows: int) -> Estimate:
        """The variance of one value where the number of rows is public."""
        first, middle, last = map(int, self.parts)
        total, scale = rows * self.moments.total, self.moments.width() ** 2
        box = VarianceBox((first, middle, last), self.mechanism, total, scale)
        return Estimate(box.value, box)

    def deviation(self, *, sample: bool = False, of: int = 0) -> Estimate:
        """The standard deviation: the root of the variance."""
        squared = self.variance(sample=sample, of=of)
        return squared.seen(Root, math.sqrt(squared.value))

    def covariance(self, *, sample: bool = False) -> Estimate:
        """The covariance of both values; 0 where noise drowned everything."""
        scale = self.moments.width(0) * self.moments.width(1)
        rows = math.prod(self.moments.degrees) * self._rows * self._rows
        ratio = Ratio(self._joint, rows, (-0.25, 0.25), (self._rows,), scale)
        corners = [scale * x * y - ratio.value for x, y in self._corners()]
        found = self._mixed(ratio, (min(corners), max(corners)))
        return self._sampled(found) if sample else found

    def correlation(self) -> Estimate:
        """The correlation of both values, whose degrees are 2; 0 where noise drowned
        their variances.
        """
        first, second = self._spread(0), self._spread(1)
        ratio = Ratio(
            self._joint,
            (first * second).root(),
            (-1.0, 1.0),
            (self._rows, first, second),
        )
        return self._mixed(ratio, self._turns(ratio.value))

    def _mixed(self, ratio: Ratio, swing: Ends, value: float | None = None) -> Estimate:
        found = ratio.value if value is None else value
        if self.hidden.nothing:
            return Estimate(found, ratio)
        return Estimate(
            found, Mixed(ratio, self._rows.value, swing, self.hidden), ratio
        )

    def _middle(self, of: int) -> float:
        """The mean of v of [0, 1], as far as it is known."""
        rows = self._rows.value * self.moments.degrees[of]
        return min(max(self._amount(of).value / rows, 0.0), 1.0) if rows > 0 else 0.5

    def _corners(self) -> list[tuple[float, float]]:
        """How far the corners of what both values can be lie from their means."""
        first, second = ((-self._middle(of), 1 - self._middle(of)) for of in (0, 1))
        return list(itertools.product(first, second))

    def _turns(self, correlation: float) -> Ends:
        """How far a hidden row can turn a correlation r: by xy − r(x² + y²)/2, x and y
        in standard deviations.

        That is largest and smallest in a corner, or where an edge turns: at x = y/r.
        """
        rows = max(self._rows.value, 1.0)
        scale = [
            math.sqrt(max(self._spread(of).value, 1e-300)) / (2 * rows) for of in (0, 1)
        ]
        corners = [(x / scale[0], y / scale[1]) for x, y in self._corners()]
        (left, right), (bottom, top) = (
            (min(side), max(side)) for side in zip(*corners, strict=True)
        )
        points = list(corners)
        if correlation:
            points += [(cut(y / correlation, (left, right)), y) for y in (bottom, top)]
            points += [(x, cut(x / correlation, (bottom, top))) for x in (left, right)]
        turns = [x * y - correlation * (x * x + y * y) / 2 for x, y in points]
        return min(turns), max(turns)

    def _along(self, weigh: Callable[[tuple[int, ...]], float]) -> Combined:
        """The sum of the parts weighted by a function of their indices."""
        weights = tuple(weigh(place) for place in self.moments.places)
        value = sum(w * int(part) for w, part in zip(weights, self.parts, strict=True))
        return Combined(value, weights, self.mechanism)

    @cached_property
    def _rows(self) -> Combined:
        return self._along(lambda _: 1)

    def _amount(self, of: int) -> Combined:
        """Σv times the degree, for v of [0, 1]."""
        return self._along(lambda place: place[of])

    def _spread(self, of: int) -> Combined:
        """4 · (rows · Σv² − (Σv)²), from the three parts of a value of degree 2."""
        first, middle, last = (
            self._along(lambda place, i=i: int(place[of] == i))  # type: ignore[misc]
            for i in range(3)
        )
        return 4 * first * last - middle * middle

    @property
    def _joint(self) -> Combined:
        """(rows · Σvw − Σv · Σw) times both degrees."""
        return self._rows * self._along(math.prod) - self._amount(0) * self._amount(1)

    def _sampled(self, found: Estimate) -> Estimate:
        """Times n / (n − 1), as if there were at least two rows."""
        n = max(self._rows.value / self.moments.total, 2.0)
        rows = self.count().spread
        return found.seen(
            lambda spread: Sample(spread, rows), found.value * n / (n - 1)
        )


MOMENTS: dict[str, Callable[[Sums], Estimate]] = {
    "avg": lambda sums: sums.mean(),
    "var_samp": lambda sums: sums.variance(sample=True),
    "var_pop": lambda sums: sums.variance(),
    "stddev_samp": lambda sums: sums.deviation(sample=True),
    "stddev_pop": lambda sums: sums.deviation(),
    "covar_samp": lambda sums: sums.covariance(sample=True),
    "covar_pop": lambda sums: sums.covariance(),
    "corr": lambda sums: sums.correlation(),
}
