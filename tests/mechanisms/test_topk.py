"""The k best: the law of ordered choices enumerated, its privacy on neighbours, its
composed cost.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

import dither
from dither.mechanisms import TopK
from tests.chance import at_least, chance
from tests.noise.support import LEVEL, p_value
from tests.privacy.support import renyi_divergence

ROOM = 1 + 1e-12


def law(scores, weight, k):
    """P of every ordered choice: k exponential mechanisms, each on those that are left."""
    odds = [math.exp(weight * (score - max(scores))) for score in scores]
    found = {}
    for order in itertools.permutations(range(len(scores)), k):
        chance, left = 1.0, sum(odds)
        for i in order:
            chance *= odds[i] / left
            left -= odds[i]
        found[order] = chance
    return found


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_ordered_choice_keeps_the_promise(monotone, k):
    mechanism = TopK(k=k, sensitivity=1, epsilon=0.9, monotone=monotone)
    orders = (1.5, 2.0, 8.0)
    bounds = {order: mechanism.guarantee.renyi(order) for order in orders}
    most = 0.0
    for scores in itertools.product(range(2), repeat=4):
        here = law(scores, mechanism.choice.weight, k)
        for move in itertools.product((0, 1) if monotone else (-1, 0, 1), repeat=4):
            there = law(
                [s + m for s, m in zip(scores, move, strict=True)],
                mechanism.choice.weight,
                k,
            )
            losses = [math.log(here[a] / there[a]) for a in here]
            most = max(most, *map(abs, losses))
            assert max(map(abs, losses)) <= 0.9 * ROOM
            if move == (1, 0, 0, 0) or -1 in move[:1]:
                for order in orders:
                    assert (
                        renyi_divergence([(here[a], there[a]) for a in here], order)
                        <= bounds[order]
                    )
    assert most > 0.3


def test_the_one_shot_form_has_this_law():
    """Gumbel noise once and the k largest, as the theorem says: from many draws of it,
    a false alarm in ten million.
    """
    generator = np.random.default_rng(
        3
    )  # allowed: checks a theorem about Gumbel noise, releases nothing
    scores, draws = [0, 1, 2, 2], 60_000
    noisy = 0.7 * np.array(scores) + generator.gumbel(size=(draws, 4))
    seen = Counter(map(tuple, np.argsort(-noisy, axis=1)[:, :2].tolist()))
    expected = law(scores, 0.7, 2)
    assert sum(
        (seen[a] - draws * p) ** 2 / (draws * p) for a, p in expected.items()
    ) < chi2.isf(1e-8, 11)


@chance(1e-8)
def test_releases_follow_the_law():
    scores, draws = [0, 1, 2, 2], 6_000
    mechanism = TopK(k=2, sensitivity=1, epsilon=2.8)
    assert mechanism.choice.weight == pytest.approx(0.7)
    seen = Counter(tuple(mechanism.release(scores).tolist()) for _ in range(draws))
    expected = law(scores, 0.7, 2)
    counts = np.array([seen[order] for order in expected])
    assert p_value(counts, np.array(list(expected.values()))) > LEVEL


def test_what_k_choices_cost():
    mechanism = TopK(k=10, sensitivity=1, epsilon=1.0)
    assert mechanism.guarantee == dither.Composed([dither.BoundedRange(0.1)] * 10)
    assert mechanism.guarantee.to(dither.PureDP).epsilon == pytest.approx(1.0)
    assert mechanism.guarantee.to(dither.ZeroConcentratedDP).rho == pytest.approx(
        10 * 0.01 / 8
    )
    cheap = TopK(k=10, sensitivity=1, rho=0.1)
    assert cheap.guarantee.to(dither.ZeroConcentratedDP).rho == pytest.approx(0.1)
    assert cheap.guarantee.to(dither.ZeroConcentratedDP).rho <= 0.1
    assert cheap.choice.epsilon == pytest.approx(math.sqrt(0.08))
    budget = dither.Budget(1.0)
    budget.charge(mechanism.guarantee)
    with pytest.raises(dither.BudgetExceeded):
        budget.charge(dither.PureDP(1e-6))
    assert TopK(k=1, sensitivity=1, epsilon=0.3).guarantee == dither.BoundedRange(0.3)


def test_clear_winners_come_in_order():
    mechanism = TopK(k=3, sensitivity=1, epsilon=30)
    assert mechanism.release([0, 1000, 3000, 2000]).tolist() == [2, 3, 1]
    assert sorted(TopK(k=4, sensitivity=1, epsilon=0.1).release([0, 1, 2, 3])) == [
        0,
        1,
        2,
        3,
    ]


@chance(1e-15)
def test_a_missing_score_leaves_the_others_alone():
    """As floats, 2^60 + 129 and 2^60 + 127 are 256 apart; nothing near a sensitivity of
    1 would hide that.
    """
    mechanism = TopK(k=1, sensitivity=1, epsilon=0.1)
    seen = []
    for _ in range(400):
        seen.extend(mechanism.release([2**60 + 127, 2**60 + 129, None]).tolist())
    assert 100 < sum(seen) < 300


@chance(1e-9)
def test_the_error_covers_what_it_says():
    mechanism, scores = TopK(k=3, sensitivity=1, epsilon=3), -np.arange(50)
    bound = mechanism.error(0.9, candidates=50)

    def fine():
        left = list(scores)
        for i in mechanism.release(scores):
            if max(left) - scores[i] > bound:
                return False
            left.remove(scores[i])
        return True

    assert sum(fine() for _ in range(1000)) >= at_least(1000, 0.9, 1e-9)


def test_bad_questions():
    good = {"k": 2, "sensitivity": 1, "epsilon": 1.0}
    for name, value in (
        ("k", 0),
        ("k", 10**400),
        ("sensitivity", 0),
        ("epsilon", 0),
        ("epsilon", None),
        ("rho", 1.0),
    ):
        with pytest.raises(
            dither.ArgumentError, match=name if name != "rho" else "exactly one"
        ):
            TopK(**good | {name: value})
    with pytest.raises(dither.ArgumentError, match="monotone"):
        TopK(**good, monotone=True, unit=dither.ROW.replacing())
    for scores in (5, [1], [[1, 2], [3, 4]], []):
        with pytest.raises(dither.ArgumentError, match="scores"):
            TopK(**good).release(scores)
