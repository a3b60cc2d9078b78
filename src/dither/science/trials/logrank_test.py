"""The log-rank test from the noisy cells of survival curves; it costs nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.science.trials.curve import EVENLY, WITHIN, LifeTable
from dither.science.trials.null import Law, public_draws, special
from dither.science.trials.result import TrialRelease
from dither.science.trials.scores import (
    Scores,
    clear,
    nearest,
    quadratic,
    reachable,
)
from dither.text import clean

if TYPE_CHECKING:
    from dither.science.trials.curves import SurvivalRelease

__all__ = ["Exact", "pvalue", "tested", "two_sided"]

Reals = NDArray[np.float64]

DRAWS, BLOCK = 20_000, 500
FEW = 20.0
"""With fewer deaths expected in an arm, its score is not normal yet."""
MOST_DEATHS = 4000
MOST_NOISE = 4_000_000
"""So many noises are drawn at most for one p-value, in about a second."""
KNOWS = "the variance of the test includes sampling and noise"


def pvalue(
    table: LifeTable, mechanism: Additive, censoring: str = WITHIN
) -> tuple[float, float]:
    """The statistic, and the probability of one as large where all arms have one
    hazard; if people are censored "within" bins, the largest of all places where that
    may have been.
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
    heaviest, and with few deaths expected in an arm, as if these were binomial: then
    the score is skewed. The largest of all.
    """
    sampling, noise = float(scores.sampling[0, 0]), float(scores.noise[0, 0])
    found = [math.erfc(abs(value) / math.sqrt(2 * (sampling + noise)))]
    few = float(scores.expected.min()) < FEW and sampling > 0
    if noise >= 1e-9 * sampling:
        step = math.sqrt(noise / law.variance)
        far, spread = abs(value) / step, math.sqrt(sampling) / step
        found.append(2 * float(law.beyond(far, spread)))
    if few:
        found.append(_skewed(abs(value), scores, law))
    return min(max(found), 1.0)


def _skewed(far: float, scores: Scores, law: Law) -> float:
    """The two tails where deaths in the smaller arm are binomial, of the mean and
    variance that they have.
    """
    variance = float(scores.sampling[0, 0])
    mean = max(float(scores.expected.min()), variance * 1.001)
    count = max(1, min(round(mean**2 / (mean - variance)), MOST_DEATHS))
    deaths = np.arange(count + 1)
    chances = _binomial(count, min(mean / count, 1 - 1e-9))
    moved = deaths - count * min(mean / count, 1 - 1e-9)
    noise = float(scores.noise[0, 0])
    if noise < 1e-9 * variance:
        return float(chances[np.abs(moved) >= far * (1 - 1e-9)].sum())
    step = math.sqrt(noise / law.variance)
    return sum(
        law.with_pmf(side * moved / step, chances, far / step) for side in (1, -1)
    )


def _binomial(count: int, chance: float) -> Reals:
    """The probabilities of 0 to `count` successes."""
    gamma = special().gammaln
    some = np.arange(count + 1)
    ways = gamma(count + 1) - gamma(some + 1) - gamma(count - some + 1)
    logs = ways + some * math.log(chance) + (count - some) * math.log1p(-chance)
    return np.asarray(np.exp(logs))


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
        drawn = (cells @ gradient.T + _sampled(source, scores, root))[:, :-1]
        lengths = np.einsum("ri,ij,rj->r", drawn, inverse, drawn)
        seen += int((lengths >= statistic).sum())
    return (seen + 1) / (blocks * BLOCK + 1)


def _sampled(source: Any, scores: Scores, root: Reals) -> Reals:
    """Scores by sampling alone: normal, or with few deaths expected in an arm, as deaths
    fall on the arms at random.
    """
    arms = len(scores.values)
    expected = np.clip(scores.expected, 0.0, None)
    if scores.expected.min() >= FEW or not expected.sum() >= 0.5:
        return np.asarray(source.standard_normal((BLOCK, arms)) @ root)
    deaths, shares = round(float(expected.sum())), expected / expected.sum()
    return np.asarray(source.multinomial(deaths, shares, BLOCK) - deaths * shares)


def _blocks(cells: int) -> int:
    """Number of draws that are taken: fewer where each is of many cells."""
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
        each = (1 + confidence) / 2
        value = abs(float(self.scores.values[0]))
        off = self._reach(self.scores.gradient[0], each) * self._doubt()
        low, high = self._variance(each)
        near, far = max(value - off, 0.0), value + off
        least = near**2 / high if high > 0 else 0.0
        return least, far**2 / low if low > 0 else math.inf

    def _reach(self, gradient: Reals, confidence: float) -> float:
        """The ± of noise in a figure with this gradient in the cells of each arm."""
        powers = self.scores.table.powers_of(gradient)
        squares, fourths = (np.array([np.sum(one)]) for one in powers)
        return float(self.mechanism.law.reaches(squares, fourths, confidence)[0])

    def _doubt(self) -> float:
        """How much more noise may count for, because those at risk may be fewer: on
        average over the deaths, as for curves.
        """
        table, used = self.scores.table, self.scores.used
        noise = np.sqrt((table.risk_deviation**2).sum(axis=0))
        risk = np.where(used, self.scores.pooled, np.inf)
        weights = np.where(used, np.maximum(table.deaths.sum(axis=0), 1.0), 0.0)
        return float((weights / (1 - noise / risk)).sum() / max(weights.sum(), 1.0))

    def _variance(self, confidence: float) -> tuple[float, float]:
        """The hypergeometric variance moves with the deaths of both arms, about by a
        share times the other's.
        """
        if not self.scores.used.all():
            return 0.0, math.inf
        shares = np.clip(self.scores.shares, 0.0, 1.0)
        gradient = np.repeat(shares[0] * shares[1], 2)
        squares, fourths = (np.array([np.sum(gradient**power)]) for power in (2, 4))
        law, middle = self.mechanism.law, float(self.scores.sampling[0, 0])
        width = float(law.reaches(squares, fourths, confidence)[0])
        return middle - width, middle + width


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
