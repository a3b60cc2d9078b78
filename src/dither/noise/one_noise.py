"""The law of one noise, or of two Laplace noises of one weight, on whole numbers:
tails and quantiles without any approximation (docs/proofs/noise.md).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from dither.noise.inversion import GAUSSIAN, LAPLACE, NORMAL, SLACK, Part

__all__ = [
    "CLOSE",
    "beyond_of",
    "moved_of",
    "pair_quantile",
    "pair_tail",
    "quantile_of",
    "tail_of",
    "variance_of",
]

CLOSE = 1e-9
"""A number this near to a whole one, in steps, is that one."""


@lru_cache(maxsize=1024)
def variance_of(kind: str, scale: float) -> float:
    if kind == LAPLACE:
        return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-2 else 0.0
    if kind == NORMAL:
        return scale * scale
    if scale >= 2:
        return scale * scale + 1 / 12
    # k² is the sum of the first k odd numbers
    return math.fsum(2 * (2 * k - 1) * beyond_of(kind, scale, k) for k in range(1, 90))


def beyond_of(kind: str, scale: float, k: int) -> float:
    """P(noise ≥ k) for one noise on whole numbers, without what floats lose."""
    if k <= 0:
        return 1 - beyond_of(kind, scale, 1 - k)
    if kind == LAPLACE:
        return math.exp(-k / scale) / (1 + math.exp(-1 / scale))
    return math.erfc((k - 0.5) / (scale * math.sqrt(2))) / 2


def tail_of(part: Part, x: float) -> float:
    at = x / part.weight
    if part.kind == NORMAL:
        found = math.erfc(at * (1 - SLACK) / (part.scale * math.sqrt(2))) / 2
    else:
        found = beyond_of(part.kind, part.scale, math.ceil(at - CLOSE * max(1, at)))
    return min(found * (1 + SLACK), 1.0)


def quantile_of(part: Part, missed: float) -> float:
    if part.kind == LAPLACE:
        # P(X > k) = q^(k+1) / (1 + q) with q = e^(−1/t)
        tail = -math.log(missed) - math.log1p(math.exp(-1 / part.scale))
        found = part.scale * tail - 1
    else:
        found = -part.scale * NormalDist().inv_cdf(missed)
        found -= 0.5 if part.kind == GAUSSIAN else 0.0
    if part.kind == NORMAL:
        return part.weight * max(found, 0.0) * (1 + SLACK)
    # noise may have been made for just this ±, and then floats must not add a step
    return part.weight * max(math.ceil(found - SLACK * (1 + abs(found))), 0)


def moved_of(scale: float) -> float:
    """Largest distance of discrete Laplace noise from the noise on the line that it is
    made of: 1 − κ of docs/proofs/noise.md, which is ½ + t·ln cosh(1/2t).
    """
    half = 0.5 / scale
    if half < 1e-3:  # ln cosh is at most that, and floats would lose it
        return 0.5 + scale * half * half / 2
    return 0.5 + scale * (half + math.log1p(math.exp(-2 * half)) - math.log(2))


def pair_tail(scales: tuple[float, float], k: int) -> float:
    """P(X + Y ≥ k) for discrete Laplace noises, from partial fractions of their
    characteristic functions 1 / (1 + 2v·sin²(ω/2)), v being the variance.
    """
    if k <= 0:
        return 1.0
    large, small = max(scales), min(scales)
    first, second = variance_of(LAPLACE, large), variance_of(LAPLACE, small)
    if first - second > 1e-4 * first:
        own = beyond_of(LAPLACE, large, k) * first
        its = beyond_of(LAPLACE, small, k) * second
        return min((own - its) / (first - second) * (1 + SLACK), 1.0)
    # as if both had the larger scale, which only makes tails longer
    q = math.exp(-1 / large)
    left = -math.expm1(-1 / large)
    share = (left / (1 + q)) ** 2 * math.exp(-k / large)
    constant = (1 + q * q) / (left * (1 + q))
    found = share * ((k + constant) / left + q / left**2)
    return min(found * (1 + SLACK), 1.0)


def pair_quantile(scales: tuple[float, float], missed: float) -> int:
    low, high = 0, 1
    while pair_tail(scales, high + 1) > missed:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = pair_tail(scales, middle + 1) <= missed
        low, high = (low, middle) if enough else (middle, high)
    return low if pair_tail(scales, low + 1) <= missed else high
