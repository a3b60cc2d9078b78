"""χ² statistics of noisy tables: each deviation over the variance that sampling and
noise give it together (Kifer & Rogers 2017), and their null by simulation.

Without noise they are Pearson's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.science.trials.columns import Reals
from dither.science.trials.null import Law, public_draws

__all__ = ["GoodnessOfFit", "Independence", "Squares", "pvalue"]

DRAWS = 4_999
WORK = 2_000_000
"""So many cells are simulated at most, and at least `FEWEST` tables."""
FEWEST = 999
DOUBT = 2.5
"""So many standard deviations of noise in its total leave it open whether a row or a
column has anybody in it.
"""


class Squares(ABC):
    """A statistic of noisy tables and a way to draw them where the null holds. Tables
    are the last two axes of arrays.
    """

    @abstractmethod
    def statistics(self, tables: Reals) -> Reals: ...

    @abstractmethod
    def drawn(self, like: Reals, count: int) -> Reals:
        """Noisy tables under the null that fits a noisy table best."""

    def alike(self, table: Reals) -> list[Reals]:
        """Noisy tables that this one could be, as far as the null is concerned."""
        return [table]


def pvalue(squares: Squares, table: Reals, seen: float) -> float:
    """The share of tables under the null whose statistic is as large, this one
    included: so it is never 0. Of several nulls that could be, the worst.
    """
    count = max(FEWEST, min(DRAWS, WORK // table.size))
    found = 0
    for like in squares.alike(table):
        drawn = squares.statistics(squares.drawn(like, count))
        found = max(found, int(np.count_nonzero(drawn >= seen)))
    return (1 + found) / (1 + count)


@dataclass(frozen=True)
class Axis:
    """The shares of one axis of a table, and the directions in which sampling and noise
    are uncorrelated: in each, sampling has variance `spread` where noise has 1.
    """

    shares: Reals
    known: bool = False

    @cached_property
    def directions(self) -> tuple[Reals, Reals]:
        """Directions as columns (of deviations without their last entry), and the
        sampling variance of one person along each.
        """
        shares = self.shares
        size = shares.shape[-1]
        outer = shares[..., :, None] * shares[..., None, :]
        sampling = shares[..., :, None] * np.eye(size) - outer
        noise = self._noise()
        inner = (..., slice(size - 1), slice(size - 1))
        lower = np.linalg.cholesky(noise[inner])
        half = np.linalg.solve(lower, sampling[inner])
        both = np.linalg.solve(lower, np.swapaxes(half, -1, -2))
        spread, turned = np.linalg.eigh((both + np.swapaxes(both, -1, -2)) / 2)
        directions = np.linalg.solve(np.swapaxes(lower, -1, -2), turned)
        return directions, np.maximum(spread, 0.0)

    def _noise(self) -> Reals:
        """The covariance of unit noise in the deviations."""
        size = self.shares.shape[-1]
        if self.known:  # totals are known, so noise has none in them
            return np.asarray(np.eye(size) - 1 / size)
        apart = self.apart
        return np.asarray(apart @ np.swapaxes(apart, -1, -2))

    @cached_property
    def apart(self) -> Reals:
        """Takes the expected part away: I - shares·1ᵀ."""
        size = self.shares.shape[-1]
        return np.asarray(np.eye(size) - self.shares[..., :, None])


def shares_of(totals: Reals) -> Reals:
    """Noisy totals as shares, negative ones as none."""
    kept = np.maximum(totals, 0.0)
    whole = kept.sum(axis=-1, keepdims=True)
    even = np.full_like(kept, 1 / kept.shape[-1])
    return np.asarray(np.divide(kept, whole, out=even, where=whole > 0))


def _summed(moved: Reals, variance: Reals) -> Reals:
    """Σ moved² / variance, without directions that nothing moves."""
    square = moved**2
    found = np.divide(square, variance, out=np.zeros_like(square), where=variance > 0)
    return np.asarray(found.sum(axis=(-1, -2)))


@dataclass(frozen=True)
class Independence(Squares):
    """Rows and columns are independent. `variance` is that of the noise in each cell;
    with public `sizes` of rows, that of what is left once rows have their sizes.
    """

    law: Law
    variance: float
    sizes: tuple[int, ...] | None = None

    def statistics(self, tables: Reals) -> Reals:
        rows, columns, people = self._fit(tables)
        deviations = rows.apart @ tables @ np.swapaxes(columns.apart, -1, -2)
        left, down = rows.directions
        right, across = columns.directions
        inner = deviations[..., :-1, :-1]
        moved = np.swapaxes(left, -1, -2) @ inner @ right
        sampling = people[..., None, None] * down[..., :, None] * across[..., None, :]
        return _summed(moved, sampling + self.variance)

    def _fit(self, tables: Reals) -> tuple[Axis, Axis, Reals]:
        """Rows, columns and people of the null that fits."""
        columns = Axis(shares_of(tables.sum(axis=-2)), known=self.sizes is not None)
        if self.sizes is None:
            people = np.maximum(tables.sum(axis=(-1, -2)), 1.0)
            return Axis(shares_of(tables.sum(axis=-1))), columns, people
        totals = np.array(self.sizes, np.float64)
        rows = np.broadcast_to(totals / totals.sum(), tables.shape[:-1])
        return Axis(rows), columns, np.full(tables.shape[:-2], totals.sum())

    def drawn(self, like: Reals, count: int) -> Reals:
        rows, columns, people = self._fit(like)
        draws = public_draws()
        if self.sizes is None:
            cells = np.outer(rows.shares, columns.shares).ravel()
            cells /= cells.sum()
            found = draws.multinomial(round(float(people)), cells, count)
            tables = found.reshape(count, *like.shape)
            return np.asarray(tables + self.law.draw(tables.shape), np.float64)
        parts = [draws.multinomial(n, columns.shares, count) for n in self.sizes]
        return with_noise(np.stack(parts, axis=-2), self.law, self.sizes)

    def alike(self, table: Reals) -> list[Reals]:
        """The table, and the same without rows and columns that noise alone could have
        filled: shares near 0 are what noise tells least about.
        """
        noise = math.sqrt(self.variance)
        down, across = table.sum(axis=1), table.sum(axis=0)
        full = across > DOUBT * noise * math.sqrt(down.size)
        kept = table * (full if full.any() else across == across.max())
        if self.sizes is None:
            full = down > DOUBT * noise * math.sqrt(across.size)
            kept = kept * (full if full.any() else down == down.max())[:, None]
        if np.array_equal(kept, table):
            return [table]
        people = max(table.sum(), 1.0)
        return [table, kept * (people / kept.sum()) if kept.sum() > 0 else kept]


def with_noise(tables: Reals, law: Law, sizes: tuple[int, ...]) -> Reals:
    """Exact tables with noise, brought back to their rows' sizes."""
    if tables.shape[-1] == 2:
        noise = law.draw(tables.shape[:-1])
        return np.asarray(
            np.stack([tables[..., 0] + noise, tables[..., 1] - noise], -1), np.float64
        )
    return sized(tables + law.draw(tables.shape), sizes)


def sized(tables: Reals, sizes: tuple[int, ...]) -> Reals:
    """Noisy tables, moved evenly to their rows' sizes."""
    over = tables.sum(axis=-1, keepdims=True) - np.array(sizes, np.float64)[:, None]
    return np.asarray(tables - over / tables.shape[-1])


@dataclass(frozen=True)
class GoodnessOfFit(Squares):
    """Labels have the expected shares; a table is one row."""

    law: Law
    variance: float
    expected: Axis

    def statistics(self, tables: Reals) -> Reals:
        flat = tables.reshape(-1, tables.shape[-1])  # one product, not many
        people = np.maximum(flat.sum(axis=1), 1.0)
        directions, spread = self.expected.directions
        moved = (flat @ self.expected.apart.T)[:, :-1] @ directions
        found = _summed(
            moved[:, None], (people[:, None] * spread + self.variance)[:, None]
        )
        return np.asarray(found.reshape(tables.shape[:-2]))

    def alike(self, table: Reals) -> list[Reals]:
        """Tables of as many people, and of fewer and more by two standard deviations of
        the noise in their number. Only the number matters.
        """
        total = table.sum()
        noise = 2 * math.sqrt(table.size * self.variance)
        return [
            table + (one - total) / table.size
            for one in (total - noise, total, total + noise)
        ]

    def drawn(self, like: Reals, count: int) -> Reals:
        people = max(1, round(float(like.sum())))
        found = public_draws().multinomial(people, self.expected.shares, count)
        tables = found[:, None, :]
        return np.asarray(tables + self.law.draw(tables.shape), np.float64)
