"""Estimates: a value, and where the true one lies. Counts and sums, with what clipping
hid of them (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from dither.mechanisms import Additive
from dither.noise import Law
from dither.query.statistics.intervals import (
    ANYWHERE,
    NOTHING,
    Anywhere,
    Ends,
    Hidden,
    one_sided,
)
from dither.release import Around, Inside, Spread, clamped

__all__ = [
    "SIDES",
    "Estimate",
    "Total",
    "at_most",
    "changed",
    "ends_of",
    "opened",
    "tails",
    "totals",
    "whole",
]

SIDES: dict[int, Ends] = {1: (0.0, math.inf), -1: (-math.inf, 0.0), 0: ANYWHERE}
"""The ranges of sums that are never negative, never positive, or either."""


@dataclass(frozen=True)
class Estimate:
    """A value, and where the true one lies; `noise` is where it would lie if nothing
    had been hidden. As for a release, the value becomes the nearest one within public
    limits, and its interval is cut to them and holds it (`Inside`). The value is None if
    noise hides it.
    """

    value: Any
    spread: Spread
    noise: Spread | None = None
    limits: Ends | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", clamped(self.value, self.limits))

    def ends(self, confidence: float, *, noise: bool = False) -> Ends:
        alone = self.noise if noise else None
        low, high = (alone or self._inside).ends(confidence)
        return low, high

    @property
    def _inside(self) -> Spread:
        return Inside(self.spread, self.value, self.limits)

    def seen(
        self, change: Callable[[Spread], Spread], value: Any, limits: Ends | None = None
    ) -> Estimate:
        """The same, seen through a change of its spreads."""
        return Estimate(
            value,
            change(self._inside),
            None if self.noise is None else change(self.noise),
            limits,
        )


def opened(estimate: Estimate) -> Estimate:
    """An estimate without an interval, because clipping may have cut off any amount; that
    of the noise alone stays.
    """
    return Estimate(estimate.value, Anywhere(), estimate.noise or estimate.spread)


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
        """The estimate, held within its ends: the part of what was cut off that
        noise cannot explain is added.
        """
        return (self.noisy + self.shift) * self.step

    @cached_property
    def shift(self) -> float:
        """In steps: how far the estimate is moved to lie within its ends at 95 %."""
        if self.hidden.nothing or self.hidden.open:
            return 0.0
        steps, sure = self.hidden.steps, self._tails(0.05).sure
        if self.sign:
            return self.sign * max(self.sign * steps - self._joint(sure), 0.0)
        reach = self._joint(sure / 2)
        return steps - min(max(steps, -reach), reach)

    def ends(self, confidence: float) -> Ends:
        low, high = (
            self._open(confidence) if self.hidden.open else self.sides(confidence)
        )
        return low * self.step, high * self.step

    @property
    def limits(self) -> Ends:
        """The public range of the true value."""
        return SIDES[self.sign]

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
        """The ends in steps, before they are cut to the known range of the true value.

        The near one (the lower one of what is never negative) does not need to know
        what was hidden, unless that is more than noise explains.
        """
        hidden, noisy = self.hidden.steps, float(self.noisy)
        if self.hidden.nothing:
            near = self.mechanism.error(confidence, integer=True)
            return noisy - near, noisy + near
        missed = 1 - confidence
        if not self.sign:
            width = self._joint(missed / 2)
            return noisy + hidden - width, noisy + hidden + width
        split, hidden = self._tails(missed), self.sign * hidden
        near = max(
            -self.mechanism.law.quantile(split.near), hidden - self._joint(split.sure)
        )
        reach = self._joint(split.far)
        far = max(hidden + reach, reach / 2)
        ends = noisy + self.sign * near, noisy + self.sign * far
        return min(ends), max(ends)

    def _tails(self, missed: float) -> Tails:
        return tails(self.mechanism.law.deviation, self.hidden.deviation, missed)

    def _joint(self, missed: float) -> float:
        return _joint(self.mechanism.law, self.hidden.law, missed)


@dataclass(frozen=True)
class Tails:
    """The error probability of an interval, by its ends: the one that what was kept tells by
    itself, the one beyond all that may be hidden, and the one that moves the estimate.
    """

    near: float
    far: float
    sure: float


def tails(kept: float, hidden: float, missed: float) -> Tails:
    """The split that makes an interval about as narrow as it can be, for these standard
    deviations. The estimate is moved so rarely without reason that its squared error
    grows by three per cent at most.
    """
    sure = min(0.1 * missed, 0.03 * (kept / hidden) ** 2)
    near = max(0.1, 0.9 * kept / (kept + math.hypot(kept, hidden))) * missed
    return Tails(near, 0.9 * missed - near, sure)


@lru_cache(maxsize=256)
def _joint(first: Law, second: Law, missed: float) -> float:
    return (first + second).quantile(missed)


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
    value = noisy if step == 1 and not total.shift else total.value
    noise = Around(value, mechanism, integer=True, step=step)
    return Estimate(value, total, noise, total.limits)


@dataclass(frozen=True)
class Whole:
    """The ends of a number that is known to be whole."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        inner = _inwards(low, math.ceil, -1e-9), _inwards(high, math.floor, 1e-9)
        if inner[0] <= inner[1]:
            return inner
        # No whole number lies between: the noise is smaller than a fraction of a row
        return math.floor(low), math.ceil(high)


def _inwards(end: float, to: Callable[[float], int], least: float) -> float:
    return end if math.isinf(end) else to(end + least)


def whole(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The same of numbers that are known to be whole."""
    return [one.seen(Whole, round(one.value)) for one in estimates]


def at_most(estimates: Sequence[Estimate], most: int | None) -> list[Estimate]:
    """The same of numbers that cannot be larger than a public one, if there is one."""
    if most is None:
        return list(estimates)
    return [
        one.seen(lambda spread: spread, one.value, (-math.inf, most))
        for one in estimates
    ]


@dataclass(frozen=True)
class Changed:
    """The ends of what was measured as a whole number and is shown otherwise, such as a
    date; None if there is no bound.
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
        one.seen(
            lambda spread: Changed(spread, convert),
            None if one.value is None else convert(int(one.value)),
        )
        for one in estimates
    ]
