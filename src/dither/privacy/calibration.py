"""Noise for a guarantee, a guarantee for a noise, a guarantee for an error; always on
the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from dither.errors import ArgumentError, NoConversion
from dither.privacy.composition import compose
from dither.privacy.gaussian import gaussian_mu
from dither.privacy.guarantees import ApproxDP, Guarantee, PureDP
from dither.privacy.numbers import (
    LIBM,
    Number,
    confidence_level,
    float_down,
    float_up,
    fraction,
    positive,
    up,
)
from dither.privacy.units import common_unit


def laplace_scale(sensitivity: Number, epsilon: Number) -> float:
    """The smallest float b ≥ sensitivity/ε: Laplace noise of that scale is ε-DP."""
    return float_up(
        _sensitivity(sensitivity)
        / _positive("epsilon", epsilon, "pass a finite ε such as 0.5")
    )


def laplace_epsilon(sensitivity: Number, scale: Number) -> float:
    """ε of Laplace noise of a given scale, rounded up."""
    return float_up(
        _sensitivity(sensitivity)
        / _positive("scale", scale, "pass the scale of the noise")
    )


def gaussian_sigma(
    sensitivity: Number,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
) -> float:
    """The smallest standard deviation, rounded up, for (ε, δ)-DP, ρ-zCDP or μ-GDP at an
    L2 sensitivity.

    Why: Balle & Wang 2018 for (ε, δ); ρ = μ²/2 (Bun & Steinke 2016).
    """
    return float_up(
        _sensitivity(sensitivity) / Fraction(_wanted_mu(epsilon, delta, rho, mu))
    )


def epsilon_for_error(
    error: Number, confidence: Number, sensitivity: Number, integer: bool = False
) -> float:
    """The smallest ε whose Laplace noise stays within ±error with the wanted
    probability, rounded up.

    With `integer`, the noise is the discrete Laplace and the error counts whole
    numbers: P(|X| > m) = 2q^(m+1)/(1+q).
    """
    width, size = (
        _positive("error", error, "pass the acceptable error (±), such as 10"),
        _sensitivity(sensitivity),
    )
    tail = float_down(1 - confidence_level("confidence", confidence))
    rate = (
        _discrete_rate(math.floor(width), tail)
        if integer
        else up(-math.log(tail) / float_down(width))
    )
    return float_up(Fraction(rate) * size)


def mu_for_error(error: Number, confidence: Number, sensitivity: Number) -> float:
    """The smallest μ whose Gaussian noise stays within ±error with the wanted
    probability, rounded up.
    """
    width, size = (
        _positive("error", error, "pass the acceptable error (±), such as 10"),
        _sensitivity(sensitivity),
    )
    tail = float_down(1 - confidence_level("confidence", confidence))
    return float_up(Fraction(_normal_width(tail)) * size / width)


def rho_for_error(error: Number, confidence: Number, sensitivity: Number) -> float:
    """The smallest ρ whose Gaussian noise stays within ±error with the wanted
    probability, rounded up.
    """
    return float_up(Fraction(mu_for_error(error, confidence, sensitivity)) ** 2 / 2)


def calibrate(
    make: Callable[[float], Guarantee],
    wanted: PureDP | ApproxDP,
    low: Number,
    high: Number,
    *,
    tolerance: float = 1e-3,
    tight: bool = True,
) -> float:
    """The smallest noise between `low` and `high`, within a relative `tolerance`, whose
    guarantee meets `wanted`.

    Guarantee: `make` of the returned noise was checked to be within `wanted`.
    Assumes: more noise costs no more, as for every mechanism here; if not, the answer
    is still valid, only larger.
    """
    if not isinstance(wanted, PureDP | ApproxDP):
        kind = type(wanted).__name__
        raise NoConversion(
            "wanted",
            f"must be PureDP or ApproxDP, not {kind}; convert it with .approx(delta)",
        )
    bad = positive("low", low, "pass a noise scale that is too small, such as 0.1")
    good = positive(
        "high", high, "pass a noise scale that meets the guarantee, such as 100"
    )
    if not bad < good:
        raise ArgumentError(
            "high",
            f"must be above low = {bad:g}; pass a noise scale that meets the guarantee",
        )
    loose = _pricing(make, wanted, tight=False)
    cost = _pricing(make, wanted, tight=True) if tight else loose
    good = _narrow(loose, wanted.epsilon, bad, good, tolerance)
    if tight:
        good = _narrow(cost, wanted.epsilon, bad, good, tolerance)
    if cost(good) > wanted.epsilon:
        raise ArgumentError(
            "high",
            f"is too small: noise of scale {good:g} does not give {wanted.measure}; pass "
            "a larger high, or a larger ε or δ",
        )
    return good


def _pricing(
    make: Callable[[float], Guarantee], wanted: PureDP | ApproxDP, *, tight: bool
) -> Callable[[float], float]:
    """The cost of a noise; a repeated call does not compute it again."""
    return cache(lambda noise: _cost(make(noise), wanted, tight=tight))


def _narrow(
    cost: Callable[[float], float],
    limit: float,
    low: float,
    good: float,
    tolerance: float,
) -> float:
    """The good end of a bracket, narrowed; if `good` is not good, itself unchanged."""
    cost_good = cost(good)
    if cost_good > limit:
        return good
    bad, cost_bad, factor = good, 0.0, 1.25
    while cost_bad <= limit:
        if bad <= low:
            return low
        good, cost_good = bad, cost_bad or cost_good
        bad = max(bad / factor, low)
        cost_bad, factor = cost(bad), factor * factor
    while good > bad * (1.0 + tolerance):
        middle = probe(
            bad,
            good,
            math.log(cost_bad / limit),
            math.log(max(cost_good, 1e-300) / limit),
            tolerance,
        )
        price = cost(middle)
        if price <= limit:
            good, cost_good = middle, price
        else:
            bad, cost_bad = middle, price
    return good


def probe(
    bad: float, good: float, above: float, below: float, tolerance: float
) -> float:
    """Where to look next: halfway in a wide bracket; in a narrow one, just to the safe
    side of the chord's crossing.

    Cost against noise is nearly straight on logarithmic axes. Once the good end sits at
    the crossing, the next probe is placed one tolerance below it, to close the bracket.
    """
    if good > bad * 1.5 or not math.isfinite(above) or above <= below:
        return math.sqrt(bad * good)
    crossing = bad * (good / bad) ** (above / (above - below)) * (1.0 + tolerance / 3.0)
    return (
        crossing
        if crossing < good / (1.0 + tolerance / 3.0)
        else max(good / (1.0 + 0.9 * tolerance), math.sqrt(bad * good))
    )


def _cost(guarantee: Guarantee, wanted: PureDP | ApproxDP, *, tight: bool) -> float:
    common_unit([guarantee.unit, wanted.unit], "make")
    if wanted.delta_part == 0.0:
        return guarantee.to(PureDP).epsilon
    try:
        return compose([guarantee], wanted.delta_part, tight=tight).epsilon
    except ArgumentError as refused:
        if refused.argument == "delta":
            return math.inf
        raise


def _sensitivity(value: Number) -> Fraction:
    return _positive(
        "sensitivity",
        value,
        "pass the most that one unit can change the value, such as 1",
    )


def _positive(argument: str, value: Number, way_out: str) -> Fraction:
    positive(argument, value, way_out)
    return fraction(argument, value, way_out)


def _wanted_mu(
    epsilon: Number | None, delta: Number | None, rho: Number | None, mu: Number | None
) -> float:
    match epsilon is not None, delta is not None, rho is not None, mu is not None:
        case True, True, False, False:
            return gaussian_mu(epsilon, delta)  # type: ignore[arg-type]
        case False, False, True, False:
            r = positive("rho", rho, "pass a finite ρ such as 0.1", float_down)  # type: ignore[arg-type]
            return math.nextafter(math.sqrt(math.nextafter(2.0 * r, 0.0)), 0.0)
        case False, False, False, True:
            return positive("mu", mu, "pass a finite μ such as 0.5", float_down)  # type: ignore[arg-type]
    raise ArgumentError(
        "epsilon", "pass exactly one of: epsilon and delta together, rho, or mu"
    )


def _discrete_rate(reach: int, tail: float) -> float:
    """The smallest ε/sensitivity with 2q^(m+1)/(1+q) ≤ tail, where q =
    e^(−ε/sensitivity).
    """
    low, high = 0.0, up(math.log(2.0 / tail) / (reach + 1))
    for _ in range(100):
        middle = (low + high) / 2.0
        log_tail = math.log(2.0) - (reach + 1) * middle - math.log1p(math.exp(-middle))
        enough = log_tail + 8.0 * LIBM * (1.0 + (reach + 1) * middle) <= math.log(tail)
        low, high = (low, middle) if enough else (middle, high)
        if high - low <= 1e-13 * high:
            break
    return high


def _normal_width(tail: float) -> float:
    """The smallest z with P(|Z| > z) ≤ tail, rounded up."""
    low, high = 0.0, math.sqrt(-2.0 * math.log(tail)) + 1e-9
    for _ in range(100):
        middle = (low + high) / 2.0
        enough = (
            math.erfc(middle / math.sqrt(2.0))
            * (1.0 + 8.0 * LIBM * (1.0 + middle * middle))
            <= tail
        )
        low, high = (low, middle) if enough else (middle, high)
        if high - low <= 1e-13 * high:
            break
    return high
