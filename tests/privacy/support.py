"""Exact output distributions of small mechanisms, and divergences computed from them
with many digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from mpmath import mp, mpf

mp.dps = 50
EXACT = mpf(10) ** -30
"""The rounding of the reference itself."""

Pair = list[tuple[mpf, mpf]]
"""A mechanism on two neighbouring datasets: for every output, its probability on each.
"""


def written(number: float) -> mpf:
    """Guarantees mean their numbers as written: 0.1 is a tenth."""
    return number if isinstance(number, mpf) else mpf(repr(float(number)))


def randomized_response(epsilon: float) -> Pair:
    truth = mp.e ** written(epsilon) / (1 + mp.e ** written(epsilon))
    return [(truth, 1 - truth), (1 - truth, truth)]


def discrete_laplace(epsilon: float, reach: int = 60) -> Pair:
    """Noise P(k) ∝ e^(−ε|k|) on 0 and 1, its tails gathered into the outermost outputs
    (post-processing).
    """
    q = mp.e ** -written(epsilon)

    def mass(k: int) -> mpf:
        return (1 - q) / (1 + q) * q ** abs(k)

    def tail(k: int) -> mpf:
        return q**k / (1 + q)

    inner = [(mass(k), mass(k - 1)) for k in range(-reach + 1, reach)]
    ends = [(tail(reach), tail(reach + 1)), (tail(reach), tail(reach - 1))]
    return [ends[0], *inner, ends[1]]


def exponential_mechanism(scores: Iterable[float], others: Iterable[float]) -> Pair:
    weights = [
        (mp.e ** mpf(a), mp.e ** mpf(b)) for a, b in zip(scores, others, strict=True)
    ]
    left, right = sum(a for a, _ in weights), sum(b for _, b in weights)
    return [(a / left, b / right) for a, b in weights]


def together(*pairs: Pair) -> Pair:
    """The independent composition."""
    return [
        (mp.fprod(a for a, _ in outcome), mp.fprod(b for _, b in outcome))
        for outcome in product(*pairs)
    ]


def poisson_sampled(pair: Pair, rate: float) -> Pair:
    return [((1 - mpf(rate)) * b + mpf(rate) * a, b) for a, b in pair]


def hockey_stick(pair: Pair, epsilon: float) -> mpf:
    """δ(ε), the larger of both directions."""
    factor = mp.e ** written(epsilon)
    there = mp.fsum(max(a - factor * b, mpf(0)) for a, b in pair)
    back = mp.fsum(max(b - factor * a, mpf(0)) for a, b in pair)
    return max(there, back)


def renyi_divergence(pair: Pair, order: float) -> mpf:
    """The larger of both directions."""
    alpha = mpf(order)
    there = mp.fsum(a**alpha * b ** (1 - alpha) for a, b in pair)
    back = mp.fsum(b**alpha * a ** (1 - alpha) for a, b in pair)
    return mp.log(max(there, back)) / (alpha - 1)


def normal_tail(x: mpf) -> mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def true_gaussian_delta(mu: float, epsilon: float) -> mpf:
    m, e = mpf(mu), mpf(epsilon)
    return normal_tail(e / m - m / 2) - mp.e**e * normal_tail(e / m + m / 2)


def true_sampled_gaussian_loss(mu: float, rate: float, order: float) -> mpf:
    """Both directions by numerical integration; the larger one."""
    m, q, alpha = mpf(mu), mpf(rate), mpf(order)

    def ratio(x: mpf) -> mpf:
        return 1 - q + q * mp.e ** (m * x - m * m / 2)

    def moment(power: mpf) -> mpf:
        edges = [-14, -4, 0, 2, 4, 6, 8, 10 + alpha * m, 22 + alpha * m]
        return mp.quad(lambda x: mp.npdf(x) * ratio(x) ** power, edges)

    return mp.log(max(moment(alpha), moment(1 - alpha))) / (alpha - 1)
