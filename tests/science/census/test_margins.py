"""Margins cover: for one noise alone, for a few together, for Gaussian and Laplace."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.mechanisms import Gaussian, Laplace
from dither.mechanisms.sums import noise_variance
from dither.science.census.fitting import fit
from dither.science.census.margins import (
    CountSpread,
    ends,
    margin,
    nested,
    worst_quantile,
)
from dither.science.census.shape import Tree
from tests.chance import chance

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
WEIGHTS = ([1], [1, 1], [0.5, 0.5], [0.6, 0.3, 0.1], [2 / 3, -1 / 3], [1] * 6)


def noise(kind, scale):
    if kind == "gaussian":
        return Gaussian(sensitivity=1, mu=1 / scale)
    return Laplace(sensitivity=1, epsilon=1 / scale)


def chances(mechanism, most=400):
    """The exact chances of the noise, at whole numbers up to `most` on both sides."""
    k, scale = np.arange(-most, most + 1), mechanism.integer_scale
    if isinstance(mechanism, Gaussian):
        cuts = [
            math.erf((one + 0.5) / (scale * math.sqrt(2))) for one in range(most + 1)
        ]
        tail = np.diff([0, *cuts])
        return np.concatenate([tail[:0:-1] / 2, tail[:1], tail[1:] / 2])
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(k)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale", [0.03, 0.2, 0.5, 0.9, 1, 1.2, 1.4, 1.7, 2, 3, 5, 10])
def test_one_to_three_noises_are_covered_exactly(kind, scale):
    """Sums of equal weights, their chances computed exactly."""
    mechanism = noise(kind, scale)
    each = law = chances(mechanism)
    for number in (1, 2, 3):
        far = np.abs(np.arange(law.size) - law.size // 2)
        for level in LEVELS:
            variance = number * noise_variance(mechanism)
            width = float(margin(variance, (mechanism,), level, nested=True))
            assert law[far <= width].sum() >= level - 1e-9
        law = np.convolve(law, each)


@chance(1e-9)
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 1.4, 2.5, 8.0])
def test_weighted_noises_are_covered(kind, scale):
    """100,000 draws; coverage lies less than 7 standard errors below what is wanted."""
    mechanism, number = noise(kind, scale), 100_000
    drawn = mechanism.release(np.zeros((6, number), np.int64))
    for weights in WEIGHTS:
        w = np.array(weights, float)
        off = np.abs(w @ drawn[: w.size])
        for level in LEVELS:
            variance = w @ w * noise_variance(mechanism)
            width = float(margin(variance, (mechanism,), level, nested=True))
            held = (off <= width + 1e-9).mean()
            assert held >= level - 7 * math.sqrt(level * (1 - level) / number)


@pytest.mark.parametrize("scale", [0.3, 0.7, 0.99])
@pytest.mark.parametrize("level", LEVELS)
def test_margins_of_coarse_noise_are_proven_ones(scale, level):
    """Below scale 1 no normal law is near: for one rounded Gaussian, Chernoff's bound
    is (σ + ½)·√(2·log(2 / missed)), and no margin is smaller.
    """
    mechanism = noise("gaussian", scale)
    width = float(margin(noise_variance(mechanism), (mechanism,), level, nested=True))
    assert width >= (scale + 0.5) * math.sqrt(2 * math.log(2 / (1 - level))) - 1e-9


def test_margins_of_large_gaussian_noise_are_hardly_wider_than_normal_ones():
    mechanism = noise("gaussian", 50)
    variance = 900 * noise_variance(mechanism)
    width = float(margin(variance, (mechanism,), 0.95, nested=True))
    normal = NormalDist().inv_cdf(0.975) * math.sqrt(variance)
    assert normal < width < normal + 0.6


def test_crossing_marginals_never_have_smaller_margins():
    for scale in (0.4, 2.0):
        mechanism = noise("laplace", scale)
        variances = np.array([0.0, 0.5, 3.0, 80.0, np.inf])
        apart = margin(variances, (mechanism,), 0.9)
        together = margin(variances, (mechanism,), 0.9, nested=True)
        assert (apart >= together).all()
        assert apart[0] == together[0] == 0
        assert np.isinf([apart[-1], together[-1]]).all()


def test_what_has_no_noise_has_no_margin():
    assert margin(np.array([0.0, 1.0]), (), 0.95).tolist() == [0, np.inf]


def test_a_margin_needs_a_probability():
    with pytest.raises(ArgumentError, match="confidence"):
        margin(1.0, (noise("gaussian", 2),), 1.5)


@pytest.mark.parametrize("level", LEVELS)
def test_the_worst_law_is_worse_than_those_that_are_known(level):
    found = worst_quantile(level)
    assert found >= NormalDist().inv_cdf((1 + level) / 2)
    assert found >= -math.log(1 - level) / math.sqrt(2)
    assert found >= level * math.sqrt(3)
    if level == 0.95:
        assert found < 1.03 * -math.log(1 - level) / math.sqrt(2)


def test_nested_marginals():
    assert nested([(0, 1), (), (1,)])
    assert nested([()])
    assert not nested([(0,), (1,)])
    assert not nested([(), (0, 1), (1, 2)])


def test_a_unit_of_noise_moves_no_sum_by_more_than_one():
    """Marginals that are nested: the positive and negative parts of what each unit of
    noise does to the leaves' cells are at most 1.
    """
    random = np.random.default_rng(8)
    for _ in range(40):
        tree = Tree(([0, 0], [0, 0, 1, 1, 1], [0, 1, 1, 2, 3, 4]))
        sizes, workload = (2, 3), [(), (0,), (0, 1)]
        variances = [10 ** random.uniform(-2, 2, 3) for _ in range(3)]
        for level in range(3):
            for place, cells in enumerate((1, 2, 6)):
                measured = [[np.zeros((n, k)) for k in (1, 2, 6)] for n in tree.sizes]
                measured[level][place][0, 0] = 1
                found = fit(tree, sizes, workload, measured, variances).cells[-1]
                assert cells
                for cell in (slice(None), slice(0, 3), slice(0, 1)):
                    sums = found[:, cell].sum(axis=1)
                    assert sums[sums > 0].sum() <= 1 + 1e-9
                    assert -sums[sums < 0].sum() <= 1 + 1e-9


def test_ends_are_whole_numbers_from_zero_on():
    low, high = ends(np.array([10.4, -7.0, 0.2, 3.0]), np.array([2.0, 3.0, 0.7, 0.0]))
    assert low.tolist() == [9, 0, 0, 3]
    assert high.tolist() == [12, 1, 1, 3]


def test_ends_of_exact_zeros_are_zero():
    low, high = ends(0.0, 0.0)
    assert (float(low), float(high)) == (0, 0)


def test_ends_hold_the_value_where_no_whole_number_is_near():
    low, high = ends(10.4, 0.2)
    assert float(low) <= 10.4 <= float(high)


def test_a_spread_gives_ends():
    spread = CountSpread(
        12.5, noise_variance(noise("gaussian", 3)), (noise("gaussian", 3),)
    )
    low, high = spread.ends(0.95)
    assert (float(low), float(high)) == (7, 18)


def test_margins_of_what_is_unknown_do_not_warn():
    found = margin(np.array([np.inf, 1.0]), (noise("laplace", 0.01),), 0.95)
    assert found[0] == np.inf
    assert np.isfinite(found[1])
