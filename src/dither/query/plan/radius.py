"""Which radius serves an answer best: a larger one adds noise, a smaller one cuts
off more of heavy units.

Units are counted by the norm of their whole contribution, in bins whose edges grow by
√2, with noise that is charged as a small share of the answer's cost. What is made of
the noisy counts, and of public scales, is post-processing (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Bins, Kind

__all__ = ["Radius", "radius_of", "seen"]

WINDOWS = (1, 2, 4, 8)
FALSE_ALARM = 0.02
"""How often noise alone may pass for units in the lowest bin; in others, by their size,
less often.
"""
BEYOND = 3
"""Number of bins above the last one that certainly has units within which a radius may
lie.
"""
NEXT = 2.5
"""In standard deviations: what neighbouring bins need to be treated as a continuation
of a bin that certainly has units.
"""
SLOWEST = 0.4
"""How many units, at most, a bin of the tail that is not seen has beside the bin below
it.
"""

NORMAL = 1.96
WIDER = {Kind.TOTAL: 1.1, Kind.UNITS: 1.1, Kind.MOMENTS: 1.1, Kind.TREE: 0.6}
"""How much wider an interval may become, beside one whose radius is all that units
have, for a better estimate. Ranks are not values: a quantile's interval is kept a
little narrower in ranks."""
SPREAD = 4
"""Over so many groups, or all, a heavy unit is taken to be spread evenly: what a radius
cuts off its norm, it cuts off the sums of its groups that much more often."""
APART = (0.002, 0.1)
"""How far the values of heavy units lie from those of others, as a part of their range:
all of them on average, and each by itself (which counts less, the more of them there
are)."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Radius:
    """A radius of clipping in steps; `seen` is true if it was chosen by more than noise."""

    value: int
    seen: bool = True


def radius_of(
    plan: Plan, measurement: Measurement, units: Sequence[int], groups: int
) -> Radius:
    """The radius that the noisy counts of units suggest.

    Where there is nothing to see, it is what units have at most, or one row where
    nobody declared that.
    """
    found = seen(units, measurement.bins, plan.choosing(measurement))
    if found is None:
        return Radius(
            measurement.cap or min(measurement.vector.row, measurement.bins.edges[-1]),
            seen=False,
        )
    weighing = Weighing(plan, measurement, found, max(groups, 1))
    return Radius(weighing.capped() if measurement.hiding else weighing.free())


def _at_least_none(lost: float, deviation: float) -> float:
    """The mean of a noisy number of this mean and standard deviation that is treated as
    0 where it is negative.
    """
    normal = NormalDist()
    return deviation * normal.pdf(lost / deviation) + lost * normal.cdf(
        lost / deviation
    )


@dataclass(frozen=True)
class Shape:
    """How a figure of a group follows its sums: its noise for a standard deviation of
    1, and the share of what is hidden that moves its lower and its upper end.
    """

    noise: float
    below: float
    above: float


SHAPES = {
    Kind.TOTAL: Shape(1.0, 0.0, 1.0),
    Kind.UNITS: Shape(1.0, 0.0, 1.0),
    Kind.MOMENTS: Shape(math.sqrt(0.5), 0.5, 0.5),
    Kind.TREE: Shape(2.0, 0.5, 0.5),
}


@dataclass(frozen=True)
class Weighing:
    """What a radius does to the numbers of a group, on average over the groups."""

    plan: Plan
    measurement: Measurement
    units: Units
    groups: int

    @property
    def _shape(self) -> Shape:
        return SHAPES[self.measurement.vector.kind]

    def _deviation(self, part: Fraction, levels: int) -> float:
        """The noise for a radius of 1, of a vector that gets this part of the cost."""
        twice, size = 1 + self.plan.replacing, self.plan.spend.part(part)
        return (
            twice
            * (math.sqrt(levels) if self.plan.spend.gaussian else levels * math.sqrt(2))
            / size
        )

    def _noise(self, radius: int, part: Fraction | None = None) -> float:
        part = self.measurement.part(radius) if part is None else part
        return (
            self._shape.noise
            * radius
            * self._deviation(part, self.measurement.vector.levels)
        )

    def _lost(self, radius: int) -> float:
        """What is cut off a group."""
        times = (
            math.sqrt(min(self.groups, SPREAD))
            if self.measurement.hiding and self.measurement.vector.kind is not Kind.TREE
            else 1
        )
        return times * self.units.lost(radius) / self.groups

    def _bias(self, radius: int) -> float:
        """What is cut off a group; of a mean or a quantile, how much that changes."""
        lost = self._lost(radius)
        if self.measurement.vector.kind not in (Kind.MOMENTS, Kind.TREE):
            return lost
        always, each = APART
        return lost * (always + each / math.sqrt(max(self.units.above(radius), 1.0)))

    def _error(self, radius: int) -> float:
        return math.hypot(self._bias(radius), self._noise(radius))

    def _width(self, radius: int) -> float:
        """How wide an interval becomes that holds what was cut off too."""
        if not self.measurement.clips(radius):
            return 2 * NORMAL * self._noise(radius)
        lost = self._lost(radius)
        hidden = self.plan.hidden_radius(self.measurement, radius) * self._deviation(
            self.measurement.hiding, 1
        )
        if not self.measurement.vector.sign:
            return 2 * NORMAL * math.hypot(self._noise(radius), hidden)
        seen, sides = (
            _at_least_none(lost, hidden),
            (self._shape.below, self._shape.above),
        )
        return sum(
            NORMAL * math.hypot(self._noise(radius), side * hidden) + side * seen
            for side in sides
        )

    def free(self) -> int:
        """The radius with the smallest error, where nobody declared what units have at
        most.
        """
        least = (
            1
            if self.measurement.vector.function == "sum"
            else self.measurement.vector.row
        )
        error: Callable[[int], float] = self._error
        if self.measurement.vector.kind in (Kind.TOTAL, Kind.UNITS):
            error = self._sum
        return min((max(least, radius) for radius in self.units.radii), key=error)

    def _sum(self, radius: int) -> float:
        """What is cut off and the noise of all groups, side by side."""
        return self._bias(radius) + self._noise(radius)

    def capped(self) -> int:
        """The radius with the smallest error, of those whose intervals are not much
        wider than without clipping.
        """
        assert self.measurement.cap is not None
        cap, widest = (
            self.measurement.cap,
            WIDER[self.measurement.vector.kind]
            * 2
            * NORMAL
            * self._noise(self.measurement.cap, self.measurement.whole),
        )
        narrow = [
            radius
            for radius in self.units.radii
            if radius < cap and self._width(radius) <= widest
        ]
        return min([*narrow, cap], key=self._error)


@dataclass(frozen=True)
class Units:
    """How many units have their norm in each bin, as far as noisy counts tell; `top` is
    the last bin that is seen.
    """

    bins: Bins
    counts: Counts
    top: int

    @property
    def radii(self) -> list[int]:
        """The radii worth a thought: up to a few bins above the last one that is seen."""
        return list(self.bins.edges[: self.top + 1 + BEYOND])

    def above(self, radius: int) -> float:
        """How many units lie above a radius."""
        return float(self.counts[self.bins.middles > radius].sum())

    def lost(self, radius: int) -> float:
        """How much of all norms a radius cuts off."""
        return float(self.counts @ np.maximum(self.bins.middles - radius, 0))


def seen(noisy: Sequence[int], bins: Bins, mechanism: Additive) -> Units | None:
    """The units that noisy counts show; None if everything may be noise."""
    counts = np.asarray(noisy, np.float64)
    top = _top(counts, mechanism)
    return None if top < 0 else Units(bins, _units(counts, top), top)


def _units(noisy: Counts, top: int) -> Counts:
    """Units in each bin. Above the last that noise lets see, they go on falling as in
    the last two, or faster.

    Where they did not fall up to there, they are taken to end there.
    """
    units = np.maximum(noisy, 0)
    last, before = units[top], units[max(top - 2, 0)]
    ratio = min(math.sqrt(last / before), SLOWEST) if last < before else 0.0
    units[top + 1 :] = last * ratio ** np.arange(1, units.size - top)
    return units


def _top(noisy: Counts, mechanism: Additive) -> int:
    """The last bin at or above which there are units: certainly, or as a continuation
    of one where certainly are. −1 if none.

    A far bin that noise alone filled would let the radius explode, so that must be the
    rarer the farther; a continuation is looked for next to the last sure bin only,
    where a mistake costs little.
    """
    top = next(
        (
            b
            for b in range(noisy.size - 1, -1, -1)
            if _filled(noisy[b:], _sure(mechanism, b))
        ),
        -1,
    )
    enough = [NEXT * math.sqrt(width * noise_variance(mechanism)) for width in WINDOWS]
    while 0 <= top < noisy.size - 1 and _filled(noisy[top + 1 :], enough):
        top += 1
    return top


@lru_cache(maxsize=1024)
def _sure(mechanism: Additive, place: int) -> tuple[float, ...]:
    """Count of each window that noise rarely exceeds. Noise may pass for units where
    the bin is low, and costs little; the higher the bin, the rarer, so that the radius
    grows little on average.
    """
    alarm = FALSE_ALARM / (len(WINDOWS) * math.sqrt(2) ** place)
    return tuple(mechanism.law.copies(width).quantile(alarm) for width in WINDOWS)


def _filled(noisy: Counts, bounds: Sequence[float]) -> bool:
    """Whether the first bins hold more than noise explains, taken one, two, four or
    eight at a time.
    """
    sums = np.cumsum(noisy)
    return any(
        sums[min(width, sums.size) - 1] > bound
        for width, bound in zip(WINDOWS, bounds, strict=True)
    )
