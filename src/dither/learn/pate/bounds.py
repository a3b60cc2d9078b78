"""What votes reveal on the data at hand: bounds on the Rényi divergence between the
answers on this data and on any neighbour's. They depend on the votes, so they are private
themselves (docs/proofs/pate.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dither.privacy.gaussian import log_tail

__all__ = ["Levels", "confident_table", "gnmax_bound", "gnmax_table"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
ERROR = 2.0**-34
"""Largest error of floats in a level x, over 1 − x, with room to spare."""
FINEST, COLUMNS = 8, 2048
"""Columns that one unit passes at most: from 2 to 8, more if there are few teachers."""
HALVINGS, BLOCK = 12, 1 << 20


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a bound on ln P(another class wins), which are the columns of a table.

    The bound is a sum over the other classes, each with its own lead; a level is the
    logarithm of their mean. `values` fall, and one unit moves a query by `reach` columns
    at most (docs/proofs/pate.md).
    """

    teachers: int
    sigma: float
    classes: int
    reach: int
    values: Reals

    @classmethod
    def of(cls, teachers: int, sigma: float, classes: int) -> Self:
        """Levels of all votes of some teachers, by public figures alone."""
        reach = max(2, min(FINEST, COLUMNS // teachers))
        wide = math.sqrt(2.0) * sigma
        even, least = math.log(0.5), log_tail(teachers / wide)
        lead, end = _passed(even, -2.0, wide, classes)
        found = np.linspace(even, end, reach, endpoint=False).tolist()
        while found[-1] > least:
            lead, next_one = _passed(found[-reach], lead, wide, classes)
            found.append(min(next_one, found[-1]))
        return cls(teachers, sigma, classes, reach, np.array(found))

    def log_misses(self) -> Reals:
        """For each column, a bound on ln P(another class wins)."""
        union = math.log(self.classes - 1) + self.values + ERROR * (1 - self.values)
        return np.minimum(union, math.log1p(-1.0 / self.classes))

    def columns(self, counts: Integers) -> Integers:
        """The column of each line of counts."""
        wide = math.sqrt(2.0) * self.sigma
        tails = np.array([log_tail(lead / wide) for lead in range(self.teachers + 1)])
        size = max(1, BLOCK // self.classes)
        found = np.empty(len(counts), np.int64)
        for start in range(0, len(counts), size):
            part = slice(start, start + size)
            level = self._level(counts[part], tails)
            found[part] = np.searchsorted(-self.values, -level, side="right") - 1
        return np.clip(found, 0, len(self.values) - 1)

    def _level(self, counts: Integers, tails: Reals) -> Reals:
        """The logarithm of the mean over other classes of P(it passes the winner).

        Noise is rounded, and of equals the first wins: a class before the winner passes
        it only if it is less than 1 behind before rounding, a later one only if it is
        ahead.
        """
        winner = counts.argmax(axis=1)[:, None]
        lead = np.take_along_axis(counts, winner, axis=1) - counts
        lead -= np.arange(self.classes) < winner
        logs = tails[np.clip(lead, 0, self.teachers)]
        np.put_along_axis(logs, winner, -np.inf, axis=1)
        most = logs.max(axis=1)
        total = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
        return np.asarray(total - math.log(self.classes - 1))


def _passed(
    level: float, lead: float, wide: float, classes: int
) -> tuple[float, float]:
    """The lowest level to which one unit can move a level; and where the search for it
    ended, from which that for a lower level may start.

    Why: one lead grows by 2 and all others by 1 at most. The sum is smallest afterwards
    if the one is t and all others are 2t + 3/2 (docs/proofs/pate.md).
    """

    def mean(one: float, others: float) -> float:
        found = log_tail(one / wide)
        if classes > 2:
            more = math.log(classes - 2) + log_tail(others / wide)
            larger, smaller = max(found, more), min(found, more)
            found = larger + math.log1p(math.exp(smaller - larger))
        return found - math.log(classes - 1)

    target, step = level - ERROR * (1 - level), 2.0
    while mean(lead + step, 2 * (lead + step) + 1.5) > target:
        step *= 2
    low, high = lead, lead + step
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if mean(middle, 2 * middle + 1.5) > target:
            low = middle
        else:
            high = middle
    found = mean(high + 2, 2 * high + 2.5)
    return low, found - ERROR * (1 - found)


def gnmax_bound(log_q: float, sigma: float, order: float) -> float:
    """The Rényi divergence at an order of GNMax where another class than the first wins
    with probability q at most.

    Why: Papernot et al. 2018, theorem 6, with μ₂ = σ√(−ln q) and μ₁ = μ₂ + 1; if its
    conditions fail, α/σ².
    """
    plain = order / sigma**2
    if log_q == -math.inf:
        return 0.0
    second = sigma * math.sqrt(-log_q)
    first = second + 1.0
    if second <= 1.0 or first <= order or -log_q <= second / sigma**2:
        return plain
    loss_first, loss_second = first / sigma**2, second / sigma**2
    limit = (second - 1.0) * loss_second - second * math.log(
        first / (first - 1.0) * second / (second - 1.0)
    )
    if log_q > limit:
        return plain
    right = _log_one_less(log_q)
    grown = (log_q + loss_second) * (1.0 - 1.0 / second)
    usual = right + (order - 1.0) * (right - _log_one_less(grown))
    rare = log_q + (order - 1.0) * (loss_first - log_q / (first - 1.0))
    found = float(np.logaddexp(usual, rare)) / (order - 1.0)
    return min(plain, max(found, 0.0))


def gnmax_table(levels: Levels, order: float) -> Reals:
    """The bound of `gnmax_bound` for each column. A bound for a larger q holds for a smaller one too, so
    it never rises.
    """
    found = [gnmax_bound(one, levels.sigma, order) for one in levels.log_misses()]
    return np.asarray(np.minimum.accumulate(found))


def confident_table(
    answer: Reals, teachers: int, threshold: float, sigma: float, order: float
) -> Reals:
    """The bound of a test and, if it is passed, of an answer: a line for each largest
    count, a column for each of `answer`, which are the bounds of answers.

    The largest count of a neighbour is 1 more or less, so the probabilities with which
    the test is passed are known on both sides, and the worst of them counts.
    """
    # Noise is rounded, so the threshold is reached from half a vote below.
    edge = math.ceil(threshold) - 0.5
    missing = [(edge - most) / sigma for most in range(teachers + 1)]
    passed = np.array([log_tail(one) for one in missing])
    failed = np.array([log_tail(-one) for one in missing])
    found = np.zeros((teachers + 1, len(answer)))
    for step in (-1, 0, 1):
        other = np.clip(np.arange(teachers + 1) + step, 0, teachers)
        none = order * failed + (1.0 - order) * failed[other]
        some = order * passed + (1.0 - order) * passed[other]
        both = np.logaddexp(none[:, None], some[:, None] + (order - 1.0) * answer)
        np.maximum(found, both / (order - 1.0), out=found)
    return found


def _log_one_less(log_x: float) -> float:
    """ln(1 − x) from ln x."""
    if log_x > -math.log(2.0):
        return math.log(-math.expm1(log_x))
    return math.log1p(-math.exp(log_x))
