"""The chosen radius: on exact counts, on noisy ones, and where noise is all there is."""

import math

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.privacy import gaussian_mu
from dither.query.answer.radius import Bins, Radius, choose

RANDOM = np.random.default_rng(7)  # allowed: test inputs, not noise
MU = gaussian_mu(1, 1e-6)
HISTOGRAM, PER_STEP = Gaussian(sensitivity=1, mu=math.sqrt(0.05) * MU), 1 / (math.sqrt(0.95) * MU)
BINS = Bins(1, 1 << 14)


def counted(bins, norms):
    places = np.ceil(2 * np.log2(np.maximum(norms, 1) / bins.first) - 1e-9)
    return np.bincount(np.clip(places, 0, bins.count - 1).astype(int), minlength=bins.count)


def heavy(units):
    """Rows of each unit: half have 5 or fewer, one in a hundred more than 47."""
    return np.maximum(1, np.round(np.exp(RANDOM.normal(math.log(5), 0.963, units))))


def risk(norms, radius, groups):
    return np.maximum(norms - radius, 0).sum() + PER_STEP * groups * radius


def test_bins_grow_by_the_root_of_two():
    assert BINS.edges[:7] == (1, 1, 2, 2, 4, 5, 8)
    assert Bins(1000, 5000).edges == (1000, 1414, 2000, 2828, 4000, 5000)
    assert Bins(1000, 10).edges == (1000,)
    bins = Bins(4096, 4096 << 14)
    assert bins.count == 29
    for norm in (0, 1, 4096, 4097, 5793, 8192, 8193, 4096 << 14, 1 << 40):
        expected = min(max(math.ceil(2 * math.log2(max(norm, 1) / 4096)), 0), bins.count - 1)
        assert bins.bin(norm) == expected
    assert len(bins.middles) == bins.count


@pytest.mark.parametrize(
    ("norms", "groups", "low", "high"),
    [
        (np.ones(1000), 1, 1, 1),
        (np.full(5000, 8), 50, 8, 8),
        (np.r_[np.ones(5000), np.full(5000, 512)], 1, 512, 512),
        (heavy(1_240_000), 50, 90, 370),
        (heavy(1000), 50, 5, 16),
    ],
    ids=["one row each", "eight rows each", "two kinds", "many heavy units", "few heavy units"],
)
def test_the_choice_on_exact_counts(norms, groups, low, high):
    chosen = choose(counted(BINS, norms), BINS, HISTOGRAM, noise=PER_STEP, groups=groups)
    assert low <= chosen.value <= high
    assert chosen.mass == pytest.approx(norms.sum(), rel=0.25)
    assert chosen.lost_share == chosen.lost / chosen.mass


def test_grouped_counts_of_many_users():
    """1.2 M users with a heavy tail over 50 categories, in L2: about 30 to 60 rows."""
    norms = np.concatenate(
        [
            np.sqrt((RANDOM.multinomial(rows.astype(int), np.full(50, 0.02)) ** 2).sum(1))
            for rows in np.split(heavy(1_200_000), 12)
        ]
    )
    exact = counted(BINS, norms)
    chosen = [choose(HISTOGRAM.release(exact), BINS, HISTOGRAM, noise=PER_STEP, groups=50) for _ in range(100)]
    assert 30 <= np.median([radius.value for radius in chosen]) <= 60
    assert np.median([radius.lost_share for radius in chosen]) < 0.002


@pytest.mark.parametrize(("units", "groups", "room"), [(1000, 50, 1.5), (10_000, 1, 2.5), (100_000, 50, 1.5)])
def test_noisy_choices_are_nearly_as_good_as_the_best(units, groups, room):
    """The median over 60 draws of what is lost and added, beside the best edge's."""
    norms = heavy(units)
    best = min(risk(norms, edge, groups) for edge in BINS.edges)
    exact = counted(BINS, norms)
    found = [choose(HISTOGRAM.release(exact), BINS, HISTOGRAM, noise=PER_STEP, groups=groups) for _ in range(60)]
    assert np.median([risk(norms, radius.value, groups) for radius in found]) <= room * best


@pytest.mark.parametrize("mechanism", [HISTOGRAM, Laplace(sensitivity=1, epsilon=0.05)])
def test_where_noise_is_all_there_is(mechanism):
    """Noise passes for units in at most 0.02 · Σ 2^(−b/2) < 7 % of all draws, and hardly ever far up."""
    nothing = np.zeros(BINS.count, np.int64)
    found = [choose(mechanism.release(nothing), BINS, mechanism, noise=PER_STEP, smallest=3) for _ in range(2000)]
    assert sum(radius != Radius(3) for radius in found) < 220
    assert np.median([radius.value for radius in found]) == 3


def test_limits_hold():
    norms, narrow = heavy(10_000), Bins(1, 8)
    counts, few = counted(BINS, norms), counted(narrow, norms)
    assert choose(counts, BINS, HISTOGRAM, noise=PER_STEP, smallest=1000).value == 1000
    assert choose(few, narrow, HISTOGRAM, noise=PER_STEP).value == 8
    assert choose(few, narrow, HISTOGRAM, noise=PER_STEP, smallest=100).value == 8
    assert choose(counts, BINS, HISTOGRAM, noise=1e9).value == 1
    empty = choose(np.zeros(BINS.count), BINS, HISTOGRAM, noise=PER_STEP)
    assert (empty.value, empty.lost_share) == (1, 0)


def test_what_is_cut_off_is_estimated():
    norms = np.r_[np.full(10_000, 4), np.full(1000, 64)]
    chosen = choose(counted(BINS, norms), BINS, HISTOGRAM, noise=2000.0)
    assert chosen.value == 4
    assert chosen.units_above == 1000
    assert chosen.lost == pytest.approx(1000 * 60, rel=0.25)
