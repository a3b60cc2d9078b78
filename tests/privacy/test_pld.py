"""Numerical composition beside what is known exactly, with many digits, and beside
dp-accounting.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from mpmath import mp, mpf

from dither.privacy import GaussianDP, Guarantee, PoissonSampled, PureDP, pld
from dither.privacy.bundle import bundle_of
from dither.privacy.gaussian import gaussian_epsilon
from dither.privacy.optimal import repeated_epsilon

from .support import (
    hockey_stick,
    normal_tail,
    randomized_response,
    together,
    true_gaussian_delta,
    written,
)


def distribution(parts: Sequence[Guarantee]) -> pld.Dominated:
    return pld.dominated_by(bundle_of(parts))


@pytest.mark.parametrize("mu", [1e-5, 1e-3, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-30])
def test_a_gaussian_comes_out_as_in_closed_form(mu: float, delta: float) -> None:
    """The two weak spots of a fixed grid: an ε far below its cell, and so little noise
    that the grid explodes.
    """
    exact = gaussian_epsilon(mu, delta)
    found = pld.pld_epsilon(distribution([GaussianDP(mu)]), delta)
    assert exact == 0.0 or (
        found is not None and exact * (1 - 1e-9) <= found <= exact * (1 + 1e-4)
    )


@pytest.mark.parametrize(
    ("epsilon", "times"), [(0.01, 1000), (0.5, 60), (1e-4, 5000), (0.002, 50_000)]
)
@pytest.mark.parametrize("delta", [0.01, 1e-9, 1e-20])
def test_repeated_responses_come_out_as_in_closed_form(
    epsilon: float, times: int, delta: float
) -> None:
    exact = repeated_epsilon(epsilon, times, delta)
    found = pld.pld_epsilon(distribution([PureDP(epsilon)] * times), delta)
    assert exact == 0.0 or (
        found is not None and exact * (1 - 1e-9) <= found <= exact * 1.001
    )


def true_delta(pure: dict[float, int], mu: float, epsilon: float) -> mpf:
    """Every outcome of the responses, and the Gaussian's δ at what each leaves of ε."""
    outcomes = {mpf(0): mpf(1)}
    for each, times in pure.items():
        e = written(each)
        truth = 1 / (1 + mp.e**-e)
        outcomes = {
            loss + (times - 2 * i) * e: weight
            * mp.binomial(times, i)
            * truth ** (times - i)
            * (1 - truth) ** i
            for loss, weight in outcomes.items()
            for i in range(times + 1)
        }
    return mp.fsum(
        weight * true_gaussian_delta(mu, written(epsilon) - loss)
        for loss, weight in outcomes.items()
    )


@pytest.mark.parametrize("seed", range(12))
def test_mixtures_are_covered_closely(seed: int) -> None:
    drawn = random.Random(seed)
    pure = {
        round(10 ** drawn.uniform(-3, 0.5), 6): drawn.randint(1, 5)
        for _ in range(drawn.randint(1, 2))
    }
    mu = round(10 ** drawn.uniform(-3, 0.5), 6)
    delta = 10 ** drawn.uniform(-30, -1)
    whole = distribution(
        [
            GaussianDP(mu),
            *(PureDP(e) for e, times in pure.items() for _ in range(times)),
        ]
    )
    found = pld.pld_epsilon(whole, delta)
    if found is None:  # a closed form says 0
        assert true_delta(pure, mu, 0.0) <= delta
        return
    assert true_delta(pure, mu, found) <= delta
    assert found < 1e-9 or true_delta(pure, mu, found * 0.995) > delta
    back = pld.pld_delta(whole, found)
    assert back is not None
    assert true_delta(pure, mu, found) <= back <= delta * 1.02


def test_different_responses_are_covered() -> None:
    parts = {0.31: 2, 0.17: 3, 0.05: 3}
    pair = together(
        *(
            randomized_response(epsilon)
            for epsilon, count in parts.items()
            for _ in range(count)
        )
    )
    whole = distribution(
        [PureDP(epsilon) for epsilon, count in parts.items() for _ in range(count)]
    )
    for delta in (1e-2, 1e-3, 1e-4):
        found = pld.pld_epsilon(whole, delta)
        assert found is not None
        assert hockey_stick(pair, found) <= delta
        assert hockey_stick(pair, found - 1e-3) > delta


def true_delta_of_two(mu: float, rate: float, epsilon: float) -> mpf:
    """Two sampled steps, one integrated and one in closed form, when a unit is removed
    (the worse case above 0).
    """
    m, q = written(mu), written(rate)

    def single(e: mpf) -> mpf:
        ratio = mp.e**e - 1 + q
        if ratio <= 0:
            return 1 - mp.e**e
        y = (mp.log(ratio / q) + m * m / 2) / m
        return (
            (1 - q) * normal_tail(y) + q * normal_tail(y - m) - mp.e**e * normal_tail(y)
        )

    def integrand(y: mpf) -> mpf:
        ratio = 1 - q + q * mp.e ** (m * y - m * m / 2)
        return mp.npdf(y) * ratio * single(written(epsilon) - mp.log(ratio))

    kink = (mp.log((mp.e ** written(epsilon) / (1 - q) - 1 + q) / q) + m * m / 2) / m
    edges = sorted({*map(mpf, range(-10, 15)), kink})
    with mp.workdps(20):
        return mp.quad(integrand, edges, maxdegree=6)


@pytest.mark.parametrize(
    ("mu", "rate", "delta"),
    [(1.0, 0.1, 1e-5), (1.8236, 0.00134, 8.7e-9), (0.3, 0.5, 1e-3)],
)
def test_two_sampled_steps_are_covered_closely(
    mu: float, rate: float, delta: float
) -> None:
    found = pld.pld_epsilon(
        distribution([PoissonSampled(rate, GaussianDP(mu), 2)]), delta
    )
    assert found is not None
    assert true_delta_of_two(mu, rate, found) <= delta * (1 + mpf(1e-9))
    assert true_delta_of_two(mu, rate, found * 0.998) > delta


@pytest.mark.parametrize(("mu", "rate", "steps"), [(1.0, 0.01, 1000), (0.5, 0.3, 20)])
def test_dp_accounting_agrees(mu: float, rate: float, steps: int) -> None:
    """Its optimistic and pessimistic grids lie on both sides, up to the rounding of its
    transforms.
    """
    from dp_accounting.pld import privacy_loss_distribution as theirs

    def epsilon(pessimistic: bool) -> Any:
        single = theirs.from_gaussian_mechanism(
            1 / mu,
            sampling_prob=rate,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
            value_discretization_interval=5e-4,
        )
        return single.self_compose(steps).get_epsilon_for_delta(1e-6)

    found = pld.pld_epsilon(
        distribution([PoissonSampled(rate, GaussianDP(mu), steps)]), 1e-6
    )
    assert found is not None
    assert epsilon(False) <= found <= epsilon(True) * (1 + 1e-5)


def test_the_grid_stays_small_whatever_is_composed() -> None:
    parts = [PureDP(0.001)] * 100_000 + [GaussianDP(1e-5)]
    sampled = [
        PoissonSampled(1e-3, GaussianDP(0.7 + i / 100), 10_000_000) for i in range(3)
    ]
    tracemalloc.start()
    for whole, delta in ((parts, 0.1), (parts, 1e-200), (sampled, 1e-6)):
        pld.pld_epsilon(distribution(whole), delta)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_very_many_different_parts_are_merged_upwards() -> None:
    many = {0.001 + 1e-6 * i: 1 for i in range(1000)}
    merged = distribution([PureDP(epsilon) for epsilon in many]).pure
    assert len(merged) <= 2 * pld.DIFFERENT
    assert sum(count for _, count in merged) == 1000
    total = sum(epsilon * count for epsilon, count in merged)
    assert sum(many) <= total <= sum(many) * 1.02


def test_hopeless_grids_are_not_tried() -> None:
    everything = distribution(
        [
            GaussianDP(1.0),
            PoissonSampled(0.1, GaussianDP(1.0), 5),
            PureDP(0.1),
            PureDP(0.1),
        ]
    )
    assert pld.pld_epsilon(everything, 1e-250) is None
    assert pld.pld_delta(everything, 400.0) is None
    assert pld.pld_epsilon(distribution([GaussianDP(1e3)]), 1e-6) is None
    assert pld.pld_delta(distribution([GaussianDP(1e3)]), 1e-3) is None
    different = [
        PoissonSampled(0.1, GaussianDP(1 + i / 100))
        for i in range(pld.DIFFERENT_SAMPLED + 1)
    ]
    assert pld.pld_epsilon(distribution(different), 1e-6) is None
