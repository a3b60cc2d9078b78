"""Caps round down, prices round up, and sums stay in 64 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from dither.errors import ArgumentError, NoConversion
from dither.ledger.terms import (
    ATTO,
    LARGEST,
    NANO,
    Accounting,
    Terms,
    best_order,
    loss_cap,
)
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)
from tests.ledger.support import BOTH, opened, terms_of


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 20.0, 1e4])
@pytest.mark.parametrize("delta", [0.4, 1e-3, 5e-7, 1e-12, 1e-100, 1e-300])
@pytest.mark.parametrize("order", [2, 3, 9, 64, 1000, 10**6, 1 << 40])
def test_the_loss_cap_is_sound(epsilon: float, delta: float, order: int) -> None:
    """With this loss at this order ε is kept, in 60 digits; and little more than a unit
    is given away.
    """
    cap = loss_cap(epsilon, delta, order)
    with mp.workdps(60):
        alpha = mpf(order)
        extra = mp.log((alpha - 1) / alpha) - (mp.log(mpf(delta)) + mp.log(alpha)) / (
            alpha - 1
        )
        exact = mpf(epsilon) - extra
        assert cap == 0 or mpf(cap) / NANO + extra <= mpf(epsilon)
        assert cap / NANO >= exact - mpf("2e-9") - mpf("1e-11") * (abs(extra) + epsilon)


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.1, 0.5, 1.0, 3.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 5e-7, 1e-12, 1e-30])
def test_the_best_order_is_the_best(epsilon: float, delta: float) -> None:
    def worth(order: float) -> float:
        return (
            epsilon
            - math.log1p(-1 / order)
            + (math.log(delta) + math.log(order)) / (order - 1)
        ) / order

    most = max(worth(order) for order in candidates(epsilon, delta))
    assert worth(best_order(epsilon, delta)) >= most * 0.999


def candidates(epsilon: float, delta: float) -> list[int]:
    """Every whole order up to 3000, and beyond it steps of a thousandth."""
    orders, last = list(range(2, 3000)), 3000.0
    while last < 1e3 * (2 + 2 * math.log(1 / delta) / epsilon):
        orders.append(int(last))
        last *= 1.001
    return orders


EVERY = [
    PureDP(0.1),
    PureDP(1e-170),
    BoundedRange(0.7),
    ApproxDP(0.3, 1e-9),
    ZeroConcentratedDP(0.123456789123),
    GaussianDP(1 / 3),
    GaussianDP(1e-170),
    GaussianDP(0.2, 1e-19),
    PoissonSampled(0.01, GaussianDP(0.5), 10),
    RenyiDP({128: 0.0}),
    RenyiDP({2: 0.01, 128: 0.1}),
]


@pytest.mark.parametrize("guarantee", EVERY, ids=str)
def test_costs_round_up_and_nothing_is_free(guarantee: Guarantee) -> None:
    terms = terms_of(Accounting.RENYI, (1.0, 1e-6))
    cost = terms.cost(guarantee)
    assert cost.loss >= 1
    assert Fraction(cost.loss, NANO) >= Fraction(guarantee.renyi(terms.order))
    assert Fraction(cost.loss - 2, NANO) <= Fraction(guarantee.renyi(terms.order))
    assert Fraction(cost.delta, ATTO) >= Fraction(repr(guarantee.delta_part))


@pytest.mark.parametrize(
    "guarantee",
    [PureDP(0.1), GaussianDP(1e-170), GaussianDP(1 / 3), ApproxDP(1.0, 1e-19)],
    ids=str,
)
def test_gaussian_costs_round_up(guarantee: Guarantee) -> None:
    cost = terms_of(Accounting.GDP, (1.0, 1e-6)).cost(guarantee)
    gaussian_form = guarantee.to(GaussianDP)
    assert cost.loss >= 1
    assert Fraction(cost.loss, NANO) >= Fraction(gaussian_form.mu) ** 2
    assert cost.delta >= 1 or not guarantee.delta_part


def test_caps_round_down() -> None:
    terms = Terms.of(Accounting.RENYI, ApproxDP(1 / 3, 1e-17 / 3))
    assert Fraction(terms.pure_cap, NANO) <= Fraction(repr(1 / 3))
    assert Fraction(terms.delta_cap, ATTO) <= Fraction(repr(1e-17 / 3)) / 2
    assert (terms.pure_cap, terms.delta_cap) == (333_333_333, 1)


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize("epsilon", [1e7, 1e8, 2.8e8, 1e9, 4e9])
def test_sums_stay_in_64_bits(accounting: Accounting, epsilon: float) -> None:
    """The weakest promises there can be, spent in every size that still fits, and once
    more.
    """
    try:
        terms = Terms.of(
            accounting, ApproxDP(epsilon, 0.0 if accounting is Accounting.PURE else 0.5)
        )
    except ArgumentError:
        assert epsilon > 2.8e8
        return
    for part in (1.0, 0.3, 0.1, 0.01):
        state, cost = opened(terms), terms.cost(PureDP(epsilon * part))
        while state.fits(cost):
            state = state.plus(cost)
        reached = state.plus(cost)
        assert (
            max(reached.pure_spent, reached.loss_spent, reached.delta_spent) < 1 << 63
        )


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("kind", [PureDP, BoundedRange])
def test_the_sum_that_does_not_decide_stays_in_64_bits(
    accounting: Accounting, kind: Callable[[float], Guarantee]
) -> None:
    """What docs/proofs/filter.md says of totals up to ε = 50,000, however many charges
    there are.
    """
    most_loss, most_pure = (8, 26_000) if accounting is Accounting.GDP else (1, 64_000)
    for delta in (0.9, 1e-6):
        terms = terms_of(accounting, (5e4, delta))
        assert most_pure * terms.loss_cap < LARGEST
        for cost in (terms.cost(kind(1e-9 * 1.1**k)) for k in range(330)):
            assert cost.pure is not None
            assert cost.loss <= most_loss * cost.pure + 1
            assert cost.pure <= min(most_pure * cost.loss, cost.loss + 1.4 * NANO)


@pytest.mark.parametrize("accounting", BOTH)
def test_a_heap_of_charges_beyond_64_bits_is_refused(accounting: Accounting) -> None:
    terms = terms_of(accounting, (1.0, 1e-6))
    with pytest.raises(ArgumentError, match="a ledger can count"):
        terms.cost(Composed([ApproxDP(1.0, 0.99)] * 10))
    with pytest.raises(ArgumentError, match="too large for a ledger"):
        terms.cost(PureDP(5e9))


def test_a_charge_without_a_finite_loss_is_refused_with_a_way_out() -> None:
    renyi, gdp = (
        terms_of(Accounting.RENYI, (1.0, 1e-6)),
        terms_of(Accounting.GDP, (1.0, 1e-6)),
    )
    with pytest.raises(NoConversion, match="approx"):
        renyi.cost(GaussianDP(1e9))
    with pytest.raises(NoConversion):
        renyi.cost(RenyiDP({2: 0.1}))
    with pytest.raises(NoConversion, match="approx"):
        gdp.cost(ZeroConcentratedDP(0.1))


def test_disjoint_keys_cost_the_largest_once_or_twice() -> None:
    add_remove = terms_of(Accounting.RENYI, (1.0, 1e-6))
    parts = [PureDP(0.2), PureDP(0.5), PureDP(0.1)]
    assert add_remove.disjoint(parts) == add_remove.cost(PureDP(0.5))
    assert add_remove.disjoint([*parts, GaussianDP(0.1)]).pure is None
    unit = Unit("row", "replace")
    replacing = Terms.of(Accounting.RENYI, ApproxDP(1.0, 1e-6, unit=unit))
    once = replacing.cost(PureDP(0.5, unit=unit))
    assert (
        replacing.disjoint([PureDP(0.2, unit=unit), PureDP(0.5, unit=unit)])
        == once + once
    )
    assert replacing.disjoint([PureDP(0.5, unit=unit)]) == once
    with pytest.raises(ArgumentError, match="empty"):
        add_remove.disjoint([])
