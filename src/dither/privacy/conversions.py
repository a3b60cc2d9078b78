"""The lattice of guarantees: which kind follows from which, and by what theorem. What
is not listed does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from dither.errors import ArgumentError, NoConversion
from dither.privacy.composite import Composed, PoissonSampled
from dither.privacy.concentrated import GaussianDP, RenyiDP, ZeroConcentratedDP
from dither.privacy.declared import Declared
from dither.privacy.fixed_size import FixedSizeSampled
from dither.privacy.gaussian import pure_mu
from dither.privacy.guarantees import ApproxDP, BoundedRange, Guarantee, PureDP
from dither.privacy.laplace import LaplaceDP
from dither.privacy.numbers import Number, float_up, up
from dither.privacy.renyi import SAMPLED_ORDERS, WIDE_ORDERS

Kind = TypeVar("Kind", bound=Guarantee)


def convert(
    guarantee: Guarantee, kind: type[Kind], delta: Number | None = None
) -> Kind:
    """The guarantee as another kind, by the table below; `delta` is needed where (ε, δ)
    has to be read off a curve.
    """
    if not (isinstance(kind, type) and issubclass(kind, Guarantee)):
        raise ArgumentError(
            "kind",
            f"must be a class of guarantees, not {kind!r}; pass PureDP, ApproxDP or "
            "another",
        )
    if kind is ApproxDP and delta is not None:
        return guarantee.approx(delta)  # type: ignore[return-value]
    if isinstance(guarantee, kind):
        return guarantee
    theorem = CONVERSIONS.get((type(guarantee), kind))
    if theorem is None:
        raise NoConversion(
            "kind",
            f"{kind.__name__} does not follow from "
            f"{type(guarantee).__name__}; {_way_out(guarantee, kind)}",
        )
    return theorem(guarantee)  # type: ignore[no-any-return]


def _way_out(guarantee: Guarantee, kind: type[Guarantee]) -> str:
    if kind is ApproxDP:
        return "convert it with .approx(delta), which takes the δ that an ε needs"
    reachable = sorted(
        to.__name__ for start, to in CONVERSIONS if start is type(guarantee)
    )
    others = f"{', '.join(reachable)}, or to " if reachable else ""
    return f"convert it to {others}(ε, δ) with .approx(delta)"


def pure_rho(epsilon: float) -> float:
    """ε·tanh(ε/2): the smallest ρ such that every ε-DP mechanism is ρ-zCDP.

    Why: ln cosh √y is concave in y, so the loss of randomized response lies below its
    tangent at order 1 (docs/proofs/conversions.md). It is below the usual ε²/2.
    """
    curved = up(epsilon * math.tanh(epsilon / 2.0))
    # Only rounding needs it
    return (
        curved if epsilon > 1.0 else min(curved, float_up(Fraction(epsilon) ** 2 / 2))
    )


def _pure_to_approx(g: PureDP) -> ApproxDP:
    return ApproxDP(g.epsilon, 0.0, unit=g.unit)


def _pure_to_zcdp(g: PureDP | ApproxDP) -> ZeroConcentratedDP:
    return ZeroConcentratedDP(pure_rho(g.epsilon), g.delta_part, unit=g.unit)


def _pure_to_gaussian(g: PureDP | ApproxDP | BoundedRange) -> GaussianDP:
    return GaussianDP(pure_mu(g.epsilon), g.delta_part, unit=g.unit)


def _pure_to_range(g: PureDP) -> BoundedRange:
    return BoundedRange(float_up(2 * Fraction(g.epsilon)), unit=g.unit)


def _range_to_pure(g: BoundedRange) -> PureDP:
    return PureDP(g.epsilon, unit=g.unit)


def _range_to_approx(g: BoundedRange) -> ApproxDP:
    return ApproxDP(g.epsilon, 0.0, unit=g.unit)


def _range_to_zcdp(g: BoundedRange) -> ZeroConcentratedDP:
    return ZeroConcentratedDP(
        min(float_up(Fraction(g.epsilon) ** 2 / 8), pure_rho(g.epsilon)), unit=g.unit
    )


def _gaussian_to_zcdp(g: GaussianDP) -> ZeroConcentratedDP:
    return ZeroConcentratedDP(float_up(Fraction(g.mu) ** 2 / 2), g.delta, unit=g.unit)


def _to_renyi(g: Guarantee) -> RenyiDP:
    orders = SAMPLED_ORDERS if _has_sampling(g) else WIDE_ORDERS
    return RenyiDP(
        [(order, g.renyi(order)) for order in orders], g.delta_part, unit=g.unit
    )


def _has_sampling(g: Guarantee) -> bool:
    return isinstance(g, PoissonSampled | FixedSizeSampled) or (
        isinstance(g, Composed) and any(map(_has_sampling, g.parts))
    )


def _sum_of(
    kind: type[Guarantee], add: Callable[[list[Any]], Guarantee]
) -> Callable[[Composed], Guarantee]:
    """Every part is converted, then added up by the kind's own composition theorem."""
    return lambda g: add([part.to(kind) for part in g.parts])


def _sum(values: list[float]) -> float:
    return float_up(sum(map(Fraction, values), Fraction(0)))


def _add_pure(parts: list[PureDP]) -> PureDP:
    return PureDP(_sum([p.epsilon for p in parts]), unit=parts[0].unit)


def _add_approx(parts: list[ApproxDP]) -> ApproxDP:
    return ApproxDP(
        _sum([p.epsilon for p in parts]),
        _sum([p.delta for p in parts]),
        unit=parts[0].unit,
    )


def _add_zcdp(parts: list[ZeroConcentratedDP]) -> ZeroConcentratedDP:
    return ZeroConcentratedDP(
        _sum([p.rho for p in parts]), _sum([p.delta for p in parts]), unit=parts[0].unit
    )


def _add_gaussian(parts: list[GaussianDP]) -> GaussianDP:
    return GaussianDP(
        up(math.hypot(*(p.mu for p in parts))),
        _sum([p.delta for p in parts]),
        unit=parts[0].unit,
    )


CONVERSIONS: dict[tuple[type[Guarantee], type[Guarantee]], Callable[[Any], Any]] = {
    (PureDP, ApproxDP): _pure_to_approx,
    (PureDP, ZeroConcentratedDP): _pure_to_zcdp,
    (PureDP, GaussianDP): _pure_to_gaussian,
    (PureDP, BoundedRange): _pure_to_range,
    (PureDP, RenyiDP): _to_renyi,
    (LaplaceDP, ApproxDP): _pure_to_approx,
    (LaplaceDP, ZeroConcentratedDP): _pure_to_zcdp,
    (LaplaceDP, GaussianDP): _pure_to_gaussian,
    (LaplaceDP, BoundedRange): _pure_to_range,
    (LaplaceDP, RenyiDP): _to_renyi,
    (ApproxDP, ZeroConcentratedDP): _pure_to_zcdp,
    (ApproxDP, GaussianDP): _pure_to_gaussian,
    (ApproxDP, RenyiDP): _to_renyi,
    (BoundedRange, PureDP): _range_to_pure,
    (BoundedRange, ApproxDP): _range_to_approx,
    (BoundedRange, ZeroConcentratedDP): _range_to_zcdp,
    (BoundedRange, GaussianDP): _pure_to_gaussian,
    (BoundedRange, RenyiDP): _to_renyi,
    (GaussianDP, ZeroConcentratedDP): _gaussian_to_zcdp,
    (GaussianDP, RenyiDP): _to_renyi,
    (ZeroConcentratedDP, RenyiDP): _to_renyi,
    (PoissonSampled, RenyiDP): _to_renyi,
    (FixedSizeSampled, RenyiDP): _to_renyi,
    (Declared, RenyiDP): lambda g: _to_renyi(g.of),
    (Composed, PureDP): _sum_of(PureDP, _add_pure),
    (Composed, ApproxDP): _sum_of(ApproxDP, _add_approx),
    (Composed, ZeroConcentratedDP): _sum_of(ZeroConcentratedDP, _add_zcdp),
    (Composed, GaussianDP): _sum_of(GaussianDP, _add_gaussian),
    (Composed, RenyiDP): _to_renyi,
}
"""Bounded ranges do not add up: if a later mechanism is chosen by an earlier answer,
two of ε have a range of 3ε.
"""
