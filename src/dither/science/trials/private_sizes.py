"""People whose number is private, in two arms or in one: noisy sizes, and what they
bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dither.mechanisms import Additive
from dither.question import Question
from dither.science.trials.checks import MOST_PEOPLE
from dither.science.trials.null import Law
from dither.science.trials.rank_nulls import RankNull, least, signed_null, wins_null
from dither.science.trials.superiority import Pairs

__all__ = [
    "UNKNOWN",
    "ArmSizes",
    "Held",
    "OneSize",
    "SizesPlan",
    "UnsurePairs",
    "shrinking",
    "unfilled",
]

SHARE = 0.4
"""Of the cost, for the sizes: what a test has most power with, from 50 people in each
arm on.
"""
CAP = 0.005
"""How often an arm may have more people than its cap."""
TOGETHER, EACH = 0.0008, 0.0001
"""How often there may be more people, in both arms or in one, than a p-value counts
with.
"""
UNKNOWN = TOGETHER + 2 * EACH
"""What a p-value adds for that."""
FEW_PAIRS = 900
"""Exact laws are found again for each noisy size, so only small ones are worth it."""
ROOT = math.nextafter(math.sqrt(2), 2)
FINE, FAR = 32, 45


@dataclass(frozen=True)
class SizesPlan:
    """How private sizes and the comparison of the arms share a cost. `moved` is how many
    outcomes come or go with one unit: replacing a person takes one out and puts one in,
    perhaps in the other of two arms.
    """

    sizing: Additive
    comparing: Question
    moved: int

    @classmethod
    def of(cls, question: Question, arms: int = 2) -> SizesPlan:
        sizing, comparing = question.parts(SHARE, 1 - SHARE)
        both = question.replacing and arms == 2
        counts = sizing.additive(2, ROOT) if both else sizing.additive(1)
        plan = cls(counts, comparing, 2 if question.replacing else 1)
        plan.noise(MOST_PEOPLE)  # a cost too small is refused now
        return plan

    def sizes(self, first: int, second: int) -> ArmSizes:
        """Noisy sizes of arms that have so many outcomes."""
        noisy = self.sizing.release(np.array([first, second], np.int64))
        return ArmSizes((int(noisy[0]), int(noisy[1])), Law.of(self.sizing))

    def size(self, count: int) -> OneSize:
        """The noisy size of one arm."""
        return OneSize(self.sizing.release(count), Law.of(self.sizing))

    def noise(self, *caps: int) -> Additive:
        """The noise for comparisons in arms that are clamped to their caps."""
        return self.comparing.additive(self.moved * max(caps))


@dataclass(frozen=True)
class ArmSizes:
    """Noisy sizes of two arms."""

    noisy: tuple[int, int]
    law: Law

    @property
    def caps(self) -> tuple[int, int]:
        """Sizes that are rarely exceeded; the comparison is clamped to them."""
        first, second = self.above(CAP)
        return first, second

    @property
    def likely(self) -> tuple[int, int]:
        """The sizes as they seem to be, at least one person each."""
        first, second = (max(1, size) for size in self.noisy)
        return first, second

    def above(self, missed: float) -> tuple[int, int]:
        """What each size exceeds with probability `missed` at most."""
        first, second = (_held(size + margin(self.law, missed)) for size in self.noisy)
        return first, second

    def below(self, missed: float) -> tuple[int, int]:
        """What each size falls below with probability `missed` at most."""
        first, second = (size - margin(self.law, missed) for size in self.noisy)
        return first, second

    @property
    def null(self) -> RankNull:
        """The law of the wins for as many people as there may be, in arms as equal as
        they may be: of all arms of so many people, their wins spread most.
        """
        both = sum(self.noisy) + margin_of_two(self.law, TOGETHER)
        few, many = sorted(self.above(EACH))
        first = _held(min(few, (both + 1) // 2))
        return wins_null(first, _held(min(many, both - first)), FEW_PAIRS)

    def hidden(self, missed: float) -> int:
        """Largest change of the wins when arms are held to their caps, except with a
        small probability.
        """
        most = self.above(missed / 2)
        over = [max(0, size - cap) for size, cap in zip(most, self.caps, strict=True)]
        return over[0] * most[1] + over[1] * most[0]


@dataclass(frozen=True)
class OneSize:
    """The noisy size of one arm."""

    noisy: int
    law: Law

    @property
    def cap(self) -> int:
        """Size that is rarely exceeded; the comparison is clamped to it."""
        return self.above(CAP)

    def above(self, missed: float) -> int:
        """What the size exceeds with probability `missed` at most."""
        return _held(self.noisy + margin(self.law, missed))

    def below(self, missed: float) -> int:
        """What the size falls below with probability `missed` at most."""
        return self.noisy - margin(self.law, missed)

    @property
    def null(self) -> RankNull:
        """The law of signed ranks for as many people as there may be."""
        return signed_null(self.above(UNKNOWN))

    def hidden(self, missed: float) -> int:
        """Largest change of the sum of signs when the arm is held to its cap, except
        with a small probability.
        """
        most = self.above(missed)
        return max(0, most - self.cap) * most


def _held(size: int) -> int:
    return max(1, min(MOST_PEOPLE, size))


@lru_cache(maxsize=256)
def margin(law: Law, missed: float) -> int:
    """The least m with P(N > m) ≤ missed."""
    return least(lambda m: float(law.survival(m + 1)) <= missed)


@lru_cache(maxsize=256)
def margin_of_two(law: Law, missed: float) -> int:
    """The same for a sum of two, one of them rounded up to a grid."""
    step = max(1, math.ceil(law.scale / FINE))
    values = step * np.arange(-FAR * FINE, FAR * FINE + 1)
    chances = law.survival(values - step + 1) - law.survival(values + 1)
    return least(lambda m: law.with_pmf(values, chances, m + 1) <= missed)


@dataclass(frozen=True)
class Held:
    """Interval for these people's own statistic, if arms were clamped to noisy caps."""

    noisy: int
    mechanism: Additive
    sizes: ArmSizes | OneSize
    step: float = 1.0

    def ends(self, confidence: float) -> tuple[float, float]:
        missed = (1 - confidence) / 2
        noise = self.mechanism.error(1 - missed, integer=True)
        width = noise + self.sizes.hidden(missed)
        return self.step * (self.noisy - width), self.step * (self.noisy + width)


@dataclass(frozen=True)
class UnsurePairs:
    """Where the probability of superiority lies if the sizes are noisy too: a half of
    the miss is theirs.

    Two ways to allow for the sizes, of which each end takes the better one: given the
    noisy sizes, it is a threshold on the noisy wins in either (docs/proofs/trials.md).
    """

    noisy: int
    sizes: ArmSizes
    law: Law

    def ends(self, confidence: float) -> tuple[float, float]:
        missed = 1 - confidence
        # four ends of two sizes share a half of what may be missed
        few, most = self.sizes.below(missed / 8), self.sizes.above(missed / 8)
        if min(few) < 1:
            return 0.0, 1.0
        hidden = self.sizes.hidden(missed / 4)
        wins = self.noisy - hidden, self.noisy + hidden
        factor = math.prod(most) / math.prod(few)
        rate = 1 - missed / 2
        filled = unfilled(*_ends(wins, most, self.law, rate), factor)
        shrunk = _ends(shrinking(*wins, factor), few, self.law, rate)
        return max(filled[0], shrunk[0]), min(filled[1], shrunk[1])


def _ends(
    wins: tuple[float, float], sizes: tuple[int, int], law: Law, rate: float
) -> tuple[float, float]:
    low, high = (
        Pairs(one + math.prod(sizes), min(sizes), 2 * max(sizes), law).ends(rate)
        for one in wins
    )
    return low[0], high[1]


def shrinking(low: float, high: float, factor: float) -> tuple[float, float]:
    """The least and the largest that numbers can be in smaller arms: wins for the
    fewest people, if they are a share of the pairs of more.
    """
    return min(low, low / factor), max(high, high / factor)


def unfilled(low: float, high: float, factor: float) -> tuple[float, float]:
    """Ends of a probability that lies farther from ½ than those by a factor of 1 to
    `factor`: arms that were filled up with missing outcomes bring it nearer.
    """
    least = low if low >= 0.5 else max(0.0, 0.5 - (0.5 - low) * factor)
    largest = high if high <= 0.5 else min(1.0, 0.5 + (high - 0.5) * factor)
    return least, largest
