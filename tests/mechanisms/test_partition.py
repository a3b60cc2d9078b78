"""Partition selection: its odds against both inequalities with many digits, and against
thresholds.
"""

import decimal
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import dither
from dither.mechanisms import KeyThreshold, PartitionSelection
from tests.chance import at_least, at_most, chance

CASES = [
    (1.0, 1e-6),
    (0.1, 1e-5),
    (5.0, 0.1),
    (0.5, 0.9),
    (2.0, 1e-30),
    (20.0, 1e-9),
    (300.0, 1e-250),
    (0.01, 1e-3),
]


def exactly(fraction):
    return mpf(fraction.numerator) / fraction.denominator


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize("most", [1, 3])
def test_the_odds_are_the_largest_that_keep_the_promise(epsilon, delta, most):
    """Both inequalities hold for every n, and one of them is tight (to a share 1e-15 of
    δ).
    """
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta, groups=most)
    with mp.workdps(700):
        growth = mp.e ** exactly(Fraction(repr(epsilon)) / most)
        slack = exactly(Fraction(repr(delta)) / most)
        odds = [exactly(mechanism.probability(n)) for n in range(mechanism.certain + 2)]
        assert odds[0] == 0
        assert odds[-2:] == [1, 1]
        assert odds[-3] < 1
        for here, there in itertools.pairwise(odds):
            assert here <= there
            room = (
                growth * here + slack - there,
                growth * (1 - there) + slack - (1 - here),
            )
            assert min(room) >= 0
            assert there == 1 or min(room[0], room[1] / growth) <= slack * mpf("1e-15")


def test_tiny_epsilons_need_no_table():
    mechanism = PartitionSelection(epsilon=1e-9, delta=1e-9)
    assert mechanism.certain == pytest.approx(2e9 * math.log(1.5), rel=1e-6)
    assert mechanism.probability(1) == pytest.approx(1e-9)
    assert 0.5 < mechanism.probability(mechanism.certain // 2 + 1) < 0.5 + 1e-8


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-5), (3.0, 1e-9)])
def test_it_beats_every_threshold(epsilon, delta):
    """Of the same (ε, δ), with Laplace noise (τ the least that keeps δ) and Gaussian
    noise (δ split in three ways).
    """
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    counts = range(1, mechanism.certain + 1)
    q = math.exp(-epsilon)

    def reaches(k):
        return q**k / (1 + q) if k >= 1 else 1 - q ** (1 - k) / (1 + q)

    threshold = next(t for t in range(1, 10**6) if reaches(t - 1) <= delta)
    assert all(mechanism.found(n) >= reaches(threshold - n) - 1e-15 for n in counts)
    for part in (0.1, 0.5, 0.9):
        mu = dither.privacy.gaussian_mu(epsilon, delta * (1 - part))
        gaussian = KeyThreshold(groups=1, mu=mu, delta=delta * part)
        assert all(mechanism.found(n) >= gaussian.found(n) - 1e-15 for n in counts)
    assert mechanism.found(threshold) > reaches(0)


@chance(5e-8)
def test_named_as_often_as_the_odds_say():
    mechanism, draws = PartitionSelection(epsilon=1.0, delta=1e-2), 40_000
    table = np.tile(np.arange(-1, mechanism.certain + 2), (draws, 1))
    named = mechanism.release(table).sum(0)
    for count, seen in zip(table[0], named, strict=True):
        share = mechanism.found(int(count))
        assert at_least(draws, share, 1e-9) <= seen <= at_most(draws, share, 1e-9)


def test_shares_and_promises():
    unit = dither.ROW.replacing()
    one, two = (
        PartitionSelection(epsilon=1.0, delta=1e-6, groups=most, unit=dither.ROW)
        for most in (1, 2)
    )
    replaced = PartitionSelection(epsilon=1.0, delta=1e-6, unit=unit)
    assert one.guarantee == dither.ApproxDP(1.0, 1e-6)
    assert replaced.guarantee == dither.ApproxDP(1.0, 1e-6, unit=unit)
    assert replaced.share == two.share == (Fraction(1, 2), one.share[1] / 2)
    assert one.share[1] <= Fraction(1, 10**6)
    assert two.certain > one.certain


def test_odd_counts():
    mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    for nothing in ([], np.array([])):
        assert mechanism.release(nothing).tolist() == []
    assert mechanism.release([0, -5, 10**30, 10**6]).tolist() == [
        False,
        False,
        True,
        True,
    ]
    assert mechanism.release([0, None, math.nan, 10**6]).tolist() == [
        False,
        False,
        False,
        True,
    ]
    assert mechanism.probability(10**400) == 1


def test_the_callers_decimal_settings_change_nothing(monkeypatch):
    """A new context takes its traps from this one (rule R23)."""
    for context in (decimal.DefaultContext, decimal.getcontext()):
        for trap in (decimal.Inexact, decimal.Rounded):
            monkeypatch.setitem(context.traps, trap, True)
    assert PartitionSelection(epsilon=1.0, delta=1e-6).found(5) > 0


def test_bad_questions():
    good = {"epsilon": 1.0, "delta": 1e-6}
    for name, value in (
        ("epsilon", 0),
        ("epsilon", 1e4),
        ("epsilon", 1e-13),
        ("delta", 0),
        ("delta", 1e-300),
        ("groups", 0),
        ("delta", 5e-324),
    ):
        with pytest.raises(dither.ArgumentError, match=name):
            PartitionSelection(**good | {name: value})
    with pytest.raises(dither.ArgumentError, match="delta"):
        PartitionSelection(**good, groups=10**400)
    for counts in (5, [1.5]):
        with pytest.raises(dither.ArgumentError, match="counts"):
            PartitionSelection(**good).release(counts)
