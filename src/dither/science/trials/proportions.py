"""What a noisy count of yes and no says about the population's proportion: p-values,
and the intervals that follow from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dither.science.trials.arms import LEFT_OUT, Private
from dither.science.trials.checks import GREATER, LESS, TWO_SIDED
from dither.science.trials.tulap import REACH, Binomial, Tulap, bisect
from dither.science.trials.unbiased import Unbiased

__all__ = ["Evidence", "Fixed", "Open", "Population", "Whole"]

ENOUGH = 45.0


class Evidence(ABC):
    """p-values of each proportion that a population could have."""

    @abstractmethod
    def less(self, p: float) -> float:
        """For the alternative of a smaller proportion; it falls with p."""

    @abstractmethod
    def greater(self, p: float) -> float:
        """For the alternative of a larger proportion; it rises with p."""

    @abstractmethod
    def two_sided(self, p: float) -> float: ...

    def pvalue(self, p: float, alternative: str) -> float:
        ways = {LESS: self.less, GREATER: self.greater, TWO_SIDED: self.two_sided}
        return min(1.0, max(0.0, ways[alternative](p)))

    def low(self, miss: float) -> float:
        """The population's proportion is lower than this at most so often."""
        if self.greater(0.0) > miss:
            return 0.0
        return bisect(lambda p: self.greater(p) > miss, 0.0, 1.0)

    def high(self, miss: float) -> float:
        """The population's proportion is higher than this at most so often."""
        if self.less(1.0) > miss:
            return 1.0
        return 1 - bisect(lambda q: self.less(1 - q) > miss, 0.0, 1.0)


@dataclass(frozen=True)
class Fixed(Evidence):
    """A noisy, continuous count among a public number of people. Tests of it keep their
    level exactly.
    """

    noisy: float
    n: int
    tulap: Tulap
    reach: float = REACH

    def less(self, p: float) -> float:
        of = Binomial(self.n, p, self.reach)
        return of.mean(self.tulap.below(self.noisy - of.values))

    def greater(self, p: float) -> float:
        of = Binomial(self.n, p, self.reach)
        return of.mean(self.tulap.below(of.values - self.noisy))

    def two_sided(self, p: float) -> float:
        return Unbiased(Binomial(self.n, p), self.tulap).pvalue(self.noisy)

    def low(self, miss: float) -> float:
        return Evidence.low(self._inside, miss)

    def high(self, miss: float) -> float:
        return Evidence.high(self._inside, miss)

    @property
    def _inside(self) -> Fixed:
        """Noise that leads beyond 0 or n says no more than 0 or n would: else an
        interval could shrink to nothing. Its ends need no very small probabilities.
        """
        inside = min(max(self.noisy, 0.0), float(self.n))
        return Fixed(inside, self.n, self.tulap, ENOUGH)


@dataclass(frozen=True)
class Whole(Evidence):
    """A noisy count among a public number of people, as it is. Its tests are cautious:
    what is as likely as what was seen counts in full.
    """

    noisy: int
    n: int
    tulap: Tulap

    def less(self, p: float) -> float:
        return self._moved(0.5).less(p)

    def greater(self, p: float) -> float:
        return self._moved(-0.5).greater(p)

    def two_sided(self, p: float) -> float:
        return 2 * min(self.less(p), self.greater(p))

    def low(self, miss: float) -> float:
        return self._moved(-0.5).low(miss)

    def high(self, miss: float) -> float:
        return self._moved(0.5).high(miss)

    def _moved(self, by: float) -> Fixed:
        return Fixed(self.noisy + by, self.n, self.tulap)


@dataclass(frozen=True)
class Open(Evidence):
    """Noisy numbers of yes and of no: the number of people is private, so a p-value is
    the worst over the sizes that are likely.
    """

    arm: Private

    def less(self, p: float) -> float:
        found = np.asarray(self.arm.moved(p) + self.arm.slack)
        laws = (self.arm.law(p, size) for size in self.arm.sizes())
        return LEFT_OUT + max(float(law.below(found)) for law in laws)

    def greater(self, p: float) -> float:
        found = np.asarray(self.arm.moved(p) - self.arm.slack)
        laws = (self.arm.law(p, size) for size in self.arm.sizes())
        return LEFT_OUT + max(float(law.above(found)) for law in laws)

    def two_sided(self, p: float) -> float:
        return 2 * min(self.less(p), self.greater(p)) - LEFT_OUT


@dataclass(frozen=True)
class Population:
    """Where the population's proportion lies: on one side only, where the test looks
    at one side.
    """

    evidence: Evidence
    alternative: str = TWO_SIDED

    def ends(self, confidence: float) -> tuple[float, float]:
        miss = 1 - confidence
        if self.alternative == GREATER:
            return self.evidence.low(miss), 1.0
        if self.alternative == LESS:
            return 0.0, self.evidence.high(miss)
        return self.evidence.low(miss / 2), self.evidence.high(miss / 2)
