"""Where true counts lie, around fitted ones whose variances are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.mechanisms import Additive
from dither.release import Ends
from dither.science.census.margins import ends, margin, nested
from dither.science.census.planning import Plan

__all__ = ["Fitted", "Noises"]


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


@dataclass(frozen=True, eq=False)
class Fitted:
    """Whole numbers among which a true count lies. `shown` are values that an interval
    is to hold as well.
    """

    value: Any
    variance: Any
    noises: Noises
    shown: Any = None

    def ends(self, confidence: float) -> Ends:
        width = self.noises.margin(self.variance, confidence)
        low, high = ends(self.value, width)
        if self.shown is None:
            return low, high
        return np.minimum(low, self.shown), np.maximum(high, self.shown)
