"""Exact bounds on a probability from counted draws (Clopper & Pearson 1934), for up to
many millions of draws.

P(X ≥ k) of a binomial variable is the regularized incomplete beta function I_p(k, n − k
+ 1). Its logarithm comes from a continued fraction (Lentz's algorithm); `lgamma` of
large numbers leaves a relative error below 1e-6, by which the permitted alarm rate is
lowered before anything is inverted.
"""

from __future__ import annotations

import math

__all__ = ["log_tail", "lower", "most", "upper"]

MARGIN = 1 - 1e-6
FLOOR = 1e-300


def log_tail(hits: int, draws: int, probability: float) -> float:
    """ln P(X ≥ hits) for a binomial X."""
    if hits <= 0:
        return 0.0
    if hits > draws or probability <= 0.0:
        return -math.inf
    if probability >= 1.0:
        return 0.0
    return _log_beta(float(hits), float(draws - hits + 1), probability)


def _log_beta(a: float, b: float, x: float) -> float:
    """ln I_x(a, b). The fraction converges fast below the mean; above it the complement
    is computed.
    """
    front = (
        a * math.log(x)
        + b * math.log1p(-x)
        + math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
    )
    if x < (a + 1) / (a + b + 2):
        return min(front + math.log(_fraction(a, b, x) / a), 0.0)
    other = min(math.exp(front) * _fraction(b, a, 1 - x) / b, 1.0)
    return math.log1p(-other) if other < 1.0 else -math.inf


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            d, c = 1 / _off_zero(1 + term * d), _off_zero(1 + term / c)
            value *= d * c
        if abs(value - before) <= 1e-15 * abs(value):
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > FLOOR else FLOOR


def lower(hits: int, draws: int, alarm: float) -> float:
    """A probability that the true one is below with probability at most `alarm`."""
    if hits <= 0:
        return 0.0
    wanted = math.log(alarm * MARGIN)
    low, high = 0.0, hits / draws
    for _ in range(200):
        middle = (
            (low + high) / 2
            if low > high / 4
            else high / 16
            if low == 0.0
            else math.sqrt(low * high)
        )
        if high - low <= 1e-12 * high or middle in (low, high) or high < FLOOR:
            break
        low, high = (
            (middle, high) if log_tail(hits, draws, middle) <= wanted else (low, middle)
        )
    return low


def upper(hits: int, draws: int, alarm: float) -> float:
    """A probability that the true one is above with probability at most `alarm`."""
    return 1.0 - lower(draws - hits, draws, alarm)


def most(draws: int, probability: float, alarm: float) -> int:
    """The least k such that more than k of the draws happen with probability at most
    `alarm`.
    """
    wanted = math.log(alarm * MARGIN)
    low, high = -1, draws
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if log_tail(middle + 1, draws, probability) <= wanted
            else (middle, high)
        )
    return high
