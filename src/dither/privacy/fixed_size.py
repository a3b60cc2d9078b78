"""Samples of a fixed size, drawn without replacement, where neighbours replace a
unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy.amplification import sampled_delta, sampled_epsilon
from dither.privacy.concentrated import GaussianDP
from dither.privacy.gaussian import gaussian_delta
from dither.privacy.guarantees import ApproxDP, BoundedRange, Guarantee, PureDP
from dither.privacy.losses import fixed_size_loss
from dither.privacy.numbers import LIBM, Number, down, float_up, share, up, whole
from dither.privacy.units import Relation, Unit, common_unit

__all__ = ["FixedSizeSampled", "fixed_size"]

RELATION = (
    "a sample of a fixed size hides whether a unit was replaced, not the number "
    "of units; pass the guarantee for a unit under replace"
)


@dataclass(frozen=True, init=False)
class FixedSizeSampled(Guarantee):
    """`steps` Gaussian steps, each on a fresh sample of a fixed size, without
    replacement; `rate` is that size over the number of units.

    Guarantee: that of the composed dominating pair in docs/proofs/training.md.
    Why: advanced joint convexity (Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022).
    Assumes: neighbours replace one unit, their number is public and the same, and
    nobody learns who was sampled. The μ of `of` is for replacing a unit of the sample.
    """

    rate: float
    of: GaussianDP
    steps: int = 1

    def __init__(
        self,
        rate: Number,
        of: GaussianDP,
        steps: SupportsIndex = 1,
        *,
        unit: Unit | None = None,
    ) -> None:
        if not isinstance(of, GaussianDP) or of.delta:
            raise ArgumentError(
                "of",
                "the step in of= must be a GaussianDP without a δ; pass GaussianDP(mu)",
            )
        if of.unit.relation is not Relation.REPLACE:
            raise UnitMismatch("of", RELATION)
        rate = share("rate", rate, "pass sample size / number of units, such as 0.01")
        steps = whole("steps", steps, "pass the number of steps, such as 1000")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "of", replace(of))
        object.__setattr__(self, "steps", steps)
        unit = of.unit if unit is None else common_unit([of.unit, unit], "unit")
        object.__setattr__(self, "unit", unit)
        super().__post_init__()

    def _loss(self, order: float) -> float:
        return up(self.steps * fixed_size_loss(self.of.mu, self.rate, order))

    def _epsilon(self, delta: float) -> float:
        from dither.privacy.composition import epsilon_of

        return epsilon_of([self], delta) if delta > 0.0 else super()._epsilon(delta)

    def _delta(self, epsilon: float) -> float:
        from dither.privacy.composition import delta_of

        found = delta_of([self], epsilon)
        return min(found, self._step_delta(epsilon)) if self.steps == 1 else found

    def _step_delta(self, epsilon: float) -> float:
        """δ of one step in closed form: q times that of the step on all units, at a
        larger ε.
        """
        grown = math.expm1(min(epsilon, 700.0)) / self.rate
        inner = down(math.log1p(grown * (1.0 - 8.0 * LIBM)))
        return up(self.rate * gaussian_delta(self.of.mu, max(inner, 0.0)))

    def _group(self, size: int) -> Guarantee:
        raise self._refuse_group(
            f"a sample may hold any number of the {size} units of a group, which has no "
            "closed form"
        )

    @property
    def measure(self) -> str:
        times = f"{self.steps} steps" if self.steps > 1 else "one step"
        return (
            f"{times} of μ = {self.of.mu:.6g} (Gaussian) on samples of a fixed "
            f"size, {self.rate:.6g} of all"
        )


def fixed_size(
    guarantee: Guarantee, size: SupportsIndex, population: SupportsIndex
) -> Guarantee:
    """The guarantee of running on `size` of `population` units, drawn without
    replacement.

    Guarantee: ε' = ln(1 + q(e^ε − 1)) and δ' = qδ with q = size/population; a Gaussian
    becomes `FixedSizeSampled`, which keeps its whole curve.
    Why: Balle, Barthe, Gaboardi 2018, theorem 9.
    Assumes: neighbours replace one unit, so their number is public; nobody learns who
    was sampled.
    """
    drawn = whole("size", size, "pass the number of units in a sample")
    there = whole("population", population, "pass the number of units")
    if drawn > there:
        raise ArgumentError(
            "size",
            f"must be at most {there}, the number of units; pass a smaller sample",
        )
    if guarantee.unit.relation is not Relation.REPLACE:
        raise UnitMismatch("guarantee", RELATION)
    q = float_up(Fraction(drawn, there))
    match guarantee:
        case GaussianDP(delta=0.0):
            return FixedSizeSampled(q, guarantee)
        case PureDP() | BoundedRange():
            return PureDP(sampled_epsilon(guarantee.epsilon, q), unit=guarantee.unit)
        case ApproxDP():
            epsilon = sampled_epsilon(guarantee.epsilon, q)
            delta = sampled_delta(guarantee.delta, q)
            return replace(guarantee, epsilon=epsilon, delta=delta)
    raise NoConversion(
        "guarantee",
        f"sampling of a fixed size has no closed form for {type(guarantee).__name__}; "
        "convert the guarantee with .approx(delta) first",
    )
