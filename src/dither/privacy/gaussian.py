"""The Gaussian in closed form: δ(ε), ε(δ) and the largest μ, each rounded to the safe
side.

A μ-GDP mechanism is one whose neighbouring outputs are at most as easy to tell apart as
N(0, 1) and N(μ, 1) (Dong, Roth, Su 2022). For it (Balle & Wang 2018, theorem 8)

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

The difference cancels for small μ and e^ε overflows, so it is computed as φ(a)·(R(a) −
R(b)) with a = ε/μ − μ/2, b = a + μ and the Mills ratio R(x) = (1 − Φ(x))/φ(x), because
e^ε = φ(a)/φ(b). R is convex and R'(x) = xR(x) − 1, so μ·(1 − aR(a)) bounds the
difference too and is the sharper one for tiny μ. Details: docs/proofs/conversions.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dither.errors import ArgumentError
from dither.privacy.numbers import (
    LIBM,
    TINY,
    Number,
    float_down,
    not_negative,
    positive,
    small_probability,
    up,
)

_ROOT2 = math.sqrt(2.0)
_ROOT_2PI = math.sqrt(2.0 * math.pi)
_MILLS_ERROR = 8 * LIBM


def gaussian_delta(mu: Number, epsilon: Number) -> float:
    """An upper bound on δ(ε) of a μ-GDP mechanism; ε = 0 gives the total variation
    distance.
    """
    return _delta(
        _mu(mu),
        not_negative(
            "epsilon", epsilon, "pass the ε for which you want the δ", float_down
        ),
    )


def gaussian_epsilon(mu: Number, delta: Number) -> float:
    """The smallest ε, rounded up, for which a μ-GDP mechanism is (ε, δ)-DP."""
    m, target = (
        _mu(mu),
        small_probability("delta", delta, zero=False, rounding=float_down),
    )
    if _delta(m, 0.0) <= target:
        return 0.0
    high = m * (m / 2.0 + math.sqrt(-2.0 * math.log(target)))
    while _delta(m, high) > target:
        high *= 2.0
    if math.isinf(high):
        raise ArgumentError(
            "mu",
            f"is too large: {mu} gives an ε beyond the range of floats; pass a smaller mu",
        )
    return _bisect(lambda eps: _delta(m, eps) <= target, bad=0.0, good=high)


def gaussian_mu(epsilon: Number, delta: Number) -> float:
    """The largest μ, rounded down, for which every μ-GDP mechanism is (ε, δ)-DP.

    Guarantee: noise of standard deviation sensitivity/μ, rounded up, is (ε, δ)-DP.
    Why: Balle & Wang 2018, the analytic Gaussian mechanism; the bound of
    `gaussian_delta` is checked at the returned μ.
    """
    eps = positive("epsilon", epsilon, "pass a finite ε such as 1.0", float_down)
    target = small_probability("delta", delta, zero=False, rounding=float_down)
    root = math.sqrt(-2.0 * math.log(target))
    good = max(eps / (root + math.sqrt(root * root + 2.0 * eps)), 1e-300)
    while _delta(good, eps) > target and good > 1e-300:
        good /= 2.0
    bad = 2.0 * good
    while _delta(bad, eps) <= target:
        good, bad = bad, 2.0 * bad
    if good <= 1e-300 or math.isinf(bad):
        raise ArgumentError(
            "delta",
            f"no Gaussian noise in the range of floats meets ε = {eps:g} and δ = "
            f"{target:g}; pass a larger epsilon or delta",
        )
    return _bisect(lambda m: _delta(m, eps) <= target, bad=bad, good=good)


def pure_mu(epsilon: Number) -> float:
    """The smallest μ, rounded up, such that every ε-DP mechanism is μ-GDP.

    Why: randomized response dominates every ε-DP mechanism and its trade-off curve
    touches that of N(0, 1) against N(μ, 1) where Φ(−μ/2) = 1/(1 + e^ε): μ = 2Φ⁻¹(e^ε/(1
    + e^ε)).
    """
    eps = positive("epsilon", epsilon, "pass a finite ε such as 1.0")
    # erf(x/√2) ≥ tanh(x/2) below 1, and Φ(−x) ≤ e^(−x²/2)/2 above: both brackets cover.
    high = eps if eps < 1.0 else math.sqrt(2.0 * eps) + 1.0
    return 2.0 * _bisect(lambda z: _separates(z, eps), bad=0.0, good=high)


def log_tail(x: float) -> float:
    """ln(1 − Φ(x)), within 16·LIBM·(1 + x²)."""
    if x < 4.0:
        return math.log(math.erfc(x / _ROOT2) / 2.0)
    return math.log(_mills(x)[0] / _ROOT_2PI) - x * x / 2.0


def _mu(mu: Number) -> float:
    return positive("mu", mu, "pass sensitivity / standard deviation of the noise")


def _delta(mu: float, epsilon: float) -> float:
    # Rounding a down is the same as lowering ε, which can only raise δ.
    a = math.nextafter(math.nextafter(epsilon / mu, -math.inf) - mu / 2.0, -math.inf)
    b = math.nextafter(a + mu, math.inf)
    bound = (
        _delta_far_left(a, b) if a < -1.0 else _density_up(a) * _mills_drop(mu, a, b)
    )
    return min(up(bound) + TINY, 1.0)


def _delta_far_left(a: float, b: float) -> float:
    # Here Φ(−a) > 0.84, so the difference loses nothing unless b is left of 0 as well,
    # and b = ε/μ + μ/2 is not.
    density_down = math.exp(-a * a * (0.5 + 2.0**-50)) * (1.0 - LIBM) / _ROOT_2PI
    return math.erfc(a / _ROOT2) * (0.5 + LIBM) - density_down * _mills(b)[0] * (
        1.0 - _MILLS_ERROR
    )


def _density_up(a: float) -> float:
    return math.exp(-a * a * (0.5 - 2.0**-50)) * (1.0 + LIBM) / _ROOT_2PI


def _mills_drop(mu: float, a: float, b: float) -> float:
    """An upper bound on R(a) − R(b)."""
    ratio, slope = _mills(a)
    difference = ratio * (1.0 + _MILLS_ERROR) - _mills(b)[0] * (1.0 - _MILLS_ERROR)
    return min(difference, mu * (slope * (1.0 + _MILLS_ERROR) + _slope_error(a, ratio)))


def _slope_error(a: float, ratio: float) -> float:
    return abs(a) * ratio * _MILLS_ERROR if a < 4.0 else 0.0


def _mills(x: float) -> tuple[float, float]:
    """R(x) and 1 − xR(x); beyond 4 by Laplace's continued fraction, where nothing
    cancels.
    """
    if x < 4.0:
        ratio = math.exp(x * x / 2.0) * math.erfc(x / _ROOT2) * (_ROOT_2PI / 2.0)
        return ratio, 1.0 - x * ratio
    tail = 0.0
    for k in range(10 + int(1200.0 / (x * x)), 0, -1):
        tail = k / (x + tail)
    ratio = 1.0 / (x + tail)
    return ratio, tail * ratio


def _separates(z: float, epsilon: float) -> bool:
    """Whether certainly Φ(−z) ≤ 1/(1 + e^ε)."""
    if epsilon < 1.0:
        return math.erf(z / _ROOT2) * (1.0 - 4.0 * LIBM) >= math.tanh(epsilon / 2.0)
    margin = 32.0 * LIBM * (1.0 + z * z)
    return log_tail(z) + margin <= -epsilon - math.log1p(math.exp(-epsilon))


def _bisect(holds: Callable[[float], bool], *, bad: float, good: float) -> float:
    """The end of a bracket where `holds` was seen to be true, once the bracket is 1e-13
    wide.
    """
    for _ in range(200):
        middle = (bad + good) / 2.0
        if abs(good - bad) <= abs(good) * 1e-13 or middle in (bad, good):
            break
        bad, good = (bad, middle) if holds(middle) else (middle, good)
    return good
