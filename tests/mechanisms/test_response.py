import math
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.mechanisms import RandomizedResponse
from tests.chance import at_least, chance
from tests.noise.support import LEVEL, p_value


@chance(1e-8)
def test_reports_follow_the_stated_probabilities():
    mechanism = RandomizedResponse(epsilon=1.0, categories=5)
    seen = np.bincount(mechanism.release(np.full(100_000, 2)), minlength=5)
    lie = float(1 - mechanism.truth) / 4
    expected = np.array([lie, lie, float(mechanism.truth), lie, lie])
    assert p_value(seen, expected) > LEVEL


@chance(1e-12)
def test_labels_and_types():
    mechanism = RandomizedResponse(epsilon=30, categories=["red", "green", "blue"])
    assert mechanism.release("green") == "green"
    assert mechanism.release(["red", "blue"]).tolist() == ["red", "blue"]
    binary = RandomizedResponse(epsilon=30)
    assert binary.release(1) == 1
    assert binary.release(np.array([True, False])).tolist() == [1, 0]
    assert RandomizedResponse(epsilon=30, categories=[(0, 1), (1, 0)]).release(
        [(0, 1)]
    ).tolist() == [(0, 1)]
    assert binary.release(np.array([[0, 1]])).tolist() == [[0, 1]]
    assert binary.release([]).size == 0


@pytest.mark.parametrize(
    "answer",
    [
        True,
        np.True_,
        1,
        np.int64(0),
        1.0,
        None,
        "x",
        (0, 1),
        b"",
        bytearray(2),
        math.nan,
    ],
)
def test_a_report_never_shows_what_kind_of_answer_it_hides(answer):
    assert type(RandomizedResponse(epsilon=1).release(answer)) is int
    assert RandomizedResponse(epsilon=1).release([answer, [1, 0]]).shape == (2,)


@pytest.mark.parametrize(
    ("epsilon", "categories"),
    [(1e-3, 10**17 + 3), (0.1, int(0.9 * 2**63)), (1e-9, 10**12 + 39), (1e-20, 3)],
)
def test_many_categories_do_not_round_the_promise_away(epsilon, categories):
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    lie = (1 - mechanism.truth) / (categories - 1)
    assert mechanism.truth >= lie
    assert mechanism.truth / lie - 1 <= Fraction(math.expm1(epsilon)) * Fraction(
        1 + 1e-12
    )


def test_a_stated_truth_is_not_understated():
    close = RandomizedResponse(truth=Fraction(500000000000000027, 10**18))
    assert close.epsilon >= 1.08e-16
    with pytest.raises(dither.ArgumentError, match="truth"):
        RandomizedResponse(truth=1 - Fraction(1, 10**400))


@chance(1e-8)
def test_answers_outside_the_categories_are_answered_uniformly():
    mechanism = RandomizedResponse(epsilon=20, categories=4)
    seen = np.bincount(mechanism.release(np.full(40_000, 17)), minlength=4)
    assert p_value(seen, np.full(4, 1 / 4)) > LEVEL
    assert mechanism.release([None, "x", [1]]).shape == (3,)


@chance(3e-8)
@pytest.mark.parametrize("categories", [2, 6])
def test_the_estimate_is_unbiased_and_its_interval_covers(categories):
    mechanism = RandomizedResponse(epsilon=1.0, categories=categories)
    truth = np.repeat(np.arange(categories), np.arange(categories) * 300 + 100)
    counts = np.bincount(truth)
    runs, covered, total = 300, 0, np.zeros(categories)
    for _ in range(runs):
        estimate = mechanism.estimate(mechanism.release(truth))
        low, high = estimate.interval(0.95)
        covered += ((low <= counts) & (counts <= high)).mean()
        total += estimate.counts
        errors = estimate.standard_errors
    assert np.abs(total / runs - counts).max() < 6 * errors.max() / math.sqrt(runs)
    # As if all categories were right or wrong together, which spreads most
    assert covered >= at_least(runs, 0.94, 1e-9)
    assert estimate.frequencies.sum() == pytest.approx(1)
    assert "95 % intervals" in str(estimate)


def test_foreign_reports_are_ignored():
    estimate = RandomizedResponse(epsilon=1).estimate([0, 1, 1, 7, None])
    assert estimate.reports == 3
    assert RandomizedResponse(epsilon=1).estimate([]).counts.tolist() == [0, 0]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "truth": 0.75},
        {"epsilon": 0},
        {"epsilon": math.inf},
        {"truth": 0.5},
        {"truth": 1},
        {"truth": math.nan},
        {"epsilon": 1, "categories": 1},
        {"epsilon": 1, "categories": []},
        {"epsilon": 1, "categories": ["a", "a"]},
        {"epsilon": 1, "categories": 0},
    ],
)
def test_bad_questions(arguments):
    with pytest.raises(dither.ArgumentError):
        RandomizedResponse(**arguments)


def test_a_stated_probability_is_exact():
    assert RandomizedResponse(truth=Fraction(2, 3), categories=3).truth == Fraction(
        2, 3
    )
    assert RandomizedResponse(
        truth=Fraction(2, 3), categories=3
    ).epsilon == pytest.approx(math.log(4))
