"""Samples of a fixed size: tiny datasets are enumerated, and dp-accounting's bound is
never exceeded.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy import (
    ApproxDP,
    Composed,
    FixedSizeSampled,
    GaussianDP,
    PureDP,
    Unit,
    ZeroConcentratedDP,
    fixed_size,
)
from dither.privacy.losses import fixed_size_loss, gaussian_loss

from .support import Pair, hockey_stick, true_gaussian_delta

PERSON = Unit("person", "replace")
Reals = NDArray[np.float64]


def step(mu: float) -> GaussianDP:
    return GaussianDP(mu, unit=PERSON)


Y = np.linspace(-30.0, 30.0, 60_001)


def density(values: tuple[float, ...], size: int, mu: float) -> Reals:
    """The law of the sum of a sample with noise 1/μ, in units of the noise."""
    samples = list(combinations(values, size))
    shifts = [mu * sum(sample) for sample in samples]
    laws = [np.exp(-((Y - shift) ** 2) / 2) for shift in shifts]
    total: Reals = np.mean(laws, axis=0) / np.sqrt(2 * np.pi) * (Y[1] - Y[0])
    return total


DATASETS = [
    (3, 1, (-0.5, 0.0, 0.5)),
    (4, 2, (-0.5, 0.5)),
    (5, 1, (-0.5, 0.5)),
    (3, 2, (-0.5, 0.2, 0.5)),
]


@pytest.mark.parametrize(("units", "size", "values"), DATASETS)
@pytest.mark.parametrize("mu", [0.5, 1.5])
def test_every_tiny_dataset_is_covered(
    units: int, size: int, values: tuple[float, ...], mu: float
) -> None:
    """All neighbours over a few values, whose range of 1 is the sensitivity."""
    promise = FixedSizeSampled(size / units, step(mu))
    worst = dict.fromkeys((0.05, 0.3, 0.8), 0.0)
    moments = dict.fromkeys((2, 3, 8), 0.0)
    for others in product(values, repeat=units - 1):
        laws = [density((one, *others), size, mu) for one in values]
        for p, q in product(laws, laws):
            for e in worst:
                sticks = np.maximum(p - np.exp(e) * q, 0.0)
                worst[e] = max(worst[e], float(sticks.sum()))
            for order in moments:
                moment = float(np.sum(p * (p / q) ** (order - 1)))
                moments[order] = max(moments[order], float(np.log(moment)))
    for e, true in worst.items():
        # The reference is a sum over outputs a thousandth apart
        assert true <= promise.delta_at(e) * (1 + 1e-6)
        assert promise.delta_at(e) <= true * 1.01 + 1e-6  # one dataset attains it
    for order, moment in moments.items():
        assert moment / (order - 1) <= promise.renyi(order) * (1 + 1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("rate", [1e-3, 0.2, 0.9])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0])
def test_one_step_has_its_exact_curve(mu: float, rate: float, epsilon: float) -> None:
    """δ′ = q·δ at e^ε′ = 1 + q(e^ε − 1) (Balle, Barthe, Gaboardi 2018)."""
    q = mpf(rate)
    inner = mp.log(1 + (mp.e ** mpf(epsilon) - 1) / q)
    true = q * true_gaussian_delta(mu, inner)
    found = FixedSizeSampled(rate, step(mu)).delta_at(epsilon)
    assert true <= found
    assert true < 1e-30 or found <= true * 1.02


def test_two_steps_are_covered() -> None:
    """The worst pair of one step twice: both steps are enumerated on a grid."""
    mu, size, units = 1.2, 1, 4
    p = density((0.5, -0.5, -0.5, -0.5), size, mu)
    q = density((-0.5, -0.5, -0.5, -0.5), size, mu)
    p, q = (law.reshape(-1)[20_000:40_000:20] * 20 for law in (p, q))
    promise = FixedSizeSampled(size / units, step(mu), 2)
    for e in (0.2, 1.0):
        for one, two in ((p, q), (q, p)):
            twice = np.outer(one, one) - np.exp(e) * np.outer(two, two)
            assert np.maximum(twice, 0.0).sum() <= promise.delta_at(e) * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_pure_mechanisms_are_amplified(epsilon: float) -> None:
    """Randomized response on one unit of three, all datasets of bits."""
    truth = mp.e ** mpf(repr(epsilon)) / (1 + mp.e ** mpf(repr(epsilon)))
    promise = fixed_size(PureDP(epsilon, unit=PERSON), 1, 3)
    assert isinstance(promise, PureDP)
    for others in product((0, 1), repeat=2):
        chances = [
            sum(truth if bit else 1 - truth for bit in (one, *others)) / 3
            for one in (0, 1)
        ]
        pair: Pair = [(chances[0], chances[1]), (1 - chances[0], 1 - chances[1])]
        assert hockey_stick(pair, promise.epsilon) == 0


def test_an_approximate_promise_keeps_a_share_of_its_delta() -> None:
    promise = fixed_size(ApproxDP(1.0, 1e-6, unit=PERSON), 10, 100)
    assert isinstance(promise, ApproxDP)
    assert promise.delta == pytest.approx(1e-7)
    assert promise.epsilon == pytest.approx(float(mp.log(1 + (mp.e - 1) / 10)))


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.3])
@pytest.mark.parametrize("order", [2, 3, 8, 32])
def test_losses_are_at_most_those_of_dp_accounting(
    mu: float, rate: float, order: int
) -> None:
    from dp_accounting.rdp.rdp_privacy_accountant import (
        _compute_rdp_sample_wor_gaussian,
    )

    theirs = float(_compute_rdp_sample_wor_gaussian(rate, 1 / mu, [order])[0])
    found = fixed_size_loss(mu, rate, order)
    assert found <= theirs * (1 + 1e-9)
    assert found <= gaussian_loss(mu, order)


def test_between_orders_the_chord_lies_above() -> None:
    at = [fixed_size_loss(0.8, 0.05, order) * (order - 1) for order in (2, 2.5, 3)]
    assert at[0] < at[1] < at[2]
    assert at[1] <= (at[0] + at[2]) / 2 * (1 + 1e-9)
    assert 0 < fixed_size_loss(0.8, 0.05, 1.5) <= at[0] * (1 + 1e-9)


def test_the_whole_curve_is_kept() -> None:
    promise = fixed_size(step(1.0), 10, 1000)
    assert promise == FixedSizeSampled(0.01, step(1.0))
    many = FixedSizeSampled(0.01, step(1.0), 1000)
    assert 2.0 < many.epsilon_at(1e-6) < many.approx(1e-8).epsilon
    whole = FixedSizeSampled(1.0, step(1.0), 4)
    assert whole.epsilon_at(1e-6) == pytest.approx(step(2.0).epsilon_at(1e-6))
    both = Composed([many, many])
    assert both.epsilon_at(1e-6) > many.epsilon_at(1e-6)
    assert "fixed size" in str(many)


def test_only_replacement_is_amplified() -> None:
    with pytest.raises(UnitMismatch, match="replace"):
        FixedSizeSampled(0.1, GaussianDP(1.0))
    with pytest.raises(UnitMismatch, match="replace"):
        fixed_size(PureDP(1.0), 1, 10)
    with pytest.raises(ArgumentError, match="at most"):
        fixed_size(PureDP(1.0, unit=PERSON), 11, 10)
    with pytest.raises(NoConversion):
        fixed_size(ZeroConcentratedDP(0.1, unit=PERSON), 1, 10)
    with pytest.raises(NoConversion):
        FixedSizeSampled(0.1, step(1.0)).for_group(2)
