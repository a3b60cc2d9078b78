"""Discrete Gaussian noise: its law, and that floats and exact arithmetic decide alike."""

import importlib
import math

import mpmath
import numpy as np
import pytest

from dither.noise import discrete_gaussian as public
from dither.noise.exact import Uniform
from dither.noise.stream import current
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

module = importlib.import_module("dither.noise.discrete_gaussian")


def tail(sigma):
    # The sum is the integral between half-integers, up to 1 / σ² of it
    if sigma > 1000:
        return lambda k: math.erfc((k - 0.5) / (sigma * math.sqrt(2))) / 2
    weights = np.exp(-(np.arange(int(40 * sigma) + 10) ** 2) / (2 * sigma**2))
    tails = np.cumsum(weights[::-1])[::-1] / (2 * weights[1:].sum() + 1)
    return lambda k: float(tails[k]) if k < tails.size else 0.0


@chance(1e-8)
@pytest.mark.parametrize("sigma", [1e-6, *SCALES])
def test_law(sigma):
    if sigma < 0.01:
        assert not public(sigma, 1000).any()
    else:
        assert symmetric_p(lambda n: public(sigma, n), tail(sigma), QUICK) > LEVEL


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("sigma", SCALES)
def test_law_in_a_long_campaign(sigma):
    assert symmetric_p(lambda n: public(sigma, n), tail(sigma), FULL) > LEVEL
    if sigma > 10_000:
        assert low_bits_p(lambda n: public(sigma, n), FULL) > LEVEL


@chance(1e-8)
def test_single_draws_and_neighbours():
    assert (
        symmetric_p(
            lambda n: np.array([public(2.5) for _ in range(n)]), tail(2.5), 5_000
        )
        > LEVEL
    )
    assert isinstance(public(2.5), int)
    assert neighbours_p(public(3.0, 500_000)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize("sigma", [0.3, 1.0, 100.0])
def test_law_with_shortened_words(sigma):
    """With 3 bits a coin, every fourth goes to the exact path."""
    assert (
        symmetric_p(
            lambda n: module.draw(sigma, n, current(), bits=3), tail(sigma), 40_000
        )
        > LEVEL
    )


@pytest.mark.parametrize("sigma", [1e-6, 0.3, 1.0, 12345.678, 2.0**40, 2.0**56])
def test_float_chances_are_within_their_error(sigma):
    t = float(math.floor(sigma) + 1)
    values = (
        np.array([0, 0.1, 0.5, 0.9, 1, 1.1, 2, 5, 20, 40]) * max(sigma, 1)
    ).astype(np.int64)
    with mpmath.workdps(60), np.errstate(all="ignore"):
        s = mpmath.mpf(sigma)
        for value, chance in zip(
            values.tolist(), module.chances(sigma, t, values), strict=True
        ):
            exact = mpmath.exp(-((value - s * s / t) ** 2) / (2 * s * s))
            assert abs(mpmath.mpf(float(chance)) - exact) < 2.0**-45 < module.ERROR


@pytest.mark.parametrize(
    ("sigma", "bits"), [(0.3, 64), (1.0, 64), (100.0, 64), (100.0, 12), (12345.678, 5)]
)
def test_fast_and_exact_agree(sigma, bits):
    """Random coins, and coins right beside the chance; both for every continuation of
    their bits.
    """
    t = float(math.floor(sigma) + 1)
    values = np.repeat(public(sigma, 100), 9)
    near = module.chances(sigma, t, values) * 2.0**64
    steps = np.tile(
        [0, 1, -1, 2.0**13, -(2.0**13), 2.0**25, -(2.0**25), 2.0**27, -(2.0**27)], 100
    )
    coins = np.concatenate(
        [random_words(900), np.clip(near + steps, 0, 2.0**64 - 4096).astype(np.uint64)]
    )
    values = np.tile(values, 2)
    for word in (0, ONES):
        keep = module.accepted(sigma, t, values, coins, bits, always(word))
        for value, coin, kept in zip(
            values.tolist(), coins.tolist(), keep.tolist(), strict=True
        ):
            assert kept == module.exact_coin(
                sigma, t, value, Uniform(coin >> (64 - bits), bits, always(word))
            )


@pytest.mark.full
def test_fast_and_exact_agree_on_many_words():
    sigma, t = 12.5, 13.0
    values, coins = public(sigma, 100_000), random_words(100_000)
    keep = module.accepted(sigma, t, values, coins, 64, always(5))
    for value, coin, kept in zip(
        values.tolist(), coins.tolist(), keep.tolist(), strict=True
    ):
        assert kept == module.exact_coin(sigma, t, value, Uniform(coin, 64, always(5)))


def test_draws_are_the_accepted_proposals_in_order():
    for _ in range(30):
        words = random_words(46)
        proposals = module.laplace.draw(
            module.laplace.plan(8.0), 23, Replay(words[:23], [3] * 99)
        )
        # Keeps three of four
        keep = module.accepted(7.5, 8.0, proposals, words[23:], 64, always(3))
        assert (
            module.draw(7.5, 5, Replay(words, [3] * 99)).tolist()
            == proposals[keep][:5].tolist()
        )


@chance(1e-8)
def test_extreme_scales():
    assert public(2.0**-1000, 20).tolist() == [0] * 20
    assert public(1e-200) == 0
    assert low_bits_p(lambda n: public(2.0**56, n), 50_000) > LEVEL
    assert symmetric_p(lambda n: public(2.0**56, n), tail(2.0**56), 50_000) > LEVEL
