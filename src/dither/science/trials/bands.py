"""How far off a noisy survival curve may be: about this table, where only noise counts,
and about the population, where sampling counts too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.science.trials.curve import ENDS, EVENLY, WITHIN, LifeTable

__all__ = ["Bands", "Margins", "Pointwise", "gradients"]

Reals = NDArray[np.float64]
Ends = tuple[Reals, Reals]

FEWER = 1.0
"""Noise is judged as if one standard deviation of noise fewer were at risk: where they
look many only because of noise, intervals must not look narrow.
"""


def gradients(table: LifeTable, arm: int) -> Reals:
    """How each cell of an arm (deaths, censored, ended) moves the curve at each bin."""
    shown, stay = table.shown[arm], table.stay[arm]
    risk = np.where(shown, table.at_risk[arm], 1.0)
    # a curve at 0 still moves with its deaths, so it is taken half a person above
    left = np.where(shown, np.maximum(risk - table.deaths[arm], 0.5), 1.0)
    curve = np.cumprod(left / risk)
    stays = np.concatenate([[0.0], np.cumsum(shown / left)])
    falls = np.concatenate([[0.0], np.cumsum(shown / risk)])
    bins = np.arange(table.bins)
    earlier = np.minimum.outer(bins + 1, bins)  # bins before the cell's, up to mine
    through = np.minimum.outer(bins, bins) + 1  # and its own
    deaths = stays[earlier] - falls[through]
    both = stays - falls
    censored = (1 - stay) * both[earlier] + stay * both[through]  # by the cell's bin
    weights = np.hstack([deaths, censored, both[1:, None]])
    return np.asarray(curve[:, None] * weights)


@dataclass(frozen=True)
class Margins:
    """How far the curves of a table are off by noise, and by sampling."""

    table: LifeTable
    mechanism: Additive

    @cached_property
    def _gradients(self) -> Reals:
        arms = range(len(self.table.deaths))
        found = np.stack([gradients(self.table, arm) for arm in arms])
        return np.asarray(found * self._doubt[:, :, None])

    @property
    def _doubt(self) -> Reals:
        """How much more noise may count for, because those at risk may be fewer."""
        risk = np.where(self.table.shown, self.table.at_risk, np.inf)
        return np.asarray(1 / (1 - FEWER * self.table.risk_deviation / risk))

    @cached_property
    def noise(self) -> Reals:
        """The variance of the curves' noise, linearised."""
        return self.table.noise_of(self._gradients)

    def of_noise(self, confidence: float) -> Reals:
        """The ± of noise around the curves of the exact cells, linearised."""
        powers = self.table.powers_of(self._gradients)
        return self.mechanism.law.reaches(*powers, confidence)

    def of_population(self, confidence: float, side: float) -> Reals:
        """One end (side -1 or 1) of a Wilson interval with noise: S lies where
        (S' - S)² is at most z² S (1 - S) / m + r², r being how far noise goes, with
        Peto's number of people m = at risk / S before the bin, which is never above
        that of Greenwood's formula, and half a person of room for whole counts.
        """
        normal = NormalDist().inv_cdf((1 + confidence) / 2)
        people = self._people()
        center = np.clip(self.table.unbiased + side * 0.5 / people, 0.0, 1.0)
        noise = self.of_noise(confidence) ** 2
        return _wilson(center, normal**2 / people, noise, side)

    def _people(self) -> Reals:
        before = np.ones_like(self.table.unbiased)
        before[:, 1:] = np.clip(self.table.unbiased[:, :-1], 0.0, 1.0)
        risk = np.where(self.table.shown, self.table.at_risk, 1.0)
        return np.maximum(risk / np.maximum(before, 1e-9), 1.0)


@dataclass(frozen=True)
class Bands:
    """Pointwise intervals around the curves of a table.

    Where people are censored "within" bins, those of a bin may have left before or
    after its deaths: a curve of the population lies between these two, and its interval
    reaches from the low end of the one to the high end of the other.
    """

    table: LifeTable
    mechanism: Additive
    censoring: str = WITHIN

    @cached_property
    def _own(self) -> Margins:
        return Margins(self.table, self.mechanism)

    @cached_property
    def _both(self) -> tuple[Margins, Margins]:
        """For the low and for the high ends about the population."""
        if self.censoring == EVENLY:
            even = Margins(self.table.evenly(), self.mechanism)
            return even, even
        if self.censoring == ENDS:
            return self._own, self._own
        return Margins(self.table.leaving(1.0), self.mechanism), self._own

    def of_table(self, confidence: float) -> Ends:
        """Ends that hold the curve of the exact cells."""
        width = self._own.of_noise(confidence)
        middle = np.clip(self.table.unbiased, 0.0, 1.0)
        return self._closed(middle - width, middle + width)

    def of_population(self, confidence: float) -> Ends:
        """Ends that hold the curve of the population that people were drawn from."""
        lower, upper = self._both
        low = np.where(lower.table.shown, lower.of_population(confidence, -1.0), 0.0)
        high = np.where(upper.table.shown, upper.of_population(confidence, 1.0), 1.0)
        return self._closed(low, high)

    def _closed(self, low: Reals, high: Reals) -> Ends:
        """Ends within [0, 1] that hold the shown curve. Beyond the last bin shown, a
        curve lies anywhere below where it was.
        """
        shown, curve = self.table.shown, self.table.survival
        value = np.where(shown, curve, 0.0)
        low = np.where(shown, np.clip(np.minimum(low, value), 0.0, 1.0), 0.0)
        high = np.where(shown, np.clip(np.maximum(high, value), 0.0, 1.0), 1.0)
        return low, _held(high, shown)


def _held(high: Reals, shown: NDArray[np.bool_]) -> Reals:
    """Upper ends, kept from the last bin shown on."""
    found = high.copy()
    for row, seen in enumerate(shown.sum(axis=1)):
        if 0 < seen < found.shape[1]:
            found[row, seen:] = found[row, seen - 1]
    return found


def _wilson(center: Reals, share: Reals, noise: Reals, side: float) -> Reals:
    """The farther solution S of (center - S)² = share · S (1 - S) + noise."""
    inside = 4 * share * center * (1 - center) + share**2 + 4 * (1 + share) * noise
    return np.asarray((2 * center + share + side * np.sqrt(inside)) / (2 * (1 + share)))


@dataclass(frozen=True)
class Pointwise:
    """The ends of all curves, arm by arm, as a release wants them."""

    bands: Bands
    population: bool = False

    def by_arm(self, confidence: float) -> Ends:
        """A row for each arm."""
        find = self.bands.of_population if self.population else self.bands.of_table
        return find(confidence)

    def ends(self, confidence: float) -> tuple[Any, Any]:
        low, high = self.by_arm(confidence)
        return low.ravel(), high.ravel()
