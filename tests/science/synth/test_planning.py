"""Plans cost what was stated and never more; questions that make no sense are refused
before any charge.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dither import Budget
from dither.errors import ArgumentError
from dither.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip
from dither.privacy import PureDP, Unit, ZeroConcentratedDP
from dither.privacy.numbers import written
from dither.question import Question
from dither.science.synth.limits import MOST_COLUMNS, MOST_PAIR, MOST_SIZE
from dither.science.synth.planning import Plan, plan
from tests.science.synth.neighbours import PEOPLE, REPLACED, asked

COSTS = [0.1, 1.0, 1 / 3, 3.0, 1e-3, 7.77]


def exact_rho(made: Plan) -> Fraction:
    """What all steps cost together, without rounding: μ²/2 and ε²/8."""
    additive = [made.ones] + ([made.twos] if made.twos else [])
    found = Fraction(0)
    for one in additive:
        assert isinstance(one, Gaussian)
        found += Fraction(one.guarantee.mu) ** 2 / 2
    if made.chooser:
        assert isinstance(made.chooser, Exponential)
        found += made.choices * Fraction(made.chooser.epsilon) ** 2 / 8
    return found


def exact_epsilon(made: Plan) -> Fraction:
    additive = [made.ones] + ([made.twos] if made.twos else [])
    found = Fraction(0)
    for one in additive:
        assert isinstance(one, Laplace)
        found += max(Fraction(one.epsilon), written(one.epsilon))
    if made.chooser:
        assert isinstance(made.chooser, PermuteAndFlip)
        each = max(Fraction(made.chooser.epsilon), written(made.chooser.epsilon))
        found += made.choices * each
    return found


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
def test_the_steps_cost_no_more_than_the_whole_and_hardly_less(
    cost: float, columns: int, unit: Unit
) -> None:
    made = plan([3] * columns, [], asked(unit, rho=cost))
    # A cost is the float, or the number as written.
    whole = max(Fraction(cost), written(cost))
    assert whole * (1 - Fraction(1, 10**12)) <= exact_rho(made) <= whole
    assert made.guarantee == ZeroConcentratedDP(cost, unit=unit)
    pure = plan([3] * columns, [], asked(unit, epsilon=cost))
    assert whole * (1 - Fraction(1, 10**12)) <= exact_epsilon(pure) <= whole
    assert pure.guarantee == PureDP(cost, unit=unit)


def test_each_step_is_listed() -> None:
    made = plan([2, 3, 4, 5], [(0, 1)], asked(rho=0.1))
    assert made.choices == 2
    assert len(made.parts.parts) == 4
    assert made.parts.epsilon_at(1e-6) <= made.guarantee.epsilon_at(1e-6) * 1.000001


@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
@pytest.mark.parametrize("rows", [1, 3])
def test_mechanisms_have_the_sensitivities_of_their_steps(
    unit: Unit, rows: int
) -> None:
    ways = 2 if unit == REPLACED else 1
    made = plan([2, 3, 4], [], asked(unit, rho=0.1), rows)
    assert made.ones.sensitivity == pytest.approx((ways * 3) ** 0.5 * rows)
    assert made.twos is not None
    assert made.twos.sensitivity == pytest.approx((ways * 2) ** 0.5 * rows)
    assert made.chooser is not None
    assert made.chooser.sensitivity == ways * rows * 256
    pure = plan([2, 3, 4], [], asked(unit, epsilon=0.1), rows)
    assert pure.ones.sensitivity == ways * 3 * rows
    assert pure.twos is not None
    assert pure.twos.sensitivity == ways * 2 * rows


@pytest.mark.parametrize(
    ("sizes", "pairs", "measured", "choices", "edges"),
    [
        ([5], [], (0,), 0, ()),
        ([1], [], (0,), 0, ()),
        ([1, 1, 1], [], (0,), 0, ()),
        ([1, 4, 1], [], (1,), 0, ()),
        ([4, 1, 3], [], (0, 2), 0, ((0, 2),)),
        ([4, 3, 3], [], (0, 1, 2), 2, ()),
        ([4, 3, 3], [(2, 0)], (0, 1, 2), 1, ((0, 2),)),
        ([4, 3, 3], [(2, 0), (0, 1)], (0, 1, 2), 0, ((0, 2), (0, 1))),
        ([4, 1, 3], [(0, 1)], (0, 2), 0, ((0, 2),)),
    ],
)
def test_nothing_is_bought_that_is_known(
    sizes: list[int],
    pairs: list[tuple[int, int]],
    measured: tuple[int, ...],
    choices: int,
    edges: tuple[Any, ...],
) -> None:
    made = plan(sizes, pairs, asked(rho=0.5))
    assert (made.measured, made.choices, made.forest.edges) == (
        measured,
        choices,
        edges,
    )
    assert (made.chooser is None) == (choices == 0)
    assert (made.twos is None) == (len(measured) == 1)
    assert exact_rho(made) >= Fraction(0.5) * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0, 1), (1, 2), (2, 0)], "closes a cycle"),
        ([(0, 1), (1, 0)], "name each pair once"),
        ([(1, 1)], "different"),
        ([(0, 4)], "from 0 to 3"),
        ([(-1, 2)], "from 0 to 3"),
        ([(0, 1, 2)], "pairs"),
        (["ab"], "pairs"),
        ([7], "pairs"),
        ([(0, "a")], "pairs"),
        ([(0, None)], "pairs"),
    ],
)
def test_pairs_that_make_no_tree_are_refused(pairs: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words) as raised:
        plan([2, 3, 4, 5], pairs, asked())
    assert raised.value.argument == "pairs"


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [2] * (MOST_COLUMNS + 1),
        [3, 0],
        [MOST_PAIR // 8, 9],
        [MOST_SIZE + 1],
        [2000] * 10,
    ],
)
def test_domains_that_do_not_fit_are_refused(sizes: list[int]) -> None:
    with pytest.raises(ArgumentError) as raised:
        plan(sizes, [], asked())
    assert raised.value.argument == "domain"


@pytest.mark.parametrize("rows", [0, -1, 1.5, "a", None])
def test_rows_must_be_a_whole_number(rows: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        plan([2, 2], [], asked(), rows)
    assert raised.value.argument == "rows"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_an_account_with_a_delta_buys_the_better_noise(epsilon: float) -> None:
    budget = Budget(epsilon=10.0, delta=1e-6, unit=PEOPLE)
    words = {"epsilon": epsilon, "budget": budget}
    few, many = (
        plan([3] * columns, [], Question.of("x", words, unit=PEOPLE))
        for columns in (1, 12)
    )
    assert isinstance(few.guarantee, PureDP)
    assert isinstance(many.guarantee, ZeroConcentratedDP)
    assert epsilon * 0.999 < many.guarantee.epsilon_at(1e-6) <= epsilon
    assert exact_rho(many) <= Fraction(many.guarantee.rho)


@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
@pytest.mark.parametrize("columns", [1, 12])
def test_a_share_of_an_account_costs_that_share(unit: Unit, columns: int) -> None:
    budget = Budget(epsilon=3.0, delta=1e-6, unit=unit)
    question = Question.of("x", {"share": 0.25, "budget": budget}, unit=PEOPLE)
    made = plan([3] * columns, [], question)
    with question.paying(made.guarantee):
        pass
    assert 0.249 < budget.spent <= 0.25


def test_a_plain_budget_pays_pure() -> None:
    question = Question.of("x", {"share": 0.5, "budget": Budget(epsilon=2.0)})
    assert plan([3] * 4, [], question).guarantee == PureDP(1.0)
