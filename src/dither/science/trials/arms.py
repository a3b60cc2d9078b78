"""The noisy count of yes in one arm, less what a proportion leads one to expect, and
the law of that difference.

The size of an arm is public, or it is private and only the noisy numbers of yes and of
no are known.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.mechanisms import Additive
from dither.release import Ends
from dither.science.trials.columns import Reals
from dither.science.trials.null import Law
from dither.science.trials.tulap import Binomial

__all__ = ["LEFT_OUT", "Arm", "Known", "Private", "Share", "Steps"]

LEFT_OUT = 5e-4
"""The probability with which a private size may lie outside of the sizes that a p-value
is the worst of; it is added to the p-value (Berger & Boos 1994).
"""
REACH = 25.0
UNLIKELY = 1e-12
FINE = 96
"""So many steps are one standard deviation of a law that is held in steps."""


@dataclass(frozen=True)
class Steps:
    """A law on numbers that are a step apart. If it is one of numbers in between, each
    of them may have been moved by `slack` steps, and tails are longer by that.
    """

    start: float
    step: float
    weights: Reals
    slack: int = 0

    @cached_property
    def values(self) -> Reals:
        return self.start + self.step * np.arange(self.weights.size, dtype=np.float64)

    @cached_property
    def _sums(self) -> Reals:
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.weights), 1.0)])

    def below(self, x: Reals) -> Reals:
        """P(Y ≤ x); a number that is equal except for rounding counts."""
        places = np.floor((x - self.start) / self.step + 1e-6) + 1 + self.slack
        inside = np.clip(places, 0, self.weights.size).astype(np.int64)
        return np.asarray(self._sums[inside])

    def above(self, x: Reals) -> Reals:
        """P(Y ≥ x)."""
        places = np.ceil((x - self.start) / self.step - 1e-6) - self.slack
        inside = np.clip(places, 0, self.weights.size).astype(np.int64)
        return np.asarray(1 - self._sums[inside])


def noise_of(law: Law) -> tuple[Reals, Reals]:
    """All noise that is likely enough to matter, and how likely it is: of large noise,
    the middles of parts much finer than a step.
    """
    part = _part(law)
    most = math.ceil(REACH * law.scale / part) + 1
    values = part * np.arange(-most, most + 1, dtype=np.float64)
    tails = law.survival(np.append(values, values[-1] + part) - part / 2)
    weights = tails[:-1] - tails[1:]
    return values, weights / weights.sum()


def _part(law: Law) -> float:
    return float(max(1, math.floor(law.scale / (8 * FINE))))


def added(parts: Sequence[tuple[Reals, Reals]], step: float, shift: float) -> Steps:
    """The law of a sum of independent parts, in steps. What lies between two steps is
    split between them, which keeps the mean.
    """
    starts, laws = zip(*(_placed(*part, step) for part in parts), strict=True)
    size = sum(law.size for law in laws) - len(laws) + 1
    length = 1 << (size - 1).bit_length()
    product = np.ones(length // 2 + 1, np.complex128)
    for law in laws:
        product = product * np.fft.rfft(law, length)
    found = np.maximum(np.fft.irfft(product, length)[:size], 0.0)
    sums = np.cumsum(found)
    first, last = np.searchsorted(sums, [UNLIKELY, sums[-1] - UNLIKELY])
    kept = found[first : last + 1]
    start = (sum(starts) + int(first)) * step - shift
    slack = 0 if step == 1 else len(parts)
    return Steps(start, step, kept / kept.sum(), slack)


def _placed(values: Reals, weights: Reals, step: float) -> tuple[int, Reals]:
    at = values / step
    down = np.floor(at + 1e-9)
    part = np.maximum(at - down, 0.0)
    places = (down - down.min()).astype(np.int64)
    size = int(places.max()) + 2
    found = np.bincount(places, weights * (1 - part), size)
    found += np.bincount(places + 1, weights * part, size)
    return int(down.min()), found.astype(np.float64)


class Arm(ABC):
    """One arm's noisy count."""

    @property
    @abstractmethod
    def parts(self) -> tuple[int, int]:
        """The noisy numbers of yes and of no."""

    @property
    def share(self) -> float:
        """The noisy proportion of yes."""
        yes, no = (max(0, one) for one in self.parts)
        return yes / (yes + no) if yes + no else 0.0

    slack = 0.0
    """How much longer tails are made than they are."""

    @abstractmethod
    def sizes(self) -> Iterator[int]:
        """The sizes that the arm may have."""

    @abstractmethod
    def moved(self, p: float) -> float:
        """How far the noisy count is from what a proportion p leads one to expect,
        whatever the size is.
        """

    @abstractmethod
    def law(self, p: float, size: int) -> Steps:
        """The law of that, where p is true."""


@dataclass(frozen=True)
class Known(Arm):
    """A noisy count among a public number of people."""

    noisy: int
    size: int
    noise: Law

    @property
    def parts(self) -> tuple[int, int]:
        return self.noisy, self.size - self.noisy

    def sizes(self) -> Iterator[int]:
        yield self.size

    def moved(self, p: float) -> float:
        return self.noisy - self.size * p

    def law(self, p: float, size: int) -> Steps:
        counts = Binomial(size, p, REACH)
        spread = math.sqrt(size * p * (1 - p) + self.noise.variance)
        step = float(max(1, math.floor(spread / FINE)))
        parts = [(counts.values, counts.weights), noise_of(self.noise)]
        return added(parts, step, size * p)


@dataclass(frozen=True)
class Private(Arm):
    """Noisy numbers of yes and of no, among people of whom nobody knows how many they
    are.
    """

    yes: int
    no: int
    noise: Law

    slack = 1.0
    """One person: the least and the largest size then cover all between, whose counts
    lie at other places (docs/proofs/trials.md).
    """

    @property
    def parts(self) -> tuple[int, int]:
        return self.yes, self.no

    def sizes(self) -> Iterator[int]:
        """A smallest and a largest one: all but `LEFT_OUT` lie between them. With tails
        longer by `slack`, no size between has a larger p-value than both.
        """
        about, width = self.yes + self.no, self._width
        ends = {max(1, round(about + side * width)) for side in (-1, 1)}
        yield from sorted(ends)

    def tried(self, most: int) -> tuple[Sequence[int], float]:
        """All sizes that are likely, if they are no more than that; else the least and
        the largest, and the slack that they need.
        """
        ends = tuple(self.sizes())
        if ends[-1] - ends[0] < most:
            return range(ends[0], ends[-1] + 1), 0.0
        return ends, self.slack

    @cached_property
    def _width(self) -> int:
        noise, part = noise_of(self.noise), _part(self.noise)
        both = added([noise, noise], part, 0.0)
        tails = both.above(part * np.arange(both.weights.size, dtype=np.float64))
        return int(part * np.argmax(2 * tails <= LEFT_OUT))

    def moved(self, p: float) -> float:
        return (1 - p) * self.yes - p * self.no

    def law(self, p: float, size: int) -> Steps:
        counts = Binomial(size, p, REACH)
        noise, weights = noise_of(self.noise)
        variance = size * p * (1 - p) + (p**2 + (1 - p) ** 2) * self.noise.variance
        step = max(math.sqrt(variance), 0.1) / FINE
        parts = [
            (counts.values, counts.weights),
            ((1 - p) * noise, weights),
            (p * noise, weights),  # symmetric, so its sign does not matter
        ]
        return added(parts, step, size * p)


@dataclass(frozen=True)
class Share:
    """Where the share of yes among the people of an arm lies. If their number is
    private, both counts hold together (union bound).
    """

    arm: Arm
    mechanism: Additive

    def ends(self, confidence: float) -> Ends:
        yes, no = self.arm.parts
        if isinstance(self.arm, Known):
            width = self.mechanism.error(confidence, integer=True)
            ends = np.clip([yes - width, yes + width], 0, self.arm.size)
            return tuple((ends / self.arm.size).tolist())
        width = self.mechanism.error((1 + confidence) / 2, integer=True)
        return _least(yes, no, width), 1 - _least(no, yes, width)


def _least(yes: int, no: int, width: float) -> float:
    """The least share of yes, if both counts are off by no more."""
    low, high = max(0.0, yes - width), max(0.0, no + width)
    return low / (low + high) if low > 0 else 0.0
