"""What counted guesses prove, against exact probabilities."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dither.audit.criteria import Counts, criterion_of, rough_lower
from dither.errors import ArgumentError
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)


def counted(right, wrong, draws=None):
    return Counts(right, wrong, right, wrong, draws or (right + wrong, right + wrong))


def test_a_bound_on_epsilon_inverts_the_binomial():
    bound = criterion_of(PureDP(1.0)).bound(counted(7310, 2690), 1e-3)
    share = 1 / (1 + math.exp(-bound.value))
    assert binom.sf(2 * 7310 - 1, 20_000, share) == pytest.approx(1e-3, rel=1e-4)
    assert bound.value == bound.epsilon < math.log(7310 / 2690)


def test_a_bounded_range_is_the_sum_of_two_log_odds():
    from dither.privacy.binomial import lower

    bound = criterion_of(BoundedRange(1.0)).bound(
        Counts(9000, 1000, 800, 200, (50_000, 50_000)), 1e-3
    )
    first, second = lower(9000, 10_000, 5e-4), lower(800, 1000, 5e-4)
    assert bound.value == pytest.approx(
        math.log(first / (1 - first)) + math.log(second / (1 - second))
    )
    assert bound.epsilon == pytest.approx(math.log(first / (1 - first)))


def test_a_range_may_lie_on_one_side_of_one():
    """Both events speak for the first input, one of them less."""
    bound = criterion_of(BoundedRange(1.0)).bound(
        Counts(90_000, 10_000, 40_000, 60_000, (200_000, 200_000)), 1e-3
    )
    assert (
        math.log(9 * 2 / 3) * 0.96
        < bound.value
        < math.log(9 * 2 / 3)
        < bound.epsilon
        < math.log(9)
    )


def test_a_rule_with_one_side_is_compared_with_all_other_draws():
    one = Counts(9000, 1000, 0, 0, (50_000, 50_000), (True, False))
    both = Counts(9000, 1000, 49_000, 41_000, (50_000, 50_000))
    other = Counts(41_000, 49_000, 9000, 1000, (50_000, 50_000))
    criterion = criterion_of(BoundedRange(1.0))
    assert criterion.bound(one, 1e-3) == criterion.bound(both, 1e-3)
    mirrored = Counts(0, 0, 9000, 1000, (50_000, 50_000), (False, True))
    assert mirrored.both() == (49_000, 41_000, 9000, 1000)
    assert criterion.bound(other, 1e-3).value > 0


def test_a_bounded_range_never_exceeds_the_true_one():
    """Exact counts of an exponential mechanism with range 1: the bound stays below it."""
    here, there = (
        np.array([0.5, 0.3, 0.2]),
        np.array([0.5, 0.3 * math.exp(0.5), 0.2 * math.exp(-0.5)]),
    )
    there = there / there.sum()
    draws = 1_000_000
    counts = Counts(
        int(draws * here[2]),
        int(draws * there[2]),
        int(draws * there[1]),
        int(draws * here[1]),
        (draws, draws),
    )
    assert 0.95 < criterion_of(BoundedRange(1.0)).bound(counts, 1e-3).value < 1.0


def test_a_delta_pays_for_as_many_right_guesses_as_it_may_give_away():
    clear = Counts(500, 0, 500, 0, (50_000, 50_000))
    bounds = [
        criterion_of(ApproxDP(1.0, delta)).bound(clear, 1e-3).value
        for delta in (0.0, 1e-3, 5e-3, 0.02)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > 4
    assert bounds[-1] == 0


def test_one_side_needs_half_the_delta():
    one = Counts(400, 0, 0, 0, (50_000, 50_000), (True, False))
    both = Counts(400, 0, 0, 0, (50_000, 50_000), (True, True))
    criterion = criterion_of(ApproxDP(1.0, 0.005))
    assert criterion.bound(one, 1e-3).value > criterion.bound(both, 1e-3).value


def test_nothing_right_proves_nothing():
    for claim in (
        PureDP(1.0),
        BoundedRange(1.0),
        ApproxDP(1.0, 0.1),
        GaussianDP(1.0),
        ZeroConcentratedDP(0.5),
    ):
        bound = criterion_of(claim).bound(Counts(0, 10, 0, 10, (100, 100)), 1e-3)
        assert (bound.value, bound.epsilon) == (0, 0)


def test_mu_comes_from_both_error_rates():
    counts = Counts(691_462, 308_538, 0, 0, (1_000_000, 1_000_000), (True, False))
    assert 0.99 < criterion_of(GaussianDP(1.0)).bound(counts, 1e-3).value < 1


def test_a_delta_of_its_own_weakens_the_bound_on_mu():
    counts = Counts(691_462, 308_538, 0, 0, (1_000_000, 1_000_000), (True, False))
    assert criterion_of(GaussianDP(1.0, 0.01)).bound(counts, 1e-3).value < 0.98


def test_rho_comes_from_the_divergence_of_an_event():
    counts = Counts(0, 0, 500_000, 158_655, (1_000_000, 1_000_000), (False, True))
    found = criterion_of(ZeroConcentratedDP(0.5)).bound(counts, 1e-3).value
    kl = 0.5 * math.log(0.5 / 0.158655) + 0.5 * math.log(0.5 / 0.841345)
    assert kl * 0.95 < found <= 0.5


def test_rho_of_gaussians_is_never_exceeded():
    """By exact probabilities of every threshold: the bound of an event is at most the ρ
    of the whole.
    """
    from statistics import NormalDist

    normal, criterion = NormalDist(), criterion_of(ZeroConcentratedDP(0.5))
    found = [
        criterion.least(1 - normal.cdf(t - 1), 1 - normal.cdf(t))
        for t in np.linspace(-4, 6, 101)
    ]
    assert 0.3 < max(found) <= 0.5


def test_rough_bounds_are_near_exact_ones():
    from dither.privacy.binomial import lower

    rough = rough_lower(np.array([7310.0]), np.array([10_000.0]), 3.09)[0]
    assert rough == pytest.approx(lower(7310, 10_000, 1e-3), abs=1e-3)


@pytest.mark.parametrize(
    "claim", [RenyiDP({2: 0.1}), Composed([PureDP(1.0), GaussianDP(1.0)])]
)
def test_other_kinds_say_what_to_audit_instead(claim):
    with pytest.raises(ArgumentError, match=r"claimed\.approx\(1e-6\)"):
        criterion_of(claim)


def test_what_is_no_guarantee_is_refused():
    with pytest.raises(ArgumentError, match=r"PureDP\(1\.0\)"):
        criterion_of(1.0)
