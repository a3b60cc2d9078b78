"""Private keys: the threshold against an independent normal tail, the odds of naming
against draws.
"""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

import dither
from dither.mechanisms import KeyThreshold
from dither.mechanisms.keys import _deviate
from tests.chance import at_least, at_most, chance


@pytest.mark.parametrize(
    "delta", [0.9, 0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-18, 1e-100, 1e-250]
)
@pytest.mark.parametrize("most", [1, 2, 15, 1000, 10**9])
def test_the_normal_deviate_is_rounded_up_and_sharp(delta, most):
    exact = norm.isf(-math.expm1(math.log1p(-delta) / most))
    assert exact <= _deviate(delta, most) <= exact + 1e-9


@pytest.mark.parametrize("unit", [dither.ROW, dither.ROW.replacing()])
@pytest.mark.parametrize("mu", [0.05, 0.3, 2.0, 50.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("most", [1, 3, 40])
def test_the_promise_in_numbers(unit, mu, delta, most):
    mechanism = KeyThreshold(groups=most, mu=mu, delta=delta, unit=unit)
    changes = 2 * most if unit == dither.ROW.replacing() else most
    assert changes <= (mu * mechanism.scale) ** 2 * (1 + 1e-15)
    assert mechanism.scale == pytest.approx(math.sqrt(changes) / mu)
    allowed = -math.expm1(math.log1p(-delta) / most)
    alone, sharper = (
        norm.sf((mechanism.threshold - less) / mechanism.scale) for less in (1.5, 2.5)
    )
    assert alone <= allowed < sharper
    assert mechanism.guarantee == dither.GaussianDP(mu, delta, unit=unit)


@pytest.mark.parametrize("at_least", [2, 7, 1000])
def test_a_key_needs_a_number_of_units_and_the_threshold_rises_by_as_much(at_least):
    lowest = KeyThreshold(groups=4, mu=1.0, delta=1e-2)
    mechanism = KeyThreshold(groups=4, mu=1.0, delta=1e-2, at_least=at_least)
    assert mechanism.threshold == lowest.threshold + at_least - 1
    assert mechanism.found(at_least - 1) == 0
    assert mechanism.found(at_least) == lowest.found(1)
    assert not mechanism.release(np.full(10_000, at_least - 1)).any()
    assert mechanism.release(np.full(100, mechanism.threshold + 100)).all()


@chance(1e-9)
def test_noisy_counts_come_with_the_names():
    mechanism = KeyThreshold(groups=4, mu=1.0, delta=1e-2, at_least=3)
    named, noisy = mechanism.release_counts(np.repeat([2, 8, 30], 1000))
    assert np.array_equal(
        named, (noisy >= mechanism.threshold) & (np.repeat([2, 8, 30], 1000) >= 3)
    )
    assert named[2000:].all()
    assert np.std(noisy[2000:] - 30) == pytest.approx(mechanism.scale, rel=0.15)


@chance(1e-8)
def test_found_is_how_often_a_key_is_named():
    """Exact tails, since 23 of 40,000 are expected at first."""
    mechanism, draws = KeyThreshold(groups=4, mu=1.0, delta=1e-2), 40_000
    for count in (1, 3, 6, 8, 12):
        share = mechanism.found(count)
        named = mechanism.release(np.full(draws, count)).sum()
        assert at_least(draws, share, 1e-9) <= named <= at_most(draws, share, 1e-9)
    assert mechanism.found(mechanism.threshold - 0.5) == 0.5
    assert mechanism.found(10**6) == 1


def test_a_key_that_no_unit_has_is_never_named():
    mechanism = KeyThreshold(groups=1, mu=0.01, delta=0.4)
    assert not mechanism.release(np.zeros(10_000, np.int64)).any()
    assert not mechanism.release(np.full(100, -5)).any()
    assert mechanism.found(0) == 0
    for nothing in ([], np.array([]), np.array([], np.int64)):
        assert mechanism.release(nothing).tolist() == []


@chance(1e-9)
def test_one_unit_alone_is_hardly_ever_named():
    """δ is for all of its keys: one of 100,000 is named once in a billion times."""
    mechanism = KeyThreshold(groups=10, mu=0.5, delta=1e-13)
    assert not mechanism.release(np.ones(100_000, np.int64)).any()


@pytest.mark.parametrize(
    ("groups", "epsilon", "truncated", "laplace"),
    [(1, 0.5, 26, 28), (1, 0.1, 110, 133), (16, 0.5, 399, 511), (16, 0.1, 1733, 2545)],
)
def test_thresholds_of_laplace_noise(groups, epsilon, truncated, laplace):
    stated = {"groups": groups, "epsilon": epsilon, "delta": 1e-6}
    best = KeyThreshold(**stated)
    plain = KeyThreshold(**stated, truncated=False)
    assert (best.threshold, best.truncated) == (truncated, True)
    assert plain.threshold == laplace
    assert best.guarantee == plain.guarantee == dither.ApproxDP(epsilon, 1e-6)


@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("epsilon", [0.02, 0.7, 5.0])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-40])
@pytest.mark.parametrize("groups", [1, 3, 40])
def test_a_key_that_rises_is_named_so_rarely_and_no_threshold_is_lower(
    truncated, epsilon, delta, groups
):
    """Exact fractions of e^(−1/scale), with 100 digits; truncated noise has two ends."""
    for unit in (dither.ROW, dither.ROW.replacing()):
        stated = {"groups": groups, "epsilon": epsilon, "delta": delta, "unit": unit}
        try:
            mechanism = KeyThreshold(**stated, truncated=truncated)
        except dither.ArgumentError:
            assert truncated  # δ is too large beside ε for that
            assert KeyThreshold(**stated).truncated is False
            continue
        with mpmath.workdps(100):
            keys = groups * (2 if truncated and unit != dither.ROW else 1)
            q = mpmath.exp(-1 / mpmath.mpf(mechanism.scale))
            allowed = 1 - (1 - mpmath.mpf(delta)) ** (mpmath.mpf(1) / keys)

            def rising(k, q=q):
                if truncated:
                    return (1 - q) * q**k / (1 + q - 2 * q ** (k + 1))
                return q**k / (1 + q)

            assert rising(mechanism.reach) <= allowed
            assert mechanism.reach == 0 or rising(mechanism.reach - 1) > allowed
            assert mechanism.log_tail(mechanism.reach) == pytest.approx(
                float(mpmath.log(rising(mechanism.reach))), rel=1e-9, abs=1e-12
            )


@chance(1e-8)
@pytest.mark.parametrize("truncated", [True, False])
def test_the_noise_of_named_keys_has_its_law(truncated):
    mechanism = KeyThreshold(groups=2, epsilon=1.0, delta=0.02, truncated=truncated)
    draws, reach = 40_000, mechanism.reach
    _, noisy = mechanism.release_counts(np.full(draws, 1000))
    noise = noisy - 1000
    assert not truncated or abs(noise).max() <= reach
    for least in (1 - reach, -2, 0, 1, 4, reach):
        share = math.exp(mechanism.log_tail(least))
        found = (noise >= least).sum()
        assert at_least(draws, share, 5e-10) <= found <= at_most(draws, share, 5e-10)
    named = mechanism.release(np.full(draws, mechanism.threshold - 2)).mean()
    assert named == pytest.approx(mechanism.found(mechanism.threshold - 2), abs=0.02)
    assert mechanism.error(0.95) == min(
        reach if truncated else math.inf, mechanism.noise.error(0.95, integer=True)
    )


def test_bad_promises_of_names():
    good = {"groups": 3, "epsilon": 1.0, "delta": 1e-6}
    for wrong, name in (
        ({"mu": 1.0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": None, "mu": 1.0, "truncated": True}, "truncated"),
        ({"epsilon": 1e-6, "delta": 0.5, "truncated": True}, "truncated"),
    ):
        with pytest.raises(dither.ArgumentError, match=name):
            KeyThreshold(**good | wrong)


def test_bad_questions():
    good = {"groups": 3, "mu": 1.0, "delta": 1e-6}
    for name, value in (
        ("groups", 0),
        ("at_least", 0),
        ("mu", 0),
        ("mu", math.nan),
        ("delta", 0),
        ("delta", 1),
        ("delta", 1e-300),
    ):
        with pytest.raises(dither.ArgumentError, match=name):
            KeyThreshold(**good | {name: value})
    with pytest.raises(dither.ArgumentError, match=r"2\*\*56"):
        KeyThreshold(groups=1, mu=1e-18, delta=1e-6)
    for counts in (5, [1.5]):
        with pytest.raises(dither.ArgumentError, match="counts"):
            KeyThreshold(**good).release(counts)
