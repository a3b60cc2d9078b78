import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.mechanisms import Gaussian, Geometric, Laplace
from dither.privacy import LaplaceDP, PureDP
from tests.chance import chance

BOTH = [
    Laplace(sensitivity=1, epsilon=0.5),
    Gaussian(sensitivity=1, epsilon=0.5, delta=1e-6),
]


@pytest.mark.parametrize("mechanism", BOTH)
def test_types_and_shapes(mechanism):
    assert type(mechanism.release(500)) is int
    assert type(mechanism.release(500.0)) is float
    assert mechanism.release(np.zeros((2, 3), np.int32)).dtype == np.int64
    assert mechanism.release(np.zeros((2, 3))).shape == (2, 3)
    assert mechanism.release([1, 2, 3]).dtype == np.int64
    assert mechanism.release([1.0, 2]).dtype == np.float64
    assert mechanism.release([]).size == 0
    assert mechanism.release(np.zeros((0, 4))).shape == (0, 4)
    assert type(mechanism.release(np.array(5))) is int


@pytest.mark.parametrize("mechanism", BOTH)
def test_any_int_and_any_float(mechanism):
    assert abs(mechanism.release(2**200) - 2**200) < 1000
    assert mechanism.release(1e300) == 1e300
    assert mechanism.release(np.full(3, -1e300)).tolist() == [-1e300] * 3
    assert abs(mechanism.release(math.nan)) < 1000
    assert mechanism.release(math.inf) == np.finfo(float).max
    assert (
        np.abs(mechanism.release(np.array([2**63 - 1, -(2**63)])).astype(float)) > 2**62
    ).all()


@chance(1e-12)
def test_the_noise_has_the_promised_scale():
    for mechanism, spread in ((BOTH[0], math.sqrt(2) * 2), (BOTH[1], BOTH[1].scale)):
        for zeros in (np.zeros(200_000), np.zeros(200_000, np.int64)):
            assert mechanism.release(zeros).std() == pytest.approx(spread, rel=0.02)


@chance(3e-8)
@pytest.mark.parametrize(
    "mechanism",
    [*BOTH, Geometric(sensitivity=3, epsilon=0.2), Laplace(sensitivity=1, epsilon=5)],
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_errors_cover_what_they_say(mechanism, confidence):
    draws = 100_000
    noise = np.abs(mechanism.release(np.zeros(draws, np.int64)))
    slack = 6 * math.sqrt(confidence * (1 - confidence) / draws)
    assert (
        noise <= mechanism.error(confidence, integer=True)
    ).mean() >= confidence - slack
    tighter = mechanism.error(confidence, integer=True) - 1
    assert (noise <= tighter).mean() < confidence + slack
    if not isinstance(mechanism, Geometric):
        noise = np.abs(mechanism.release(np.zeros(draws)))
        assert (noise <= mechanism.error(confidence)).mean() == pytest.approx(
            confidence, abs=slack
        )


def test_a_single_count_within_eight_at_999_for_epsilon_one():
    assert Laplace(sensitivity=1, epsilon=1).error(0.999, integer=True) <= 8


def test_gaussian_promises():
    by_epsilon = Gaussian(sensitivity=2, epsilon=1, delta=1e-6)
    assert by_epsilon.guarantee.delta_at(1) <= 1e-6
    assert by_epsilon.guarantee.epsilon_at(1e-6) == pytest.approx(1, rel=1e-6)
    assert Gaussian(sensitivity=1, rho=0.125).mu == pytest.approx(0.5, rel=1e-12)
    assert Gaussian(sensitivity=1, rho=0.125).mu <= 0.5
    assert Gaussian(sensitivity=3, mu=0.5).scale == 6


def test_vectors_need_no_more_noise_than_scalars():
    grid, scale = Laplace(sensitivity=1, epsilon=0.1).scale_on(1_000_000)
    assert scale * float(grid.step) == pytest.approx(10, rel=2e-6)
    tiny = Laplace(sensitivity=1, epsilon=1e-8).scale_on(1000)
    assert tiny[1] * float(tiny[0].step) == pytest.approx(1e8, rel=1e-3)


def test_changes_says_how_many_entries_one_unit_moves():
    few, all_of_them = (
        Laplace(sensitivity=1, epsilon=1, changes=c).scale_on(1000)[0]
        for c in (1, None)
    )
    assert few.exponent == all_of_them.exponent + 10


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "x", None, -math.inf])
def test_bad_epsilon(epsilon):
    with pytest.raises(dither.ArgumentError, match="epsilon"):
        Laplace(sensitivity=1, epsilon=epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, math.inf])
def test_bad_delta(delta):
    with pytest.raises(dither.ArgumentError, match="delta"):
        Gaussian(sensitivity=1, epsilon=1, delta=delta)


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, "x", None])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: Laplace(sensitivity=s, epsilon=1),
        lambda s: Gaussian(sensitivity=s, mu=1),
    ],
)
def test_bad_sensitivity(make, sensitivity):
    with pytest.raises(dither.ArgumentError, match="sensitivity"):
        make(sensitivity)


@pytest.mark.parametrize(
    "promise",
    [
        {},
        {"epsilon": 1},
        {"delta": 1e-6},
        {"epsilon": 1, "delta": 1e-6, "rho": 1},
        {"rho": 1, "mu": 1},
        {"rho": -1},
    ],
)
def test_gaussian_wants_one_promise(promise):
    with pytest.raises(dither.ArgumentError):
        Gaussian(sensitivity=1, **promise)


def test_noise_too_wide_for_64_bits_is_refused_by_its_declared_scale():
    with pytest.raises(dither.ArgumentError, match="larger units"):
        Laplace(sensitivity=1e18, epsilon=1e-3).release(5)


def test_geometric_refuses_reals():
    for value in (1.5, [1.5], np.zeros(3)):
        with pytest.raises(dither.ArgumentError, match="Laplace"):
            Geometric(sensitivity=1, epsilon=1).release(value)


def test_mechanisms_are_values():
    mechanism = Laplace(sensitivity=1, epsilon=0.5)
    mechanism.release(1.0)
    assert mechanism == Laplace(sensitivity=1, epsilon=0.5)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    with pytest.raises(AttributeError):
        mechanism.epsilon = 3


def staircase(epsilon, sensitivity, width):
    """The mean absolute value and the variance of integer staircase noise (Geng &
    Viswanath 2014).
    """
    k = np.arange(int(60 / epsilon) * sensitivity)
    odds = np.exp(-epsilon * (k // sensitivity + (k % sensitivity >= width)))
    total = 2 * odds.sum() - odds[0]
    return 2 * (odds * k).sum() / total, 2 * (odds * k * k).sum() / total


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "mean", "deviation"),
    [
        (0.5, 1, 1, 1),
        (5, 1, 1, 1),
        (0.5, 500, 1.01, 1.005),
        (1, 500, 1.04, 1.02),
        (2, 500, 1.18, 1.09),
        (5, 500, 2.42, 1.64),
    ],
)
def test_what_a_staircase_would_gain(epsilon, sensitivity, mean, deviation):
    """The figures of docs/mechanisms.md: why there is none."""
    found = [
        staircase(epsilon, sensitivity, width) for width in range(1, sensitivity + 1)
    ]
    q = math.exp(-epsilon / sensitivity)
    assert 2 * q / (1 - q * q) / min(m for m, _ in found) == pytest.approx(
        mean, abs=0.006
    )
    assert math.sqrt(2 * q / (1 - q) ** 2 / min(v for _, v in found)) == pytest.approx(
        deviation, abs=0.006
    )


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 20.0])
@pytest.mark.parametrize(("size", "changes"), [(1, None), (1000, None), (1000, 3)])
def test_noise_on_reals_is_as_good_as_real_noise(epsilon, size, changes):
    """The shift of real noise that covers the grid's is at most what is promised."""
    mechanism = Laplace(sensitivity=1, epsilon=epsilon, changes=changes)
    grid, scale = mechanism.scale_on(size)
    moved = Fraction(mechanism.sensitivity) / grid.step + (changes or size)
    t = Fraction(scale)
    assert t >= 1 << 20
    # 2t·ln cosh(1/2t) ≤ 1/(4t)
    assert (math.floor(moved) + 1 / (4 * t)) / t <= Fraction(epsilon)
    assert mechanism.guarantee_on_reals == LaplaceDP(epsilon)
    assert mechanism.guarantee == PureDP(epsilon)


@pytest.mark.parametrize("scale", [0.4, 3.0, 1e4])
def test_variances_are_those_of_the_exact_laws(scale: float) -> None:
    k = np.arange(1, 2_000_000 if scale > 100 else 2000)
    weights = np.exp(-k / scale)
    whole = 2 * (k**2 * weights).sum() / (1 + 2 * weights.sum())
    laplace = Laplace(sensitivity=scale, epsilon=1)
    assert laplace.integer_variance == pytest.approx(whole, rel=1e-9)
    assert Geometric(sensitivity=scale, epsilon=1).variance == pytest.approx(whole)
    assert laplace.mse == laplace.variance == pytest.approx(2 * scale**2, rel=1e-5)
    gaussian = Gaussian(sensitivity=scale, mu=1)
    assert gaussian.mse == gaussian.variance == pytest.approx(scale**2, rel=1e-5)


def test_variances_at_the_ends_of_the_floats() -> None:
    assert Laplace(sensitivity=1e200, epsilon=1).mse == math.inf
    assert Gaussian(sensitivity=1e-140, mu=1).mse == pytest.approx(1e-280, rel=1e-5)
