"""Margins for the rounding of values to steps, so that intervals hold the figures of
values that are not rounded (docs/proofs/intervals.md).

Values on lattices, such as tenths, are rounded to the same side again and again: these
are bounds for the worst case, never for the usual one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dither.query.statistics.intervals import (
    ANYWHERE,
    Ends,
    cut,
    cut_ends,
    one_sided,
)
from dither.query.statistics.totals import Estimate
from dither.release import Spread

__all__ = ["MOST_ROWS", "ROUNDED", "Apart", "Moved", "Turned", "moved"]

MOST_ROWS = 1 << 36
"""A group is taken to have no more rows than this. How many it has is private, and
bounds rounding as a whole.
"""
ROUNDED = 0.75
"""In steps: how far a row's value may be moved. Half of it is rounding to the nearest
step, the rest what doubles lose before.
"""
DEVIATIONS_PART = 0.1
"""The part of the error probability of a correlation's interval that goes to both
standard deviations.
"""


@dataclass(frozen=True)
class Moved:
    """The ends of a figure that rounding may have moved by `by` to either side, clamped
    to its known range.
    """

    inner: Spread
    by: float
    within: Ends = ANYWHERE

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        ends = cut_ends(low - self.by, high + self.by, self.within)
        return _open(low, ends[0]), _open(high, ends[1])


def _open(end: float, otherwise: float) -> float:
    """An infinite end, or else the other one."""
    return end if math.isinf(end) else otherwise


def moved(
    estimate: Estimate, by: float, within: Ends, noise_within: Ends | None = None
) -> Estimate:
    """An estimate with what rounding may have moved; itself if that is nothing.

    `noise_within` is the range of the interval of the noise alone, if it is another.
    """
    if not by:
        return estimate
    noise = estimate.noise
    if noise is not None:
        noise = Moved(noise, by, within if noise_within is None else noise_within)
    spread = Moved(estimate.spread, by, within)
    return Estimate(estimate.value, spread, noise, estimate.limits)


@dataclass(frozen=True)
class Apart:
    """The ends of a variance of values that rounding may have moved by up to `by` each:
    the standard deviation moves by no more than that.
    """

    inner: Spread
    by: float
    most: float

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        least = max(_root(low) - self.by, 0.0) ** 2
        most = min((_root(high) + self.by) ** 2, self.most)
        return _open(low, least), _open(high, most)


def _root(variance: float) -> float:
    return math.sqrt(max(variance, 0.0))


@dataclass(frozen=True)
class Turned:
    """The ends of a correlation of values that rounding may have moved by up to `by`
    each: two angles at most, each of which is known from a standard deviation.

    Seen as vectors, centred values are moved by `by` at most in their norm, the
    standard deviation s; so they are turned by arcsin(by / s) at most.
    """

    inner: Spread
    variances: tuple[Spread, Spread]
    by: tuple[float, float]

    def ends(self, confidence: float) -> Ends:
        missed = 1 - confidence
        low, high = self.inner.ends(1 - (1 - DEVIATIONS_PART) * missed)
        side = one_sided(1 - DEVIATIONS_PART * missed / 2)
        turned = sum(
            self._angle(by, spread.ends(side)[0])
            for by, spread in zip(self.by, self.variances, strict=True)
        )
        ends = _turned(low, turned), _turned(high, -turned)
        return _open(low, ends[0]), _open(high, ends[1])

    @staticmethod
    def _angle(by: float, variance: float) -> float:
        if not by:
            return 0.0
        return math.asin(by / math.sqrt(variance)) if variance > by * by else math.pi


def _turned(correlation: float, angle: float) -> float:
    """The correlation at an angle that is larger by `angle`."""
    found = math.acos(cut(correlation, (-1.0, 1.0))) + angle
    return math.cos(cut(found, (0.0, math.pi)))
