"""Less is revealed when the adversary does not know who took part, or who said what."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import NoConversion, UnitMismatch
from dither.privacy.composite import PoissonSampled
from dither.privacy.concentrated import GaussianDP
from dither.privacy.guarantees import ApproxDP, BoundedRange, Guarantee, PureDP
from dither.privacy.numbers import (
    SMALLEST_DELTA,
    Number,
    float_up,
    positive,
    share,
    small_probability,
    up,
    whole,
)
from dither.privacy.units import ROW, Relation, Unit


def poisson(guarantee: Guarantee, rate: Number) -> Guarantee:
    """The guarantee of running on a sample that every unit enters independently with
    probability `rate`.

    Guarantee: ε' = ln(1 + q(e^ε − 1)) and δ' = qδ; a Gaussian becomes `PoissonSampled`,
    which keeps its whole curve.
    Why: Balle, Barthe, Gaboardi 2018, theorem 8.
    Assumes: add/remove neighbours, and that nobody learns who was sampled.
    """
    q = share("rate", rate, "pass the sampling probability, such as 0.01")
    if guarantee.unit.relation is not Relation.ADD_REMOVE:
        raise UnitMismatch(
            "guarantee",
            "Poisson sampling strengthens only guarantees under add/remove; pass the "
            "guarantee for a unit under add/remove",
        )
    match guarantee:
        case GaussianDP(delta=0.0):
            return PoissonSampled(q, guarantee)
        case PureDP() | BoundedRange():
            return PureDP(sampled_epsilon(guarantee.epsilon, q), unit=guarantee.unit)
        case ApproxDP():
            delta = sampled_delta(guarantee.delta, q)
            return replace(
                guarantee, epsilon=sampled_epsilon(guarantee.epsilon, q), delta=delta
            )
    raise NoConversion(
        "guarantee",
        f"Poisson sampling has no closed form for {type(guarantee).__name__}; "
        "convert the guarantee with .approx(delta) first",
    )


def sampled_delta(delta: float, rate: float) -> float:
    """qδ, rounded up."""
    return (
        max(float_up(Fraction(rate) * Fraction(delta)), SMALLEST_DELTA)
        if delta
        else 0.0
    )


def sampled_epsilon(epsilon: float, rate: float) -> float:
    """ln(1 + q(e^ε − 1)), rounded up and never above ε."""
    if epsilon > 700.0:
        return epsilon
    return min(up(math.log1p(rate * math.expm1(epsilon))), epsilon)


def shuffled(
    epsilon_local: Number,
    n: SupportsIndex,
    delta: Number,
    *,
    unit: Unit = ROW.replacing(),  # noqa: B008
) -> ApproxDP:
    """The guarantee of n anonymous, shuffled reports, each of which is ε_local-DP on
    its own.

    Guarantee: (ε, δ)-DP with ε = ln(1 + tanh(ε₀/2)·(8√(e^ε₀ ln(4/δ)/n) + 8e^ε₀/n)) if
    ε₀ ≤ ln(n/(16 ln(2/δ))), and never above ε₀, which holds without any shuffling.
    Why: Feldman, McMillan, Talwar 2021, theorem 3.1 (hiding among the clones).
    Assumes: replace neighbours (n is fixed); one report each; n counts only honest
    reports (rule R28).
    """
    local = positive(
        "epsilon_local", epsilon_local, "pass the ε of one report, such as 1.0"
    )
    reports = whole(
        "n", n, "pass the number of honest reports that are shuffled together"
    )
    target = small_probability("delta", delta, zero=False)
    if unit.relation is not Relation.REPLACE:
        raise UnitMismatch(
            "unit",
            "shuffling hides which of n reports is whose, so neighbours must replace a "
            "unit; pass Unit(...).replacing()",
        )
    return ApproxDP(_clones_epsilon(local, reports, target), target, unit=unit)


def _clones_epsilon(local: float, n: int, delta: float) -> float:
    if up(local) > math.log(n / (16.0 * math.log(2.0 / delta))):
        return local
    grown = math.exp(local)
    blanket = 8.0 * math.sqrt(grown * math.log(4.0 / delta) / n) + 8.0 * grown / n
    return min(up(math.log1p(math.tanh(local / 2.0) * blanket)), local)
