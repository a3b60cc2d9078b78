"""Where a mean, or the difference of two, lies: among these people, and in the
population that they come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dither.science.trials import checks
from dither.science.trials.moments import SURE, Noisy, Scale
from dither.science.trials.totals import Total

__all__ = ["Difference"]

USUAL, TINY = 0.05, 1e-12
TURNS = 5
"""How often a p-value is refined: the law of a small one allows for more noise."""
RAISED = 0.5
"""By how many standard deviations of its noise a variance is raised, so that intervals
hold where noise made it too small. Measured: `python -m bench science_trials`.
"""


@dataclass(frozen=True)
class Difference:
    """The mean of the first arm, less that of the second if there is one: where the
    population's lies.
    """

    arms: tuple[Noisy, ...]
    scale: Scale
    alternative: str = checks.TWO_SIDED

    @cached_property
    def share(self) -> float:
        """The difference in halves of the bounds' width."""
        first, *second = (arm.mean for arm in self.arms)
        return first - sum(second)

    @property
    def value(self) -> float:
        origin = self.scale.middle if len(self.arms) == 1 else 0.0
        return origin + self.share * self.scale.half

    @cached_property
    def sampling(self) -> float:
        """The variance of the difference over samples, raised for its own noise."""
        found = sum(arm.variance / arm.people for arm in self.arms)
        noise = sum(arm.variance_noise / arm.people**2 for arm in self.arms)
        most = sum(arm.variance_most / arm.people for arm in self.arms)
        return min(max(found, 0.0) + RAISED * math.sqrt(noise), most)

    def law_of(self, sampling: float, tail: float = USUAL) -> Total:
        """How far off the noisy difference is: noise, and this variance over samples.
        Tails as small as this one are right.
        """
        sure = max(SURE, -math.log(tail))
        scales = [one for arm in self.arms for one in arm.noises(sure) if one > 0]
        if self.arms[0].gaussian:
            return Total((), math.sqrt(sum(one**2 for one in scales) + sampling))
        return Total(tuple(scales), math.sqrt(sampling))

    @property
    def here(self) -> Ends:
        """Where the difference between these people lies."""
        return Ends(self, 0.0)

    @cached_property
    def population(self) -> Ends:
        """Where that of the population lies."""
        return Ends(self, self.sampling)

    @property
    def within(self) -> tuple[float, float]:
        """Where the difference lies in any case."""
        if len(self.arms) == 1:
            return self.scale.low, self.scale.high
        return -2 * self.scale.half, 2 * self.scale.half

    @property
    def pvalue(self) -> float:
        """That of no difference."""
        sides, tail = 1 if self.alternative == checks.TWO_SIDED else 2, USUAL
        for _ in range(TURNS):
            found = self._beyond(self.law_of(self.sampling, tail))
            if sides * found >= tail:
                break
            tail = max(sides * found, TINY)
        return found

    def _beyond(self, law: Total) -> float:
        if self.alternative == checks.TWO_SIDED:
            return law.outside(abs(self.share))
        sign = 1 if self.alternative == checks.GREATER else -1
        return law.beyond(sign * self.share)

    def ends(self, confidence: float) -> tuple[float, float]:
        two = self.alternative == checks.TWO_SIDED
        rate = confidence if two else max(2 * confidence - 1, 0.0)
        low, high = self.population.ends(rate)
        if self.alternative == checks.LESS:
            low = self.within[0]
        if self.alternative == checks.GREATER:
            high = self.within[1]
        return low, high


@dataclass(frozen=True)
class Ends:
    """A difference plus or minus what its law allows."""

    difference: Difference
    sampling: float

    def ends(self, confidence: float) -> tuple[float, float]:
        found, scale = self.difference, self.difference.scale
        law = found.law_of(self.sampling, 1 - confidence)
        # outcomes were rounded to steps, which moves a mean by half of one
        width = (law.quantile(confidence) + 2 / scale.steps) * scale.half
        return found.value - width, found.value + width
