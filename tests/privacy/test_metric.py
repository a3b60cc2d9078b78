"""Metric privacy is a promise of its own: nothing takes it for differential privacy."""

from __future__ import annotations

import pytest

from dither import ArgumentError, Budget, MetricDP, NoConversion, PureDP, Relation, Unit
from dither.privacy import GaussianDP, ZeroConcentratedDP, compose

PLACE = Unit("place")


def test_a_public_diameter_makes_it_pure() -> None:
    found = MetricDP(0.01, unit=PLACE).within(300)
    assert found == PureDP(found.epsilon, unit=Unit("place", Relation.REPLACE))
    assert 3 <= found.epsilon <= 3 + 1e-12


def test_near_values_count_as_the_least_distance() -> None:
    found = MetricDP(0.01, beyond=200, unit=PLACE)
    assert found.within(0.001) == found.within(200)
    assert found.within(200).epsilon == pytest.approx(2)
    assert found.within(300).epsilon > 2.9
    assert "per metre from 200 metres on" in str(found)
    with pytest.raises(ArgumentError, match="beyond"):
        MetricDP(0.01, beyond=-1)


def test_a_promise_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ArgumentError, match="too large"):
        MetricDP(1e300).within(1e300)


@pytest.mark.parametrize("diameter", [0, -1, float("inf"), float("nan"), "far"])
def test_a_diameter_is_a_distance(diameter: object) -> None:
    with pytest.raises(ArgumentError, match="diameter"):
        MetricDP(0.01).within(diameter)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asked",
    [
        lambda it: it.renyi(2),
        lambda it: it.epsilon_at(1e-6),
        lambda it: it.delta_at(1.0),
        lambda it: it.approx(1e-6),
        lambda it: it.to(PureDP),
        lambda it: it.to(GaussianDP),
        lambda it: it.to(ZeroConcentratedDP),
        lambda it: it.for_group(3),
    ],
)
def test_nothing_else_follows_from_it(asked: object) -> None:
    with pytest.raises(NoConversion):
        asked(MetricDP(0.01))  # type: ignore[operator]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_no_account_takes_it(delta: float) -> None:
    budget = Budget(epsilon=3, delta=delta, unit=PLACE)
    before = budget.spent
    with pytest.raises(NoConversion, match="within"):
        budget.charge(MetricDP(1e-9, unit=PLACE))
    assert budget.spent == before


def test_it_does_not_compose_with_others() -> None:
    with pytest.raises(ArgumentError, match="within"):
        compose([PureDP(0.1), MetricDP(0.1)]).epsilon_at(1e-6)
