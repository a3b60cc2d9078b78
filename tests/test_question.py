"""Every question settles its cost before it is charged, and is charged before it reads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither import (
    ArgumentError,
    Budget,
    BudgetExceeded,
    Dataset,
    Gaussian,
    GaussianDP,
    Laplace,
    Ledger,
    PureDP,
    Unit,
    UnitMismatch,
    ZeroConcentratedDP,
)
from dither.privacy.numbers import written
from dither.question import Question

EDGE = Unit("edge")


def asked(**words: Any) -> Question:
    return Question.of("count", words, unit=EDGE)


def test_what_is_promised_is_what_was_stated() -> None:
    assert asked(epsilon=0.5).guarantee == PureDP(0.5, unit=EDGE)
    assert asked(rho=0.1).guarantee == ZeroConcentratedDP(0.1, unit=EDGE)
    budget = Budget(epsilon=4, unit=EDGE)
    assert asked(share=0.25, budget=budget).guarantee == PureDP(1.0, unit=EDGE)


@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.1,) * 10, (0.3, 0.3, 0.3), (1.0,)])
@pytest.mark.parametrize("total", [0.1, 0.3, 1.0, 1 / 3, 1e-6])
def test_parts_cost_no_more_than_the_whole(
    shares: tuple[float, ...], total: float
) -> None:
    for name in ("epsilon", "rho"):
        parts = asked(**{name: total}).parts(*shares)
        costs = [getattr(part, name) for part in parts]
        assert sum(map(Fraction, costs)) <= min(Fraction(total), written(total))
        assert sum(costs) == pytest.approx(total * sum(shares))


def test_parts_are_parts() -> None:
    with pytest.raises(ValueError, match="exceed the whole"):
        asked(epsilon=1).parts(0.9, 0.2)


def test_noise_is_for_the_cost() -> None:
    assert asked(epsilon=0.5).additive(2) == Laplace(
        sensitivity=2, epsilon=0.5, unit=EDGE
    )
    assert asked(rho=0.5).additive(9, 3) == Gaussian(sensitivity=3, rho=0.5, unit=EDGE)


def test_a_long_vector_takes_gaussian_noise_where_the_account_has_a_delta() -> None:
    pure = Budget(epsilon=2, unit=EDGE)
    spare = Budget(epsilon=2, delta=1e-6, unit=EDGE)
    wide, narrow = (1000, 1000**0.5), (1, 1)
    assert isinstance(asked(epsilon=1, budget=pure).vector(*wide), Laplace)
    found = asked(epsilon=1, budget=spare).vector(*wide)
    assert isinstance(found, Gaussian)
    assert isinstance(found.guarantee, GaussianDP)
    assert found.guarantee.epsilon_at(1e-6) <= 1 + 1e-9
    assert isinstance(asked(epsilon=1, budget=spare).vector(*narrow), Laplace)


def test_a_wanted_error_is_solved_for() -> None:
    found = asked(error=10).for_error(1)
    assert found.additive(1).error(0.95, integer=True) <= 10
    with pytest.raises(ArgumentError, match="depends on the data"):
        _ = asked(error=10).epsilon


def test_the_charge_comes_first_and_stays() -> None:
    budget = Budget(epsilon=1, unit=EDGE)
    with (
        pytest.raises(ZeroDivisionError),
        asked(epsilon=0.5, budget=budget).paying() as paid,
    ):
        assert 1 / (1 - budget.holds(paid.receipt))
    with pytest.raises(BudgetExceeded), asked(epsilon=0.6, budget=budget).paying():
        pytest.fail("nothing is read where the charge was refused")


def test_another_units_budget_is_refused() -> None:
    budget = Budget(epsilon=1, unit=Unit("node"))
    with (
        pytest.raises(UnitMismatch, match="edge"),
        asked(epsilon=1, budget=budget).paying(),
    ):
        pytest.fail("nothing is read")


def test_a_dataset_brings_unit_and_account() -> None:
    budget = Budget(epsilon=1, unit=EDGE)
    data = Dataset.of({"x": np.arange(3)}, unit=EDGE, account=budget)
    found = Question.of("count", {"epsilon": 0.5}, dataset=data)
    assert (found.unit, found.account) == (EDGE, budget)
    other = Budget(epsilon=1, unit=EDGE)
    with pytest.raises(ArgumentError, match="own account"):
        Question.of("count", {"epsilon": 0.5, "budget": other}, dataset=data)
    with (
        pytest.raises(ArgumentError, match="at least 1e-06 of the account"),
        Question.of("count", {"epsilon": 1e-9}, dataset=data).paying(),
    ):
        pytest.fail("nobody asks a dataset without end")


def test_a_book_is_not_an_account() -> None:
    with Ledger.open(":memory:") as book, pytest.raises(ArgumentError, match="account"):
        asked(epsilon=1, budget=book)


@pytest.mark.parametrize(
    "words",
    [{}, {"epsilon": 1, "rho": 1}, {"share": 0.5}, {"epsilon": 1, "budget": 3}],
)
def test_bad_costs(words: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        _ = asked(**words).guarantee


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_share_is_a_share(share: float, delta: float) -> None:
    """Of an account with a δ too, and for either noise."""
    for ask in ("additive", "vector"):
        budget = Budget(epsilon=3, delta=delta, unit=EDGE)
        found = asked(share=share, budget=budget)
        mechanism = getattr(found, ask)(1000, 1000**0.5)
        with found.paying(mechanism.guarantee):
            pass
        assert budget.spent == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize(
    ("stated", "promised"),
    [
        ({"epsilon": 0.5}, PureDP(1.0, unit=EDGE.replacing())),
        ({"rho": 0.01}, ZeroConcentratedDP(0.04, unit=EDGE.replacing())),
        ({"share": 0.25}, PureDP(1.0, unit=EDGE.replacing())),
    ],
)
def test_what_comes_or_goes_costs_twice_where_units_are_replaced(
    stated: dict[str, float], promised: Any
) -> None:
    kind = {"delta": 1e-6} if "rho" in stated else {}
    budget = Budget(epsilon=4, unit=EDGE.replacing(), **kind)
    question = asked(**stated, budget=budget)
    with question.paying() as paid:
        pass
    assert paid.source.guarantee == promised
    assert paid.receipt is not None
    assert paid.receipt.guarantee == promised


def test_a_share_of_gaussian_noise_is_converted_too() -> None:
    budget = Budget(epsilon=4, delta=1e-6, unit=EDGE.replacing())
    noise = asked(share=1, budget=budget).vector(100, 10)
    assert isinstance(noise, Gaussian)
    with asked(share=1, budget=budget).paying(noise.guarantee) as paid:
        pass
    assert paid.source.guarantee == noise.guarantee.for_replacement()
    assert budget.spent > 0.99


def test_nothing_converts_back() -> None:
    budget = Budget(epsilon=4, unit=EDGE)
    question = Question.of(
        "count", {"epsilon": 1, "budget": budget}, unit=EDGE.replacing()
    )
    with pytest.raises(UnitMismatch), question.paying():
        pass


FACTS = ("edges of each site",)
TOLD = EDGE.replacing().with_facts(FACTS)


@pytest.mark.parametrize(
    ("unit", "epsilon"),
    [(EDGE, 1.0), (EDGE.replacing(), 0.5), (TOLD, 0.5)],
    ids=str,
)
def test_a_release_repeats_the_exact_facts_beside_it(
    unit: Unit, epsilon: float
) -> None:
    more = TOLD.with_facts(["edges"])
    for account in (TOLD, more):
        budget = Budget(epsilon=4, unit=account)
        stated = {"epsilon": 0.5, "budget": budget}
        question = Question.of("count", stated, unit=unit)
        with question.paying() as paid:
            pass
        assert paid.source.guarantee == PureDP(epsilon, unit=account)
        assert paid.receipt is not None
        assert paid.receipt.guarantee == PureDP(epsilon, unit=account)
        assert budget.remaining.epsilon == 4 - epsilon
        half = Question.of("count", {"share": 0.5, "budget": budget}, unit=unit)
        assert half.guarantee.epsilon == (1.0 if unit == EDGE else 2.0)


@pytest.mark.parametrize("account", [EDGE, EDGE.replacing(), TOLD], ids=str)
def test_no_promise_given_facts_is_charged_where_fewer_are_published(
    account: Unit,
) -> None:
    budget = Budget(epsilon=4, unit=account)
    stated = {"epsilon": 1, "budget": budget}
    question = Question.of("count", stated, unit=TOLD.with_facts(["edges"]))
    with pytest.raises(UnitMismatch, match="edges of each site"), question.paying():
        pass
    assert budget.charges == 0
