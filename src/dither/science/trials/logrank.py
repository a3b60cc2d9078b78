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
from dither.science.trials.curve import CUT, EVENLY, WITHIN, LifeTable
from dither.science.trials.null import Law, public_draws, special
from dither.science.trials.result import TrialRelease
from dither.text import clean

if TYPE_CHECKING:
    from dither.science.trials.curves import SurvivalRelease

__all__ = [
    "Exact",
    "Scores",
    "clear",
    "nearest",
    "pvalue",
    "quadratic",
    "reachable",
    "tested",
    "two_sided",
]

Reals = NDArray[np.float64]

DRAWS, BLOCK, ROUNDS = 20_000, 500, 200
MOST_NOISE = 4_000_000
"""So many noises are drawn at most for one p-value, in about a second."""
KNOWS = "the test's variance holds sampling and noise"


@dataclass(frozen=True)
class Scores:
    """Deaths less those expected if all arms had one hazard, for each arm, with the
    variance that sampling and noise give them. Only bins that are `used` count.
    """

    table: LifeTable
    used: NDArray[np.bool_]

    @classmethod
    def of(cls, table: LifeTable) -> Scores:
        return cls(table, clear(table))

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
            cells = cells - sums @ sums.T / self.table.cells
        return np.asarray(self.table.variance * cells)

    @cached_property
    def gradient(self) -> Reals:
        """How each arm's value moves with the cells of each arm: deaths, censored."""
        arms = len(self.table.deaths)
        own = np.eye(arms)[:, :, None]
        moved = np.where(self.used, own - self.shares[:, None, :], 0.0)
        hazard = self._deaths / self._safe
        here = hazard * moved
        through = np.cumsum(here, axis=2)
        censored = through - (1 - self.table.stay) * here
        parts = [moved - through, -censored, -through[:, :, -1:]]
        return np.concatenate(parts, axis=2)


def clear(table: LifeTable) -> NDArray[np.bool_]:
    """Bins in which the pooled number at risk stands clear of its noise."""
    pooled = table.at_risk.sum(axis=0)
    noise = np.sqrt((table.risk_deviation**2).sum(axis=0))
    return np.logical_and.accumulate((pooled > CUT * noise) & (pooled > 0))


def reachable(scores: Scores) -> tuple[Reals, Reals]:
    """The least and the largest score of each arm, wherever within their bins people
    were censored: an arm whose people left early had fewer at risk, and so more deaths
    than expected.
    """
    arms = range(len(scores.values))
    own = np.eye(len(scores.values))
    early = np.array([_moved(scores, own[arm])[arm] for arm in arms])
    late = np.array([_moved(scores, 1 - own[arm])[arm] for arm in arms])
    # noise may make deaths negative, and then turn the order around
    found = np.stack([early, late, scores.values])
    return found.min(axis=0), found.max(axis=0)


def _moved(scores: Scores, before: Reals) -> Reals:
    return Scores(scores.table.leaving(before), scores.used).values


def nearest(low: Reals, high: Reals, covariance: Reals) -> Reals:
    """The values between low and high that are least far from 0, in their standard
    deviations, for all arms but the last (coordinate descent).
    """
    inverse = np.linalg.pinv(covariance[:-1, :-1], hermitian=True)
    least, most = low[:-1], high[:-1]
    found = np.clip(0.0, least, most)
    for _ in range(ROUNDS if len(found) > 1 else 0):
        for place in range(len(found)):
            own = inverse[place, place]
            if own > 0:
                rest = inverse[place] @ found - own * found[place]
                found[place] = np.clip(-rest / own, least[place], most[place])
    return np.append(found, -found.sum())


def quadratic(values: Reals, covariance: Reals) -> float:
    """The squared length of all but the last value, in their standard deviations."""
    if not values[:-1].any():
        return 0.0
    inverse = np.linalg.pinv(covariance[:-1, :-1], hermitian=True)
    return float(values[:-1] @ inverse @ values[:-1])


def pvalue(
    table: LifeTable, mechanism: Additive, censoring: str = WITHIN
) -> tuple[float, float]:
    """The statistic, and the probability of one as large where all arms have one
    hazard; where people are censored "within" bins, the largest of all places where
    that may have been.
    """
    within = censoring == WITHIN
    table = table.evenly() if censoring == EVENLY else table
    used = clear(table.leaving(1.0)) if within else clear(table)
    scores = Scores(table, used)
    covariance = scores.sampling + scores.noise
    values = nearest(*reachable(scores), covariance) if within else scores.values
    probability = _tail(values, scores, Law.of(mechanism), covariance)
    return quadratic(scores.values, covariance), probability


def _tail(values: Reals, scores: Scores, law: Law, covariance: Reals) -> float:
    distance, freedom = quadratic(values, covariance), len(values) - 1
    if distance == 0:
        return 1.0
    if freedom == 1:
        return two_sided(float(values[0]), scores, law)
    normal = float(special().chdtrc(freedom, distance))
    noisy = scores.noise.any()
    heavy = _simulated(scores, law, covariance, distance) if noisy else 0.0
    return max(normal, heavy)


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
    blocks = _blocks(arms * scores.table.cells)
    for _ in range(blocks):
        noise = law.draw((BLOCK, arms, scores.table.cells)).astype(np.float64)
        if scores.table.known:
            noise -= noise.mean(axis=2, keepdims=True)
        cells = noise[:, :, : 2 * bins + 1].reshape(BLOCK, -1)
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
    table, mechanism = curves.bands.table.arms(list(arms)), curves.bands.mechanism
    statistic, probability = pvalue(table, mechanism, curves.bands.censoring)
    names = " and ".join(clean(str(curves.arms[arm])) for arm in arms)
    return TrialRelease(
        what=f"log-rank test of {names}",
        value=statistic,
        sources=curves.sources,
        spread=Exact(Scores.of(table), mechanism) if len(arms) == 2 else None,
        notes=(*curves.notes, KNOWS),
        pvalue=probability,
    )
