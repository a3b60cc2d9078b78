"""What votes reveal on the data at hand: bounds on the Rényi divergence between the
answers on this data and on any neighbour's. They depend on the votes, so they are private
themselves (docs/proofs/pate.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dither.privacy.gaussian import log_tail

__all__ = ["confident_table", "gnmax_bound", "gnmax_table", "log_miss"]

Reals = NDArray[np.float64]


def log_miss(gap: float, sigma: float, classes: int) -> float:
    """A bound on ln P(another class wins) where the winner leads all others by `gap` or
    more. Noise is rounded, and of equals the first wins: another one wins only if it is
    less than 1 behind before rounding, with probability 1 − Φ((gap − 1) / (√2 σ)).
    """
    union = math.log(classes - 1) + log_tail((gap - 1) / (math.sqrt(2.0) * sigma))
    return min(union, math.log1p(-1.0 / classes))


def gnmax_bound(log_q: float, sigma: float, order: float) -> float:
    """The Rényi divergence at an order of GNMax where another class than the first wins
    with probability q at most.

    Why: Papernot et al. 2018, theorem 6, with μ₂ = σ√(−ln q) and μ₁ = μ₂ + 1; where
    its conditions fail, α/σ².
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


def gnmax_table(teachers: int, sigma: float, classes: int, order: float) -> Reals:
    """That bound for each lead of 0 to all votes. A bound for a smaller lead holds for a
    larger one too, so it never rises.
    """
    found = [
        gnmax_bound(log_miss(gap, sigma, classes), sigma, order)
        for gap in range(teachers + 1)
    ]
    return np.asarray(np.minimum.accumulate(found))


def confident_table(
    answer: Reals, threshold: float, sigma: float, order: float
) -> Reals:
    """The bound of a test and, where it is passed, of an answer: a line for each largest
    count, a column for each lead. `answer` is that of answers.

    The largest count of a neighbour is 1 more or less, so the probabilities with which
    the test is passed are known on both sides, and the worst of them counts.
    """
    teachers = len(answer) - 1
    # Noise is rounded, so the threshold is reached from half a vote below.
    edge = math.ceil(threshold) - 0.5
    missing = [(edge - most) / sigma for most in range(teachers + 1)]
    passed = np.array([log_tail(one) for one in missing])
    failed = np.array([log_tail(-one) for one in missing])
    found = np.zeros((teachers + 1, teachers + 1))
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
