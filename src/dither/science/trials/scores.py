"""Deaths of each arm minus those expected if all had one hazard, from noisy cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.science.trials.curve import CUT, LifeTable

__all__ = ["Scores", "clear", "nearest", "quadratic", "reachable"]

Reals = NDArray[np.float64]

ROUNDS = 200


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
        # If people are recorded as having left early, noise may leave nobody
        return np.where(self.used & (self.pooled != 0), self.pooled, 1.0)

    @cached_property
    def _deaths(self) -> Reals:
        return np.where(self.used, self.table.deaths.sum(axis=0), 0.0)

    @cached_property
    def shares(self) -> Reals:
        """Each arm's share of the people at risk."""
        return np.where(self.used, self.table.at_risk / self._safe, 0.0)

    @cached_property
    def expected(self) -> Reals:
        """Deaths expected in each arm if all had one hazard."""
        return np.asarray((self._deaths * self.shares).sum(axis=1))

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
