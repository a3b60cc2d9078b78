"""Rows as parts in whole steps, whose noisy sums tell counts, sums, means, variances,
covariances and correlations, with intervals.

A value x with public limits becomes u = round((x − low) · S / (high − low)), held from
0 to S. The parts C(d, i) · uⁱ · (S − u)^(d−i), i = 0 … d, are never negative and add up
to exactly S^d for every row (Bernstein's polynomials); for two values all products of
their parts are taken. So one row moves the vector of part sums by the product of all
S^d in L1, and by no more in L2.

Estimates are functions of noisy whole numbers, their mechanism and `Moments`, so they
can be had again from stored sums. What clipping hid is part sums as well, so intervals
hold the true figure (rule R30).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dither.mechanisms import Additive
from dither.query.statistics.intervals import (
    LEAST,
    USUAL,
    Both,
    Combined,
    Hidden,
    Line,
    Once,
    Ratio,
    Root,
    Sample,
    VarianceBox,
    cut,
)
from dither.query.statistics.rounding import Apart, Turned, moved
from dither.query.statistics.totals import Estimate, opened, tails

__all__ = ["Moments", "Sums", "figures"]


BITS = {1: 30, 2: 15, 4: 9}
"""S = 2^bits for each total degree where nothing finer is asked for, and where integers
are not rounded.
"""
ALL_BITS, FEWEST = 45, 7
"""For units with many rows S is coarser, so that all of them together still fit."""


@dataclass(frozen=True)
class Moments:
    """How a row becomes parts: for each value its degree, its limits, and its S.

    Degrees (1,) tell a mean, (2,) a variance, (1, 1) a covariance, (2, 2) a
    correlation; each tells what comes before it too. Parts are listed with the last
    value's index running fastest.
    """

    degrees: tuple[int, ...]
    ranges: tuple[tuple[float, float], ...]
    steps: tuple[int, ...]
    exact: tuple[bool, ...] = ()
    """For each value, whether it is known that it is not rounded."""

    @classmethod
    def over(
        cls,
        degrees: Sequence[int],
        ranges: Sequence[tuple[float, float]],
        integer: Sequence[bool] = (),
        rows: int | None = None,
        bits: int | None = None,
    ) -> Moments:
        """Moments with an S so fine that the parts of a row add up to 2^bits at most; for
        integers the usual one, as a multiple of the width, if that is possible: then no
        value is rounded. The usual one is coarse enough for `rows` of one unit.
        """
        coarse = (ALL_BITS - (rows or 1).bit_length()) // sum(degrees)
        usual = 1 << min(BITS[sum(degrees)], max(coarse, FEWEST))
        fine = usual if bits is None else 1 << max(bits // sum(degrees), FEWEST)
        integers = [*integer, *[False] * len(degrees)]
        steps, exact = [], []
        for (low, high), whole in zip(ranges, integers, strict=False):
            width = int(high) - int(low) if whole else 0
            most = min(usual, fine) if 0 < width <= usual else fine
            steps.append(most // width * width if 0 < width <= most else most)
            exact.append(0 < width <= most or not high > low)
        return cls(tuple(degrees), tuple(ranges), tuple(steps), tuple(exact))

    def rounding(self, of: int = 0) -> float:
        """Largest change of a value by rounding to its steps: half of one, and what doubles
        lose before.
        """
        exact = self.exact[of] if self.exact else False
        return 0.0 if exact else self.width(of) / self.steps[of]

    @cached_property
    def total(self) -> int:
        """What the parts of one row add up to."""
        return math.prod(s**d for s, d in zip(self.steps, self.degrees, strict=True))

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The indices i of each part, one for each value."""
        return tuple(itertools.product(*(range(d + 1) for d in self.degrees)))

    def place(self, x: float, of: int = 0) -> int:
        """u of the value with this number. Where S is a multiple of the width of
        integers it is (x − low) · S/width.
        """
        (low, high), steps = self.ranges[of], self.steps[of]
        if not high > low:
            return 0
        share = (min(max(x, low), high) - low) / self.width(of)
        return min(max(round(share * steps), 0), steps)

    def parts(self, row: Sequence[float]) -> list[int]:
        """The parts of one row: the reference for what engines compute."""
        each = [
            _bernstein(self.place(x, of), self.steps[of], self.degrees[of])
            for of, x in enumerate(row)
        ]
        return [math.prod(parts) for parts in itertools.product(*each)]

    def expected(self, rows: int) -> list[int]:
        """Part sums of rows that are spread evenly between their limits: what a preview
        assumes.
        """
        return [rows * self.total // len(self.places)] * len(self.places)

    def width(self, of: int = 0) -> float:
        low, high = self.ranges[of]
        return float(high) - float(low)


def _bernstein(u: int, steps: int, degree: int) -> list[int]:
    return [
        math.comb(degree, i) * u**i * (steps - u) ** (degree - i)
        for i in range(degree + 1)
    ]


@dataclass(frozen=True)
class Sums:
    """Noisy part sums of one group, and what they tell."""

    moments: Moments
    parts: Sequence[int]
    mechanism: Additive | Both

    def count(self) -> Estimate:
        """Number of rows: all parts together."""
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
        degree = self.moments.degrees[of]
        rows = self._along(lambda _: degree)
        ratio = Ratio(self._amount(of), rows, (0.0, 1.0), scale=width, shift=low)
        found = Estimate(ratio.value, ratio)
        return moved(found, self.moments.rounding(of), (low, low + width))

    def variance(
        self, *, sample: bool = False, of: int = 0, rounded: bool = False
    ) -> Estimate:
        """The variance of the value with this number, whose degree is 2; 0 where noise
        drowned everything.

        Of the rows themselves, or of what they are a sample of; of values as they are,
        or of rounded ones.
        """
        scale = self.moments.width(of) ** 2
        ratio = Ratio(
            self._spread(of),
            4 * self._rows * self._rows,
            (0.0, 0.25),
            (self._rows,),
            scale,
        )
        found = Estimate(ratio.value if self._rows.value > 0 else 0.0, ratio)
        found = found if rounded else self._apart(found, of)
        return self._sampled(found) if sample else found

    def variance_of(self, rows: int) -> Estimate:
        """The variance of one value where the number of rows is public."""
        assert not isinstance(self.mechanism, Both)  # nothing is hidden of an array
        first, middle, last = map(int, self.parts)
        total, scale = rows * self.moments.total, self.moments.width() ** 2
        box = VarianceBox((first, middle, last), self.mechanism, total, scale)
        return self._apart(Estimate(box.value, box), 0)

    def deviation(self, *, sample: bool = False, of: int = 0) -> Estimate:
        """The standard deviation: the root of the variance."""
        squared = self.variance(sample=sample, of=of)
        return squared.seen(Root, math.sqrt(squared.value))

    def covariance(self, *, sample: bool = False) -> Estimate:
        """The covariance of both values; 0 where noise drowned everything."""
        scale = self.moments.width(0) * self.moments.width(1)
        rows = math.prod(self.moments.degrees) * self._rows * self._rows
        ratio = Ratio(self._joint, rows, (-0.25, 0.25), (self._rows,), scale)
        found = Estimate(ratio.value, ratio)
        # |⟨x, y⟩| moves by what x moves times y, and by what y moves times x; standard
        # deviations are half of the widths at most
        first, second = (self.moments.rounding(of) for of in (0, 1))
        halves = [self.moments.width(of) / 2 for of in (0, 1)]
        by = first * halves[1] + second * halves[0] + first * second
        found = moved(found, by, (-scale / 4, scale / 4))
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
        found = Estimate(ratio.value, ratio)
        first_by, second_by = (self.moments.rounding(of) for of in (0, 1))
        if not first_by + second_by:
            return found
        variances = (
            self.variance(of=0, rounded=True).spread,
            self.variance(of=1, rounded=True).spread,
        )
        return found.seen(
            lambda spread: Turned(spread, variances, (first_by, second_by)),
            found.value,
        )

    def _apart(self, found: Estimate, of: int) -> Estimate:
        """A variance, with what rounding may have moved."""
        by, most = self.moments.rounding(of), self.moments.width(of) ** 2 / 4
        if not by:
            return found
        return found.seen(lambda spread: Apart(spread, by, most), found.value)

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


FIGURES: dict[str, Callable[[Sums], Estimate]] = {
    "avg": lambda sums: sums.mean(),
    "var_samp": lambda sums: sums.variance(sample=True),
    "var_pop": lambda sums: sums.variance(),
    "stddev_samp": lambda sums: sums.deviation(sample=True),
    "stddev_pop": lambda sums: sums.deviation(),
    "covar_samp": lambda sums: sums.covariance(sample=True),
    "covar_pop": lambda sums: sums.covariance(),
    "corr": lambda sums: sums.correlation(),
}


def figures(
    function: str,
    moments: Moments,
    rows: Sequence[Sequence[int]],
    mechanism: Additive,
    hidden: Sequence[Hidden],
) -> list[Estimate]:
    """A figure for each group, from its noisy part sums and what clipping hid of it."""
    found = FIGURES[function]
    return [
        _figure(found, moments, [int(part) for part in row], mechanism, cut_off)
        for row, cut_off in zip(rows, hidden, strict=True)
    ]


def _figure(
    found: Callable[[Sums], Estimate],
    moments: Moments,
    parts: Sequence[int],
    mechanism: Additive,
    hidden: Hidden,
) -> Estimate:
    """The figure of what was kept, which has the smaller noise, with the interval of
    what was kept and cut off together, within which it is held as a sum is.
    """
    kept = found(Sums(moments, parts, mechanism))
    if hidden.nothing:
        return kept
    if hidden.open:
        return opened(kept)
    both = Both(mechanism.law, hidden.law)
    added = [a + b for a, b in zip(parts, hidden.parts, strict=True)]
    spread = found(Sums(moments, added, both)).spread
    spread, value = Once(spread), kept.value
    low, high = spread.ends(USUAL)
    if not low <= value <= high:  # else it lies in the wider interval as well
        sure = tails(both.kept.deviation, hidden.deviation, 1 - USUAL).sure
        value = cut(value, spread.ends(1 - max(sure, LEAST)))
    return Estimate(value, spread, kept.noise or kept.spread)
