"""Planar Laplace noise: its law, and that floats and exact arithmetic decide alike."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.noise import planar, planar_laplace, stream
from dither.noise.planar import by_floats, decided, proposal
from tests.chance import chance
from tests.noise.support import LEVEL, ONES, always, p_value, random_words

RATES = [0.05, 0.4, 2.0]
SIDE = 40


def masses(rate, side=SIDE):
    """P(a, b) on a square, and what lies outside of it last."""
    far = math.ceil(60 / rate) + side
    a, b = np.meshgrid(np.arange(-far, far + 1), np.arange(-far, far + 1))
    weights = np.exp(-rate * np.hypot(a, b))
    weights /= weights.sum()
    inner = weights[far - side : far + side + 1, far - side : far + side + 1].ravel()
    return np.append(inner, 1 - inner.sum())


def counts(pairs, side=SIDE):
    inside = (np.abs(pairs) <= side).all(axis=1)
    places = (pairs[inside, 1] + side) * (2 * side + 1) + pairs[inside, 0] + side
    found = np.bincount(places, minlength=(2 * side + 1) ** 2)
    return np.append(found, np.sum(~inside))


@chance(1e-8)
@pytest.mark.parametrize("rate", RATES)
def test_law(rate):
    assert p_value(counts(planar_laplace(rate, 200_000)), masses(rate)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize("rate", RATES)
def test_law_with_shortened_words(rate):
    """Many pairs then pass through the exact path."""
    source = stream.current()
    pairs = np.concatenate([planar.draw(rate, 20_000, source, bits=6) for _ in "ab"])
    heads = random_words(20_000) >> np.uint64(58)
    unsure = by_floats(rate, proposal(rate), pairs[:20_000], heads, 6)[1]
    assert unsure.size > 150  # of some 420 or more
    assert p_value(counts(pairs), masses(rate)) > LEVEL


@chance(1e-8)
def test_far_pairs_are_as_rare_as_they_should_be():
    rate = 2.0**-10
    pairs = planar_laplace(rate, 100_000)
    scaled = rate * np.hypot(*pairs.T)
    edges = np.linspace(0, 12, 61)
    below = 1 - (1 + edges) * np.exp(-edges)  # of the plane; the lattice is fine
    chances = np.append(np.diff(below), 1 - below[-1])
    found = np.histogram(scaled, np.append(edges, np.inf))[0]
    assert p_value(found, chances) > LEVEL


@pytest.mark.parametrize("rate", RATES)
def test_fast_and_exact_agree(rate):
    """Where floats are sure, the exact path decides the same whatever bits come next."""
    scale = proposal(rate)
    pairs = planar_laplace(rate, 300)
    words = random_words(300)
    keep, unsure = by_floats(rate, scale, pairs, words, 64)
    for i in np.setdiff1d(np.arange(300), unsure):
        a, b = (abs(int(one)) for one in pairs[i])
        for word in (0, ONES):
            uniform = planar.Uniform(int(words[i]), 64, always(word))
            assert planar.below(uniform, planar._chance(rate, scale, a, b)) == keep[i]


def test_pairs_are_decided_in_their_own_order():
    """Slow pairs among fast ones: every one has its own word."""
    pairs = np.array([[0, 0], [3, 4], [0, 0], [5, 0], [30, 40]])
    words = np.array([ONES, 0, 1 << 63, ONES, 0], np.uint64)
    source = always(0)
    found = decided(1.0, proposal(1.0), pairs, words, source)
    assert found.tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("rate", [1e-6, 0.1, 1 / 3, 1.0, 7.7])
def test_the_proposal_is_wide_enough(rate):
    product = Fraction(proposal(rate)) * Fraction(rate)
    assert 2 <= product**2 <= 2 * (1 + Fraction(1, 2**48))


def test_shapes():
    assert planar_laplace(1.0, 0).shape == (0, 2)
    assert planar_laplace(1.0, 5).dtype == np.int64
    for bad in (0, -1.0, math.inf, math.nan, "1"):
        with pytest.raises(ArgumentError):
            planar_laplace(bad, 1)
    with pytest.raises(ArgumentError):
        planar_laplace(1.0, -1)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2, 3), 0.1, 2])
def test_a_rate_is_never_rounded_up(rate):
    assert 0 < planar._rate(rate) <= rate
    assert planar._rate(rate) >= math.nextafter(float(rate), 0)
