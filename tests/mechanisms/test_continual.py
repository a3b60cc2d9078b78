"""Continual counting: the factorization and its sensitivity by brute force, its errors
by formula and by draws.
"""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.mechanisms import ContinualCount
from dither.mechanisms.continual import FINE, coefficients, decoder
from tests.chance import at_least, at_most, chance

RANDOM = np.random.default_rng(5)  # allowed: test inputs, not noise


def toeplitz(column):
    size = len(column)
    return np.array(
        [[column[i - j] if i >= j else 0 for j in range(size)] for i in range(size)]
    )


def test_coefficients_are_those_of_the_square_root():
    found = coefficients(3000)
    for k in (0, 1, 2, 10, 500, 2999):
        assert abs(found[k] - Fraction(FINE * math.comb(2 * k, k), 4**k)) <= Fraction(
            1, 2
        ) + Fraction(1, 1 << 40)
    assert (np.diff(found) <= 0).all()
    assert found[-1] > 0


@pytest.mark.parametrize("horizon", [1, 2, 17, 200])
def test_measuring_and_decoding_give_running_sums(horizon):
    product = toeplitz(decoder(horizon)) @ toeplitz(coefficients(horizon))
    assert product == pytest.approx(np.tri(horizon), abs=1e-12)


def standard_deviation(mechanism, step):
    return mechanism.error(0.95, step=step) / 1.959963984540054


def test_the_error_at_1024_steps_is_three_times_smaller_than_a_binary_trees():
    mechanism = ContinualCount(horizon=1024, mu=1)
    exact = sum(Fraction(math.comb(2 * k, k), 4**k) ** 2 for k in range(1024))
    assert float(exact) == pytest.approx(3.272554, abs=1e-6)
    found = [standard_deviation(mechanism, step) for step in range(1, 1025)]
    assert max(found) == found[-1] == pytest.approx(float(exact), rel=1e-5)
    # A tree has 11 levels, all moved by one event, and a running sum of up to 10 of its
    # nodes.
    tree = math.sqrt(11) * math.sqrt(max(step.bit_count() for step in range(1, 1025)))
    assert tree == pytest.approx(10.49, abs=0.005)


@pytest.mark.parametrize("participations", [1, 2, 3, 9])
@pytest.mark.parametrize("unit", [dither.ROW, dither.ROW.replacing()])
def test_sensitivity_by_brute_force(participations, unit):
    """Every choice of steps and signs; where a unit is replaced by its opposite, its
    steps move by twice as much.
    """
    horizon = 8
    mechanism = ContinualCount(
        horizon=horizon, sensitivity=3, participations=participations, mu=1, unit=unit
    )
    dense = toeplitz(coefficients(horizon).tolist()).astype(object)
    steps, move = (
        min(horizon, participations),
        6 if unit == dither.ROW.replacing() else 3,
    )
    most = 0
    for chosen in itertools.combinations(range(horizon), steps):
        for signs in itertools.product((1, -1), repeat=steps - 1):
            moved = dense[:, chosen] @ np.array(
                [move, *(move * s for s in signs)], object
            )
            most = max(most, sum(int(x) ** 2 for x in moved))
    assert most == mechanism.moved
    scale = Fraction(mechanism.noise.scale)
    assert scale**2 >= most
    assert float(scale) == pytest.approx(math.sqrt(most))


def test_replacing_a_unit_by_any_other_is_covered():
    """All pairs of units, each in two steps of four, that move these by −1 or 1."""
    mechanism = ContinualCount(
        horizon=4, participations=2, mu=1, unit=dither.ROW.replacing()
    )
    dense = toeplitz(coefficients(4).tolist())
    units = [
        np.array([sign[chosen.index(i)] if i in chosen else 0 for i in range(4)])
        for chosen in itertools.combinations(range(4), 2)
        for sign in itertools.product((-1, 1), repeat=2)
    ]
    moved = [dense @ (a - b) for a, b in itertools.product(units, repeat=2)]
    assert max(int(m @ m) for m in moved) == mechanism.moved


def test_a_step_that_is_broken_off_is_not_measured_again(monkeypatch):
    stream = ContinualCount(horizon=2, mu=1e9).open()

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(stream.mechanism.noise), "release", stopped)
        with pytest.raises(KeyboardInterrupt):
            stream.add(5)
    assert stream.step == 1
    stream.add(None)
    with pytest.raises(dither.ArgumentError, match="open another"):
        stream.add(1)


def test_promises():
    assert ContinualCount(horizon=10, mu=0.5).guarantee == dither.GaussianDP(0.5)
    assert ContinualCount(horizon=10, rho=0.5).guarantee.mu == pytest.approx(1)
    private = ContinualCount(horizon=10, epsilon=1, delta=1e-6)
    assert private.guarantee.epsilon_at(1e-6) == pytest.approx(1, rel=1e-6)
    unit = dither.Unit("patient", dither.Relation.REPLACE)
    assert ContinualCount(horizon=10, mu=0.5, unit=unit).guarantee == dither.GaussianDP(
        0.5, unit=unit
    )


def test_without_noise_the_count_is_exact():
    values = RANDOM.integers(-1000, 1000, 300)
    mechanism = ContinualCount(horizon=300, mu=1e9)
    assert mechanism.noise.scale < 0.01
    assert mechanism.release(values) == pytest.approx(np.cumsum(values), abs=1e-6)
    stream = mechanism.open()
    assert [stream.add(value) for value in values] == pytest.approx(
        np.cumsum(values), abs=1e-6
    )


def test_measurements_are_whole_numbers(monkeypatch):
    """The running count is a function of whole measurements, so its low bits say
    nothing more.
    """
    mechanism, seen = ContinualCount(horizon=5, mu=1), []
    plain = type(mechanism.noise).release

    def watched(self, value):
        seen.append(plain(self, value))
        return seen[-1]

    monkeypatch.setattr(type(mechanism.noise), "release", watched)
    stream = mechanism.open()
    counts = [stream.add(value) for value in (3, 0, 1, 4, 1)]
    assert all(isinstance(value, int) for value in seen)
    assert counts == pytest.approx(
        np.convolve(seen, decoder(5))[:5].tolist(), rel=1e-14
    )
    assert mechanism.noise.release(np.array([1])).dtype == np.int64


@chance(2e-8)
@pytest.mark.parametrize("streaming", [True, False])
def test_errors_cover_what_they_say(streaming):
    mechanism, draws = ContinualCount(horizon=6, participations=2, mu=0.5), 4000
    values = np.array([5, 0, 2, 100, 7, 1])

    def once():
        stream = mechanism.open()
        return (
            [stream.add(value) for value in values]
            if streaming
            else mechanism.release(values)
        )

    off = np.abs(np.array([once() for _ in range(draws)]) - np.cumsum(values))
    least, most = at_least(draws, 0.9, 1e-9), at_most(draws, 0.9, 1e-9)
    for i in range(6):
        assert least <= (off[:, i] <= mechanism.error(0.9, step=i + 1)).sum() <= most


def test_a_stream_tells_where_it_is():
    mechanism = ContinualCount(horizon=3, mu=1)
    stream = mechanism.open()
    assert stream.count == 0
    assert stream.add(5) == stream.count
    assert stream.error() == mechanism.error(step=1)
    assert repr(stream) == "<CountStream: step 1 of 3>"
    stream.add(1)
    stream.add(1)
    assert stream.error() == mechanism.error()
    with pytest.raises(dither.ArgumentError, match="open another"):
        stream.add(1)
    for another in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="same noise"):
            another(stream)


def test_the_whole_cost_is_charged_when_opened():
    budget = dither.Budget(2.0, 1e-6)
    mechanism = ContinualCount(horizon=100, epsilon=1.5, delta=1e-7)
    assert mechanism.open(budget).receipt.guarantee == mechanism.guarantee
    with pytest.raises(dither.BudgetExceeded):
        mechanism.open(budget)


def test_long_horizons_and_large_values():
    mechanism = ContinualCount(horizon=10_000, mu=1)
    exact = np.sum(np.cumprod([1.0, *(1 - 1 / (2 * k) for k in range(1, 10_000))]) ** 2)
    assert standard_deviation(mechanism, 10_000) == pytest.approx(exact, rel=1e-3)
    huge = mechanism.release([2**70, -(2**70)])
    assert huge == pytest.approx([mechanism.most, 0], abs=1e3)
    assert mechanism.open().add(-(2**70)) == pytest.approx(-mechanism.most, rel=1e-9)
    assert mechanism.release([]).size == 0


def test_missing_values_get_an_answer():
    mechanism = ContinualCount(horizon=4, mu=1e9)
    assert mechanism.release([5, None, math.nan, 2]) == pytest.approx(
        [5, 5, 5, 7], abs=1e-3
    )
    stream = mechanism.open()
    assert [stream.add(value) for value in (5, None, math.nan, 2)] == pytest.approx(
        [5, 5, 5, 7], abs=1e-3
    )


def test_bad_questions():
    good = {"horizon": 10, "mu": 1.0}
    bad = [
        ("horizon", 0),
        ("horizon", 1 << 17),
        ("sensitivity", 0),
        ("sensitivity", 1.5),
        ("sensitivity", 10**400),
        ("participations", 0),
    ]
    for name, value in [*bad, ("mu", 0), ("rho", 1.0)]:
        with pytest.raises(
            dither.ArgumentError, match=name if name != "rho" else "exactly one"
        ):
            ContinualCount(**good | {name: value})
    mechanism = ContinualCount(**good)
    for values in (5, [1.5], np.zeros((2, 2), int), np.zeros(11, int)):
        with pytest.raises(dither.ArgumentError, match="values"):
            mechanism.release(values)
    with pytest.raises(dither.ArgumentError, match="value"):
        mechanism.open().add(1.5)
    for step in (0, 11):
        with pytest.raises(dither.ArgumentError, match="step"):
            mechanism.error(step=step)
