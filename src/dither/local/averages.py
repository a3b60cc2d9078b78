"""Means and variances of numbers on devices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.local.frequencies import promised, shared_notes
from dither.local.numbers import Numbers
from dither.local.oracles import Mean
from dither.local.parts import Part, parts
from dither.privacy.binomial import lower, upper
from dither.release import Ends, Mapped, Release

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["Average", "Variance", "average", "mean", "variance"]

NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class Average(Release):
    """The mean of a number over all devices: unbiased, so that it may lie outside of the
    bounds. Its interval ends at the bounds, or at the mean if that is farther out.
    """

    messages: int = 0
    standard_error: float = math.nan

    def _derived(self, **changes: Any) -> Release:
        return plain(self, **changes)


@dataclass(frozen=True, eq=False)
class Variance(Release):
    """The variance of a number over all devices, and `mean`, their mean."""

    messages: int = 0
    mean: Average = field(default_factory=lambda: Average("", math.nan, ()))

    @property
    def deviation(self) -> Release:
        """The standard deviation."""
        root = self.map(lambda value: np.sqrt(np.maximum(value, 0)), monotone=True)
        return plain(root, what=f"{self.mean.what}, standard deviation")

    def _derived(self, **changes: Any) -> Release:
        return plain(self, **changes)


def plain(release: Release, **changes: Any) -> Release:
    """A release of only a value."""
    names = ("what", "value", "sources", "spread", "keys", "notes", "noise")
    return Release(**({name: getattr(release, name) for name in names} | changes))


@dataclass(frozen=True)
class MeanSpread:
    """Where the mean of place / k lies.

    Of messages that are one of two, the ends are exact (Clopper & Pearson 1934): a sum
    of independent coins is nowhere further from its mean than a binomial variable with
    the same mean (Hoeffding 1956). If kept bits come again, as many messages are taken
    off as they are worth less. Other messages have bounded scores, whose variance is
    that of the sample.
    """

    part: Part

    @property
    def oracle(self) -> Mean:
        assert isinstance(self.part.oracle, Mean)
        return self.part.oracle

    @property
    def value(self) -> float:
        return float(self.part.counts @ self.oracle.scores) / self.part.messages

    @property
    def repeated(self) -> float:
        """Number of repeated messages that carry as much information as one independent
        message.
        """
        return 1 + (self.part.periods - 1) * self.oracle.shared(self.value)

    @property
    def error(self) -> float:
        """The standard error."""
        away = (self.oracle.scores - self.value) ** 2
        square = float(self.part.counts @ away) / max(self.part.messages - 1, 1)
        return math.sqrt(square * self.repeated / self.part.messages)

    def ends(self, confidence: float) -> Ends:
        low, high = self.uncut(confidence)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def uncut(self, confidence: float) -> Ends:
        if self.oracle.outcomes == 2:
            low, high = self._shares(confidence)
            start, stop = self.oracle.scores
            return start + low * (stop - start), start + high * (stop - start)
        width = NORMAL.inv_cdf((1 + confidence) / 2) * self.error
        return self.value - width, self.value + width

    def _shares(self, confidence: float) -> tuple[float, float]:
        """Of ones among the messages."""
        ones, messages = int(self.part.counts[1]), self.part.messages
        if self.part.periods == 1:
            tail = (1 - confidence) / 2
            return lower(ones, messages, tail), upper(ones, messages, tail)
        return _wilson(ones / messages, messages / self.repeated, confidence)


def _wilson(share: float, trials: float, confidence: float) -> tuple[float, float]:
    z = NORMAL.inv_cdf((1 + confidence) / 2)
    middle = share + z**2 / (2 * trials)
    width = z * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    scale = 1 + z**2 / trials
    return (middle - width) / scale, (middle + width) / scale


def mean(tally: Tally, numbers: Numbers) -> Average:
    """The release of a tally whose task asks for a mean."""
    return average(tally, parts(tally)[0], numbers, tally.task.name)


def average(tally: Tally, part: Part, numbers: Numbers, what: str) -> Average:
    """The mean of one part."""
    spread = MeanSpread(part)
    influence = spread.oracle.influence * numbers.range / part.messages
    note = f"100 dishonest devices can change the mean by {100 * influence:.3g}"
    return Average(
        what=what,
        value=numbers.low + numbers.range * spread.value,
        sources=(promised(tally),),
        spread=Mapped(lambda end: numbers.low + numbers.range * end, spread),
        notes=(note, *shared_notes(tally)),
        messages=part.messages,
        standard_error=numbers.range * spread.error,
    )


@dataclass(frozen=True)
class VarianceSpread:
    """Where the variance of place / k lies: that of E[(x − ½)²] − (E[x] − ½)², whose
    two terms come from different devices. Their intervals are combined as squares of
    distances (Zou & Donner 2008), after the second term's was squared.
    """

    first: MeanSpread
    second: MeanSpread

    @property
    def value(self) -> float:
        """Unbiased: the square of a noisy mean is too large by the noise's variance."""
        squared = (self.first.value - 0.5) ** 2 - self.first.error**2
        return self.second.value / 4 - squared

    def ends(self, confidence: float) -> Ends:
        one, other = self.second.value / 4, (self.first.value - 0.5) ** 2
        # uncut: next to a bound, a cut interval says nothing about how far off one is
        one_low, one_high = (end / 4 for end in self.second.uncut(confidence))
        other_low, other_high = _squared(*self.first.uncut(confidence))
        low = one - other - math.hypot(one - one_low, other_high - other)
        high = one - other + math.hypot(one_high - one, other - other_low)
        if not other_low:
            # a square next to 0 is not normal, and the first term alone is a bound
            high = one_high
        return np.clip(low, 0.0, 0.25), np.clip(high, 0.0, 0.25)


def _squared(low: float, high: float) -> tuple[float, float]:
    """The squares of x − ½ for x in an interval."""
    squares = (low - 0.5) ** 2, (high - 0.5) ** 2
    return (0.0 if low <= 0.5 <= high else min(squares)), max(squares)


def variance(tally: Tally, numbers: Numbers) -> Variance:
    """The release of a tally whose task asks for a variance."""
    first, second = parts(tally)
    spread = VarianceSpread(MeanSpread(first), MeanSpread(second))
    scale = numbers.range**2
    return Variance(
        what=f"{tally.task.name}, variance",
        value=scale * spread.value,
        sources=(promised(tally),),
        spread=Mapped(lambda end: scale * end, spread),
        notes=shared_notes(tally),
        messages=tally.messages,
        mean=average(tally, first, numbers, f"{tally.task.name}, mean"),
    )
