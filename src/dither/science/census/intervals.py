"""Where true counts lie, around fitted ones whose variances are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.mechanisms import Additive
from dither.release import Ends
from dither.science.census.margins import CountSpread, margin, nested
from dither.science.census.planning import Plan

__all__ = ["Even", "Noises", "settled"]


def settled(value: Any, variance: Any) -> Any:
    """Figures that are exact as the whole numbers that they are."""
    return np.where(np.asarray(variance) == 0, np.rint(value), value)


@dataclass(frozen=True, eq=False)
class Noises:
    """The noises of all that was measured, from which margins follow."""

    mechanisms: tuple[Additive, ...]
    nested: bool

    @classmethod
    def of(cls, plan: Plan) -> Noises:
        mechanisms = dict.fromkeys(one.mechanism for one in plan.measures)
        return cls(tuple(mechanisms), nested(plan.workload.marginals))

    def margin(self, variance: Any, confidence: float) -> Any:
        """The ± that each figure stays within, with this probability."""
        return margin(variance, self.mechanisms, confidence, nested=self.nested)

    def around(self, value: Any, variance: Any) -> CountSpread:
        """Intervals for true counts, around fitted counts."""
        return CountSpread(value, variance, self.mechanisms, self.nested)


@dataclass(frozen=True, eq=False)
class Even:
    """As far as the noise reaches on both sides, below zero too."""

    inner: CountSpread

    def ends(self, confidence: float) -> Ends:
        one = self.inner
        width = margin(one.variance, one.noises, confidence, nested=one.nested)
        return np.asarray(one.value) - width, np.asarray(one.value) + width
