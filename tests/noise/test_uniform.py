"""Uniform integers, exact coins, secrets."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.noise import (
    bernoulli,
    bernoulli_exp,
    secret_bytes,
    token,
    uniform,
    uniform_integers,
)
from tests.chance import chance
from tests.noise.support import FULL, LEVEL, ONES, QUICK, Replay, always, p_value

DRAWS = [QUICK, pytest.param(FULL, marks=pytest.mark.full)]


@chance(1e-8)
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("below", [1, 2, 3, 10, 1000, 3 << 61, 1 << 63])
def test_integers(below, draws):
    bins = min(below, 1000)
    values = uniform_integers(below, draws)
    assert values.min() >= 0
    assert values.max() < below
    if below > 1:
        counts = np.bincount(
            (values // max(below // bins, 1)).clip(max=bins - 1), minlength=bins
        )
        widths = np.diff([i * (below // bins) for i in range(bins)] + [below]).astype(
            float
        )
        assert p_value(counts, widths / below) > LEVEL


def test_words_of_an_incomplete_run_are_drawn_again_in_their_place():
    last = (1 << 64) - (1 << 64) % 10
    source = Replay([13, last, 27, last + 3, last - 1, ONES, 44, 8])
    assert uniform.draw_integers(10, 5, source).tolist() == [3, 8, 7, 4, 9]
    assert source.used == 8
    assert uniform.draw_integers(1 << 63, 2, Replay([ONES, 0])).tolist() == [
        (1 << 63) - 1,
        0,
    ]


@pytest.mark.parametrize("below", [0, -1, 1.5, "3", None, (1 << 63) + 1, math.nan])
def test_bad_ranges(below, monkeypatch):
    monkeypatch.setattr(uniform.stream, "current", lambda: Replay([]))
    with pytest.raises(ArgumentError):
        uniform_integers(below, 3)


def fits(coins, p):
    return (
        p_value(np.bincount(coins.astype(np.int64), minlength=2), np.array([1 - p, p]))
        > LEVEL
    )


@chance(1e-8)
@pytest.mark.parametrize("draws", DRAWS)
def test_coins(draws):
    for p in (0.5, 0.1, Fraction(1, 3), 0.999):
        assert fits(bernoulli(p, draws), float(p))
    for loss in (0.5, 1, Fraction(7, 3), 1e-3):
        assert fits(bernoulli_exp(loss, draws), math.exp(-loss))


def test_certain_coins():
    for zero, one in ((0, 1), (0.0, 1.0), (Fraction(0), np.int64(1))):
        assert not bernoulli(zero, 500).any()
        assert bernoulli(one, 500).all()
    assert bernoulli_exp(0, 500).all()
    assert bernoulli_exp(0) is True
    assert not bernoulli_exp(1e308, 500).any()
    assert bernoulli_exp(1e-300, 500).all()
    assert isinstance(bernoulli(0.5), bool)


@pytest.mark.parametrize(
    "p",
    [Fraction(1, 3), Fraction(2, 3), 0.1, 1e-300, Fraction(1, 1 << 64), 1 - 2.0**-53],
)
def test_a_coin_is_exact_to_the_last_bit(p):
    """Words around 2^64·p, with each continuation that matters: U < p is decided as
    fractions decide it.
    """
    exact = Fraction(p)
    whole, rest = divmod(exact * 2**64, 1)
    more = int(rest * 2**64)

    def bound(ctx):
        value = uniform.decimal_of(ctx, exact)
        return uniform.widen(ctx, value, value)

    for word in {max(whole - 1, 0), whole, min(whole + 1, ONES)}:
        for extra in {0, max(more - 1, 0), min(more + 1, ONES), ONES}:
            more_words = [extra, 1 << 63, *[5] * 20]
            source = Replay([word], more_words)
            coin = uniform.draw_coins(whole, rest == 0, bound, 1, source)[0]
            value = sum(
                Fraction(part, 1 << 64 * (i + 1))
                for i, part in enumerate([word, *more_words])
            )
            assert coin == (value < exact)


def test_whole_part_of_an_exponential_coin():
    for loss in (
        Fraction(1, 10**30),
        Fraction(1, 3),
        Fraction(20),
        Fraction(44),
        Fraction(700),
    ):

        def bound(ctx, loss=loss):
            value = ctx.exp(uniform.decimal_of(ctx, -loss))
            return uniform.widen(ctx, value, value)

        whole = uniform._whole(bound)
        assert (
            whole == int(math.exp(-loss) * 2**64)
            or abs(whole / 2**64 / math.exp(-loss) - 1) < 1e-14
        )
    # e^-44 < 2^-63, so the first word says little: it is 1, and the coin is decided by
    # the next.
    assert uniform._whole(lambda ctx: (ctx.exp(-44),) * 2) == 1


def test_an_exponential_coin_of_many_words():
    """e^−700 ≈ 2^−1010: only fifteen words of zeros can make it true."""
    assert uniform.draw_coins(
        0, False, _exp(700), 2, Replay([0, 1], always(0)._extra)
    ).tolist() == [True, False]
    assert uniform.draw_coins(
        0, False, _exp(700), 1, Replay([0], [0] * 14 + [1 << 63])
    ).tolist() == [False]


def _exp(loss):
    def bound(ctx):
        value = ctx.exp(uniform.decimal_of(ctx, Fraction(-loss)))
        return uniform.widen(ctx, value, value)

    return bound


@pytest.mark.parametrize(
    "bad", [-0.1, 1.1, math.nan, math.inf, -math.inf, "1/2", None, 1j, Fraction(-1, 9)]
)
def test_bad_probabilities(bad, monkeypatch):
    monkeypatch.setattr(uniform.stream, "current", lambda: Replay([]))
    with pytest.raises(ArgumentError):
        bernoulli(bad, 3)
    if bad != 1.1:
        with pytest.raises(ArgumentError):
            bernoulli_exp(bad, 3)


def test_numpy_numbers_are_numbers():
    assert bernoulli(np.float32(1)) is True
    assert bernoulli_exp(np.int64(0), 2).tolist() == [True, True]
    assert uniform_integers(np.uint8(1), np.int64(2)).tolist() == [0, 0]


@chance(1e-8)
def test_secrets():
    for count in (0, 1, 7, 8, 9, 100_000):
        assert len(secret_bytes(count)) == count
    assert len(token()) == 64
    assert len({token() for _ in range(1000)}) == 1000
    assert (
        p_value(
            np.bincount(np.frombuffer(secret_bytes(QUICK), np.uint8)),
            np.full(256, 1 / 256),
        )
        > LEVEL
    )
    for bad in (-1, 1.5, None, "8"):
        with pytest.raises(ArgumentError):
            secret_bytes(bad)
