"""What rank statistics do if there is no effect, alone and with noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dither.science.trials.checks import GREATER, LESS
from dither.science.trials.columns import Reals
from dither.science.trials.null import GaussianLaw, Law

__all__ = ["RankNull", "least", "signed_null", "widened", "wins_null"]

MOST_PAIRS = 10_000
"""Up to so many pairs the law of the wins is exact; above, a normal law of the same
variance differs by less than 1 in 1,000 around p = 0.05.
"""
MOST_DIFFERENCES = 200


@dataclass(frozen=True, eq=False)
class RankNull:
    """The law of a rank statistic without ties and without an effect: symmetric around
    0, in steps of 2. One person moves the statistic by `sensitivity` at most.
    """

    sensitivity: int
    sd: float
    values: Reals | None = None
    probabilities: Reals | None = None

    def tail(self, law: Law, t: float) -> float:
        """P(S + N ≥ t)."""
        if self.values is None:
            return float(law.beyond(t, self.sd))
        return law.with_pmf(self.values, self.probabilities, t)

    def pvalue(self, law: Law, noisy: int, alternative: str) -> float:
        """How likely a noisy statistic so far out is without an effect, or less: ties
        and missing outcomes only make it rarer (docs/proofs/trials.md).

        Outcomes with few values make a statistic with steps, which noise must smooth:
        what is counted with is at least the noise of ε = 2.
        """
        counted = widened(law, self.sensitivity / 2)
        if alternative == GREATER:
            return self.tail(counted, noisy)
        if alternative == LESS:
            return self.tail(counted, -noisy)
        return min(1.0, 2 * self.tail(counted, abs(noisy)))

    def critical(self, law: Law, alpha: float, alternative: str) -> int:
        """The least noisy statistic whose p-value is alpha or less, to the side that the
        alternative names.
        """
        if alternative == LESS:
            return least(lambda t: self.pvalue(law, -t, LESS) <= alpha)
        if alternative == GREATER:
            return least(lambda t: self.pvalue(law, t, GREATER) <= alpha)
        return least(lambda t: t >= 0 and self.pvalue(law, t, alternative) <= alpha)


def least(fits: Callable[[int], bool]) -> int:
    """The least whole number from which on something holds."""
    low, high = -1, 1
    while not fits(high):
        high *= 2
    while fits(low):
        low *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def widened(law: Law, scale: float) -> Law:
    """The law of Laplace noise of this scale at least, or of normal noise as wide."""
    least = math.sqrt(2) * scale if isinstance(law, GaussianLaw) else scale
    return replace(law, scale=max(law.scale, least))


@lru_cache(maxsize=64)
def wins_null(first: int, second: int, exact: int = MOST_PAIRS) -> RankNull:
    """The law of Σ sign(xᵢ − yⱼ) if all orders are equally likely, exact for so many
    pairs.
    """
    few, many = sorted((first, second))
    pairs = few * many
    sd = math.sqrt(pairs * (few + many + 1) / 3)
    if pairs > exact:
        return RankNull(2 * many, sd)
    return RankNull(2 * many, sd, _steps(pairs), _above(few, many))


def _above(few: int, many: int) -> Reals:
    """P(U = u), by who is the largest of all: an x, which is above every y, or a y,
    which is above no x.
    """
    row: list[Reals] = [np.ones(1) for _ in range(few + 1)]
    for b in range(1, many + 1):  # the longer arm outside, so that few laws are held
        last = row[0]
        new = [last]
        for a in range(1, few + 1):
            chances = np.zeros(a * b + 1)
            chances[b:] += a / (a + b) * last
            chances[: a * (b - 1) + 1] += b / (a + b) * row[a]
            new.append(chances)
            last = chances
        row = new
    return row[few]


@lru_cache(maxsize=64)
def signed_null(size: int) -> RankNull:
    """The law of Σ ±rank over so many ranks, each sign equally likely."""
    sd = math.sqrt(size * (size + 1) * (2 * size + 1) / 6)
    if size > MOST_DIFFERENCES:
        return RankNull(2 * size, sd)
    most = size * (size + 1) // 2
    chances = np.zeros(most + 1)
    chances[0] = 1.0
    for rank in range(1, size + 1):
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    return RankNull(2 * size, sd, _steps(most), chances)


def _steps(most: int) -> Reals:
    """From -most to most, in steps of 2."""
    return np.arange(-most, most + 1, 2, dtype=np.float64)
