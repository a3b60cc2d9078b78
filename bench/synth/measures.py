"""How far one table's small tables are from another's, and what a table without any
dependence would have.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.synth.data import Codes, Table

__all__ = ["independent", "pairwise", "resampled", "two_way"]

Reals = NDArray[np.float64]


def shares(codes: Codes, sizes: tuple[int, ...], places: tuple[int, ...]) -> Reals:
    """The share of rows in each cell of some columns."""
    cell = np.zeros(len(codes), np.int64)
    for place in places:
        cell = cell * sizes[place] + codes[:, place]
    cells = int(np.prod([sizes[place] for place in places]))
    return np.bincount(cell, minlength=cells) / max(len(codes), 1)


def distance(real: Table, codes: Codes, places: tuple[int, ...]) -> float:
    """The sum of absolute differences of shares: 0 for equal tables, at most 2."""
    mine = shares(codes, real.sizes, places)
    return float(np.abs(shares(real.codes, real.sizes, places) - mine).sum())


def pairwise(real: Table, codes: Codes) -> dict[tuple[int, int], float]:
    pairs = combinations(range(len(real.sizes)), 2)
    return {pair: distance(real, codes, pair) for pair in pairs}


def two_way(real: Table, codes: Codes) -> float:
    """The mean over all pairs of columns."""
    return float(np.mean(list(pairwise(real, codes).values())))


def resampled(real: Table, random: np.random.Generator) -> Codes:
    """As many rows again, drawn from the table: what is left without any privacy."""
    return real.codes[random.integers(0, len(real), len(real))]


def independent(real: Table, rho: float, random: np.random.Generator) -> Codes:
    """Every column by itself, all of ρ on the one-way tables, in equal parts."""
    sigma = np.sqrt(len(real.sizes) / (2 * rho))
    columns = [_column(real, place, sigma, random) for place in range(len(real.sizes))]
    return np.stack(columns, axis=1).astype(np.int32)


def _column(real: Table, place: int, sigma: float, random: np.random.Generator) -> Any:
    size = real.sizes[place]
    counts = np.bincount(real.codes[:, place], minlength=size)
    fitted = simplex(counts + random.normal(0, sigma, size), len(real))
    ends = np.cumsum(fitted) / fitted.sum() * len(real)
    steps = np.floor(np.append(ends[:-1], len(real)) + random.random())
    each: Any = np.diff(np.minimum(steps, len(real)).astype(np.int64), prepend=0)
    return random.permutation(np.repeat(np.arange(size), each))


def simplex(noisy: Reals, total: float) -> Reals:
    """The nearest counts that are not negative and add up."""
    falling = -np.sort(-noisy)
    above = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    cut = above[np.flatnonzero(falling > above)[-1]]
    return np.asarray(np.maximum(noisy - cut, 0))
