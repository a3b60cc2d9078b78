"""Where a population's probability of superiority lies, by a noisy count of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dither.science.trials.columns import Reals
from dither.science.trials.null import Law, special
from dither.science.trials.rank_nulls import widened

__all__ = ["Pairs"]

STEPS = 40


@dataclass(frozen=True)
class Pairs:
    """Of `step`·`trials` pairs a noisy number favours the first. However pairs share
    people, their number spreads no more than `step` times a binomial of so many
    independent trials (Hoeffding 1963), and this counts with that.

    Noise must smooth the steps of the binomial, which others need not have: at least
    that of ε = 2 is counted with.
    """

    noisy: float
    trials: int
    step: float
    law: Law

    def ends(self, confidence: float) -> tuple[float, float]:
        miss = (1 - confidence) / 2
        law = widened(self.law, self.step / 2)
        low = _root(lambda share: self._above(law, share) - miss)
        high = _root(lambda share: miss - self._below(law, share))
        return low, high

    def _above(self, law: Law, share: float) -> float:
        values, chances = _binomial(self.trials, share)
        return law.with_pmf(self.step * values, chances, self.noisy)

    def _below(self, law: Law, share: float) -> float:
        values, chances = _binomial(self.trials, share)
        return law.with_pmf(-self.step * values, chances, -self.noisy)


def _binomial(trials: int, share: float) -> tuple[Reals, Reals]:
    """The successes that are likely enough to matter, and how likely they are."""
    found = special()
    wide = 40 + 9 * math.sqrt(trials * share * (1 - share))
    low = max(0, math.floor(trials * share - wide))
    high = min(trials, math.ceil(trials * share + wide))
    k = np.arange(low, high + 1, dtype=np.float64)
    ways = found.gammaln(trials + 1) - found.gammaln(k + 1)
    ways = ways - found.gammaln(trials - k + 1)
    logs = ways + found.xlogy(k, share) + found.xlog1py(trials - k, -share)
    return k, np.exp(logs)


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function between 0 and 1 turns positive; an end where it does
    not.
    """
    if rising(0.0) >= 0:
        return 0.0
    if rising(1.0) <= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2
