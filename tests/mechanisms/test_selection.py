import math

import numpy as np
import pytest

import dither
from dither.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from tests.chance import at_least, at_most, chance
from tests.neighbours.test_mechanisms import permute_and_flip_law
from tests.noise.support import LEVEL, p_value

ALL = [Exponential, PermuteAndFlip, NoisyMax]


@chance(1e-8)
def test_permute_and_flip_follows_its_law():
    """Permutations and coins, enumerated, against the maximum under exponential noise."""
    scores, draws = [0, 1, 2, 2], 40_000
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1.5)
    seen = np.bincount([mechanism.release(scores) for _ in range(draws)], minlength=4)
    assert p_value(seen, np.array(permute_and_flip_law(scores, 0.75))) > LEVEL


@chance(1e-8)
def test_noisy_max_of_two_follows_its_law():
    """P(X₁ − X₂ > −g) for two Laplace variables: 1 − e^(−g)(1/2 + g/4)."""
    gap, draws = 1.0, 20_000
    mechanism = NoisyMax(sensitivity=1, epsilon=2)
    wins = sum(mechanism.release([gap, 0]) == 0 for _ in range(draws)) / draws
    assert wins == pytest.approx(
        1 - math.exp(-gap) * (0.5 + gap / 4), abs=6 * math.sqrt(0.25 / draws)
    )


@chance(1e-10)
@pytest.mark.parametrize("kind", ALL)
def test_the_error_covers_what_it_says(kind):
    mechanism = kind(sensitivity=1, epsilon=1)
    scores = -np.arange(100)
    bound = mechanism.error(0.9, candidates=100)
    assert (
        np.mean([-scores[mechanism.release(scores)] <= bound for _ in range(3000)])
        > 0.86
    )


@pytest.mark.parametrize("kind", ALL)
def test_odd_scores_get_an_answer(kind):
    mechanism = kind(sensitivity=1, epsilon=1)
    assert mechanism.release([5]) == 0
    assert mechanism.release([math.nan, 0.0]) in (0, 1)
    assert mechanism.release([math.inf, 0.0]) == 0
    assert mechanism.release([-math.inf, 0.0]) == 1
    assert mechanism.release([2**70, 0]) == 0
    assert mechanism.release([-(2**63), 2**63 - 1]) == 1
    assert mechanism.release(np.array([True, False])) in (0, 1)


@pytest.mark.parametrize("kind", ALL)
def test_bad_questions(kind):
    mechanism = kind(sensitivity=1, epsilon=1)
    for scores in ([], np.zeros((2, 2)), 5):
        with pytest.raises(dither.ArgumentError, match="scores"):
            mechanism.release(scores)
    with pytest.raises(dither.ArgumentError, match="sensitivity"):
        kind(sensitivity=0, epsilon=1)
    with pytest.raises(dither.ArgumentError, match="epsilon"):
        kind(sensitivity=1, epsilon=math.nan)
    with pytest.raises(dither.ArgumentError, match="monotone"):
        kind(sensitivity=1, epsilon=1, monotone=True, unit=dither.ROW.replacing())


def test_monotone_scores_need_half_the_noise():
    assert Exponential(sensitivity=2, epsilon=1).scale == 4
    assert Exponential(sensitivity=2, epsilon=1, monotone=True).scale == 2


@chance(2e-9)
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("candidates", "margin"), [(2, 3), (5, 3), (12, 5)])
def test_a_wrong_winner_is_as_likely_as_said(kind, candidates, margin):
    mechanism = kind(sensitivity=1, epsilon=1.0, monotone=True)
    said = mechanism.wrong_winner(margin, candidates=candidates)
    scores = [margin] + [0] * (candidates - 1)
    draws = 2000
    wrong = sum(mechanism.release(scores) != 0 for _ in range(draws))
    assert at_least(draws, said, 1e-9) <= wrong <= at_most(draws, said, 1e-9)


@pytest.mark.parametrize("kind", ALL)
def test_a_wrong_winner_becomes_rare_with_a_lead(kind):
    mechanism = kind(sensitivity=1, epsilon=1.0, monotone=True)
    chances = [mechanism.wrong_winner(m, candidates=4) for m in (1e-9, 1, 5, 30, 1e6)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] == pytest.approx(3 / 4, abs=1e-6)
    assert 0 <= chances[-1] < 1e-9
    assert mechanism.wrong_winner(1, candidates=1) == pytest.approx(0, abs=1e-12)
    for margin in (0, -1, float("nan"), "far"):
        with pytest.raises(dither.ArgumentError):
            mechanism.wrong_winner(margin, candidates=4)
