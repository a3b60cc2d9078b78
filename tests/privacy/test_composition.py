from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import ArgumentError, UnitMismatch
from dither.privacy import (
    ROW,
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
    compose,
    pld,
)
from dither.privacy import composition as theorems
from tests.clock import quick

from .support import (
    discrete_laplace,
    exponential_mechanism,
    hockey_stick,
    randomized_response,
    together,
    true_gaussian_delta,
    written,
)


def test_three_queries_cost_their_sum() -> None:
    for delta in (None, 1e-6):
        total = compose([PureDP(0.25), PureDP(0.5), PureDP(0.125)], delta)
        assert total.guarantee == PureDP(0.875)
        assert (total.epsilon, total.delta, total.theorem) == (
            0.875,
            0.0,
            theorems.BASIC,
        )


def test_advanced_is_worse_for_few_parts() -> None:
    five = compose([PureDP(0.1)] * 5, 1e-6)
    assert five.epsilon == pytest.approx(0.5)
    assert five.candidates[theorems.ADVANCED] == pytest.approx(1.23, abs=5e-3)
    assert five.theorem == theorems.BASIC


def test_exact_sums_round_up() -> None:
    """As written: three tenths are 0.3, where adding floats gives 0.30000000000000004."""
    assert compose([PureDP(0.1)] * 3).epsilon == 0.3
    assert compose([PureDP(0.1), PureDP(1e-25)]).epsilon == math.nextafter(0.1, 1)


@pytest.mark.parametrize(
    ("parts", "mu", "epsilon"), [(1000, 1 / 50, 2.921601), (10_000, 1 / 150, 3.097640)]
)
def test_gaussians_in_closed_form(parts: int, mu: float, epsilon: float) -> None:
    total = compose([GaussianDP(mu)] * parts, 1e-6)
    assert total.epsilon == pytest.approx(epsilon, abs=2e-6)
    assert total.theorem == theorems.GAUSSIAN


def test_200_different_gaussians_take_less_than_a_millisecond() -> None:
    parts = [GaussianDP(0.01 * (1 + i / 200)) for i in range(200)]
    with quick(0.1):
        for _ in range(100):
            total = compose(parts, 1e-6)
    mu = sum(part.mu**2 for part in parts) ** 0.5
    assert (
        true_gaussian_delta(mu, total.epsilon)
        <= 1e-6
        < true_gaussian_delta(mu, total.epsilon * (1 - 1e-9))
    )


@pytest.mark.parametrize(
    ("parts", "scale", "pld_of_laplace"),
    [(1000, 100, 1.362925), (10_000, 300, 1.447039)],
)
def test_many_laplaces(parts: int, scale: float, pld_of_laplace: float) -> None:
    """The optimum over all ε-DP mechanisms lies a little above that of the Laplace, and
    below its Rényi bound.
    """
    total = compose([PureDP(1 / scale)] * parts, 1e-6)
    assert total.theorem == theorems.OPTIMAL
    assert pld_of_laplace <= total.epsilon <= pld_of_laplace * 1.003


def test_sampled_gaussians_by_their_loss_distribution() -> None:
    total = compose([PoissonSampled(0.01, GaussianDP(1.0), 1000)], 1e-6)
    assert total.epsilon == pytest.approx(2.1245, abs=2e-4)
    assert total.theorem == theorems.DISTRIBUTION
    rough = compose(
        [PoissonSampled(0.01, GaussianDP(1.0), 400)] * 2
        + [PoissonSampled(0.01, GaussianDP(1.0), 200)],
        1e-6,
        tight=False,
    )
    assert rough.theorem == theorems.RENYI
    assert rough.epsilon <= 2.436695


mixtures = st.lists(
    st.one_of(
        st.tuples(st.just(PureDP), st.floats(0.05, 1.5)),
        st.tuples(st.just(BoundedRange), st.floats(0.05, 1.5)),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(mixtures, st.floats(-7.0, -0.5))
def test_bounds_hold_on_exact_mechanisms(
    mixture: list[tuple[type[Any], float]], power: float
) -> None:
    """Pure parts as randomized responses, bounded ranges as exponential mechanisms."""
    delta = 10.0**power
    pairs = [
        randomized_response(e)
        if kind is PureDP
        else exponential_mechanism([0, 0, 0], [written(e) / 2, -written(e) / 2, 0])
        for kind, e in mixture
    ]
    pair = together(*pairs)
    total = compose([kind(e) for kind, e in mixture], delta, tight=False)
    assert hockey_stick(pair, total.epsilon) <= max(delta * (total.delta > 0), 1e-30)
    for epsilon in total.candidates.values():
        assert hockey_stick(pair, epsilon) <= delta
    composed = Composed([kind(e) for kind, e in mixture])
    assert hockey_stick(pair, 0.4) <= composed.delta_at(0.4) + 1e-30


def test_numerical_bound_holds_on_different_laplaces() -> None:
    epsilons = (0.9, 0.7, 0.5)
    pair = together(*(discrete_laplace(e, reach=12) for e in epsilons))
    total = compose([PureDP(e) for e in epsilons], 0.05)
    assert hockey_stick(pair, total.epsilon) <= 0.05


def test_a_mixture_with_gaussians_is_covered_by_each_theorem() -> None:
    """Σ of a Gaussian and responses, integrated: δ(ε) = E over the responses' losses of
    the Gaussian's δ(ε − loss).
    """
    from itertools import product
    from math import exp

    epsilons, mu, delta = (0.4, 0.3, 0.3), 0.5, 1e-4
    total = compose([GaussianDP(mu), *map(PureDP, epsilons)], delta)
    assert total.theorem == theorems.DISTRIBUTION

    def truth(epsilon: float) -> float:
        found = 0.0
        for signs in product((1, -1), repeat=3):
            loss = sum(s * e for s, e in zip(signs, epsilons, strict=True))
            weight = 1.0
            for s, e in zip(signs, epsilons, strict=True):
                weight /= 1.0 + exp(-s * e)
            found += weight * float(true_gaussian_delta(mu, epsilon - loss))
        return found

    for epsilon in total.candidates.values():
        assert truth(epsilon) <= delta
    assert truth(total.epsilon * 0.999) > delta


def test_carried_deltas_add_up() -> None:
    two = compose([ApproxDP(0.5, 1e-6)] * 2, 2e-6)
    assert two.guarantee == ApproxDP(1.0, 2e-6)
    three = compose([ApproxDP(0.5, 1e-6)] * 3, 3e-6)
    assert three.delta == pytest.approx(3e-6, rel=1e-12)
    assert three.delta >= 3e-6
    many = compose([ApproxDP(0.01, 1e-9)] * 500, 1e-6)
    assert many.delta == 1e-6
    assert many.epsilon < 1.5
    with pytest.raises(
        ArgumentError,
        match=r"^delta must be at least 2e-06, the sum .*; pass a larger delta",
    ):
        compose([ApproxDP(0.5, 1e-6)] * 2, 1e-6)


def test_every_kind_composes() -> None:
    everything: list[Guarantee] = [
        PureDP(0.1),
        ApproxDP(0.1, 1e-8),
        BoundedRange(0.2),
        GaussianDP(0.1),
        ZeroConcentratedDP(0.01),
        RenyiDP({4: 0.01, 16: 0.05, 64: 0.3}),
        PoissonSampled(0.01, GaussianDP(0.5), 10),
    ]
    total = compose(everything, 1e-6)
    assert set(total.candidates) == {theorems.RENYI, theorems.BASIC}
    assert 0.5 < total.epsilon < 5.0
    assert compose([Composed(everything)], 1e-6) == total


def test_the_numerical_bound_is_only_tried_where_it_can_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> float:
        raise AssertionError("a grid was asked")

    monkeypatch.setattr(pld, "pld_epsilon", never)
    compose([GaussianDP(0.1), GaussianDP(0.2)], 1e-6)
    compose([PureDP(0.1), PureDP(0.2), PureDP(0.3)], 1e-6)
    compose([PureDP(0.01)] * 1000, 1e-6)
    compose([ZeroConcentratedDP(0.1), PureDP(0.2)], 1e-6)
    compose([PoissonSampled(0.1, GaussianDP(1.0), 3)], 1e-6, tight=False)
    with pytest.raises(AssertionError):
        compose([PoissonSampled(0.1, GaussianDP(1.0), 3)], 1e-6)


@pytest.mark.parametrize("delta", [1.01e-9, 1e-9, 1e-12, 1e-60])
def test_the_whole_never_costs_less_than_a_part(delta: float) -> None:
    """Rounding in the transforms once gave 2.5819135 for what costs 2.5819755 without
    the Gaussian.
    """
    many = [PureDP(0.002)] * 50_000
    alone, whole = compose(many, delta), compose([*many, GaussianDP(1e-5)], delta)
    assert alone.epsilon <= whole.epsilon <= alone.epsilon * (1 + 1e-5)
    assert whole.theorem == theorems.DISTRIBUTION


def test_parts_alone_are_a_floor_of_the_numerical_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = [PureDP(0.3)] * 20 + [GaussianDP(0.5)]
    monkeypatch.setattr(pld, "pld_epsilon", lambda *_: 0.1)
    monkeypatch.setattr(pld, "pld_delta", lambda *_: 1e-300)
    assert compose(parts, 1e-6).epsilon == compose([PureDP(0.3)] * 20, 1e-6).epsilon
    assert Composed(parts).delta_at(1.0) == Composed([PureDP(0.3)] * 20).delta_at(1.0)
    gaussian = [PureDP(0.001), PureDP(0.002), GaussianDP(3.0)]
    assert compose(gaussian, 1e-6).epsilon == compose([GaussianDP(3.0)], 1e-6).epsilon


def test_very_many_small_parts_take_seconds_and_little_memory() -> None:
    many = [PureDP(0.001)] * 100_000
    with quick(20):
        whole = compose([*many, GaussianDP(1e-5)], 0.1)
    assert (
        compose(many, 0.1).epsilon
        <= whole.epsilon
        <= compose(many, 0.1).epsilon * 1.0001
    )


@pytest.mark.parametrize("steps", [10**9, 10**13, 10**17])
def test_so_many_steps_that_rounding_drowns_the_numerical_bound(steps: int) -> None:
    parts = [PoissonSampled(1e-6, GaussianDP(0.01), steps)]
    assert compose(parts, 1e-6).epsilon <= compose(parts, 1e-6, tight=False).epsilon


@pytest.mark.parametrize("delta", [1e-310, 5e-324, 2.0**-1001])
def test_a_delta_that_floats_cannot_hold_is_refused(delta: float) -> None:
    for ask in (
        lambda: compose([PureDP(0.01)] * 300_000, delta),
        lambda: GaussianDP(1.0).epsilon_at(delta),
        lambda: PureDP(1.0).approx(delta),
        lambda: ApproxDP(1.0, delta),
    ):
        with pytest.raises(
            ArgumentError,
            match=r"^delta is too small to compute with .*pass 0, or at least 1e-300",
        ):
            ask()


def test_the_smallest_delta_is_answered_correctly() -> None:
    """Of 300,000 parts the weights in question lie far below the range of floats that a
    plain sum would need.
    """
    whole = compose([PureDP(0.01)] * 300_000, 1e-300)
    assert whole.theorem == theorems.OPTIMAL
    assert whole.epsilon == pytest.approx(217.51, abs=0.01)


def test_bad_lists_are_refused() -> None:
    with pytest.raises(
        ArgumentError, match=r"^guarantees must hold at least one guarantee"
    ):
        compose([])
    with pytest.raises(
        ArgumentError, match=r"^guarantees must hold guarantees, not float"
    ):
        compose([0.5])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match=r"^guarantees must be a list"):
        compose(PureDP(1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "part", [GaussianDP(1.0), ApproxDP(1.0, 1e-9), ZeroConcentratedDP(0.1)]
)
def test_without_delta_only_pure_parts_compose(part: Guarantee) -> None:
    with pytest.raises(ArgumentError, match=r"^delta .*delta=1e-6"):
        compose([PureDP(1.0), part])


def test_a_curve_at_delta_zero_is_refused() -> None:
    with pytest.raises(
        ArgumentError, match=r"^delta is too small: .*pass a larger delta"
    ):
        compose([GaussianDP(1.0)], 0.0)


def test_units_and_relations_never_mix() -> None:
    with pytest.raises(UnitMismatch, match=r"\.for_replacement\(\)"):
        compose([PureDP(1.0), PureDP(1.0, unit=ROW.replacing())])
    with pytest.raises(UnitMismatch, match=r"each unit separately"):
        compose([PureDP(1.0), PureDP(1.0, unit=Unit("node"))])
    patients = Unit("patient_id")
    assert compose([PureDP(1.0, unit=patients)] * 2).guarantee == PureDP(
        2.0, unit=patients
    )


def test_words() -> None:
    lines = str(compose([PureDP(0.1)] * 5, 1e-6)).splitlines()
    assert lines[0] == "ε = 0.5 (pure), protects one row (add/remove)"
    assert lines[1].startswith("  by basic composition")
    assert any("advanced composition (Dwork" in line for line in lines)


def test_never_above_the_rdp_of_dp_accounting() -> None:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    for mu, rate, steps in (
        (1.0, 0.01, 1000),
        (2.5, 0.02, 50),
        (0.5, 0.3, 20),
        (5.0, 0.001, 10),
        (0.05, 0.5, 500),
    ):
        event = dp_accounting.PoissonSampledDpEvent(
            rate, dp_accounting.GaussianDpEvent(1 / mu)
        )
        theirs = RdpAccountant().compose(event, steps).get_epsilon(1e-6)
        ours = compose([PoissonSampled(rate, GaussianDP(mu), steps)], 1e-6, tight=False)
        assert ours.epsilon <= theirs * (1 + 1e-9)


def test_only_the_standard_library_is_imported() -> None:
    code = "import sys, dither.privacy; print([m for m in ('numpy', 'scipy', 'dp_accounting') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
