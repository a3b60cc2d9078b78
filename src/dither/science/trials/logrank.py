"""The log-rank test from the noisy cells of survival curves; it costs nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.science.trials.bands import reach
from dither.science.trials.curve import CUT, LifeTable
from dither.science.trials.null import Law, public_draws, special
from dither.science.trials.result import TrialRelease
from dither.text import clean

if TYPE_CHECKING:
    from dither.science.trials.curves import SurvivalRelease

__all__ = ["Exact", "Scores", "pvalue", "quadratic", "tested", "two_sided"]

Reals = NDArray[np.float64]

DRAWS, BLOCK = 20_000, 500
MOST_NOISE = 4_000_000
"""So many noises are drawn at most for one p-value, in about a second."""
KNOWS = "the test's variance holds sampling and noise"


@dataclass(frozen=True)
class Scores:
    """Deaths less those expected if all arms had one hazard, for each arm, with the
    variance that sampling and noise give them.
    """

    table: LifeTable

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Bins in which the pooled number at risk stands clear of its noise."""
        noise = math.sqrt(len(self.table.deaths)) * self.table.risk_deviation
        clear = (self.pooled > CUT * noise) & (self.pooled > 0)
        return np.logical_and.accumulate(clear)

    @cached_property
    def pooled(self) -> Reals:
        """People at risk in all arms together."""
        return np.asarray(self.table.at_risk.sum(axis=0))

    @cached_property
    def _safe(self) -> Reals:
        return np.where(self.used, self.pooled, 1.0)

    @cached_property
    def _deaths(self) -> Reals:
        return np.where(self.used, self.table.deaths.sum(axis=0), 0.0)

    @cached_property
    def shares(self) -> Reals:
        """Each arm's share of the people at risk."""
        return np.where(self.used, self.table.at_risk / self._safe, 0.0)

    @cached_property
    def values(self) -> Reals:
        """Observed less expected deaths."""
        seen = np.where(self.used, self.table.deaths, 0.0)
        return np.asarray((seen - self._deaths * self.shares).sum(axis=1))

    @cached_property
    def sampling(self) -> Reals:
        """The hypergeometric covariance of the values."""
        held = np.clip(self.shares, 0.0, None)
        held = held / np.maximum(held.sum(axis=0), 1e-300)
        weights = self._weights()
        diagonal = np.diag((held * weights).sum(axis=1))
        return np.asarray(diagonal - (held * weights) @ held.T)

    def _weights(self) -> Reals:
        """d (n - d) / (n - 1) by bin. Noise makes some deaths negative: these are 0,
        and the others are reduced to the same sum.
        """
        deaths = np.minimum(np.maximum(self._deaths, 0.0), self._safe)
        total = deaths.sum()
        held = max(float(self._deaths.sum()), 0.0)
        scale = min(held / total, 1.0) if total > 0 else 0.0
        others = np.where(self._safe > 1, self._safe - 1, np.inf)
        return scale * deaths * (self._safe - deaths) / others

    @cached_property
    def noise(self) -> Reals:
        """The covariance that noise gives the values, linearised. Noisy hazards make
        it larger on average, by what products of noises add.
        """
        gradient = self.gradient
        cells = np.einsum("axk,bxk->ab", gradient, gradient)
        if self.table.known:
            sums = gradient.sum(axis=2)
            cells = cells - sums @ sums.T / (2 * self.table.bins + 1)
        return np.asarray(self.table.variance * cells)

    @cached_property
    def gradient(self) -> Reals:
        """How each arm's value moves with the cells of each arm: deaths, censored."""
        arms = len(self.table.deaths)
        own = np.eye(arms)[:, :, None]
        moved = np.where(self.used, own - self.shares[:, None, :], 0.0)
        hazard = self._deaths / self._safe
        through_risk = np.cumsum(hazard * moved, axis=2)
        return np.concatenate([moved - through_risk, -through_risk], axis=2)


def quadratic(values: Reals, covariance: Reals) -> float:
    """The squared length of all but the last value, in their standard deviations."""
    if not values[:-1].any():
        return 0.0
    inverse = np.linalg.pinv(covariance[:-1, :-1], hermitian=True)
    return float(values[:-1] @ inverse @ values[:-1])


def pvalue(scores: Scores, mechanism: Additive) -> tuple[float, float]:
    """The statistic and the probability of one as large where all arms have one
    hazard.
    """
    covariance = scores.sampling + scores.noise
    statistic = quadratic(scores.values, covariance)
    if statistic == 0:
        return 0.0, 1.0
    freedom, law = len(scores.values) - 1, Law.of(mechanism)
    if freedom == 1:
        return statistic, two_sided(float(scores.values[0]), scores, law)
    normal = float(special().chdtrc(freedom, statistic))
    heavy = _simulated(scores, law, covariance, statistic) if scores.noise.any() else 0
    return statistic, max(normal, heavy)


def two_sided(value: float, scores: Scores, law: Law) -> float:
    """How likely noise and sampling take the score of two arms as far from 0: as if
    their sum were normal, or as if all the noise were one draw, whose tails are the
    heaviest. The larger of both holds for every number of draws.
    """
    sampling, noise = float(scores.sampling[0, 0]), float(scores.noise[0, 0])
    normal = math.erfc(abs(value) / math.sqrt(2 * (sampling + noise)))
    if noise < 1e-9 * sampling:
        return normal
    step = math.sqrt(noise / law.variance)
    heavy = 2 * float(law.beyond(abs(value) / step, math.sqrt(sampling) / step))
    return min(max(normal, heavy), 1.0)


def _simulated(scores: Scores, law: Law, covariance: Reals, statistic: float) -> float:
    """The p-value over draws of the noise in all cells and of normal sampling. It
    differs a little from call to call.
    """
    arms, bins = scores.table.deaths.shape
    gradient = scores.gradient.reshape(arms, -1)
    inverse = np.linalg.pinv(covariance[:-1, :-1], hermitian=True)
    root = _root(scores.sampling)
    source, seen = public_draws(), 0
    blocks = _blocks(arms * (2 * bins + 1))
    for _ in range(blocks):
        noise = law.draw((BLOCK, arms, 2 * bins + 1)).astype(np.float64)
        if scores.table.known:
            noise -= noise.mean(axis=2, keepdims=True)
        cells = noise[:, :, : 2 * bins].reshape(BLOCK, -1)
        normal = source.standard_normal((BLOCK, arms)) @ root
        drawn = (cells @ gradient.T + normal)[:, :-1]
        lengths = np.einsum("ri,ij,rj->r", drawn, inverse, drawn)
        seen += int((lengths >= statistic).sum())
    return (seen + 1) / (blocks * BLOCK + 1)


def _blocks(cells: int) -> int:
    """How many draws are taken: fewer where each is of many cells."""
    return max(2, min(DRAWS, MOST_NOISE // cells) // BLOCK)


def _root(covariance: Reals) -> Reals:
    """A matrix whose square is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T)


@dataclass(frozen=True)
class Exact:
    """Where the log-rank statistic of the exact counts of two arms lies: their score
    within its noise, over their variance within its own (union bound).
    """

    scores: Scores
    mechanism: Additive

    def ends(self, confidence: float) -> tuple[float, float]:
        table = self.scores.table
        width = reach(self.mechanism, table.variance, (1 + confidence) / 2)
        value = abs(float(self.scores.values[0]))
        off = width * math.sqrt(self.scores.noise[0, 0])
        low, high = self._variance(width)
        near, far = max(value - off, 0.0), value + off
        least = near**2 / high if high > 0 else 0.0
        return least, far**2 / low if low > 0 else math.inf

    def _variance(self, width: float) -> tuple[float, float]:
        """The hypergeometric variance moves with the deaths of both arms, about by a
        share times the other's.
        """
        if not self.scores.used.all():
            return 0.0, math.inf
        shares = np.clip(self.scores.shares, 0.0, 1.0)
        gradient = np.repeat(shares[0] * shares[1], 2)
        noise = self.scores.table.variance * float((gradient**2).sum())
        middle = float(self.scores.sampling[0, 0])
        return middle - width * math.sqrt(noise), middle + width * math.sqrt(noise)


def tested(curves: SurvivalRelease, arms: tuple[int, ...]) -> TrialRelease:
    """The test of some of the arms of released curves. It shares their source: nothing
    more is charged.
    """
    scores = Scores(curves.bands.table.arms(list(arms)))
    mechanism = curves.bands.mechanism
    statistic, probability = pvalue(scores, mechanism)
    names = " and ".join(clean(str(curves.arms[arm])) for arm in arms)
    return TrialRelease(
        what=f"log-rank test of {names}",
        value=statistic,
        sources=curves.sources,
        spread=Exact(scores, mechanism) if len(arms) == 2 else None,
        notes=(*curves.notes, KNOWS),
        pvalue=probability,
    )
