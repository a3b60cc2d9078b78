"""Tails of weighted sums of Laplace variables on the line, from their scales or from two
sums of powers: closed forms and bounds, which are quicker than an inversion.

A Laplace variable of scale b is √(2b²E)·Z with E exponential and Z normal. So a sum is
√(2Q)·Z with Q = Σ b²E, of which the mean Σ b² and the variance Σ b⁴ are known: a parabola
above the normal tail as a function of Q bounds the sum's tail (docs/proofs/noise.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEW",
    "few_tail",
    "multiple",
    "multiples",
    "pair_multiple",
    "pair_tail",
    "worst_multiple",
]

Reals = NDArray[np.float64]

FEW = 4
"""Sums of at most this number have a closed form."""
GAPS = (0.0, 0.0, 1e-4, 2e-3, 1e-2)
"""Relative differences of the squares of one to four scales, at least. Nearly equal
ones are raised, which only makes tails longer.
"""
RATIOS = 33
BETWEEN = 1.001
"""Factor by which the largest quantile over a grid of ratios is raised, for ratios
between two grid points.
"""
FLOATS = 1e-14
UNEVEN = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 160)])
"""Values of Σb⁴ / (Σb²)²: 0 for a normal variable, 1 for one Laplace variable."""
MARGIN = 1e-3
"""Share by which the steepness of a parabola is raised, for values between grid points."""


def few_tail(scales: Sequence[float], x: float) -> float:
    """P(|sum| > x) of at most four Laplace variables of these scales, never
    understated.
    """
    squares: list[float] = []
    for scale in sorted(map(abs, scales)):
        least = squares[-1] * (1 + GAPS[len(scales)]) if squares else 0.0
        squares.append(max(scale * scale, least))
    squares = [one for one in squares if one > 1e-24 * squares[-1]]
    if not squares:
        return 1.0 if x <= 0 else 0.0
    if x <= 0:
        return 1.0
    total = size = 0.0
    for place, own in enumerate(squares):
        share = math.exp(-x / math.sqrt(own))
        for other, its in enumerate(squares):
            if other != place:
                share *= own / (own - its)
        total += share
        size += abs(share)
    return min(total + FLOATS * size, 1.0)


def pair_tail(first: float, second: float, x: float) -> float:
    """Like `few_tail` for two variables, up to rounding of floats."""
    large, small = (first, second) if first > second else (second, first)
    if x <= 0:
        return 1.0
    if small <= 1e-12 * large:
        return math.exp(-x / large) if large else 0.0
    own, its = large * large, small * small
    if own - its < 1e-4 * own:
        return math.exp(-x / large) * (1 + x / (2 * large))
    return (own * math.exp(-x / large) - its * math.exp(-x / small)) / (own - its)


@lru_cache(maxsize=64)
def pair_multiple(missed: float) -> float:
    """Bound that X + r·Y exceeds with at most this probability on one side, over
    √(1 + r²), for every r, where X and Y are Laplace variables of scale 1.
    """
    ratios = [step / (RATIOS - 1) for step in range(RATIOS)]
    return BETWEEN * max(_pair_quantile(missed, r) / math.hypot(1, r) for r in ratios)


def _pair_quantile(missed: float, ratio: float) -> float:
    low, high = 0.0, 4.0 - 2 * math.log(2 * missed)
    for _ in range(60):
        middle = (low + high) / 2
        enough = pair_tail(1.0, ratio, middle) <= 2 * missed
        low, high = (low, middle) if enough else (middle, high)
    return high


def multiple(uneven: float, missed: float) -> float:
    """The standard deviations that a sum exceeds with at most this probability, on one
    side; `uneven` is Σb⁴ / (Σb²)².
    """
    found = _table(missed)[1]
    return found[min(bisect_left(_UNEVEN, uneven * (1 - 1e-12)), len(found) - 1)]


def multiples(uneven: Reals, missed: float) -> Reals:
    """Like `multiple`, for many sums."""
    table = _table(missed)[0]
    places = np.searchsorted(UNEVEN, np.asarray(uneven) * (1 - 1e-12))
    found: Reals = table[np.minimum(places, table.size - 1)]
    return found


_UNEVEN = UNEVEN.tolist()


@lru_cache(maxsize=256)
def _table(missed: float) -> tuple[Reals, list[float]]:
    found = np.minimum(_by_parabolas(missed), _by_moments(missed))
    found = np.minimum(found, worst_multiple(missed))
    # a sum with a smaller ratio may be rounded up to the next one, so this must rise
    found = np.maximum.accumulate(found)
    return found, found.tolist()


@lru_cache(maxsize=256)
def worst_multiple(missed: float) -> float:
    """The standard deviations that no symmetric variable with a log-concave density
    exceeds with more than this probability, on one side.

    The worst ones have the density e^(−x) on |x| ≤ b, or its limits: uniform for small
    b, Laplace for large b (Fradelizi & Guédon 2006).
    """
    level = 1 - 2 * missed
    b = np.geomspace(1e-3, 60, 4000)
    mass = -np.expm1(-b)
    square = 2 - np.exp(-b) * (b**2 + 2 * b + 2)
    quantile = -np.log1p(-level * mass)
    found = float(np.max(quantile / np.sqrt(square / mass)))
    laplace = -math.log(2 * missed) / math.sqrt(2)
    return max(found * (1 + 1e-6), laplace, level * math.sqrt(3))


@lru_cache(maxsize=1)
def _parabolas() -> tuple[Reals, Reals, Reals, Reals]:
    """Points a with the height and slope there of H(y) = P(|Z| > 1/√(2y)), and the
    least steepness with which a parabola that touches H at a lies above it.
    """
    points = np.geomspace(2e-3, 3.0, 300)
    # beyond the last of these H is below 1 and each parabola is above
    grid = np.concatenate([[1e-4], np.geomspace(5e-4, 1e4, 3000)])
    height, slope = _heights(points), _slopes(points)
    away = grid - points[:, None]
    close = np.abs(away) < 1e-6 * points[:, None]
    above = _heights(grid) - height[:, None] - slope[:, None] * away
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.where(close, -np.inf, above / away**2).max(axis=1)
    bend = _bends(points) / 2
    steep = np.maximum(np.maximum(steep, bend), 0.0)
    return points, height, slope, steep * (1 + MARGIN) + 1e-9


def _heights(y: Reals) -> Reals:
    return np.array([math.erfc(1 / (2 * math.sqrt(one))) for one in y.tolist()])


def _slopes(y: Reals) -> Reals:
    found: Reals = np.exp(-1 / (4 * y)) * y**-1.5 / (2 * math.sqrt(math.pi))
    return found


def _bends(y: Reals) -> Reals:
    found: Reals = _slopes(y) * (1 / (4 * y**2) - 1.5 / y)
    return found


def _by_parabolas(missed: float) -> Reals:
    """Bound by parabolas. With the mean of Q at 1, the tail beyond x is that of y = Q/x², whose mean is 1/x²
    and whose variance is uneven / x⁴.
    """
    points, height, slope, steep = _parabolas()
    low, high = np.zeros(UNEVEN.size), np.full(UNEVEN.size, 64.0)
    for _ in range(40):
        middle = (low + high) / 2
        away = 1 / middle[:, None] ** 2 - points
        square = away**2 + (UNEVEN / middle**4)[:, None]
        tails = (height + slope * away + steep * square).min(axis=1)
        enough = tails <= 2 * missed
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    unknown = high >= 64.0
    return np.where(unknown, np.inf, high / math.sqrt(2)) * (1 + 1e-9)


def _by_moments(missed: float) -> Reals:
    """Chernoff's bound. Σb²ᵏ is at most √(Σb⁴)ᵏ for k ≥ 2, so the moments are at most
    those of one Laplace variable of that size and a normal rest.
    """
    largest = np.sqrt(np.maximum(UNEVEN, 1e-12))[:, None]
    parts = np.concatenate([np.geomspace(1e-4, 0.1, 100), np.linspace(0.1, 0.999, 300)])
    # for many variables the best tilt is a small part of the farthest one
    squares = parts**2 / largest
    logs = squares - np.log1p(-largest * squares) - largest * squares
    found: Reals = ((logs - math.log(missed)) / np.sqrt(squares)).min(axis=1)
    return found / math.sqrt(2)
