"""Rounded Cauchy noise: its law, and that floats and exact arithmetic decide alike."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dither.noise import cauchy, rounded_cauchy
from dither.noise.cauchy import RIM, plan
from dither.noise.cells import LARGEST
from dither.noise.polar import heads
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

MIXED = 0x9E3779B97F4A7C15
SHORT = [(1.0, 28), (100.0, 34), (12345.678, 41)]


def tail(gamma):
    return lambda k: math.atan(gamma / (k - 0.5)) / math.pi


@chance(1e-8)
@pytest.mark.parametrize("gamma", SCALES)
def test_law(gamma):
    assert symmetric_p(lambda n: rounded_cauchy(gamma, n), tail(gamma), QUICK) > LEVEL


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("gamma", SCALES)
def test_law_in_a_long_campaign(gamma):
    assert symmetric_p(lambda n: rounded_cauchy(gamma, n), tail(gamma), FULL) > LEVEL
    if gamma > 10_000:
        assert low_bits_p(lambda n: rounded_cauchy(gamma, n), FULL) > LEVEL


@chance(1e-8)
def test_single_draws_and_neighbours():
    assert (
        symmetric_p(
            lambda n: np.array([rounded_cauchy(2.5) for _ in range(n)]),
            tail(2.5),
            5_000,
        )
        > LEVEL
    )
    assert isinstance(rounded_cauchy(2.5), int)
    assert neighbours_p(rounded_cauchy(3.0, 500_000)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize(("gamma", "bits"), [*SHORT, (2.0**24 * 1.1, 46)])
def test_law_with_shortened_words(gamma, bits):
    short = plan(gamma, bits)
    assert cauchy.floors(short, random_words(20_000))[2].size >= 1000
    source = cauchy.stream.current()
    assert (
        symmetric_p(lambda n: cauchy.draw(short, n, source), tail(gamma), 40_000)
        > LEVEL
    )


def agree(prepared, words):
    """Where floats are sure, the exact path gives the same whatever bits come next."""
    values, inside, unsure = cauchy.floors(prepared, words)
    sure = np.setdiff1d(np.arange(inside.size), unsure)
    for i in sure:
        for word in (0, ONES):
            answer = cauchy.exact_ratio(
                prepared, *heads(words, i, prepared.bits), always(word)
            )
            assert answer == (values[i] if inside[i] else None)
    return sure.size


@chance(1e-15)
@pytest.mark.parametrize("gamma", [1e-6, *SCALES])
def test_fast_and_exact_agree(gamma):
    assert agree(plan(gamma), random_words(3000)) > 1400


@chance(1e-15)
@pytest.mark.full
@pytest.mark.parametrize("gamma", [1.0, 12345.678, 2.0**24 * 1.1])
def test_fast_and_exact_agree_on_many_words(gamma):
    assert agree(plan(gamma), random_words(200_000)) > 99_000


@chance(1e-15)
@pytest.mark.parametrize(("gamma", "bits"), SHORT)
def test_fast_and_exact_agree_on_shortened_words(gamma, bits):
    assert agree(plan(gamma, bits), random_words(3000)) > 700


@pytest.mark.parametrize(
    ("gamma", "bits"),
    [(1.0, 64), (100.0, 64), (2.0**20 * 0.9, 64), (2.0**20 * 0.9, 50)],
)
def test_words_beside_a_rounding_boundary(gamma, bits):
    """U tiny and V small as well: there the unseen bits of U count most (a margin that
    forgot them failed here).
    """
    prepared, unseen, points = plan(gamma, bits), 1 << (64 - bits), []
    for v in (
        (1 << 43) + unseen,
        (1 << 44) + 12345,
        1 << 45,
        1 << 50,
        1 << 58,
        3 << 61,
    ):
        for k in (1, 2, 3, 10, 100, 1000, 54321):
            u = int((Fraction(k) - Fraction(1, 2)) * v / Fraction(gamma))
            points += [
                (u // unseen * unseen + offset * unseen, v)
                for offset in range(-3, 4)
                if u < 1 << 62
            ]
    words = np.array(
        points + [(-u, v) for u, v in points] + [(u, -v) for u, v in points], np.int64
    )
    agree(prepared, words.T.reshape(-1).view(np.uint64))


def test_each_value_sits_in_its_own_place():
    for gamma, bits in [(1.0, 64), *SHORT]:
        prepared, words = plan(gamma, bits), random_words(1000)
        seen = cauchy._draw_chunk(
            prepared, words, Replay(extra=itertools.repeat(MIXED))
        )
        answers = [
            cauchy.exact_ratio(prepared, *heads(words, i, bits), always(MIXED))
            for i in range(500)
        ]
        assert seen.tolist() == [answer for answer in answers if answer is not None]


def test_values_are_held_at_the_edge():
    tiny_v = np.array([1 << 62, 1 << 63 | 1 << 61, 0, 0], np.uint64)  # V = 0 so far
    for gamma in (1.0, 1e6, 2.0**30, 2.0**56):
        prepared = plan(gamma)
        source = Replay(random_words(4), itertools.repeat(1))
        assert cauchy._draw_chunk(prepared, tiny_v, source).tolist() == [
            LARGEST,
            -LARGEST,
        ]


@chance(1e-8)
def test_huge_scales():
    gamma = 2.0**52
    assert symmetric_p(lambda n: rounded_cauchy(gamma, n), tail(gamma), 100_000) > LEVEL
    assert low_bits_p(lambda n: rounded_cauchy(gamma, n), 100_000) > LEVEL
    assert np.abs(rounded_cauchy(2.0**56, 100_000)).max() <= LARGEST


def test_margin_covers_the_derivation():
    """docs/proofs/noise.md: |error of γU/V| ≤ |γU/V|·(8·2^-53 + unit/|V|) +
    γ·unit/|V|·(1 + unit/|V|) + 2^-52.
    """
    for gamma in (1e-6, 1.0, 1e5, 2.0**40):
        for bits in (64, 50):
            p, unit = plan(gamma, bits), 2.0 ** (1 - bits)
            for c in (0.0, 2.0**-30, 1e-3, 1.0, 1e5):
                x = p.coarse * c
                needed = (
                    x * (8 * 2.0**-53 + 2 * unit / RIM)
                    + 2 * p.coarse * unit / RIM
                    + 2.0**-52
                )
                assert (x + p.coarse + 1) * p.error >= needed
