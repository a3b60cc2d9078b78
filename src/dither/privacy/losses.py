"""Rényi losses: upper bounds on the Rényi divergence, at one order, between outputs on
neighbouring datasets.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from functools import lru_cache

from dither.privacy.gaussian import log_tail
from dither.privacy.numbers import LIBM, up


def gaussian_loss(mu: float, order: float) -> float:
    """αμ²/2, attained by N(0, 1) against N(μ, 1)."""
    return up(order * mu * mu / 2.0)


def pure_loss(epsilon: float, order: float) -> float:
    """The Rényi loss of ε-DP, attained by randomized response.

    Why: randomized response dominates every ε-DP mechanism (Kairouz, Oh, Viswanath
    2015). Its divergence is ln(cosh((α−½)ε)/cosh(ε/2))/(α−1); with cosh A − cosh B = 2
    sinh((A+B)/2) sinh((A−B)/2) nothing cancels.
    """
    steps = order - 1.0
    if order * epsilon < 40.0:
        grown = (
            2.0
            * math.sinh(order * epsilon / 2.0)
            * math.sinh(steps * epsilon / 2.0)
            / math.cosh(epsilon / 2.0)
        )
        return min(up(math.log1p(grown) / steps), epsilon)
    saved = math.log1p(math.exp(-epsilon)) * (1.0 - 4.0 * LIBM) - math.exp(
        -min((2.0 * order - 1.0) * epsilon, 700.0)
    )
    return min(
        math.nextafter(
            epsilon - max(saved, 0.0) / steps * (1.0 - 4.0 * LIBM), math.inf
        ),
        epsilon,
    )


def laplace_loss(epsilon: float, order: float) -> float:
    """The Rényi loss of Laplace noise of scale 1 that is moved by ε.

    Why: Mironov 2017, proposition 6: ln(α/(2α−1)·e^((α−1)ε) + (α−1)/(2α−1)·e^(−αε)),
    divided by α − 1. It is never above the loss of ε-DP, which is used where the two
    terms would lose their digits.
    """
    steps, twice = order - 1.0, 2.0 * order - 1.0
    if steps * epsilon > 1.0:
        parts = (
            steps * epsilon,
            math.log(order / twice),
            math.log1p(steps / order * math.exp(-min(twice * epsilon, 700.0))),
        )
        exact = sum(parts) + 16.0 * LIBM * sum(map(abs, parts))
    else:
        grown = order / twice * math.expm1(steps * epsilon)
        fallen = steps / twice * math.expm1(-order * epsilon)
        excess = grown + fallen + 16.0 * LIBM * (grown - fallen)
        exact = math.log1p(excess)
    return min(up(exact / steps), pure_loss(epsilon, order))


def bounded_range_loss(epsilon: float, order: float) -> float:
    """The Rényi loss of an ε-bounded-range mechanism.

    Why: the likelihood ratio lies in some [e^(t−ε), e^t], so a two-point ratio is the
    worst; maximizing over t in closed form gives `exact` (docs/proofs/conversions.md).
    It never exceeds αε²/8 (Cesar & Rogers 2021) nor the loss of ε-DP, which are used
    where `exact` would lose its digits or underflow.
    """
    simple = min(up(order * epsilon * epsilon / 8.0), pure_loss(epsilon, order))
    if epsilon < 1e-3 or epsilon > 600.0:
        return simple
    whole, part = -math.expm1(-order * epsilon), -math.expm1(-epsilon)
    between = math.exp(-epsilon) * -math.expm1(-(order - 1.0) * epsilon)
    first = math.log(whole / (order * part)) / (order - 1.0)
    second = math.log(whole * (order - 1.0) / (between * order))
    lost = 32.0 * LIBM * (1.0 + abs(first) + abs(second) + 1.0 / (order - 1.0))
    return min(simple, first + second + lost)


def sampled_gaussian_loss(mu: float, rate: float, order: float) -> float:
    """The Rényi loss of one Poisson-sampled Gaussian step, under add/remove.

    Guarantee: at least the Rényi divergence in both directions.
    Why: Mironov, Talwar, Zhang 2019; the direction computed here is the larger one.
    Between whole orders the logarithm of the moment is convex in the order, so the
    chord lies above it; their series is used where it is sharper.
    Assumes: every unit enters a step independently with probability `rate`.
    """
    if rate >= 1.0:
        return gaussian_loss(mu, order)
    if order == math.floor(order):
        return _log_moment(mu, rate, int(order)) / (order - 1.0)
    chord = _chord(_log_moment, mu, rate, order)
    return (
        min(chord, _log_moment_series(mu, rate, order))
        / (order - 1.0)
        * (1.0 + 2.0**-50)
    )


_MARKS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 17, 20, 24, 29, 35, 42, 52, 64)
"""Orders whose moments are computed anyway; those between and beyond follow from them."""


def sampled_gaussian_floor(mu: float, rate: float, order: float) -> float:
    """No more than `sampled_gaussian_loss`, and cheap: it tells which orders are worth
    their sums.

    Why: the logarithm of the moment is convex in the order, so the lines through two
    whole orders on one side lie below it. What rounding has added is taken off.
    """
    if rate >= 1.0 or order in _MARKS:
        return sampled_gaussian_loss(mu, rate, order)
    place = bisect(_MARKS, order)
    found = [_beyond(mu, rate, _MARKS[place - 1], _MARKS[place - 2], order)]
    if place + 1 < len(_MARKS):
        found.append(_beyond(mu, rate, _MARKS[place], _MARKS[place + 1], order))
    return max(found) / (order - 1.0)


def _beyond(mu: float, rate: float, near: int, far: int, order: float) -> float:
    """Below the logarithm of a moment: on the line through two whole orders."""
    one, two = (_log_moment(mu, rate, k) if k > 1 else 0.0 for k in (near, far))
    steps = (order - near) / (near - far)
    return max(one + steps * (one - two) - 1e-9 * (1.0 + steps) * (one + two), 0.0)


def fixed_size_loss(mu: float, rate: float, order: float) -> float:
    """The Rényi loss of one Gaussian step on a sample of a fixed size, drawn without
    replacement, where neighbours replace a unit.

    Guarantee: at least the Rényi divergence in both directions.
    Why: the dominating pair of docs/proofs/training.md and Taylor's formula; at most
    half of what the bound of Wang, Balle & Kasiviswanathan 2019 adds to 1.
    Assumes: `rate` of the units are in the sample, and μ is for neighbours that replace
    a unit.
    """
    plain = gaussian_loss(mu, order)
    if rate >= 1.0:
        return plain
    if order == math.floor(order):
        moment = _log_fixed_moment(mu, rate, int(order))
    else:
        moment = _chord(_log_fixed_moment, mu, rate, order)
    return min(plain, moment / (order - 1.0) * (1.0 + 2.0**-50))


def _chord(
    moment: Callable[[float, float, int], float], mu: float, rate: float, order: float
) -> float:
    """The logarithm of a moment between two whole orders: it is convex in the order."""
    below = math.floor(order)
    weight = order - below
    low = moment(mu, rate, below) if below > 1 else 0.0
    return up((1.0 - weight) * low + weight * moment(mu, rate, below + 1))


@lru_cache(maxsize=8192)
def _log_fixed_moment(mu: float, rate: float, order: int) -> float:
    """ln of 1 + α(α−1)q²·(e^(μ²) − 1) + Σ_{k≥3} C(α,k)·q^k·M_k, where M_k bounds the
    k-th moment of (P/Q − 1)₊.
    """
    log_rate, binomial = math.log(rate), order * (order - 1) // 2
    terms = [math.log(2 * binomial) + 2.0 * log_rate + _log_expm1(mu * mu)]
    sizes = [abs(terms[0]) + 2.0 * abs(log_rate)]
    for k in range(3, order + 1):
        binomial = binomial * (order - k + 1) // k
        parts = (math.log(binomial), k * log_rate, _log_excess(mu, k))
        terms.append(sum(parts))
        sizes.append(sum(map(abs, parts)) + k * (k - 1) * mu * mu)
    return _log_one_plus(terms, sizes)


@lru_cache(maxsize=8192)
def _log_excess(mu: float, k: int) -> float:
    """ln of an upper bound of E[(e^(μy − μ²/2) − 1)₊^k] for y of N(0, 1).

    With v = e^w − 1 and w > 0: v^k ≤ (1 + v)^k − 1, the better bound for large μ, and
    v^k ≤ w^k·e^(kw), the better one for small μ. Φ((k−½)μ) − Φ(−½μ) ≤ kμ/√(2π).
    """
    gain = k * (k - 1) * mu * mu / 2.0
    wide = _log_sum(_log_expm1(gain), math.log(min(0.4 * k * mu, 1.0)))
    log_norm = math.lgamma((k + 1) / 2.0) + k / 2.0 * math.log(2.0)
    norm = math.exp((log_norm - math.log(2.0 * math.sqrt(math.pi))) / k)
    narrow = math.log(mu) + math.log(norm * (1.0 + 1e-9) + (k - 0.5) * mu)
    return min(wide, k * narrow + gain)


@lru_cache(maxsize=8192)
def _log_moment(mu: float, rate: float, order: int) -> float:
    """ln E[L^α] for a whole order α, from E[L^α] − 1 = Σ_{k≥2} C(α,k)(1−q)^(α−k) q^k
    (e^(k(k−1)μ²/2) − 1).
    """
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    terms, sizes = [], []
    for k, log_binomial in enumerate(_log_binomials(order), 2):
        parts = (
            log_binomial,
            (order - k) * log_rest,
            k * log_rate,
            _log_gain(mu, k),
        )
        terms.append(sum(parts))
        sizes.append(sum(map(abs, parts)))
    return _log_one_plus(terms, sizes)


@lru_cache(maxsize=256)
def _log_binomials(order: int) -> list[float]:
    """ln C(α, k) for k from 2 on."""
    found, binomial = [], order
    for k in range(2, order + 1):
        binomial = binomial * (order - k + 1) // k
        found.append(math.log(binomial))
    return found


@lru_cache(maxsize=8192)
def _log_gain(mu: float, k: int) -> float:
    """ln(e^(k(k−1)μ²/2) − 1)"""
    return _log_expm1(k * (k - 1) * mu * mu / 2.0)


def _log_one_plus(terms: list[float], sizes: list[float]) -> float:
    """ln(1 + Σ e^term), rounded up; each term was added up from parts of that size."""
    top = max(terms)
    total = (
        top
        + math.log(math.fsum(math.exp(term - top) for term in terms))
        + 8.0 * LIBM * (1.0 + max(sizes))
    )
    return up(
        total + math.log1p(math.exp(-total))
        if total > 0.0
        else math.log1p(math.exp(total))
    )


def _log_sum(one: float, two: float) -> float:
    top = max(one, two)
    return top + math.log1p(math.exp(min(one, two) - top))


def _log_expm1(x: float) -> float:
    return math.log(math.expm1(x)) if x < 1.0 else x + math.log1p(-math.exp(-x))


@lru_cache(maxsize=8192)
def _log_moment_series(mu: float, rate: float, order: float) -> float:
    """ln E[L^α] for any order.

    The integral is split where both parts of L = (1−q) + q·e^… are equal, and each half
    expanded in the smaller one. Beyond k > α the terms alternate and shrink, so the
    last one bounds all that follow.
    """
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    split = (log_rest - log_rate) / (mu * mu) + 0.5
    logs: list[tuple[float, float, float]] = []
    sign, log_binomial, top, last = 1.0, 0.0, -math.inf, math.inf
    for k in range(400 + int(order)):
        pair = [
            _series_term(
                mu,
                log_binomial,
                (order - k) * log_rest,
                k * log_rate,
                float(k),
                split - k,
            ),
            _series_term(
                mu,
                log_binomial,
                k * log_rest,
                (order - k) * log_rate,
                order - k,
                order - k - split,
            ),
        ]
        logs += [(sign, *term) for term in pair]
        last = max(term[0] for term in pair)
        top = max(top, last)
        if k > order + 1.0 and last < top - 32.0:
            break
        sign = -sign if k > order else sign
        log_binomial += math.log(abs(order - k) / (k + 1.0))
    return _sum_series(logs, top, last)


def _series_term(mu: float, *logs_power_and_edge: float) -> tuple[float, float]:
    """The logarithm of one term's size, and the sum of the sizes it was added up from
    (for its rounding).
    """
    *logs, power, edge = logs_power_and_edge
    parts = (*logs, power * (power - 1.0) * mu * mu / 2.0, log_tail(-edge * mu))
    return sum(parts), sum(map(abs, parts)) + (edge * mu) ** 2


def _sum_series(
    logs: list[tuple[float, float, float]], top: float, last: float
) -> float:
    total = math.fsum(sign * math.exp(size - top) for sign, size, _ in logs)
    lost = math.fsum(
        math.exp(size - top) * 32.0 * LIBM * (1.0 + spread) for _, size, spread in logs
    )
    total += lost + 2.0 * math.exp(last - top)
    return up(max(top + math.log(total), 0.0)) + 8.0 * LIBM * (1.0 + abs(top))
