from __future__ import annotations

import pickle
from typing import Any

import pytest

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy import (
    ROW,
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    PoissonSampled,
    PureDP,
    Unit,
    ZeroConcentratedDP,
    compose,
)


def test_sampled_steps_add_up() -> None:
    one, many = (
        PoissonSampled(0.01, GaussianDP(1.0)),
        PoissonSampled(0.01, GaussianDP(1.0), 100),
    )
    assert many.renyi(8) == pytest.approx(100 * one.renyi(8))
    assert one.renyi(8) < GaussianDP(1.0).renyi(8)
    assert PoissonSampled(1, GaussianDP(1.0), 4).epsilon_at(1e-6) == pytest.approx(
        GaussianDP(2.0).epsilon_at(1e-6)
    )


def test_sampled_curve_in_both_directions() -> None:
    steps = PoissonSampled(0.01, GaussianDP(1.0), 100)
    epsilon = steps.epsilon_at(1e-5)
    assert steps.delta_at(epsilon) == pytest.approx(1e-5, rel=0.02)
    with pytest.raises(NoConversion, match=r"such as 1e-6"):
        steps.epsilon_at(0)


@pytest.mark.parametrize("bad", [0, -0.1, 1.01, float("nan"), "all"])
def test_bad_rate_is_named(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^rate .*such as 0.01"):
        PoissonSampled(bad, GaussianDP(1.0))


@pytest.mark.parametrize("bad", [0, -3, 1.5])
def test_bad_steps_are_named(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^steps .*such as 1000"):
        PoissonSampled(0.1, GaussianDP(1.0), bad)


@pytest.mark.parametrize(
    "of", [PureDP(1.0), GaussianDP(1.0, 1e-9), GaussianDP(1.0, unit=ROW.replacing())]
)
def test_only_gaussian_steps_under_add_remove_are_sampled(of: Any) -> None:
    with pytest.raises(ArgumentError, match=r"add/remove|poisson") as caught:
        PoissonSampled(0.1, of)
    assert caught.value.argument == "of"


def test_sampled_groups_are_refused_with_a_way_out() -> None:
    steps = PoissonSampled(0.1, GaussianDP(1.0), 3)
    for call in (steps.for_replacement, lambda: steps.for_group(2)):
        with pytest.raises(NoConversion, match=r"\.approx\(delta\)"):
            call()
    assert steps.approx(1e-6).for_replacement().unit == ROW.replacing()


def test_composed_flattens_and_adds() -> None:
    inner = Composed([PureDP(0.5), GaussianDP(0.2, 1e-7)])
    both = Composed([inner, ApproxDP(0.1, 1e-7)])
    assert both.parts == (PureDP(0.5), GaussianDP(0.2, 1e-7), ApproxDP(0.1, 1e-7))
    assert both.delta_part >= 2e-7
    assert both.renyi(4) == pytest.approx(sum(part.renyi(4) for part in both.parts))
    assert both.epsilon_at(1e-6) == compose(both.parts, 1e-6).epsilon
    assert both.delta_at(2.0) >= 2e-7


def test_composed_scales_part_by_part() -> None:
    both = Composed([PureDP(0.5), ZeroConcentratedDP(0.1)])
    assert both.for_group(3).parts == (
        PureDP(1.5),
        ZeroConcentratedDP(0.1).for_group(3),
    )  # type: ignore[attr-defined]
    assert both.for_replacement().unit == ROW.replacing()
    assert pickle.loads(pickle.dumps(both)) == both


def test_composed_pure_parts_give_a_pure_curve() -> None:
    both = Composed([PureDP(0.5), BoundedRange(0.25)])
    assert both.delta_at(0.75) == 0.0
    assert both.epsilon_at(0) == 0.75


def test_composed_refuses_what_does_not_fit() -> None:
    with pytest.raises(ArgumentError, match=r"^parts must hold at least one guarantee"):
        Composed([])
    with pytest.raises(ArgumentError, match=r"^parts .*\[guarantee\]"):
        Composed(PureDP(1.0))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^parts .*not float"):
        Composed([1.0])  # type: ignore[list-item]
    with pytest.raises(UnitMismatch):
        Composed([PureDP(1.0), PureDP(1.0, unit=Unit("edge"))])
    with pytest.raises(UnitMismatch):
        Composed([PureDP(1.0)], unit=Unit("edge"))


def test_words() -> None:
    assert str(PoissonSampled(0.01, GaussianDP(1.0), 1000)).startswith(
        "1000 steps of μ = 1 (Gaussian) on Poisson samples"
    )
    assert (
        str(Composed([PureDP(1.0), PureDP(1.0)]))
        == "ε = 2 (2 pure guarantees together), protects one row (add/remove)"
    )
    assert (
        str(Composed([PureDP(1.0), GaussianDP(1.0)]))
        == "2 guarantees together, protects one row (add/remove)"
    )
