"""What counted guesses prove, against exact probabilities."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dither.audit.criteria import Counts, criterion_of, rough_lower
from dither.errors import ArgumentError
from dither.privacy import ApproxDP, BoundedRange, Composed, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP


def counted(right, wrong, draws=None):
    return Counts(right, wrong, right, wrong, draws or (right + wrong, right + wrong))


def test_a_bound_on_epsilon_inverts_the_binomial():
    bound = criterion_of(PureDP(1.0)).bound(counted(7310, 2690), 1e-3)
    share = 1 / (1 + math.exp(-bound.value))
    assert binom.sf(2 * 7310 - 1, 20_000, share) == pytest.approx(1e-3, rel=1e-4)
    assert bound.value == bound.epsilon < math.log(7310 / 2690)


def test_bounded_range_is_audited_as_pure():
    counts = counted(900, 100)
    assert criterion_of(BoundedRange(1.0)).bound(counts, 1e-3) == criterion_of(PureDP(1.0)).bound(counts, 1e-3)


def test_a_delta_pays_for_as_many_right_guesses_as_it_may_give_away():
    clear = Counts(500, 0, 500, 0, (50_000, 50_000))
    bounds = [criterion_of(ApproxDP(1.0, delta)).bound(clear, 1e-3).value for delta in (0.0, 1e-3, 5e-3, 0.02)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > 4
    assert bounds[-1] == 0


def test_one_side_needs_half_the_delta():
    one = Counts(400, 0, 0, 0, (50_000, 50_000), (True, False))
    both = Counts(400, 0, 0, 0, (50_000, 50_000), (True, True))
    criterion = criterion_of(ApproxDP(1.0, 0.005))
    assert criterion.bound(one, 1e-3).value > criterion.bound(both, 1e-3).value


def test_nothing_right_proves_nothing():
    for claim in (PureDP(1.0), ApproxDP(1.0, 0.1), GaussianDP(1.0), ZeroConcentratedDP(0.5)):
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
    """By exact probabilities of every threshold: the bound of an event is at most the ρ of the whole."""
    from statistics import NormalDist

    normal, criterion = NormalDist(), criterion_of(ZeroConcentratedDP(0.5))
    found = [criterion.least(1 - normal.cdf(t - 1), 1 - normal.cdf(t)) for t in np.linspace(-4, 6, 101)]
    assert 0.3 < max(found) <= 0.5


def test_rough_bounds_are_near_exact_ones():
    from dither.audit.bounds import lower

    rough = rough_lower(np.array([7310.0]), np.array([10_000.0]), 3.09)[0]
    assert rough == pytest.approx(lower(7310, 10_000, 1e-3), abs=1e-3)


@pytest.mark.parametrize("claim", [RenyiDP({2: 0.1}), Composed([PureDP(1.0), GaussianDP(1.0)])])
def test_other_kinds_say_what_to_audit_instead(claim):
    with pytest.raises(ArgumentError, match=r"claimed\.approx\(1e-6\)"):
        criterion_of(claim)


def test_what_is_no_guarantee_is_refused():
    with pytest.raises(ArgumentError, match=r"PureDP\(1\.0\)"):
        criterion_of(1.0)
