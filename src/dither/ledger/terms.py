"""What an account promises and how charges count against it: whole numbers, rounded up
(docs/proofs/filter.md).

An (ε, δ) account holds three caps. A charge is granted if **either** all charges are
pure and their ε add up to at most ε, **or** the losses add up to at most the loss cap
and the δs that charges carry to at most the reserved δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from dither.errors import ArgumentError, NoConversion
from dither.ledger.state import LARGEST, Price
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    MetricDP,
    PureDP,
    Relation,
    Unit,
    gaussian_mu,
)
from dither.privacy.gaussian import pure_mu
from dither.privacy.numbers import LIBM, float_down, written

__all__ = ["ATTO", "NANO", "Accounting", "Price", "Terms", "loss_cap"]

NANO = 10**9
"""ε and losses are counted in units of 1e-9."""
ATTO = 10**18
"""δ is counted in units of 1e-18."""
LARGEST_GDP = 1 << 58
"""The largest ε of a gdp account: the μ² of a pure charge is up to eight times its ε,
and counts even past its cap.
"""


class Accounting(StrEnum):
    """How charges add up; fixed when an account is opened."""

    PURE = "pure"
    RENYI = "renyi"
    GDP = "gdp"


@dataclass(frozen=True)
class Terms:
    """The promise of an account: its total, its unit and relation, its accounting, and
    the caps that follow.
    """

    accounting: Accounting
    total: ApproxDP
    order: int
    pure_cap: int
    loss_cap: int
    delta_cap: int

    @classmethod
    def of(
        cls, accounting: Accounting, total: ApproxDP, order: int | None = None
    ) -> Self:
        """The caps of a total. δ is split in two: half to convert losses into ε, half
        for charges that carry a δ.
        """
        pure = _units(written(total.epsilon), NANO)
        if accounting is Accounting.PURE:
            if total.delta:
                raise ArgumentError(
                    "accounting",
                    "cannot be pure for an account with a δ; leave delta out, or choose renyi "
                    "or gdp",
                )
            return cls(accounting, total, 0, pure, 0, 0)
        if not total.delta:
            raise ArgumentError(
                "delta",
                f"must be above 0 for {accounting} accounting; pass for example 1e-6, or "
                "choose pure accounting",
            )
        half = written(total.delta) / 2
        reserved = _units(half, ATTO)
        if accounting is Accounting.GDP:
            _checked(pure, LARGEST_GDP)
            mu = Fraction(gaussian_mu(total.epsilon, float_down(half)))
            return cls(accounting, total, 0, pure, _units(mu**2, NANO), reserved)
        order = best_order(total.epsilon, float_down(half)) if order is None else order
        return cls(
            accounting,
            total,
            order,
            pure,
            loss_cap(total.epsilon, float_down(half), order),
            reserved,
        )

    @property
    def unit(self) -> Unit:
        return self.total.unit

    def cost(self, guarantee: Guarantee) -> Price:
        """The cost of a guarantee here; refused if it has no finite loss."""
        if isinstance(guarantee, Composed):
            prices = [self.cost(part) for part in guarantee.parts]
            return _countable(sum(prices[1:], prices[0]))
        if isinstance(guarantee, MetricDP):
            raise NoConversion(
                "guarantee",
                f"{guarantee.measure} cannot be charged, because it is metric; declare "
                "the largest distance with .within(diameter)",
            )
        pure = _pure_epsilon(guarantee)
        if self.accounting is Accounting.PURE:
            if pure is None:
                raise NoConversion(
                    "guarantee",
                    f"{guarantee.measure} is not pure ε, but the account has pure accounting; use an account with a δ",
                )
            return Price(pure, 0, 0)
        delta = _units_up(written(guarantee.delta_part), ATTO)
        return Price(
            pure, max(1, _units_up(Fraction(self._loss(guarantee)), NANO)), delta
        )

    def _loss(self, guarantee: Guarantee) -> float:
        if self.accounting is Accounting.GDP:
            return _squared_mu(guarantee)
        try:
            loss = guarantee.renyi(self.order)
        except ArgumentError:
            loss = math.inf
        if not loss * NANO < LARGEST:
            way_out = "charge it as (ε, δ) with .approx(delta), or add noise"
            raise NoConversion(
                "guarantee",
                f"{guarantee.measure} does not have a finite loss at order {self.order}; {way_out}",
            )
        return loss

    def disjoint(self, guarantees: Iterable[Guarantee]) -> Price:
        """What answers about disjoint keys of one plan cost together (rule R13).

        A unit that is added or removed is in one key, so the largest cost covers all. A
        unit that is replaced may leave one key and enter another, so twice the largest
        covers both.
        """
        prices = [self.cost(guarantee) for guarantee in guarantees]
        if not prices:
            raise ArgumentError(
                "guarantees",
                "must not be empty; pass the guarantee of each key's answer",
            )
        covering = prices[0]
        for price in prices[1:]:
            covering = covering.largest_with(price)
        twice = self.unit.relation is Relation.REPLACE and len(prices) > 1
        return _countable(covering + covering) if twice else covering


def loss_cap(epsilon: float, delta: float, order: int) -> int:
    """B with ε = B + ln((α−1)/α) − (ln δ + ln α)/(α−1) (Canonne, Kamath & Steinke
    2020), in units, rounded down.
    """
    parts = _loss_parts(epsilon, delta, order)
    return max(0, math.floor((sum(parts) - 16 * LIBM * sum(map(abs, parts))) * NANO))


def _loss_parts(epsilon: float, delta: float, order: int) -> tuple[float, ...]:
    return (
        epsilon,
        -math.log1p(-1 / order),
        math.log(delta) / (order - 1),
        math.log(order) / (order - 1),
    )


def best_order(epsilon: float, delta: float) -> int:
    """The integer order at which Gaussian releases fit in best: the largest B(α)/α."""
    # Without the two terms that help, the best order is 1 + 2·ln(1/δ)/ε at most; they
    # only move it down.
    highest = max(8, min(int(2 + 4 * -math.log(delta) / epsilon), 1 << 40))
    span = {
        min(highest, math.floor(2 * 1.02**step))
        for step in range(2 + int(math.log(highest / 2, 1.02)))
    }
    best = max(
        sorted(span), key=lambda order: sum(_loss_parts(epsilon, delta, order)) / order
    )
    near = range(
        max(2, best - best // 40 - 2), best + best // 40 + 3, max(1, best // 2000)
    )
    return max(near, key=lambda order: sum(_loss_parts(epsilon, delta, order)) / order)


def _pure_epsilon(guarantee: Guarantee) -> int | None:
    if isinstance(guarantee, PureDP | BoundedRange) or (
        isinstance(guarantee, ApproxDP) and not guarantee.delta
    ):
        return _units_up(written(guarantee.epsilon), NANO)
    return None


def _squared_mu(guarantee: Guarantee) -> float:
    match guarantee:
        case GaussianDP():
            mu = guarantee.mu
        case PureDP() | BoundedRange() | ApproxDP():
            mu = pure_mu(guarantee.epsilon)
        case _:
            way_out = (
                "convert it with .approx(delta), or use an account with renyi "
                "accounting"
            )
            raise NoConversion(
                "guarantee",
                f"{guarantee.measure} is not Gaussian, but the account has gdp accounting; {way_out}",
            )
    return float(Fraction(mu) ** 2 * (1 + Fraction(1, 1 << 50)))


def _units(exact: Fraction, unit: int) -> int:
    return _checked(math.floor(exact * unit))


def _units_up(exact: Fraction, unit: int) -> int:
    return _checked(math.ceil(exact * unit))


def _checked(units: int, largest: int = LARGEST) -> int:
    if units > largest:
        raise ArgumentError(
            "epsilon",
            f"is too large for a ledger (at most {largest / NANO:.0e}), and would not "
            "protect anything; pass a smaller one",
        )
    return units


def _countable(price: Price) -> Price:
    if max(price.pure or 0, price.loss, price.delta) > LARGEST:
        raise ArgumentError(
            "guarantee",
            "exceeds the largest cost that a ledger can count; ask for less at once",
        )
    return price
