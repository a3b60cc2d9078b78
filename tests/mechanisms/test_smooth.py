"""Smooth sensitivity: the median of every small dataset against its neighbours, by the
exact law of the output.
"""

import itertools
import math

import numpy as np
import pytest
from mpmath import atan, mp, mpf

import dither
from dither.mechanisms import SmoothSensitivity
from dither.noise import cauchy, rounded_cauchy
from tests.chance import at_least, at_most, chance

TOP = 6
DATA = list(itertools.product(range(0, TOP + 1, 3), repeat=5))
"""Five values of 0, 3, 6; neighbours replace one."""


def median(data):
    return sorted(data)[2]


def local(data):
    """LS_t of the median: the widest gap that t changed values and one more can open
    (Nissim et al. 2007).
    """
    padded = [0] * 6 + sorted(data) + [TOP] * 6

    def at(t):
        middle = 6 + 2
        return (
            max(padded[middle + k] - padded[middle + k - t - 1] for k in range(t + 2))
            if t < 5
            else TOP
        )

    return at


def neighbours(data):
    for i, value in itertools.product(range(5), range(0, TOP + 1, 3)):
        yield (*data[:i], value, *data[i + 1 :])


def test_the_local_sensitivities_of_the_median_are_what_is_assumed():
    for data in DATA:
        for other in neighbours(data):
            assert abs(median(data) - median(other)) <= local(data)(0)
            assert all(local(data)(t) <= local(other)(t + 1) for t in range(6))


def odds(center, scale, outputs):
    """The probability that ⌊center + scale·C + ½⌋ lies below, between and above these
    outputs.
    """
    edges = [atan((k - center - mpf("0.5")) / scale) / mp.pi for k in outputs]
    return [
        edges[0] + 0.5,
        *(b - a for a, b in itertools.pairwise(edges)),
        mpf("0.5") - edges[-1],
    ]


def scale_of(mechanism, data):
    return mechanism._scale(
        np.array([local(data)(t) for t in range(mechanism.steps)], float)
    )


@pytest.mark.parametrize("smoothing", [None, 0.2, 1.0])
def test_every_output_keeps_the_promise(smoothing):
    """Rounded Cauchy noise has a closed form; outputs far out show the scale, those
    near show the value.
    """
    epsilon = 1.2
    mechanism = SmoothSensitivity(
        epsilon=epsilon, global_sensitivity=TOP, integer=True, smoothing=smoothing
    )
    assert mechanism.grid.exponent == 0
    outputs = [*range(-9, 16), *(2**i for i in range(5, 20))]
    cases = set(map(tuple, map(sorted, DATA)))
    laws = {
        data: odds(median(data), mpf(scale_of(mechanism, data)), outputs)
        for data in cases
    }
    most = 0.0
    for data, here in laws.items():
        for other in neighbours(data):
            there = laws[tuple(sorted(other))]
            most = max(
                most, *(float(mp.log(a / b)) for a, b in zip(here, there, strict=True))
            )
    assert 0.4 * epsilon < most <= epsilon * (1 + 1e-12)


def test_noise_that_fits_without_smoothing_breaks_the_promise():
    """The enumeration above can fail: the scale LS_0 / α shows itself where the value
    alone does not.
    """
    epsilon, broken = 1.2, 0.0
    for data in set(map(tuple, map(sorted, DATA))):
        for other in neighbours(data):
            scales = [
                mpf(max(local(d)(0), 1e-3)) / (epsilon / 2) for d in (data, other)
            ]
            here, there = (
                odds(median(d), s, list(range(-9, 16)))
                for d, s in zip((data, other), scales, strict=True)
            )
            broken = max(
                broken,
                *(float(mp.log(a / b)) for a, b in zip(here, there, strict=True)),
            )
    assert broken > epsilon


def test_cauchy_noise_costs_what_is_claimed():
    """|ln ratio| of densities: at most the shift in scales, and at most |ln| of the
    ratio of scales.
    """
    points = np.concatenate([np.linspace(-50, 50, 4001), np.array([-1e9, 1e9])])
    for shift in (0.01, 0.5, 3.0):
        assert (
            np.abs(np.log((1 + (points + shift) ** 2) / (1 + points**2))).max() <= shift
        )
    for ratio in (1.01, 2.0, 10.0):
        densities = ratio * (1 + (points / ratio) ** 2) / (1 + points**2)
        assert np.abs(np.log(densities)).max() <= math.log(ratio) * (1 + 1e-12)


def test_the_scale_is_smooth_and_large_enough():
    """In floats as they are, over random local sensitivities that grow as they may."""
    generator = np.random.default_rng(6)  # allowed: test inputs, not noise
    mechanism = SmoothSensitivity(epsilon=0.4, global_sensitivity=1000.0)
    alpha, beta = (float(part) for part in mechanism.parts)
    step = float(mechanism.grid.step)
    for _ in range(300):
        here = np.minimum(
            1000,
            np.cumsum(
                generator.exponential(generator.choice([1e-3, 1, 50]), mechanism.steps)
            ),
        )
        there = np.maximum(np.append(0, here)[:-1], generator.uniform(0, here[0]))
        scales = mechanism._scale(here), mechanism._scale(there)
        assert abs(math.log(scales[0] / scales[1])) <= beta
        assert scales[0] * step * alpha >= here[0] + step
        assert scales[0] * step * alpha >= here[3] * math.exp(-3 * beta)


def test_what_is_public_does_not_depend_on_the_data():
    calls = []

    def counted(scale):
        def at(_):
            calls[-1] += 1
            return scale

        return at

    mechanism = SmoothSensitivity(epsilon=1, global_sensitivity=100.0)
    step = float(mechanism.grid.step)
    for scale in (0.0, 1e-9, 3.0, 1e300, math.nan, math.inf, -5.0, "many", None):
        calls.append(0)
        answer = mechanism.release(50.0, counted(scale))
        assert calls[-1] == mechanism.steps
        assert (answer / step).is_integer()
    assert (
        mechanism.error()
        == SmoothSensitivity(epsilon=1, global_sensitivity=100.0).error()
    )
    assert not hasattr(mechanism, "interval")


@pytest.mark.parametrize("epsilon", [1e-5, 1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("sensitivity", [1e-6, 1.0, 12345.0, 1e12])
@pytest.mark.parametrize("integer", [False, True])
def test_every_scale_is_sampled_in_the_same_way(epsilon, sensitivity, integer):
    """Scales up to 2^20 need no cells."""
    mechanism = SmoothSensitivity(
        epsilon=epsilon, global_sensitivity=sensitivity, integer=integer
    )
    assert mechanism._scale(np.full(mechanism.steps, sensitivity)) <= 2**20
    assert mechanism._scale(np.zeros(mechanism.steps)) > 2**-40
    assert mechanism.steps <= 1 << 16


def test_nothing_of_a_private_scale_is_remembered_or_timed(monkeypatch):
    """No cache of scales, and no floats, which are certain more or less often as the
    scale is.
    """
    assert not hasattr(cauchy.plan, "cache_info")
    monkeypatch.setattr(cauchy, "floors", None)
    SmoothSensitivity(epsilon=1, global_sensitivity=100.0, growth=1).release(50.0, 1)


@chance(2e-8)
@pytest.mark.parametrize("gamma", [1000.0, 2.0**20, 2.0**21 * 1.1, 2.0**52])
def test_single_draws_have_the_law_with_and_without_cells(gamma):
    """Quartiles of Cauchy noise are at ±γ."""
    draws = np.array([rounded_cauchy(gamma) for _ in range(8000)])
    shares = np.histogram(draws, [-np.inf, -gamma, 0, gamma, np.inf])[0] / 8000
    assert shares == pytest.approx([0.25] * 4, abs=6 * math.sqrt(3 / 16 / 8000))
    assert np.mean(draws % 2) == pytest.approx(0.5, abs=6 * 0.5 / math.sqrt(8000))


def test_the_callers_numpy_settings_do_not_show_the_scale():
    mechanism = SmoothSensitivity(epsilon=1, global_sensitivity=1.0, integer=True)
    with np.errstate(all="raise"):
        mechanism.release(5, [5e-324] * 10)


@chance(1e-12)
def test_noise_follows_its_scale():
    """Half of all Cauchy noise lies within one scale."""
    mechanism, draws = (
        SmoothSensitivity(epsilon=1, global_sensitivity=1e4, growth=0),
        20_000,
    )
    scale = (3 + float(mechanism.grid.step)) / 0.5
    near = (
        sum(abs(mechanism.release(1e3, 3) - 1e3) <= scale for _ in range(draws)) / draws
    )
    assert near == pytest.approx(0.5, abs=5.5 * 0.5 / math.sqrt(draws) + 0.01)


@chance(2e-9)
def test_the_worst_case_error_covers():
    mechanism = SmoothSensitivity(
        epsilon=1, global_sensitivity=10, growth=0, integer=True
    )
    bound = mechanism.error(0.9)
    near = sum(abs(mechanism.release(5, 10) - 5) <= bound for _ in range(5000))
    # Whole numbers: the share is some thousandths from 0.9
    assert at_least(5000, 0.895, 1e-9) <= near <= at_most(5000, 0.905, 1e-9)
    assert mechanism.guarantee == dither.PureDP(1.0)


def test_odd_values_get_an_answer():
    mechanism = SmoothSensitivity(epsilon=1, global_sensitivity=1.0, growth=1)
    for value in (math.nan, math.inf, -math.inf, 1e300, 7, np.float32(2), None):
        assert math.isfinite(mechanism.release(value, 0))
    whole = SmoothSensitivity(epsilon=1, global_sensitivity=1e9, growth=1, integer=True)
    assert whole.grid.exponent > 0
    assert whole.release(10**30, 0) % int(whole.grid.step) == 0
    assert isinstance(whole.release(None, None), int)
    assert isinstance(whole.release(math.nan, math.nan), int)


def test_bad_questions():
    good = {"epsilon": 1.0, "global_sensitivity": 10.0}
    bad = [
        ("epsilon", 0),
        ("global_sensitivity", 0),
        ("growth", -1),
        ("epsilon", 1e-10),
        ("epsilon", 1e300),
    ]
    # 2^-1060 had a scale 1.7 times too small: a subnormal number has few bits.
    bad += [("global_sensitivity", x) for x in (2.0**-1060, 5e-324, 1.7e308)]
    for name, value in bad:
        with pytest.raises(dither.ArgumentError, match=name):
            SmoothSensitivity(**good | {name: value})
    for smoothing in (0, 1, 2, 1e-12, 1 - 1e-6):
        with pytest.raises(dither.ArgumentError, match="smoothing"):
            SmoothSensitivity(**good, smoothing=smoothing)
    mechanism = SmoothSensitivity(**good)
    for local_form in (3, "a", None):
        with pytest.raises(dither.ArgumentError, match="LS_t"):
            mechanism.release(1.0, local_form)
    with pytest.raises(dither.ArgumentError, match="value"):
        mechanism.release([1.0, 2.0], [1])
    with pytest.raises(dither.ArgumentError, match="whole"):
        SmoothSensitivity(**good, integer=True).release(1.5, [1])


def test_the_error_at_a_bound_is_that_of_the_widest_scale_below_it():
    """What was paid for, or is public, may stand in for the local sensitivities."""
    mechanism = SmoothSensitivity(epsilon=1.0, global_sensitivity=998, growth=1)
    bounds = (0, 5, 50, 500)
    errors = [mechanism.error(0.9, local=bound) for bound in bounds]
    assert errors == sorted(errors)
    assert errors[1] < mechanism.error(0.9) / 4
    assert mechanism.error(0.9, local=998) == mechanism.error(0.9)
    assert mechanism.error(0.9, local=lambda t: 5 + t) == errors[1]
