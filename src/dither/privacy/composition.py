"""Several guarantees about the same data: every theorem that applies is tried, and the
best valid bound is returned.

Advanced composition is not better by nature: for few or large parts the plain sum is
smaller, so `compose` takes the minimum. The parts are fixed in advance; if each cost is
chosen after the last answer, the ledger's filter decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.privacy import advanced
from dither.privacy.bundle import Bundle, bundle_of
from dither.privacy.composite import flatten
from dither.privacy.gaussian import gaussian_delta, gaussian_epsilon
from dither.privacy.guarantees import SMALLEST_EPSILON, ApproxDP, Guarantee, PureDP
from dither.privacy.numbers import (
    Number,
    float_down,
    float_up,
    small_probability,
    spare_delta,
    written,
    written_up,
)
from dither.privacy.optimal import repeated_delta, repeated_epsilon
from dither.privacy.renyi import best_delta, best_epsilon
from dither.privacy.units import Unit, common_unit

if TYPE_CHECKING:
    from dither.privacy.pld import Dominated

BASIC = "basic composition: the ε and δ add up (Dwork, McSherry, Nissim, Smith 2006)"
ADVANCED = "advanced composition (Dwork, Rothblum, Vadhan 2010)"
HETEROGENEOUS = (
    "advanced composition for different parts (Kairouz, Oh, "
    "Viswanath 2015, theorem 3.5)"
)
OPTIMAL = (
    "optimal composition of equal parts (Kairouz, Oh, Viswanath 2015, theorem 3.3)"
)
CONCENTRATED = (
    "zero-concentrated composition (Bun & Steinke 2016; Canonne, Kamath, Steinke 2020)"
)
RENYI = "Rényi composition (Mironov 2017; Canonne, Kamath, Steinke 2020)"
GAUSSIAN = "Gaussian composition, μ² adds up (Dong, Roth, Su 2022; Balle & Wang 2018)"
DISTRIBUTION = (
    "numerical composition of privacy loss distributions (Koskela, Jälkö, Honkela 2020)"
)

_PURE_IS_WORTH = 1e-3
"""A pure guarantee is the stronger promise, so it is kept when δ would buy less than
this share of its ε.
"""


@dataclass(frozen=True)
class Composition:
    """The guarantee of all parts together, the theorem that proves it, and the results
    of the other theorems.
    """

    guarantee: PureDP | ApproxDP
    theorem: str
    candidates: Mapping[str, float] = field(hash=False)

    @property
    def epsilon(self) -> float:
        return self.guarantee.epsilon

    @property
    def delta(self) -> float:
        return self.guarantee.delta_part

    def __str__(self) -> str:
        others = sorted(
            (epsilon, name)
            for name, epsilon in self.candidates.items()
            if name != self.theorem
        )
        lines = [str(self.guarantee), f"  by {self.theorem}"]
        return "\n".join(
            lines + [f"  ε = {epsilon:.6g} by {name}" for epsilon, name in others]
        )


def compose(
    guarantees: Iterable[Guarantee], delta: Number | None = None, *, tight: bool = True
) -> Composition:
    """The best valid bound on what the guarantees promise together.

    Guarantee: (ε, δ)-DP with the δ asked for (or the sum of the parts' own, if that
    exceeds it by rounding alone), or ε-DP where that is as good. Without `delta`, every
    part must be pure and the result is the exact sum, rounded up.
    Why: each candidate is a theorem named in the result; all of them hold, so their
    minimum does.
    Assumes: the parts' guarantees were fixed before the first was run. `tight=False`
    composes in closed form only.
    """
    parts = flatten(guarantees, "guarantees")
    unit = common_unit((part.unit for part in parts), "guarantees")
    bundle = bundle_of(parts)
    if delta is None:
        return _pure_sum(bundle, unit)
    wanted = small_probability("delta", delta, zero=True, rounding=float_down)
    free, total = _free_delta(bundle, wanted)
    candidates = _candidates(bundle, free, tight)
    if not candidates:
        raise ArgumentError(
            "delta",
            f"is too small: {wanted:g} leaves no δ for the composition itself; pass a "
            f"larger delta, such as {_larger(bundle):.1g}",
        )
    return _choose(bundle, unit, candidates, total)


def epsilon_of(parts: Iterable[Guarantee], delta: Number) -> float:
    """The ε of `compose`, but exactly 0 where the δ alone covers everything."""
    epsilon = compose(parts, delta).epsilon
    return 0.0 if epsilon <= SMALLEST_EPSILON else epsilon


def delta_of(
    parts: Iterable[Guarantee], epsilon: float, *, tight: bool = True
) -> float:
    """The smallest δ known at an ε, beside the δ that the parts carry."""
    bundle = bundle_of(parts)
    if bundle.only_bounded and bundle.basic_epsilon() <= written(epsilon):
        return 0.0
    refine = not bundle.on_samples
    found = [best_delta(bundle.loss, epsilon, bundle.orders(), refine, bundle.floor)]
    if bundle.has_gaussian_form:
        found.append(gaussian_delta(bundle.total_mu(), epsilon))
    if bundle.only_bounded and len(bundle.bounded) == 1:
        found.extend(
            repeated_delta(each, count, epsilon)
            for each, count in bundle.bounded.items()
        )
    if tight and epsilon > 0.0 and _numerical_helps(bundle, min(found)):
        found.append(_numerical_delta(bundle, epsilon))
    return min(found)


def _pure_sum(bundle: Bundle, unit: Unit) -> Composition:
    if not bundle.only_bounded or bundle.carried:
        raise ArgumentError(
            "delta",
            "is missing, and some of the guarantees need a δ; pass the δ of the whole, "
            "such as delta=1e-6",
        )
    guarantee = PureDP(written_up(bundle.basic_epsilon()), unit=unit)
    return Composition(guarantee, BASIC, {BASIC: guarantee.epsilon})


def _free_delta(bundle: Bundle, wanted: float) -> tuple[float, float]:
    """The part of δ that remains for the theorems, rounded down, and the δ of the
    result.
    """
    left = written(wanted) - bundle.carried
    if left >= 0:
        return spare_delta(left), wanted
    if bundle.carried > Fraction(wanted) * (1 + Fraction(1, 10**12)):
        raise ArgumentError(
            "delta",
            f"must be at least {float(bundle.carried):g}, the sum of the δ of the "
            f"guarantees, not {wanted:g}; pass a larger delta",
        )
    return 0.0, written_up(bundle.carried)


def _larger(bundle: Bundle) -> float:
    return max(2.0 * float(bundle.carried), 1e-6)


def _candidates(bundle: Bundle, delta: float, tight: bool) -> dict[str, float]:
    if bundle.only_bounded:
        found = _bounded_candidates(bundle, delta)
    elif delta > 0.0:
        found = _curve_candidates(bundle, delta)
    else:
        return {}
    if tight and delta > 0.0 and _numerical_helps(bundle, delta):
        numerical = _numerical_epsilon(bundle, delta)
        found |= {} if math.isinf(numerical) else {DISTRIBUTION: numerical}
    return found


def _bounded_candidates(bundle: Bundle, delta: float) -> dict[str, float]:
    found = {BASIC: written_up(bundle.basic_epsilon())}
    if bundle.parts == 1 or delta <= 0.0:
        return found
    found[ADVANCED] = advanced.advanced_epsilon(bundle.bounded, delta)
    found[HETEROGENEOUS] = advanced.heterogeneous_epsilon(bundle.bounded, delta)
    for epsilon, count in bundle.bounded.items() if len(bundle.bounded) == 1 else ():
        found[OPTIMAL] = repeated_epsilon(epsilon, count, delta)
    return found | _curve_candidates(bundle, delta)


def _curve_candidates(bundle: Bundle, delta: float) -> dict[str, float]:
    if bundle.only_gaussian:
        return {GAUSSIAN: gaussian_epsilon(bundle.mu, delta)}
    refine = not bundle.on_samples
    found = {
        RENYI: best_epsilon(bundle.loss, delta, bundle.orders(), refine, bundle.floor)
    }
    if bundle.has_rho:
        rho = bundle.total_rho()
        found[CONCENTRATED] = best_epsilon(
            lambda order: rho * order * (1.0 + 2.0**-50), delta
        )
    if bundle.has_gaussian_form:
        found[GAUSSIAN] = gaussian_epsilon(bundle.total_mu(), delta)
    if not bundle.only_bounded and bundle.bounded:
        found[BASIC] = _split_epsilon(bundle, delta)
    return found


def _split_epsilon(bundle: Bundle, delta: float) -> float:
    """The bounded parts' ε added to the ε of all others at the whole δ."""
    rest = Bundle(
        bundle.parts,
        bundle.gaussians,
        sampled=bundle.sampled,
        fixed=bundle.fixed,
        listed=bundle.listed,
        rho=bundle.rho,
    )
    others = (
        gaussian_epsilon(rest.mu, delta)
        if rest.has_gaussian_form
        else best_epsilon(rest.loss, delta, rest.orders(), False, rest.floor)
    )
    return float_up(bundle.basic_epsilon() + Fraction(others))


def _numerical_epsilon(bundle: Bundle, delta: float) -> float:
    """ε by privacy loss distributions, and never less than parts alone have exactly
    (rule R33).
    """
    from dither.privacy import pld  # and numpy with it

    found = pld.pld_epsilon(_dominated(bundle), delta)
    alone = [
        repeated_epsilon(epsilon, count, delta)
        for epsilon, count in bundle.worst.items()
    ]
    alone += [gaussian_epsilon(bundle.mu, delta)] if bundle.gaussians else []
    return math.inf if found is None else max([found, *alone])


def _numerical_delta(bundle: Bundle, epsilon: float) -> float:
    """δ by privacy loss distributions, and never less than parts alone have exactly."""
    from dither.privacy import pld

    found = pld.pld_delta(_dominated(bundle), epsilon)
    alone = [
        repeated_delta(each, count, epsilon) for each, count in bundle.worst.items()
    ]
    alone += [gaussian_delta(bundle.mu, epsilon)] if bundle.gaussians else []
    return 1.0 if found is None else max([found, *alone])


def _dominated(bundle: Bundle) -> Dominated:
    from dither.privacy import pld

    return pld.dominated_by(bundle)


def _numerical_helps(bundle: Bundle, delta: float) -> bool:
    """Whether a privacy loss distribution could improve the answer, and can be
    computed.
    """
    if not bundle.has_dominating_pairs or bundle.only_gaussian:
        return False
    if not bundle.only_bounded:
        return True
    several = bundle.parts > 1 if bundle.laplaces else len(bundle.bounded) > 1
    return several and delta >= _PURE_IS_WORTH * math.exp(_log_all_truthful(bundle))


def _log_all_truthful(bundle: Bundle) -> float:
    """ln of the probability of the largest loss Σε: if δ is far below it, no theorem
    lowers ε by more than δ/that.
    """
    pure = sum(
        -count * math.log1p(math.exp(-epsilon))
        for epsilon, count in bundle.worst.items()
    )
    return pure - bundle.laplaces.total() * math.log(2.0)


def _choose(
    bundle: Bundle, unit: Unit, candidates: dict[str, float], delta: float
) -> Composition:
    theorem = min(candidates, key=candidates.__getitem__)
    basic = candidates.get(BASIC, math.inf)
    if bundle.only_bounded and basic * (1.0 - _PURE_IS_WORTH) <= candidates[theorem]:
        guarantee: PureDP | ApproxDP = PureDP(basic, unit=unit)
        if bundle.carried:
            guarantee = ApproxDP(basic, written_up(bundle.carried), unit=unit)
        return Composition(guarantee, BASIC, candidates)
    return Composition(
        ApproxDP(max(candidates[theorem], SMALLEST_EPSILON), delta, unit=unit),
        theorem,
        candidates,
    )
