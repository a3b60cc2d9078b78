"""Which radius serves an answer best: a larger one adds noise, a smaller one cuts
off more of heavy units.

Units are counted by the norm of their whole contribution, in bins whose edges grow by
√2, with noise that is charged as a small share of the answer's cost. What is made of
the noisy counts, and of public scales, is post-processing (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

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
CAPPED = 0.03
"""`FALSE_ALARM` if a cap is declared. Less of the cost goes to the counts then, and as
many units should be seen as without a cap.
"""
STEEPER = 0.25
"""By which power of two, for each bin above one row, a cap makes false alarms rarer
still: each mistake there costs its square in squared error.
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

APART = (0.002, 0.1)
"""How far the values of heavy units lie from those of others, as a part of their range:
all of them on average, and each by itself (which counts less, the more of them there
are)."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Alarm:
    """The rate at which noise may pass for units in the lowest bin. It falls as bins
    grow, and faster above the bin `row`.
    """

    rate: float
    row: int = sys.maxsize

    def at(self, place: int) -> float:
        """The rate for one window that begins at a bin."""
        steeper = math.exp2(STEEPER * max(place - self.row, 0))
        return self.rate / (len(WINDOWS) * math.sqrt(2) ** place * steeper)


FIRST = Alarm(FALSE_ALARM)


@dataclass(frozen=True)
class Radius:
    """A radius of clipping in steps; `seen` is true if it was chosen by more than noise."""

    value: int
    seen: bool = True


def radius_of(
    plan: Plan, measurement: Measurement, units: Sequence[int], groups: int
) -> Radius:
    """The radius that the noisy counts of units suggest.

    If they show no units, it is one row, or the cap if that is less.
    """
    bins, cap = measurement.bins, measurement.cap
    alarm = FIRST if cap is None else Alarm(CAPPED, bins.bin(measurement.vector.row))
    most = bins.edges[-1] if cap is None else cap
    found = seen(units, bins, plan.choosing(measurement), alarm)
    if found is None:
        return Radius(min(measurement.vector.row, most), seen=False)
    best = Weighing(plan, measurement, found, max(groups, 1)).best()
    return Radius(min(best, most))


SHAPES = {
    Kind.TOTAL: 1.0,
    Kind.UNITS: 1.0,
    Kind.MOMENTS: math.sqrt(0.5),
    Kind.TREE: 2.0,
}
"""The noise of a figure for noise of its sums with a standard deviation of 1."""


@dataclass(frozen=True)
class Weighing:
    """What a radius does to the numbers of a group, on average over the groups."""

    plan: Plan
    measurement: Measurement
    units: Units
    groups: int

    def _deviation(self, part: Fraction, levels: int) -> float:
        """The noise for a radius of 1, of a vector that gets this part of the cost."""
        twice, size = 1 + self.plan.replacing, self.plan.spend.part(part)
        return (
            twice
            * (math.sqrt(levels) if self.plan.spend.gaussian else levels * math.sqrt(2))
            / size
        )

    def _noise(self, radius: int) -> float:
        part = self.measurement.part(radius)
        return (
            SHAPES[self.measurement.vector.kind]
            * radius
            * self._deviation(part, self.measurement.vector.levels)
        )

    def _bias(self, radius: int) -> float:
        """What is cut off a group; of a mean or a quantile, how much that changes."""
        lost = self.units.lost(radius) / self.groups
        if self.measurement.vector.kind not in (Kind.MOMENTS, Kind.TREE):
            return lost
        always, each = APART
        return lost * (always + each / math.sqrt(max(self.units.above(radius), 1.0)))

    def _error(self, radius: int) -> float:
        return math.hypot(self._bias(radius), self._noise(radius))

    def best(self) -> int:
        """The radius with the smallest error. A declared cap only limits the bins: usual
        units are often far smaller.
        """
        vector = self.measurement.vector
        least = 1 if vector.function == "sum" else vector.row
        radii = [max(least, radius) for radius in self.units.radii]
        total = vector.kind in (Kind.TOTAL, Kind.UNITS)
        error = self._sum if total else self._error
        return min(radii, key=error)

    def _sum(self, radius: int) -> float:
        """What is cut off and the noise of all groups, side by side."""
        return self._bias(radius) + self._noise(radius)


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


def seen(
    noisy: Sequence[int], bins: Bins, mechanism: Additive, alarm: Alarm = FIRST
) -> Units | None:
    """The units that noisy counts show; None if everything may be noise, which passes
    for units about as often as `alarm`.
    """
    counts = np.asarray(noisy, np.float64)
    top = _top(counts, mechanism, alarm)
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


def _top(noisy: Counts, mechanism: Additive, alarm: Alarm) -> int:
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
            if _filled(noisy[b:], _sure(mechanism, b, alarm))
        ),
        -1,
    )
    enough = [NEXT * math.sqrt(width * noise_variance(mechanism)) for width in WINDOWS]
    while 0 <= top < noisy.size - 1 and _filled(noisy[top + 1 :], enough):
        top += 1
    return top


@lru_cache(maxsize=1024)
def _sure(mechanism: Additive, place: int, alarm: Alarm) -> tuple[float, ...]:
    """Count of each window that noise rarely exceeds. Noise may pass for units where
    the bin is low, and costs little; the higher the bin, the rarer, so that the radius
    grows little on average.
    """
    missed = alarm.at(place)
    return tuple(mechanism.law.copies(width).quantile(missed) for width in WINDOWS)


def _filled(noisy: Counts, bounds: Sequence[float]) -> bool:
    """Whether the first bins hold more than noise explains, taken one, two, four or
    eight at a time.
    """
    sums = np.cumsum(noisy)
    return any(
        sums[min(width, sums.size) - 1] > bound
        for width, bound in zip(WINDOWS, bounds, strict=True)
    )
