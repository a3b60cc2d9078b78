"""The exact composition of identical pure guarantees, in one pass and without a grid.

Guarantee: the k-fold composition of ε₀-DP mechanisms is (ε, δ)-DP with the figures
below, and no smaller ones hold for all such mechanisms.
Why: Kairouz, Oh, Viswanath 2015, theorem 3.3: randomized response is the worst case,
and its k-fold loss is (k − 2i)·ε₀ with the binomial weight of i lies. δ is summed from
the largest loss downwards, so every term is positive and the relative rounding error is
at most the number of steps times a few units; the losses themselves go up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dither.privacy.numbers import LIBM, TINY, up

_NEGLIGIBLE = 60.0  # e^−60 of the δ in question


def repeated_epsilon(epsilon: float, times: int, delta: float) -> float:
    """The smallest ε at which `times` ε₀-DP mechanisms together are (ε, δ)-DP, rounded
    up.
    """
    target = 1.0 / _rounding(times)
    for loss, reached, weight in _losses(epsilon, times, math.log(delta)):
        step = (target - reached) / weight
        if step < -math.expm1(-2.0 * epsilon):
            return max(up(loss + math.log1p(-step)), 0.0)
    return 0.0


def repeated_delta(epsilon: float, times: int, wanted: float) -> float:
    """δ at the wanted ε for `times` ε₀-DP mechanisms together, rounded up."""
    if wanted >= times * epsilon * (1.0 + 2.0**-50):
        return 0.0
    nearest = min(
        max(int((times - wanted / epsilon) / 2.0), 0), _likeliest(epsilon, times)
    )
    scale = log_weight(epsilon, times, nearest)
    # What is written may lie below the float
    last, below = (
        0.0,
        math.nextafter(wanted, 0.0),
    )
    for loss, reached, weight in _losses(epsilon, times, scale):
        if loss <= below:
            break
        last = reached + weight * -math.expm1(max(below - loss, -2.0 * epsilon))
    return min(up(last * math.exp(scale) * _rounding(times)) + TINY, 1.0)


def _losses(
    epsilon: float, times: int, scale: float
) -> Iterator[tuple[float, float, float]]:
    """Loss, δ at that loss, and the slope weight below it, from the largest loss that
    matters down to 0.

    Between one loss and the next, 2ε₀ lower, δ(ε) = reached + weight·(1 − e^(ε −
    loss)). Both are in units of e^scale, so that they stay in the range of floats; what
    is left out is e^(−60) of that, and is added.
    """
    lies = _first_visible(epsilon, times, scale - _NEGLIGIBLE - math.log(times + 1.0))
    mass = math.exp(log_weight(epsilon, times, lies) - scale)
    shrink, step = math.exp(-2.0 * epsilon), -math.expm1(-2.0 * epsilon)
    reached, weight = lies * mass, mass
    while (
        loss := math.nextafter(
            (times - 2 * lies) * epsilon * (1.0 + 2.0**-51), math.inf
        )
    ) > TINY:
        yield loss, reached, weight
        reached += step * weight
        mass *= (times - lies) / (lies + 1.0) * math.exp(-epsilon)
        weight = shrink * weight + mass
        lies += 1


def _likeliest(epsilon: float, times: int) -> int:
    """Weights rise up to this number of lies, where they are at least 1 / (k + 1)."""
    return min(times // 2, int((times + 1) / (1 + math.exp(min(epsilon, 700.0)))))


def _first_visible(epsilon: float, times: int, least: float) -> int:
    """The smallest number of lies whose weight is not negligible; the weights below it
    are smaller still.
    """
    low, high = 0, _likeliest(epsilon, times)
    if log_weight(epsilon, times, 0) > least:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if log_weight(epsilon, times, middle) > least
            else (middle, high)
        )
    return high


def log_weight(epsilon: float, times: int, lies: int) -> float:
    """ln of the probability of so many lies."""
    ways = (
        math.lgamma(times + 1) - math.lgamma(lies + 1) - math.lgamma(times - lies + 1)
    )
    return ways - lies * epsilon - times * math.log1p(math.exp(-epsilon))


def _rounding(times: int) -> float:
    """Every step multiplies a handful of roundings; lgamma(k+1) ≤ k·ln k loses that
    many units once.
    """
    return 1.0 + 4.0 * LIBM * times * (2.0 + math.log(times + 1.0))
