"""Where a mean, or the difference of two, lies: among these people, and in the
population that they come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dither.science.trials import checks
from dither.science.trials.moments import Noisy, Scale
from dither.science.trials.totals import Total

__all__ = ["Difference"]

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

    def _law(self, sampling: float) -> Total:
        scales = [scale for arm in self.arms for scale in arm.noises if scale > 0]
        if self.arms[0].gaussian:
            return Total((), math.sqrt(sum(s**2 for s in scales) + sampling))
        return Total(tuple(scales), math.sqrt(sampling))

    @cached_property
    def law(self) -> Total:
        """How far the noisy difference is from the population's."""
        return self._law(self.sampling)

    @property
    def here(self) -> Here:
        """Where the difference between these people lies."""
        return Here(self.value, self._law(0.0), self.scale, self._range)

    @property
    def _range(self) -> tuple[float, float]:
        if len(self.arms) == 1:
            return self.scale.low, self.scale.high
        return -2 * self.scale.half, 2 * self.scale.half

    @property
    def pvalue(self) -> float:
        """That of no difference."""
        if self.alternative == checks.TWO_SIDED:
            return self.law.outside(abs(self.share))
        sign = 1 if self.alternative == checks.GREATER else -1
        return self.law.beyond(sign * self.share)

    def ends(self, confidence: float) -> tuple[float, float]:
        two = self.alternative == checks.TWO_SIDED
        rate = confidence if two else max(2 * confidence - 1, 0.0)
        low, high = Here(self.value, self.law, self.scale, self._range).ends(rate)
        if self.alternative == checks.LESS:
            low = self._range[0]
        if self.alternative == checks.GREATER:
            high = self._range[1]
        return low, high


@dataclass(frozen=True)
class Here:
    """A value plus or minus what a law allows, between ends that are known."""

    value: float
    law: Total
    scale: Scale
    within: tuple[float, float]

    def ends(self, confidence: float) -> tuple[float, float]:
        # outcomes were rounded to steps, which moves a mean by half of one
        rounded = 2 / self.scale.steps
        width = (self.law.quantile(confidence) + rounded) * self.scale.half
        low, high = self.within
        return max(self.value - width, low), min(self.value + width, high)
