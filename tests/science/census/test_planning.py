"""What is measured, with which noise: the parts never cost more than was stated."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dither
from dither.mechanisms import Gaussian, Laplace
from dither.privacy import Unit, ZeroConcentratedDP
from dither.question import Question
from dither.science import census
from dither.science.census.attributes import attributes_of
from dither.science.census.planning import Plan, plan_of
from dither.science.census.workload import workload_of
from tests.science.census.support import SEX, places

PERSON = Unit("person")


def planned(
    cost: Any = None, unit: Unit = PERSON, cross: Any = SEX, **more: Any
) -> Plan:
    question = Question.of("census", cost or {"rho": 0.7}, unit=unit)
    found = attributes_of(cross)
    workload = workload_of(more.pop("workload", None), found)
    return plan_of(question, places(), found, workload, **more)


def test_the_total_and_the_cross_of_every_level() -> None:
    plan = planned()
    assert [(one.level, one.marginal) for one in plan.measures] == [
        (level, marginal) for level in range(3) for marginal in ((), (0,))
    ]
    assert {one.share for one in plan.measures} == {Fraction(1, 6)}
    assert plan.guarantee == ZeroConcentratedDP(0.7, unit=PERSON)
    assert len(planned(cross=None).measures) == 3


@pytest.mark.parametrize("rho", [0.7, 0.1, 1 / 3, 1e-6, 7])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_parts_of_rho_cost_no_more(rho: float, relation: str, rows: int) -> None:
    plan = planned({"rho": rho}, Unit("person", relation), rows=rows)
    square = Fraction(rows) ** 2 * (2 if relation == "replace" else 1)
    spent = sum(square / (2 * Fraction(one.scale) ** 2) for one in plan.measures)
    assert spent <= Fraction(repr(float(rho)))
    assert float(spent) == pytest.approx(rho, rel=1e-8)


def test_shares_are_weights() -> None:
    plan = planned(shares={"state": 1, "block": 3}, workload={(): 1, ("sex",): 0.5})
    found = {(one.level, one.marginal): one.share for one in plan.measures}
    assert found == {
        (0, ()): Fraction(1, 6),
        (0, (0,)): Fraction(1, 12),
        (2, ()): Fraction(1, 2),
        (2, (0,)): Fraction(1, 4),
    }
    assert plan.variances(3)[1] == [math.inf, math.inf]


def test_exact_totals_are_not_measured_again() -> None:
    unit = census.unit("person", ["county"])
    plan = planned(unit=unit, exact=(1,))
    assert [(one.level, one.marginal) for one in plan.measures] == [
        (0, (0,)),
        (1, (0,)),
        (2, ()),
        (2, (0,)),
    ]


def test_epsilon_without_delta_is_laplace() -> None:
    plan = planned({"epsilon": 1.0})
    assert plan.guarantee == dither.PureDP(1.0, unit=PERSON)
    assert all(isinstance(one.mechanism, Laplace) for one in plan.measures)
    spent = sum(Fraction(1) / Fraction(one.scale) for one in plan.measures)
    assert Fraction(1) * (1 - Fraction(1, 10**8)) <= spent <= 1


@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"share": 0.25}])
def test_epsilon_with_delta_is_gaussian_where_that_is_less(cost: Any) -> None:
    unit = Unit("person", "replace")
    budget = dither.Budget(4.0, 1e-6, unit=unit)
    plan = planned({**cost, "budget": budget}, unit)
    assert all(isinstance(one.mechanism, Gaussian) for one in plan.measures)
    mu = plan.guarantee.mu
    spent = sum(2 / Fraction(one.scale) ** 2 for one in plan.measures)
    assert spent <= Fraction(mu) ** 2
    assert float(spent) == pytest.approx(mu**2, rel=1e-8)


def test_one_histogram_is_laplace_where_that_is_less() -> None:
    budget = dither.Budget(4.0, 1e-9, unit=PERSON)
    cost = {"epsilon": 1.0, "budget": budget}
    plan = planned(cost, cross=None, shares={"block": 1})
    assert isinstance(plan.measures[0].mechanism, Laplace)


def test_discrete_noise_has_the_same_scale() -> None:
    rounded, discrete = (planned(mechanism=one) for one in ("rounded", "discrete"))
    for one, other in zip(rounded.measures, discrete.measures, strict=True):
        assert one.scale == other.scale
        assert (one.discrete, other.discrete) == (False, True)
    with pytest.raises(dither.ArgumentError, match="mechanism"):
        planned({"epsilon": 1.0}, mechanism="discrete")
    with pytest.raises(dither.ArgumentError, match="mechanism"):
        planned(mechanism="normal")


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("sex", "must list"),
        ([], "must list"),
        (3, "must list"),
        ([3], "tuples of attributes, not 3"),
        ([("age",)], "has no attribute 'age'"),
        ([("sex",), "sex"], "twice"),
        ({(): -1}, "weights"),
        ({(): float("nan")}, "workload"),
        ({(): 0}, "something to measure"),
        ([()] * 65, "must list"),
    ],
)
def test_wrong_workloads_are_refused(workload: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        planned(workload=workload)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([1, 2], "weights by level"),
        ({"town": 1}, "has no level 'town'"),
        ({"state": 0}, "something to measure"),
        ({"state": -1}, "weights"),
        ({"state": "1"}, "must be a number"),
        ({}, "something to measure"),
    ],
)
def test_wrong_shares_are_refused(shares: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        planned(shares=shares)


@pytest.mark.parametrize("rho", [0, -1, float("nan"), "1", 1e-300, None])
def test_wrong_costs_are_refused(rho: Any) -> None:
    with pytest.raises(dither.ArgumentError):
        planned({"rho": rho})


def test_too_many_cells_are_refused_with_their_size() -> None:
    cross = {"a": range(3000), "b": range(9000)}
    with pytest.raises(dither.ArgumentError, match=r"27,000,000 cells .* GiB"):
        planned(cross=cross)
