"""Discrete Laplace noise: its law, and that floats and exact arithmetic decide alike."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from dither.noise import discrete_laplace, laplace
from dither.noise.cells import LARGEST, settle
from dither.noise.laplace import BITS, LEAST, plan
from tests.chance import chance
from tests.noise.support import (
    FULL,
    LEVEL,
    ONES,
    QUICK,
    SCALES,
    Replay,
    always,
    low_bits_p,
    neighbours_p,
    random_words,
    symmetric_p,
)

REST = (1 << 63) - 1
MIXED = 0x9E3779B97F4A7C15
SHORT = [(1.0, 23), (100.0, 29), (12345.678, 36)]


def tail(scale):
    return lambda k: math.exp(-k / scale) / (1 + math.exp(-1 / scale))


@chance(1e-8)
@pytest.mark.parametrize("scale", [1e-6, 0.03, *SCALES])
def test_law(scale):
    if scale < 0.1:
        assert not discrete_laplace(scale, 1000).any()  # P(X ≠ 0) < 1e-14
    else:
        assert (
            symmetric_p(lambda n: discrete_laplace(scale, n), tail(scale), QUICK)
            > LEVEL
        )


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("scale", SCALES)
def test_law_in_a_long_campaign(scale):
    assert symmetric_p(lambda n: discrete_laplace(scale, n), tail(scale), FULL) > LEVEL
    if scale > 10_000:
        assert low_bits_p(lambda n: discrete_laplace(scale, n), FULL) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize("scale", [1.0, 2.0**24 * 1.1])
def test_law_of_single_draws(scale):
    def sample(n):
        return np.array([discrete_laplace(scale) for _ in range(n)])

    assert symmetric_p(sample, tail(scale), 60_000) > LEVEL


@chance(1e-8)
def test_neighbours_are_independent():
    assert neighbours_p(discrete_laplace(3.0, 1_000_000)) > LEVEL
    assert neighbours_p(discrete_laplace(2.0**30, 300_000)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize(("scale", "bits"), [*SHORT, (2.0**24 * 1.1, 41)])
def test_law_with_shortened_words(scale, bits):
    """Most of the law's mass then passes through the exact path."""
    short = plan(scale, bits)
    heads = random_words(10_000) & np.uint64(REST)
    assert laplace.magnitudes(short, heads)[1].size >= 1000
    source = laplace.stream.current()
    assert (
        symmetric_p(lambda n: laplace.draw(short, n, source), tail(scale), 40_000)
        > LEVEL
    )


def agree(prepared, heads):
    """Where floats are sure, the exact path gives the same whatever bits come next."""
    floors, unsure = laplace.magnitudes(prepared, heads)
    sure = np.setdiff1d(np.arange(heads.size), unsure)
    for i in sure:
        for word in (0, ONES):
            assert (
                laplace.exact_magnitude(prepared, int(heads[i]), always(word))
                == floors[i]
            )
    return sure.size


@chance(1e-15)
@pytest.mark.parametrize("scale", [1e-6, *SCALES])
def test_fast_and_exact_agree(scale):
    assert agree(plan(scale), random_words(300) & np.uint64(REST)) > 250


@chance(1e-15)
@pytest.mark.full
@pytest.mark.parametrize("scale", [1.0, 12345.678, 2.0**24 * 1.1])
def test_fast_and_exact_agree_on_many_words(scale):
    assert agree(plan(scale), random_words(10_000) & np.uint64(REST)) > 9_700


@chance(1e-15)
@pytest.mark.parametrize(("scale", "bits"), SHORT)
def test_fast_and_exact_agree_on_shortened_words(scale, bits):
    assert agree(plan(scale, bits), random_words(1000) & np.uint64(REST)) > 500


@pytest.mark.parametrize("scale", [1.0, 100.0, 12345.678, 2.0**20, 2.0**24 * 1.1])
@pytest.mark.parametrize("bits", [63, 45])
def test_words_beside_a_rounding_boundary(scale, bits):
    """V = e^(−(k − κ)/t) is where the floor changes; words near it are left to the
    exact path, or floats are right.
    """
    prepared = plan(scale, bits)
    with mpmath.workdps(60):
        t = mpmath.mpf(prepared.scale)
        kappa = t * mpmath.log(2 / (1 + mpmath.exp(-1 / t)))
        most = int((t * 18 * mpmath.log(2) + kappa) / 2**prepared.r)
        some = np.unique(np.linspace(1, most, 40).astype(np.int64))
        edges = [
            int(2**BITS * mpmath.exp(-(int(k) * 2**prepared.r - kappa) / t))
            for k in some
        ]
    unseen = 1 << (BITS - bits)
    offsets = [sign * step for step in (0, 1, 2, 3, 10, 100) for sign in (1, -1)]
    heads = [(edge // unseen + offset) * unseen for edge in edges for offset in offsets]
    agree(
        prepared, np.array([head for head in heads if LEAST <= head <= REST], np.uint64)
    )


@pytest.mark.parametrize(("scale", "bits"), [(1.0, 63), *SHORT])
def test_each_value_sits_in_its_own_place(scale, bits):
    prepared, words = plan(scale, bits), random_words(700)
    seen = laplace.draw(prepared, words.size, Replay(words, itertools.repeat(MIXED)))
    for word, value in zip(words.tolist(), seen.tolist(), strict=True):
        magnitude = laplace.exact_magnitude(prepared, word & REST, always(MIXED))
        assert value == (-magnitude if word >> 63 else magnitude)


def test_each_value_of_a_large_scale_sits_in_its_own_place():
    prepared, words = plan(2.0**24 * 1.1, 41), random_words(900)
    seen = laplace.draw(prepared, 300, Replay(words, itertools.repeat(MIXED)))
    ratio = laplace.ratio(prepared.scale)
    for i, value in enumerate(seen.tolist()):
        cell = laplace.exact_magnitude(prepared, int(words[i]) & REST, always(MIXED))
        where, chance = int(words[300 + i]), int(words[600 + i])
        expected = settle(cell, prepared.r, where, chance, ratio, always(MIXED))
        assert value == (-expected if int(words[i]) >> 63 else expected)


def test_a_place_below_kappa_is_drawn_again():
    """V = 1 gives the first cell, which begins at κ just below ½: place 0.0 is not in
    it, place 5 is.
    """
    prepared = plan(2.0**30)
    five = 5 << (64 - prepared.r)
    assert laplace.draw_one(prepared, Replay([REST, 0, 0, five, 0])) == 5
    assert laplace.draw(
        prepared, 2, Replay([ONES, REST, 0, five, 0, 0], [five, 0])
    ).tolist() == [-5, 5]


def test_fewer_draws_are_a_prefix_across_chunks():
    words = random_words(40_000)
    long = laplace.draw(plan(100.0), 40_000, Replay(words, itertools.repeat(MIXED)))
    for count in (0, 1, 5, 16_384, 16_385, 33_000):
        short = laplace.draw(plan(100.0), count, Replay(words, itertools.repeat(MIXED)))
        np.testing.assert_array_equal(short, long[:count])


@pytest.mark.parametrize("scale", [1e-6, 0.3, 100.0, 2.0**20, 2.0**24 * 1.1])
def test_single_draws_and_arrays_give_the_same(scale):
    prepared = plan(scale)
    for word in [*random_words(1000).tolist(), 0, 1, REST, ONES, LEAST, LEAST - 1]:
        one = laplace.draw_one(
            prepared, Replay(extra=itertools.chain([word], itertools.repeat(MIXED)))
        )
        many = laplace.draw(
            prepared, 1, Replay([word, MIXED, MIXED], itertools.repeat(MIXED))
        )
        assert [one] == many.tolist()


def test_the_sign_is_its_own_bit():
    for word in random_words(200).tolist():
        plus, minus = (
            laplace.draw_one(plan(50.0), Replay([w, MIXED, MIXED]))
            for w in (word & REST, word | 1 << 63)
        )
        assert plus == -minus >= 0


def test_extreme_words():
    # V = 0 so far, then ½ in the next bits: E = 64 ln 2 with 63 + 1 bits known to be 0
    # and 1.
    assert laplace.draw_one(plan(1.0), Replay([0, 1 << 63, 0, 0])) == math.floor(
        64 * math.log(2) + 0.3799
    )
    assert (
        laplace.draw(plan(1.0), 2, Replay([0, 1 << 63], [0, 0, 1, 5, 0, 0, 1, 5]))[1]
        < 0
    )
    # V = 1: E = 0, so X = ⌊κ⌋ = 0.
    assert laplace.draw_one(plan(1e5), Replay([REST])) == 0
    assert laplace.draw(plan(1e5), 1, Replay([ONES])).tolist() == [0]


@chance(1e-8)
@pytest.mark.parametrize("power", [52, 56])
def test_huge_scales(power):
    scale = 2.0**power
    values = discrete_laplace(scale, 100_000)
    assert (
        symmetric_p(lambda n: discrete_laplace(scale, n), tail(scale), 100_000) > LEVEL
    )
    assert low_bits_p(lambda n: discrete_laplace(scale, n), 100_000) > LEVEL
    assert np.abs(values).max() <= LARGEST


def test_values_are_held_at_the_edge():
    """E above 64 at scale 2^56; with real words that happens once in 10^28 draws."""
    prepared = plan(2.0**56)
    far = [0, 0, 1 << 40]
    assert laplace.draw_one(prepared, Replay([*far, 0, 0, 0])) == LARGEST
    assert laplace.draw(prepared, 1, Replay([1 << 63, MIXED, 0], far[1:])).tolist() == [
        -LARGEST
    ]


def test_tiny_scales_need_no_more_than_a_few_words():
    assert (
        laplace.draw(
            plan(2.0**-1000), 50, Replay(random_words(50), itertools.repeat(MIXED))
        ).tolist()
        == [0] * 50
    )


def test_margin_covers_the_derivation():
    """docs/proofs/noise.md: truncation 2^-(bits − 18), log 12.48·2^-45, roundings
    32·2^-53 of the coarse scale.
    """
    for scale in (1e-6, 1.0, 12345.678, 2.0**20, 2.0**40):
        for bits in (63, 45, 30):
            p = plan(scale, bits)
            assert (
                p.margin
                >= p.coarse * (2.0 ** -(bits - 18) + 12.48 * 2.0**-45 + 32 * 2.0**-53)
                + 2.0**-53
            )
