"""Promises about neighbouring datasets: the common base, and those stated as bounds on
likelihood ratios.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self, SupportsIndex, TypeVar

from dither.by_name import constructed
from dither.errors import ArgumentError, NoConversion
from dither.privacy.losses import bounded_range_loss, pure_loss
from dither.privacy.numbers import (
    LIBM,
    TINY,
    Number,
    float_down,
    float_up,
    gap,
    not_negative,
    positive,
    renyi_order,
    small_probability,
    spare_delta,
    up,
    whole,
)
from dither.privacy.renyi import WIDE_ORDERS, best_delta, best_epsilon
from dither.privacy.units import ROW, Relation, Unit

Kind = TypeVar("Kind", bound="Guarantee")

SMALLEST_EPSILON = 1e-12
"""The stated value of an ε of 0: a promise needs an ε above 0, and the larger one is
also true.
"""


@dataclass(frozen=True)
class Guarantee:
    """What is promised about every pair of neighbouring datasets.

    Numbers mean what is written: an ε of 0.1 is a tenth, not the float next to it.
    Mechanisms keep below both, so that ten releases at 0.1 cost exactly 1.

    A `delta` carried by zCDP, GDP or Rényi guarantees has the meaning of Bun & Steinke
    2016, definition 8.1: except for events of probability δ on each side, the two
    output distributions satisfy the promise. It adds to any other δ.
    """

    unit: Unit = field(default=ROW, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.unit, Unit):
            raise ArgumentError(
                "unit",
                f"must be a Unit, not {type(self.unit).__name__}; pass "
                f"Unit({str(self.unit)!r})",
            )

    @property
    def given(self) -> tuple[str, ...]:
        """The exact facts that neighbours agree on: published beside all releases, and
        not protected by this promise (rule R22).
        """
        return self.unit.given

    @property
    def delta_part(self) -> float:
        """The δ carried beside the Rényi loss (rule R17)."""
        return 0.0

    def renyi(self, order: Number) -> float:
        """The Rényi loss at an order above 1, rounded up, of all but the part counted
        in `delta_part`.
        """
        return self._loss(renyi_order(order))

    def epsilon_at(self, delta: Number) -> float:
        """The smallest ε known to hold with this δ, rounded up."""
        return self._epsilon(
            self._free_delta(
                small_probability("delta", delta, zero=True, rounding=float_down)
            )
        )

    def delta_at(self, epsilon: Number) -> float:
        """The smallest δ known to hold with this ε, rounded up."""
        eps = not_negative(
            "epsilon", epsilon, "pass the ε for which you want the δ", float_down
        )
        return min(
            up(self._delta(eps) + self.delta_part)
            if self.delta_part
            else self._delta(eps),
            1.0,
        )

    def approx(self, delta: Number) -> ApproxDP:
        """This guarantee as (ε, δ)-DP at the wanted δ."""
        stated = small_probability("delta", delta, zero=True)
        return ApproxDP(
            max(self.epsilon_at(stated), SMALLEST_EPSILON), stated, unit=self.unit
        )

    def to(self, kind: type[Kind], delta: Number | None = None) -> Kind:
        """The same promise as another kind, where a theorem gives it; (ε, δ) may need
        the wanted `delta`.
        """
        from dither.privacy.conversions import convert

        return convert(self, kind, delta)

    def for_replacement(self) -> Guarantee:
        """The promise when neighbours differ by replacing one unit: a removal and an
        addition (rule R7).
        """
        if self.unit.relation is Relation.REPLACE:
            return self
        return replace(self._group(2), unit=self.unit.replacing())

    def for_facts(self, facts: Iterable[str]) -> Guarantee:
        """The same promise where exact facts are published too (rule R22).

        Neighbours that agree on them are some of those that it speaks of already. There
        is no way back. One under add/remove says nothing here before `for_replacement`.
        """
        unit = replace(self.unit, relation=Relation.REPLACE).with_facts(facts)
        if unit.given and self.unit.relation is not Relation.REPLACE:
            raise NoConversion(
                "guarantee",
                "is for add/remove, but one unit more or less changes exact facts; "
                "convert it with .for_replacement() first",
            )
        return self if unit.given == self.unit.given else self._with_unit(unit)

    def _with_unit(self, unit: Unit) -> Guarantee:
        return replace(self, unit=unit)

    def for_group(self, size: SupportsIndex) -> Guarantee:
        """The promise for any `size` units together: ε and δ both grow."""
        count = whole("size", size, "pass the number of units in a group, such as 5")
        if count > 1 and self.given:
            # Two who trade places keep every total, and one alone changes some.
            raise NoConversion(
                "guarantee",
                "holds given exact facts, so it does not extend to groups: changing one "
                "unit at a time can change the facts; call .for_group before .for_facts",
            )
        return self if count == 1 else self._group(count)

    @abstractmethod
    def _loss(self, order: float) -> float: ...

    @abstractmethod
    def _group(self, size: int) -> Guarantee: ...

    def _epsilon(self, delta: float) -> float:
        if delta <= 0.0:
            raise NoConversion(
                "delta",
                f"is too small: {self._kind()} does not have an ε at δ = "
                f"{self.delta_part:g}; pass a larger delta, such as 1e-6",
            )
        return best_epsilon(self._loss, delta, WIDE_ORDERS)

    def _delta(self, epsilon: float) -> float:
        return best_delta(self._loss, epsilon, WIDE_ORDERS)

    def _free_delta(self, delta: float) -> float:
        """The part of a wanted δ that remains after the carried one is taken out,
        rounded down.
        """
        if not self.delta_part:
            return delta
        left = Fraction(delta) - Fraction(self.delta_part)
        if left < 0:
            raise NoConversion(
                "delta",
                f"must be at least {self.delta_part:g}, the δ of this guarantee, not "
                f"{delta:g}; pass a larger delta",
            )
        return spare_delta(left)

    def _kind(self) -> str:
        return type(self).__name__

    @property
    @abstractmethod
    def measure(self) -> str:
        """The guarantee in numbers, such as "ε = 0.5 (pure)"."""

    def __str__(self) -> str:
        return f"{self.measure}, protects {self.unit}"

    def _refuse_group(self, why: str) -> NoConversion:
        return NoConversion(
            "guarantee",
            f"{why}; convert the guarantee with .approx(delta) first, then call "
            ".for_group or .for_replacement",
        )


@constructed("PureDP(epsilon=1.0)")
@dataclass(frozen=True)
class PureDP(Guarantee):
    """ε-differential privacy: no output is more than e^ε times likelier on one
    neighbour than on the other.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self,
            "epsilon",
            positive("epsilon", self.epsilon, "pass a finite ε such as 0.5"),
        )

    def _loss(self, order: float) -> float:
        return pure_loss(self.epsilon, order)

    def _epsilon(self, delta: float) -> float:
        return _response_epsilon(self.epsilon, delta)

    def _delta(self, epsilon: float) -> float:
        return _response_delta(self.epsilon, epsilon)

    def _group(self, size: int) -> PureDP:
        return replace(self, epsilon=float_up(size * Fraction(self.epsilon)))

    @property
    def measure(self) -> str:
        return f"ε = {self.epsilon:.6g} (pure)"


@constructed("ApproxDP(epsilon=1.0, delta=1e-6)")
@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy, over events: P(S) ≤ e^ε·P'(S) + δ for every set S of
    outputs.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self,
            "epsilon",
            positive("epsilon", self.epsilon, "pass a finite ε such as 0.5"),
        )
        object.__setattr__(
            self, "delta", small_probability("delta", self.delta, zero=True)
        )

    @property
    def delta_part(self) -> float:
        return self.delta

    def _loss(self, order: float) -> float:
        return pure_loss(self.epsilon, order)

    def _epsilon(self, delta: float) -> float:
        return _response_epsilon(self.epsilon, delta)

    def _delta(self, epsilon: float) -> float:
        return _response_delta(self.epsilon, epsilon)

    def _group(self, size: int) -> ApproxDP:
        grown = _group_delta(self.epsilon, self.delta, size)
        if grown >= 1.0:
            raise NoConversion(
                "size",
                f"the δ of a group of {size} units reaches 1 at ε = {self.epsilon:g}; pass "
                "a smaller group, or use a guarantee with a smaller ε or δ",
            )
        return replace(
            self, epsilon=float_up(size * Fraction(self.epsilon)), delta=grown
        )

    @property
    def measure(self) -> str:
        delta = f", δ = {self.delta:.6g}" if self.delta else ""
        return f"ε = {self.epsilon:.6g}{delta}"


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """ε-bounded range: the log-likelihood ratios of any two outputs differ by at most ε
    (Durfee & Rogers 2019).

    The exponential mechanism has it with the ε of its exponent: stronger than ε-DP, and
    half as costly in variance.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self,
            "epsilon",
            positive("epsilon", self.epsilon, "pass a finite ε such as 0.5"),
        )

    def _loss(self, order: float) -> float:
        return bounded_range_loss(self.epsilon, order)

    def _epsilon(self, delta: float) -> float:
        lost = math.sqrt(delta * -math.expm1(-self.epsilon)) * (1.0 - 8.0 * LIBM)
        if delta == 0.0 or lost >= 1.0:
            return self.epsilon if delta == 0.0 else 0.0
        # Where the result is above 0 both terms are at most ε₀, so this covers their
        # rounding however small it is.
        return min(
            max(
                up(self.epsilon + 2.0 * math.log1p(-lost)) + 4.0 * self.epsilon * LIBM,
                0.0,
            ),
            self.epsilon,
        )

    def _delta(self, epsilon: float) -> float:
        # The worst two-point ratio {e^t, e^(t−ε₀)} has t halfway between ε and ε₀:
        # docs/proofs/conversions.md.
        if epsilon >= self.epsilon:
            return 0.0
        return (
            up(
                math.expm1(-gap(self.epsilon, epsilon) / 2.0) ** 2
                / -math.expm1(-self.epsilon)
            )
            + TINY
        )

    def _group(self, size: int) -> Self:
        return replace(self, epsilon=float_up(size * Fraction(self.epsilon)))

    @property
    def measure(self) -> str:
        return f"ε = {self.epsilon:.6g} (bounded range)"


def _response_epsilon(pure: float, delta: float) -> float:
    """ε(δ) of randomized response at the ε it was built for: ln(e^ε₀ − δ(1 + e^ε₀)), at
    least 0.
    """
    lost = delta * (1.0 + math.exp(-pure)) * (1.0 - 8.0 * LIBM)
    if lost >= 1.0:
        return 0.0
    return (
        pure
        if delta == 0.0
        else min(max(up(pure + math.log1p(-lost)) + pure * LIBM, 0.0), pure)
    )


def _response_delta(pure: float, epsilon: float) -> float:
    """δ(ε) of randomized response: (e^ε₀ − e^ε)/(1 + e^ε₀)."""
    return (
        0.0
        if epsilon >= pure
        else up(-math.expm1(-gap(pure, epsilon)) / (1.0 + math.exp(-pure))) + TINY
    )


def _group_delta(epsilon: float, delta: float, size: int) -> float:
    """δ·(e^(kε) − 1)/(e^ε − 1), the geometric sum of δ·e^(iε) over the k steps between
    the two datasets.
    """
    if delta == 0.0:
        return 0.0
    exponent = (size - 1) * epsilon
    if exponent > 700.0:
        return 1.0
    return up(
        delta * math.exp(exponent) * math.expm1(-size * epsilon) / math.expm1(-epsilon)
    )
