"""Tables of blocks that are not solved: the most likely by the prior alone, and one
near marginals that too many tables agree with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Table

__all__ = ["most_likely", "proportional"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]

ROUNDS = 50


def most_likely(prior: Reals, sizes: Counts) -> Counts:
    """The most likely table of `people` people whose records are draws from the prior.

    The next person goes where the chance of the whole grows most: that is D'Hondt's
    rule, under which no cell has less than its share, rounded down.
    """
    found = np.zeros((sizes.size, prior.size), np.int64)
    for size in np.unique(sizes):
        counts = np.floor(prior * size * (1 - 1e-12)).astype(np.int64)
        for _ in range(int(size - counts.sum())):
            counts[int(np.argmax(prior / (counts + 1)))] += 1
        found[sizes == size] = counts
    return found


def proportional(
    tables: Sequence[Table], published: Sequence[Reals], prior: Reals
) -> Counts:
    """The prior scaled to each marginal in turn, which ends at the most likely table if
    people could be divided; then rounded, so that as many people are left.
    """
    sizes = published[0].sum(axis=1, keepdims=True)
    found = prior * sizes
    for _ in range(ROUNDS):
        for table, values in zip(tables, published, strict=True):
            now = table.of(found)
            ratio = np.divide(values, now, out=np.zeros_like(values), where=now > 0)
            found = found * ratio[:, table.entries]
    return _rounded(found)


def _rounded(parts: Reals) -> Counts:
    """Whole numbers with the same sum: the largest fractions are rounded up."""
    whole = np.floor(parts)
    missing = np.rint(parts.sum(axis=1) - whole.sum(axis=1))
    rank = np.argsort(np.argsort(whole - parts, axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (rank < missing[:, None]), np.int64)
