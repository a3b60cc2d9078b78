"""The survival curve that noisy cells give: free post-processing of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["CUT", "ENDS", "EVENLY", "WITHIN", "LifeTable", "even_share", "falling"]

Reals = NDArray[np.float64]

WITHIN, EVENLY, ENDS = "within", "evenly", "ends"
"""When people are censored: somewhere within bins, at an even rate all the time, or at
the ends of bins only.
"""
CUT = 3.0
"""A bin is shown while the noisy number at risk is so many standard deviations of its
own noise above 0. Fewer, and a hazard divides noise by noise.
"""


@dataclass(frozen=True)
class LifeTable:
    """Noisy deaths and censored people, a row for each arm and a column for each bin,
    and how many were there to the end.

    `variance` is that of the noise on one cell. With `known` totals, the cells of an
    arm were moved so that they add up to its public size, which takes a share of the
    noise away. `before` is the share of a bin's censored people who left before its
    deaths, in all arms or for each arm (and bin): it is not known, and 0 is the
    convention. `sizes` are the public numbers of people in the arms.
    """

    deaths: Reals
    censored: Reals
    ended: Reals
    variance: float
    known: bool = False
    before: Reals | float = 0.0
    sizes: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, noisy: NDArray[np.int64], variance: float, sizes: NDArray[np.int64] | None
    ) -> LifeTable:
        """The table of noisy cells as `cells.counted` lays them out. If sizes are
        public, the nearest cells that add up to them (least squares).
        """
        cells = noisy.astype(np.float64)
        if sizes is not None:
            surplus = cells.sum(axis=1) - sizes
            cells = cells - surplus[:, None] / cells.shape[1]
        bins = (cells.shape[1] - 1) // 2
        return cls(
            cells[:, :bins],
            cells[:, bins : 2 * bins],
            cells[:, 2 * bins],
            variance,
            sizes is not None,
            sizes=sizes,
        )

    def arms(self, places: slice | list[int]) -> LifeTable:
        """The same for some of the arms."""
        return replace(
            self,
            deaths=self.deaths[places],
            censored=self.censored[places],
            ended=self.ended[places],
            sizes=None if self.sizes is None else self.sizes[places],
        )

    def leaving(self, before: Reals | float) -> LifeTable:
        """The same if this share of the censored left before the deaths."""
        return replace(self, before=before)

    def evenly(self) -> LifeTable:
        """The same if deaths and censoring go on at an even rate all the time."""
        late = self.leaving(0.0)
        risk = np.where(late.shown, late.at_risk, np.inf)
        return self.leaving(even_share(self.deaths / risk, self.censored / risk))

    @property
    def bins(self) -> int:
        return int(self.deaths.shape[1])

    @property
    def cells(self) -> int:
        """How many cells of an arm have noise."""
        return 2 * self.bins + 1 + self.known

    @property
    def stay(self) -> Reals:
        """The share of a bin's censored people who are at risk in it."""
        before = np.asarray(self.before)
        wide = before[:, None] if before.ndim == 1 else before
        return np.broadcast_to(1.0 - wide, self.deaths.shape)

    @cached_property
    def at_risk(self) -> Reals:
        """How many have neither died nor been censored before each bin's deaths."""
        leaving = self.deaths + self.censored
        later = np.cumsum(leaving[:, ::-1], axis=1)[:, ::-1] + self.ended[:, None]
        return np.asarray(later - (1 - self.stay) * self.censored)

    @cached_property
    def possible(self) -> tuple[Reals, Reals]:
        """The numbers at risk and of deaths that are nearest to the noisy ones and can
        be true: those at risk are never more than before, nor than an arm's public
        size, and of them as many can die as there are. For print; curves and tests are
        computed from the noisy numbers, whose errors cancel.
        """
        fewer = np.stack([falling(row) for row in self.at_risk])
        most = np.inf if self.sizes is None else self.sizes[:, None]
        at_risk = np.clip(fewer, 0.0, most)
        return at_risk, np.clip(self.deaths, 0.0, at_risk)

    @cached_property
    def risk_deviation(self) -> Reals:
        """The standard deviation of the noise on the number at risk."""
        later = 2.0 * np.arange(self.bins, 0, -1)
        squares, sums = later + self.stay**2, later + self.stay
        shared = sums**2 / self.cells if self.known else 0.0
        return np.asarray(np.sqrt(self.variance * (squares - shared)))

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Bins up to which the noisy number at risk stands clear of its noise."""
        clear = self.at_risk > CUT * self.risk_deviation
        return np.logical_and.accumulate(clear & (self.at_risk > 0), axis=1)

    @cached_property
    def hazards(self) -> Reals:
        """Deaths among those at risk, at most 1; noise may make them negative. 0 if
        nothing is shown.
        """
        safe = np.where(self.shown, self.at_risk, 1.0)
        return np.where(self.shown, np.minimum(self.deaths / safe, 1.0), 0.0)

    @cached_property
    def unbiased(self) -> Reals:
        """The product of (1 - hazard): noise may lift it above 1, or make it rise."""
        return np.cumprod(1.0 - self.hazards, axis=1, dtype=np.float64)

    @cached_property
    def survival(self) -> Reals:
        """The nearest curves that never rise, within [0, 1]; NaN where not shown."""
        curves = [
            falling(curve[seen])
            for curve, seen in zip(self.unbiased, self.shown, strict=True)
        ]
        found = np.full(self.unbiased.shape, np.nan)
        for row, curve in enumerate(curves):
            found[row, : len(curve)] = np.clip(curve, 0.0, 1.0)
        return found

    def noise_of(self, gradient: Reals) -> Reals:
        """The variance that noise gives a sum of an arm's cells with these weights
        (last axis: deaths, censored, ended).
        """
        return np.asarray(self.variance * self.powers_of(gradient)[0])

    def powers_of(self, gradient: Reals) -> tuple[Reals, Reals]:
        """The sums of the squares and of the fourth powers of the weights with which the
        noise of all cells enters such a sum. Known totals take the mean off each.
        """
        mean = gradient.sum(axis=-1) / self.cells if self.known else 0.0
        rest = self.cells - gradient.shape[-1] if self.known else 0
        moved = gradient - np.asarray(mean)[..., None]
        squares, fourths = (
            (moved**power).sum(axis=-1) + rest * mean**power for power in (2, 4)
        )
        return np.asarray(squares), np.asarray(fourths)


def even_share(deaths: Reals, censored: Reals) -> Reals:
    """The share of the censored that must leave before a bin's deaths for its hazard to
    be right, where both go on at constant rates, from the shares of people at risk who
    die and are censored. It is a half where both are few.
    """
    died = np.clip(deaths, 1e-4, 0.999)
    gone = np.clip(censored, 1e-4, 0.9995 - died)
    both = died + gone
    hazard = 1 - (1 - both) ** (died / both)
    return np.asarray(np.clip((1 - died / hazard) / gone, 0.5, 1.0))


def falling(curve: Reals) -> Reals:
    """The nearest sequence that never rises: neighbours that do are pooled (isotonic
    regression).
    """
    pools: list[tuple[float, int]] = []
    for value in curve.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] < mean:
            before, size = pools.pop()
            mean = (before * size + mean * count) / (size + count)
            count += size
        pools.append((mean, count))
    means, counts = zip(*pools, strict=True) if pools else ((), ())
    return np.repeat(np.array(means, np.float64), counts)
