"""The textbook facts, and the textbook errors, each with what is right instead."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.mechanisms import Exponential, Laplace, RandomizedResponse
from dither.noise import discrete_laplace
from tests.chance import at_least, at_most, chance
from tests.noise.support import LEVEL, p_value


@chance(3e-9)
def test_coin_flip_response_tells_the_truth_three_times_in_four():
    """Heads: the truth. Tails: another coin decides. P(yes | yes) = 3/4, P(yes | no) =
    1/4, so ε = ln 3.
    """
    coin = RandomizedResponse(truth=Fraction(3, 4))
    assert coin.epsilon == pytest.approx(math.log(3), rel=1e-11)
    assert coin.epsilon >= math.log(3)
    for answer, expected in ((True, 0.75), (False, 0.25)):
        yes = coin.release(np.full(200_000, answer)).mean()
        assert yes == pytest.approx(expected, abs=0.006)  # six standard deviations
    assert RandomizedResponse(epsilon=math.log(3)).truth == pytest.approx(
        0.75, rel=1e-12
    )


@chance(1e-12)
def test_halving_epsilon_quadruples_the_variance():
    wide, narrow = (
        Laplace(sensitivity=1, epsilon=e).release(np.zeros(400_000)).var()
        for e in (0.25, 0.5)
    )
    assert wide / narrow == pytest.approx(4, rel=0.05)


@chance(1e-11)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_mean_squared_errors(epsilon):
    """2/ε² for reals; on integers 2q/(1−q)², which is smaller."""
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    real = (mechanism.release(np.zeros(1_000_000)) ** 2).mean()
    whole = (mechanism.release(np.zeros(1_000_000, np.int64)).astype(float) ** 2).mean()
    q = math.exp(-epsilon)
    assert real == pytest.approx(2 / epsilon**2, rel=0.03)
    # Seven deviations at ε = 4, where few draws are not 0
    assert whole == pytest.approx(2 * q / (1 - q) ** 2, rel=0.04)
    assert 2 * q / (1 - q) ** 2 < 2 / epsilon**2


def test_three_queries_cost_the_sum():
    total = dither.compose(
        [dither.PureDP(0.1), dither.PureDP(0.25), dither.PureDP(0.5)]
    )
    assert total.epsilon == pytest.approx(0.85, rel=1e-12)
    budget = dither.Budget(epsilon=0.85)
    for epsilon in (0.1, 0.25, 0.5):
        dither.count([1, 2, 3], epsilon=epsilon, budget=budget)
    with pytest.raises(dither.BudgetExceeded):
        dither.count([1, 2, 3], epsilon=0.001, budget=budget)


def test_a_family_of_five():
    assert dither.PureDP(0.3).for_group(5).epsilon == pytest.approx(1.5)
    group = dither.ApproxDP(1.0, 1e-5).for_group(5)
    assert group.epsilon == pytest.approx(5)
    assert group.delta == pytest.approx(8.6e-4, rel=0.01)


@chance(1e-8)
@pytest.mark.parametrize("monotone", [False, True])
def test_exponential_winners_follow_the_closed_form(monotone):
    """exp(ε·score / 2Δ), and exp(ε·score / Δ) when monotone."""
    scores, epsilon, delta, draws = np.array([0, 1, 3, 4]), 1.2, 2.0, 10_000
    mechanism = Exponential(sensitivity=delta, epsilon=epsilon, monotone=monotone)
    seen = np.bincount([mechanism.release(scores) for _ in range(draws)], minlength=4)
    odds = np.exp(epsilon * scores / (delta if monotone else 2 * delta))
    assert p_value(seen, odds / odds.sum()) > LEVEL


def test_mean_is_h_over_n_sensitive_only_under_replace():
    """With a public n the noise is (high − low) / (n·ε); under add/remove the answer is
    a ratio of noisy sums.
    """
    values = np.full(1000, 50.0)
    public = dither.mean(values, bounds=(0, 100), n=1000, epsilon=1)
    assert str(public.guarantee.unit.relation) == "replace"
    low, high = public.interval(0.95)
    assert (high - low) / 2 == pytest.approx(100 / 1000 * math.log(20), rel=1e-3)
    private = dither.mean(values, bounds=(0, 100), epsilon=1)
    assert str(private.guarantee.unit.relation) == "add/remove"


def test_zero_epsilon_is_refused():
    with pytest.raises(dither.ArgumentError, match="epsilon"):
        dither.laplace(1, sensitivity=1, epsilon=0)


@chance(1e-8)
def test_integer_noise_is_below_the_continuous_one_in_tail_mass():
    samples = np.abs(discrete_laplace(1.0, 1_000_000))
    q = math.exp(-1)
    for k in (1, 2, 3):
        share, seen = 2 * q**k / (1 + q), (samples >= k).sum()
        assert at_least(10**6, share, 1e-9) <= seen <= at_most(10**6, share, 1e-9)
