"""Means of numbers on a grid: a number is rounded at random, so that its mean stays, and
what comes out is randomized.

The items are the places 0, …, k of a grid; `items` is k + 1. Estimates are of place / k.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.oracles.oracle import (
    Longitudinal,
    Numbered,
    numbers_of,
    records_of,
)
from dither.local.oracles.response import kept, respond, response_loss
from dither.local.thresholds import chance, check, largest, loss
from dither.local.words import ONE, Words, below, coins

__all__ = ["BinaryMean", "HybridMean", "Mean", "OneBitMean"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]
Reals = NDArray[np.float64]

FINE = 512  # steps of the grid that a window slides over, at least


class Mean(Numbered):
    """What oracles of a mean share: a message is a number, a tally counts each, and
    each stands for a score. The mean of a device's scores is its number's place / k.
    """

    @property
    @abstractmethod
    def scores(self) -> Reals:
        """The estimate of place / k from each message."""

    @property
    def influence(self) -> float:
        """A liar in the place of an honest device moves the sum by this at most."""
        return float(max(self.scores.max(), 1 - self.scores.min()))

    @property
    def worst(self) -> float:
        """The largest variance of one message's score, over all places."""
        return max(self.variance(share) for share in np.linspace(0, 1, 9))

    @abstractmethod
    def variance(self, share: float) -> float:
        """The variance of one message's score for place / k = share."""

    def shared(self, mean: float) -> float:  # noqa: ARG002
        """Which part of a score's variance a device's memo repeats in each message, at
        most: all of it, unless there is fresh noise.
        """
        return 1.0


def _check_items(items: int) -> None:
    if not 2 <= items <= ONE:
        raise ArgumentError("items", "must be from 2 to 2^32, the places of the grid")


def _rounded(items: Whole, top: int, steps: int, words: Words) -> Whole:
    """Places of a grid of `top` steps on one of `steps`: up or down at random, so that
    the mean stays exactly.
    """
    whole, rest = np.divmod(items * steps, top)
    up: Whole = (below(words, top, len(items)) < rest).astype(np.int64)
    return whole + up


def _bit_scores(truth: Fraction) -> Reals:
    """The estimates from 0 and 1, if the bit is sent truthfully with this probability."""
    gain = 2 * truth - 1
    return np.array([float((bit - (1 - truth)) / gain) for bit in (0, 1)])


def _bit_variance(truth: float, share: float) -> float:
    """Variance of the score of a randomized bit that was one with probability `share`."""
    gain = 2 * truth - 1
    said = 1 - truth + gain * share
    return said * (1 - said) / gain**2


@dataclass(frozen=True)
class BinaryMean(Mean):
    """The number rounded to one end of its range at random, and that bit told truly with
    probability truth / 2^32.

    Guarantee: `epsilon`, pure, for replacing the number behind one message.
    Why: binary response; rounding comes before it (Duchi, Jordan & Wainwright 2018).
    Assumes: one message for each device.
    """

    truth: int
    kind: ClassVar[str] = "binary mean"

    def __post_init__(self) -> None:
        _check_items(self.items)
        check("truth", self.truth, low=ONE // 2 + 1)

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        return cls(items, kept(epsilon, 2))

    @property
    def epsilon(self) -> float:
        return response_loss(self.truth, 2)

    @property
    def outcomes(self) -> int:
        return 2

    @property
    def distance(self) -> float:
        return float(2 * chance(self.truth) - 1)

    @property
    def common(self) -> Fraction:
        return 2 * (1 - chance(self.truth))

    @cached_property
    def scores(self) -> Reals:
        return _bit_scores(chance(self.truth))

    def variance(self, share: float) -> float:
        return _bit_variance(self.truth / ONE, share)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        ends = _rounded(items, self.items - 1, 1, words)
        return records_of(respond(self.truth, 2, ends, words), 1)

    def describe(self, record: Packed) -> str:
        return "high" if record[0, 0] else "low"


@dataclass(frozen=True)
class HybridMean(Mean):
    """With probability binary / 2^32 a binary mean, otherwise a place of a longer grid:
    the number is rounded to one of `steps` steps, and with probability inside / 2^32
    the message is one of the `window` places from there on, otherwise one of the
    `steps` others.

    Guarantee: `epsilon`, pure, for replacing the number behind one message.
    Why: which of the two is sent does not depend on the number. Binary response loses
    its ε. Of steps + window places, those in the window are sent with probability
    inside/window each, the others with (1 − inside)/steps each (Wang et al. 2019,
    on a grid).
    Assumes: one message for each device.
    """

    truth: int
    binary: int
    steps: int
    window: int
    inside: int
    kind: ClassVar[str] = "hybrid mean"

    def __post_init__(self) -> None:
        _check_items(self.items)
        check("truth", self.truth, low=ONE // 2 + 1)
        check("binary", self.binary)
        check("inside", self.inside)
        for name in ("steps", "window"):
            if not 1 <= getattr(self, name) <= 1 << 16:
                raise ArgumentError(name, "must be from 1 to 65,536")
        if (self.items - 1) * self.steps > 1 << 52:
            raise ArgumentError(
                "steps",
                "is too large; lower it until (items - 1) × steps is at most 2^52",
            )
        if self._ratio <= 1:
            raise ArgumentError(
                "inside",
                "is too small: places in the window must be more likely than others; "
                "raise it",
            )

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        steps = _steps(items - 1)
        window = max(round(steps * math.exp(-epsilon / 2)), 1)
        near = window * math.exp(epsilon) / (window * math.exp(epsilon) + steps)

        def lost(inside: int) -> float:
            return loss(_window_ratio(inside, window, steps))

        inside = largest(near, lost, epsilon)
        binary = min(max(round(math.exp(-epsilon / 2) * ONE), 1), ONE - 1)
        return cls(items, kept(epsilon, 2), binary, steps, window, inside)

    @property
    def _ratio(self) -> Fraction:
        return _window_ratio(self.inside, self.window, self.steps)

    @property
    def epsilon(self) -> float:
        return max(response_loss(self.truth, 2), loss(self._ratio))

    @property
    def outcomes(self) -> int:
        return 2 + self.steps + self.window

    @property
    def _each(self) -> tuple[Fraction, Fraction]:
        """Probability of each place in the window, and of each other place."""
        inside = chance(self.inside)
        return inside / self.window, (1 - inside) / self.steps

    @property
    def distance(self) -> float:
        """Two windows have nothing in common at worst."""
        binary, (one, other) = chance(self.binary), self._each
        apart = binary * (2 * chance(self.truth) - 1)
        return float(apart + (1 - binary) * self.window * (one - other))

    @property
    def common(self) -> Fraction:
        binary, (_, other) = chance(self.binary), self._each
        places = self.steps + self.window
        return 2 * binary * (1 - chance(self.truth)) + (1 - binary) * places * other

    @cached_property
    def _line(self) -> tuple[Fraction, Fraction]:
        """The mean place that is sent, for step g: start + slope · g/steps."""
        one, other = self._each
        places, wide = self.steps + self.window, self.window
        start = other * places * (places - 1) / 2
        start += (one - other) * wide * Fraction(wide - 1, 2)
        return start, (one - other) * wide * self.steps

    @cached_property
    def scores(self) -> Reals:
        start, slope = (float(part) for part in self._line)
        places = np.arange(self.steps + self.window)
        return np.concatenate(
            [_bit_scores(chance(self.truth)), (places - start) / slope]
        )

    def variance(self, share: float) -> float:
        """Both kinds are right on average, so their variances mix."""
        part = self.binary / ONE
        binary = _bit_variance(self.truth / ONE, share)
        return part * binary + (1 - part) * self._window_variance(share)

    def _window_variance(self, share: float) -> float:
        low = min(math.floor(share * self.steps), self.steps - 1)
        up = share * self.steps - low
        squares = (1 - up) * self._square(low) + up * self._square(low + 1)
        return squares - share**2

    def _square(self, step: int) -> float:
        """The mean square of a score after rounding to a step."""
        squares = self.scores[2:] ** 2
        one, other = (float(each) for each in self._each)
        window = squares[step : step + self.window].sum()
        return float(other * squares.sum() + (one - other) * window)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        count, top = len(items), self.items - 1
        binary = coins(words, self.binary, count)
        out = np.empty(count, np.int64)
        ends = _rounded(items[binary], top, 1, words)
        out[binary] = respond(self.truth, 2, ends, words)
        start = _rounded(items[~binary], top, self.steps, words)
        out[~binary] = 2 + self._placed(start, words)
        return records_of(out, self.record)

    def _placed(self, start: Whole, words: Words) -> Whole:
        """A place in the window that begins here, or one outside."""
        within = coins(words, self.inside, len(start))
        inner = start + below(words, self.window, len(start))
        outer = below(words, self.steps, len(start))
        outer += self.window * (outer >= start)
        return np.where(within, inner, outer)

    def describe(self, record: Packed) -> str:
        said = int(numbers_of(record)[0])
        if said < 2:
            return "high" if said else "low"
        return f"place {said - 2} of {self.steps + self.window}"


def _steps(top: int) -> int:
    """A multiple of the grid's steps where it is coarse: then nothing is rounded."""
    return top * -(-FINE // top) if top < FINE else FINE


def _window_ratio(inside: int, window: int, steps: int) -> Fraction:
    share = chance(inside)
    return share * steps / ((1 - share) * window)


@dataclass(frozen=True)
class OneBitMean(Longitudinal, Mean):
    """Which side of a threshold the number lies on, where the device draws the threshold
    once and tells nobody; that bit, kept with probability kept / 2^32 or turned
    round, for ever; and the kept bit, sent truly with probability sent / 2^32 in each
    message.

    Guarantee: `epsilon` for one message, `epsilon_for_ever` for all messages about a
    number that stays as it is; both pure, for replacing the number. A number that
    moves crosses some thresholds: then only `epsilon_instant` for each message.
    Why: two layers of binary response on a bit that is one with probability place / k
    over the device's threshold (Ding, Kulkarni & Yekhanin 2017).
    Assumes: the threshold is drawn once for each device, and a kept bit once for each
    side (rule R28).
    """

    kept: int
    sent: int
    kind: ClassVar[str] = "one-bit mean"
    rounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_items(self.items)
        for name in ("kept", "sent"):
            check(name, getattr(self, name), low=ONE // 2 + 1)

    @classmethod
    def at(cls, items: int, epsilon: float, for_ever: float) -> Self:
        first = kept(for_ever, 2)
        once, ever = 1 / (1 + math.exp(-epsilon)), first / ONE
        near = (once - (1 - ever)) / (2 * ever - 1)

        def lost(sent: int) -> float:
            return loss(_odds(_twice(first, sent)))

        return cls(items, first, largest(near, lost, epsilon))

    @property
    def truth(self) -> Fraction:
        """Probability that a message states the bit truthfully."""
        return _twice(self.kept, self.sent)

    @property
    def epsilon(self) -> float:
        return loss(_odds(self.truth))

    @property
    def epsilon_for_ever(self) -> float:
        return response_loss(self.kept, 2)

    @property
    def epsilon_instant(self) -> float:
        return response_loss(self.sent, 2)

    @property
    def freshness(self) -> float:
        return float(1 - chance(self.sent))

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        names = ("kind", "items", "kept")
        return {name: self.parameters[name] for name in names}

    @property
    def outcomes(self) -> int:
        return 2

    @property
    def distance(self) -> float:
        return float(2 * self.truth - 1)

    @cached_property
    def scores(self) -> Reals:
        return _bit_scores(self.truth)

    def variance(self, share: float) -> float:
        return _bit_variance(float(self.truth), share)

    def shared(self, mean: float) -> float:
        """The threshold and the kept bit stay; the last layer is drawn again."""
        gain = 2 * self.sent / ONE - 1
        kept = 1 - self.kept / ONE + (2 * self.kept / ONE - 1) * min(max(mean, 0), 1)
        said = 1 - self.sent / ONE + gain * kept
        return gain**2 * kept * (1 - kept) / (said * (1 - said))

    def seeds(self, words: Words, count: int) -> Whole:
        """The threshold: a number above it is treated as one."""
        return below(words, self.items - 1, count)

    def memo_keys(self, items: NDArray[Any], seeds: Whole) -> NDArray[Any]:
        """The side of the threshold."""
        sides: NDArray[Any] = (items > seeds).astype(np.int64)
        return sides

    def permanent(self, keys: NDArray[Any], words: Words) -> NDArray[Any]:
        return respond(self.kept, 2, keys, words)

    def instant(self, kept: NDArray[Any], seeds: Whole, words: Words) -> Packed:  # noqa: ARG002
        return records_of(respond(self.sent, 2, kept, words), 1)

    def describe(self, record: Packed) -> str:
        return "high" if record[0, 0] else "low"


def _twice(first: int, second: int) -> Fraction:
    """Probability that a bit is unchanged by two responses."""
    one, two = chance(first), chance(second)
    return one * two + (1 - one) * (1 - two)


def _odds(truth: Fraction) -> Fraction:
    return truth / (1 - truth)
