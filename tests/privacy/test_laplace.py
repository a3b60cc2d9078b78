"""Laplace noise beside its exact divergences, with many digits, and beside
dp-accounting.
"""

from __future__ import annotations

from itertools import product

import pytest
from mpmath import mp, mpf

from dither.errors import ArgumentError
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    LaplaceDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    compose,
    discrete_laplace_dp,
    poisson,
)

from .support import EXACT, Pair, hockey_stick, renyi_divergence, together, written


def stick(shift: mpf, loss: mpf) -> mpf:
    """H(P, Q; e^loss) of real Laplace noise of scale 1, for losses of both signs."""
    if loss >= shift:
        return mpf(0)
    if loss <= -shift:
        return 1 - mp.e**loss
    return 1 - mp.e ** ((loss - shift) / 2)


def stick_of_two(one: mpf, two: mpf, loss: mpf) -> mpf:
    """Two numbers with noise of their own: the first one's loss is integrated."""
    ends = stick(two, loss - one) / 2 + mp.e**-one / 2 * stick(two, loss + one)
    kinks = sorted({-one, one, *(x for x in (loss - two, loss + two) if abs(x) < one)})
    inner = mp.quad(lambda x: mp.e ** ((x - one) / 2) / 4 * stick(two, loss - x), kinks)
    return ends + inner


def discrete(epsilon: float, shift: int, reach: int = 90) -> Pair:
    """Whole-number noise P(k) ∝ e^(−ε|k|/shift), on 0 and on `shift`."""
    q = mp.e ** (-written(epsilon) / shift)
    inner = range(-reach + 1, reach + shift)

    def mass(k: int) -> mpf:
        return (1 - q) / (1 + q) * q ** abs(k)

    def tail(k: int) -> mpf:
        return q**k / (1 + q)

    ends = [(tail(reach), tail(reach + shift)), (tail(reach + shift), tail(reach))]
    return [ends[0], *((mass(k), mass(k - shift)) for k in inner), ends[1]]


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 4.0, 30.0])
def test_one_answer_is_known_exactly(epsilon: float) -> None:
    promise = LaplaceDP(epsilon)
    for part in (0.0, 0.3, 0.99):
        true = stick(written(epsilon), mpf(part * epsilon))
        assert true <= promise.delta_at(part * epsilon) <= true * (1 + mpf(10) ** -9)
    for delta in (1e-9, 1e-3, 0.2):
        found = promise.epsilon_at(delta)
        assert stick(written(epsilon), mpf(found)) <= delta or found == 0.0
        assert found < 1e-9 or stick(written(epsilon), mpf(found) - 1e-9) > delta - 1e-9


@pytest.mark.parametrize("epsilon", [1e-5, 0.01, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("order", [1.01, 1.5, 2, 8, 100, 5000])
def test_losses_are_those_of_mironov(epsilon: float, order: float) -> None:
    e, a = written(epsilon), mpf(order)
    grown = a / (2 * a - 1) * mp.e ** ((a - 1) * e)
    true = mp.log(grown + (a - 1) / (2 * a - 1) * mp.e ** (-a * e)) / (a - 1)
    found = LaplaceDP(epsilon).renyi(order)
    assert true <= found <= PureDP(epsilon).renyi(order)
    assert found <= true * (1 + mpf(10) ** -3) + mpf(10) ** -11


@pytest.mark.parametrize(("one", "two"), [(0.5, 0.5), (1.0, 2.0), (0.1, 3.0)])
def test_two_answers_come_out_exactly(one: float, two: float) -> None:
    parts = [LaplaceDP(one), LaplaceDP(two)]
    for delta in (0.1, 1e-2):
        found = compose(parts, delta).epsilon
        assert stick_of_two(written(one), written(two), mpf(found)) <= delta
        assert stick_of_two(written(one), written(two), found * mpf(0.999)) > delta


def test_thirty_answers_cost_less_than_thirty_pure_ones() -> None:
    assert compose([LaplaceDP(1.0)] * 30, 1e-6).epsilon == pytest.approx(
        27.7726, abs=2e-4
    )
    assert compose([PureDP(1.0)] * 30, 1e-6).epsilon == 30.0


@pytest.mark.parametrize(
    ("epsilon", "times", "delta"),
    [(1.0, 30, 1e-6), (0.01, 1000, 1e-6), (0.2, 40, 1e-9), (3.0, 4, 1e-2)],
)
def test_composition_is_that_of_dp_accounting(
    epsilon: float, times: int, delta: float
) -> None:
    from dp_accounting.pld import privacy_loss_distribution as theirs

    low, high = (
        theirs.from_laplace_mechanism(
            1 / epsilon,
            pessimistic_estimate=worse,
            value_discretization_interval=epsilon / 1000,
        )
        .self_compose(times)
        .get_epsilon_for_delta(delta)
        for worse in (False, True)
    )
    found = compose([LaplaceDP(epsilon)] * times, delta).epsilon
    assert low <= found <= high * 1.001


def test_laplace_composes_with_everything_else() -> None:
    parts = [LaplaceDP(0.5), LaplaceDP(0.5), PureDP(0.3), GaussianDP(0.2)]
    found = compose(parts, 1e-6).epsilon
    assert found < compose([PureDP(0.5), PureDP(0.5), *parts[2:]], 1e-6).epsilon
    assert found > compose(parts[:2], 1e-6).epsilon
    assert Composed(parts).delta_at(found) <= 1.01e-6


@pytest.mark.parametrize("shares", [(1, 1), (1, 3), (1, 9)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_a_shift_split_over_entries_is_easier_to_hide(
    shares: tuple[int, int], epsilon: float
) -> None:
    """Vectors: `LaplaceDP` is stated for the L1 sensitivity."""
    whole = written(epsilon)
    one, two = (whole * share / sum(shares) for share in shares)
    for part in (-0.9, -0.5, 0.0, 0.5, 0.9):
        assert stick_of_two(one, two, whole * part) <= stick(whole, whole * part)


@pytest.mark.parametrize("shift", [1, 2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_whole_number_noise_is_covered_by_real_noise(
    shift: int, epsilon: float
) -> None:
    reach = 40 + int(60 * shift / epsilon)
    pair, promise = discrete(epsilon, shift, reach), discrete_laplace_dp(epsilon, shift)
    for part in (0.0, 0.2, 0.5, 0.8, 0.999):
        e = part * promise.epsilon
        assert hockey_stick(pair, e) <= promise.delta_at(e) + EXACT
    assert renyi_divergence(pair, 5) <= promise.renyi(5)
    assert promise.epsilon - epsilon <= epsilon**2 / (4 * shift**2) * 1.000001


def test_a_whole_shift_split_over_entries_is_covered_too() -> None:
    promise = discrete_laplace_dp(1.2, 3)
    one, two = discrete(0.4, 1, 60), discrete(0.8, 2, 60)
    pair = together(one, two)
    for e in (0.0, 0.4, 0.9):
        assert hockey_stick(pair, e) <= promise.delta_at(e) + EXACT


def test_noise_on_counts_is_no_better_than_randomized_response() -> None:
    """Why whole-number noise does not promise LaplaceDP of its own ε."""
    counted = discrete(1.0, 1, 80)
    assert hockey_stick(counted, 0.5) > LaplaceDP(1.0).delta_at(0.5) + 0.01
    assert hockey_stick(counted, 0.5) == pytest.approx(PureDP(1.0).delta_at(0.5))


def test_conversions_are_those_of_a_pure_promise() -> None:
    promise = LaplaceDP(0.7)
    assert promise.to(PureDP) is promise
    assert promise.to(ApproxDP) == ApproxDP(0.7, 0.0)
    for kind in (ZeroConcentratedDP, GaussianDP, BoundedRange):
        assert promise.to(kind) == PureDP(0.7).to(kind)
    assert promise.to(RenyiDP).renyi(8) < PureDP(0.7).renyi(8)
    assert promise.for_group(3) == LaplaceDP(2.1)
    assert promise.for_replacement().epsilon == 1.4
    assert poisson(promise, 0.1) == poisson(PureDP(0.7), 0.1)
    assert Composed([promise] * 2).to(PureDP).epsilon == 1.4
    assert "Laplace" in str(promise)


def test_groups_of_laplace_are_exact() -> None:
    """k steps in a row: the trade-off curve of a shift k times as far."""
    for k, part in product((2, 5), (0.1, 0.7)):
        e = part * k * 0.5
        true = stick(mpf(k) / 2, mpf(e))
        assert true <= LaplaceDP(0.5).for_group(k).delta_at(e)


@pytest.mark.parametrize("sensitivity", [0, 1.5, "1"])
def test_whole_number_noise_needs_a_whole_sensitivity(sensitivity: object) -> None:
    with pytest.raises(ArgumentError):
        discrete_laplace_dp(1.0, sensitivity)  # type: ignore[arg-type]
