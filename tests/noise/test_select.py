"""The noisy argmax: winners against closed forms, and that no possible winner is sorted
out by floats.
"""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import integrate, stats

from dither.errors import ArgumentError
from dither.noise import Noise, noisy_argmax, select
from dither.noise.select import BITS, RIM, SPARE, Contender, contest
from tests.chance import chance
from tests.noise.support import FULL, LEVEL, ONES, Replay, always, p_value, random_words

SCORES = np.array([0.0, 1.0, 2.0, 2.5, -3.0, 0.25, 1.5, 2.5, -0.5, 1.0])
REST = (1 << 63) - 1


def chances(noise, scores, weight):
    """The winner's law in closed form (for Laplace noise, by one integral)."""
    lead = weight * (np.array(scores, float) - max(scores))
    if noise is Noise.GUMBEL:
        return np.exp(lead) / np.exp(lead).sum()
    if noise is Noise.EXPONENTIAL:  # ∫₀¹ e^l_i ∏ (1 − e^l_j y) dy, with y = e^−x
        factors = [Polynomial([1, -math.exp(value)]) for value in lead]
        rest = [
            math.prod(factors[:i] + factors[i + 1 :], start=Polynomial([1]))
            for i in range(len(lead))
        ]
        return np.array(
            [
                math.exp(value) * poly.integ()(1)
                for value, poly in zip(lead, rest, strict=True)
            ]
        )
    cuts = sorted(set(lead))

    def density(x, i):
        others = np.delete(lead, i)
        return stats.laplace.pdf(x - lead[i]) * stats.laplace.cdf(x - others).prod()

    spans = list(itertools.pairwise([-30, *cuts, 40]))
    return np.array(
        [
            sum(integrate.quad(density, a, b, (i,))[0] for a, b in spans)
            for i in range(len(lead))
        ]
    )


def fits(noise, scores, weight, draws, bits=BITS):
    source = select.stream.current()
    wins = [contest(scores, weight, noise, source, bits) for _ in range(draws)]
    return p_value(
        np.bincount(wins, minlength=scores.size), chances(noise, scores, weight)
    )


@chance(1e-8)
@pytest.mark.parametrize("noise", Noise)
def test_winners(noise):
    assert fits(noise, SCORES, 1.0, 15_000) > LEVEL
    assert fits(noise, np.array([3, 5, 6]), 0.5, 15_000) > LEVEL


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("noise", Noise)
def test_winners_in_a_long_campaign(noise):
    """A bias of 1.5 % of a candidate's chance is found; the noise itself is drawn ten
    million times below.
    """
    assert fits(noise, SCORES, 1.0, 250_000) > LEVEL


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("noise", Noise)
def test_float_noise_in_a_long_campaign(noise):
    law = {
        Noise.GUMBEL: stats.gumbel_r,
        Noise.EXPONENTIAL: stats.expon,
        Noise.LAPLACE: stats.laplace,
    }[noise]
    counts, cuts = np.zeros(200, np.int64), law.ppf(np.arange(1, 200) / 200)
    for _ in range(10):
        words = np.empty(FULL // 10, np.uint64)
        select.stream.current().fill(words)
        values, unsure = select.noise_values(words, noise, BITS)
        assert unsure.size < 100
        counts += np.bincount(np.searchsorted(cuts, values), minlength=200)
    assert p_value(counts, np.full(200, 1 / 200)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize(("bits", "draws"), [(44, 3000), (40, 600), (2, 400)])
def test_winners_with_shortened_words(noise, bits, draws):
    """Then nearly every contest is decided among several contenders."""
    assert fits(noise, SCORES, 1.0, draws, bits) > LEVEL


def special_words(bits):
    """Random words, and words at both ends of what floats are trusted with."""
    ends = [
        1 << (BITS - SPARE),
        1 << (BITS - SPARE + 3),
        (1 << BITS) - (1 << (BITS - RIM)),
        1 << 62,
        1,
        REST - 5,
    ]
    near = [
        end + offset * (1 << (BITS - bits)) for end in ends for offset in range(-3, 4)
    ]
    words = [word & REST | sign << 63 for word in near for sign in (0, 1)]
    return np.concatenate([random_words(400), np.array(words, np.uint64)])


@chance(1e-9)
@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize(
    ("bits", "weight"),
    [(63, 1.0), (63, 1e-3), (63, 1e6), (45, 1.0), (45, 1e6), (63, 1e12), (63, 3e-308)],
)
def test_float_bounds_hold_what_exact_bounds_hold(noise, bits, weight):
    """Exact ends of the same known bits lie between the float ends: so floats never
    sort out a possible winner.
    """
    words = special_words(bits)
    scores = np.random.default_rng().uniform(-1, 1, words.size) * (
        1.7e308 if weight < 1e-300 else 2
    )
    with np.errstate(all="ignore"):
        low, high = select.bounds(scores, weight, noise, words, bits, scores.max())
    best = Fraction(scores.max())
    for i, word in enumerate(words.tolist()):
        lead = Fraction(weight) * (Fraction(scores[i]) - best)
        least, most = Contender(lead, noise, word, bits, always(0)).ends()
        assert Decimal(low[i]) <= least or math.isinf(low[i])
        assert Decimal(high[i]) >= most or math.isinf(high[i])
    known = np.isfinite(low)
    assert known[:400].mean() > 0.99
    assert (high - low)[known].max() < 3 * select.noise_error(
        bits
    ) + 2.0**-45 * weight * np.ptp(scores / 2)


@pytest.mark.parametrize("rounds", [100, pytest.param(1500, marks=pytest.mark.full)])
@pytest.mark.parametrize("noise", Noise)
def test_the_exact_contest_of_all_has_the_same_winner(noise, rounds):
    for bits in (63, 44):
        for _ in range(rounds):
            words = random_words(SCORES.size)
            fast = contest(
                SCORES, 1.0, noise, Replay(words, itertools.repeat(1 << 63)), bits
            )
            leads = [Fraction(score) - Fraction(5, 2) for score in SCORES.tolist()]
            everyone = [
                Contender(lead, noise, int(word), bits, always(1 << 63))
                for lead, word in zip(leads, words, strict=True)
            ]
            assert select.winner(everyone) == fast


def test_ties_are_decided_by_more_bits():
    """Equal scores and equal words, for every noise; also where the known bits say
    nothing (0 and all ones).
    """
    scores = np.array([1.0, 1.0])
    for noise, word in itertools.product(
        Noise, (5 << 60, 3 << 40, 0, REST, ONES, 1 << 63)
    ):
        wins = {
            contest(scores, 1.0, noise, Replay([word, word], itertools.cycle(pair)))
            for pair in ((7 << 50, 9 << 50), (9 << 50, 7 << 50))
        }
        assert wins == {0, 1}


@chance(1e-8)
def test_a_single_candidate_and_weight_zero():
    assert noisy_argmax(np.array([3.0]), 1.0, Noise.GUMBEL) == 0
    wins = [
        noisy_argmax(np.array([0.0, 1e308, -1e308]), 0.0, Noise.LAPLACE)
        for _ in range(3000)
    ]
    assert p_value(np.bincount(wins, minlength=3), np.full(3, 1 / 3)) > LEVEL


@chance(1e-8)
def test_huge_scores_and_a_tiny_weight_still_compete():
    """The difference of these floats overflows, but the weighted lead is −2: the odds
    are e² to 1.
    """
    scores = np.array([1e308, -1e308])
    wins = [noisy_argmax(scores, 1e-308, Noise.GUMBEL) for _ in range(5000)]
    assert (
        p_value(
            np.bincount(wins, minlength=2),
            np.array([1, math.exp(-2)]) / (1 + math.exp(-2)),
        )
        > LEVEL
    )


@chance(1e-15)
@pytest.mark.parametrize(
    "dtype", ["int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "bool"]
)
def test_any_type_of_number(dtype):
    scores = np.array([0, 0, 1, 0], dtype)
    assert {noisy_argmax(scores, 100.0, noise) for noise in Noise} == {2}


@chance(1e-14)
def test_integers_beyond_the_limit_count_as_the_limit():
    ends = np.array([-(1 << 63), (1 << 63) - 1, 1 << 62, 0])
    assert {noisy_argmax(ends, 1.0, Noise.GUMBEL) for _ in range(50)} == {1, 2}
    assert noisy_argmax(np.array([0, ONES], np.uint64), 1.0, Noise.GUMBEL) == 1


@chance(1e-15)
def test_large_integers_are_told_apart():
    scores = np.array([(1 << 61) + 1, 1 << 61])
    assert {noisy_argmax(scores, 50.0, Noise.GUMBEL) for _ in range(50)} == {0}


@pytest.mark.parametrize(
    ("scores", "weight"),
    [
        (np.array([]), 1.0),
        (np.zeros((2, 2)), 1.0),
        (np.array(1.0), 1.0),
        (np.array(["a"]), 1.0),
        (np.array([1j]), 1.0),
        (np.array([1.0]), math.nan),
        (np.array([1.0]), math.inf),
        (np.array([1.0]), -1.0),
    ],
)
def test_bad_input_draws_nothing(scores, weight, monkeypatch):
    monkeypatch.setattr(select.stream, "current", lambda: Replay([]))
    with pytest.raises(ArgumentError):
        noisy_argmax(scores, weight, Noise.GUMBEL)


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("scores", ["equal", "rising", "falling", "random", "far"])
def test_sorting_out_by_words_never_loses_the_winner(noise, scores):
    """Several chunks, against the maximum over all candidates at once."""
    size, weight = 3 * select.CHUNK + 17, 0.1
    made = {
        "equal": np.zeros(size),
        "rising": np.arange(size),
        "falling": -np.arange(size),
        "random": np.random.default_rng().normal(size=size)
        * 50,  # allowed: test inputs
        "far": np.linspace(-1e300, 0, size),
    }[scores]
    for _ in range(5):
        words = random_words(size)
        first = int(made.argmax()) // select.CHUNK
        order = [first, *(i for i in range(4) if i != first)]
        chunks = [words[i * select.CHUNK : (i + 1) * select.CHUNK] for i in order]
        winner = contest(
            made,
            weight,
            noise,
            Replay(np.concatenate(chunks), itertools.repeat(1 << 63)),
        )
        with np.errstate(all="ignore"):
            low, high = select.bounds(made, weight, noise, words, BITS, made.max())
        assert high[winner] >= low.max()
