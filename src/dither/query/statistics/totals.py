"""Estimates: a value, and where the true one lies. Counts and sums, with what clipping
hid of them (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.query.statistics.intervals import (
    ANYWHERE,
    NOTHING,
    Ends,
    Hidden,
    cut_ends,
    normal,
    one_sided,
)
from dither.release import Around, Spread

__all__ = ["Estimate", "Total", "at_most", "changed", "ends_of", "totals", "whole"]


@dataclass(frozen=True)
class Estimate:
    """A value, and where the true one lies; `noise` is where it would lie if nothing
    had been hidden.
    """

    value: Any
    spread: Spread
    noise: Spread | None = None

    def ends(self, confidence: float, *, noise: bool = False) -> Ends:
        spread = self.noise if noise and self.noise is not None else self.spread
        low, high = spread.ends(confidence)
        return low, high

    def seen(self, change: Callable[[Spread], Spread], value: Any) -> Estimate:
        """The same, seen through a change of its spreads."""
        return Estimate(
            value,
            change(self.spread),
            None if self.noise is None else change(self.noise),
        )


def ends_of(
    estimates: Sequence[Estimate], confidence: float, *, noise: bool = False
) -> list[Ends]:
    """The interval of each estimate."""
    return [one.ends(confidence, noise=noise) for one in estimates]


@dataclass(frozen=True)
class Total:
    """A sum in steps, with what clipping hid of it. `sign` says to which side hidden
    rows can move it; 0: to both.
    """

    noisy: int
    mechanism: Additive
    step: float
    sign: int
    hidden: Hidden = NOTHING

    @property
    def value(self) -> float:
        """With what was surely hidden; where that can lie on one side only, what seems
        to lie on the other is noise.
        """
        hidden = self.hidden.sure if self.hidden.sure * self.sign >= 0 else 0.0
        return (self.noisy + hidden) * self.step

    def ends(self, confidence: float) -> Ends:
        low, high = (
            self._open(confidence) if self.hidden.open else self.sides(confidence)
        )
        low, high = min(low * self.step, self.value), max(high * self.step, self.value)
        within = {1: (0.0, math.inf), -1: (-math.inf, 0.0), 0: ANYWHERE}[self.sign]
        return cut_ends(low, high, within)

    def _open(self, confidence: float) -> Ends:
        width = self.mechanism.error(one_sided(confidence), integer=True)
        if not self.sign:
            return ANYWHERE
        return (
            (self.noisy - width, math.inf)
            if self.sign > 0
            else (-math.inf, self.noisy + width)
        )

    def sides(self, confidence: float) -> Ends:
        """The ends in steps, before they are cut to where the truth is known to lie.

        Each fails with half of what the interval may. The lower one (of what is never
        negative) needs not know what was hidden.
        """
        near = self.mechanism.error(confidence, integer=True)
        if self.hidden.nothing:
            return self.noisy - near, self.noisy + near
        hidden, far = self.hidden.steps, self._both(confidence)
        low = (
            self.noisy - near
            if self.sign > 0
            else self.noisy + min(hidden, 0 if self.sign else hidden) - far
        )
        high = (
            self.noisy + near
            if self.sign < 0
            else self.noisy + max(hidden, 0 if self.sign else hidden) + far
        )
        return low, high

    def _both(self, confidence: float) -> float:
        both = noise_variance(self.mechanism) + self.hidden.deviation**2
        return normal(confidence) * math.sqrt(both) + 1


def totals(
    noisy: Sequence[int],
    mechanism: Additive,
    step: float,
    sign: int,
    hidden: Sequence[Hidden],
) -> list[Estimate]:
    """Counts or sums in whole steps of this size. `sign` says to which side hidden rows
    can move them.
    """
    return [
        _total(number, mechanism, step, sign, cut_off)
        for number, cut_off in zip(noisy, hidden, strict=True)
    ]


def _total(
    noisy: int, mechanism: Additive, step: float, sign: int, hidden: Hidden
) -> Estimate:
    total = Total(noisy, mechanism, step, sign, hidden)
    value = noisy if step == 1 and not hidden.sure else total.value
    return Estimate(value, total, Around(value, mechanism, integer=True, step=step))


@dataclass(frozen=True)
class Whole:
    """The ends of a number that is known to be whole."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return _inwards(low, math.ceil, -1e-9), _inwards(high, math.floor, 1e-9)


def _inwards(end: float, to: Callable[[float], int], least: float) -> float:
    return end if math.isinf(end) else to(end + least)


def whole(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The same of numbers that are known to be whole."""
    return [one.seen(Whole, round(one.value)) for one in estimates]


@dataclass(frozen=True)
class AtMost:
    """The ends of a number that cannot be larger than a public one."""

    inner: Spread
    most: float

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return min(low, self.most), min(high, self.most)


def at_most(estimates: Sequence[Estimate], most: int | None) -> list[Estimate]:
    """The same of numbers that cannot be larger than a public one, if there is one."""
    if most is None:
        return list(estimates)
    return [
        one.seen(lambda spread: AtMost(spread, most), min(one.value, most))
        for one in estimates
    ]


@dataclass(frozen=True)
class Changed:
    """The ends of what was measured as a whole number and is shown otherwise, such as a
    date; None where there is no bound.
    """

    inner: Spread
    convert: Callable[[int], Any]

    def ends(self, confidence: float) -> Ends:
        ends = self.inner.ends(confidence)
        low, high = (
            None if math.isinf(end) else self.convert(int(end)) for end in ends
        )
        return low, high


def changed(
    estimates: Sequence[Estimate], convert: Callable[[int], Any]
) -> list[Estimate]:
    """The same of what was measured as whole numbers, shown as what it stands for."""
    return [
        one.seen(lambda spread: Changed(spread, convert), convert(int(one.value)))
        for one in estimates
    ]
