"""Events are found where they are, and said in words."""

import numpy as np
import pytest

from dither.audit.criteria import criterion_of
from dither.audit.events import choose
from dither.audit.outcomes import Encoder, Raised
from dither.noise import discrete_laplace
from dither.privacy import GaussianDP, PureDP
from tests.chance import chance

RANDOM = np.random.default_rng(5)  # allowed: test inputs, not noise


def chosen(first, second, claim=None):
    encoder = Encoder()
    sides = [encoder.encode(one) for one in (first, second)]
    encoder.settled = True
    criterion = criterion_of(claim or PureDP(1.0))
    return encoder, choose(
        encoder, [encoder.again(one) for one in sides], criterion, 1e-3, 16 * len(first)
    )


def test_the_threshold_of_laplace_noise():
    made = np.random.default_rng(6)  # allowed: test inputs, not noise
    steps = made.geometric(1 - np.exp(-1.0), (4, 20_000))
    _, rules = chosen(steps[0] - steps[1], 1 + steps[2] - steps[3])
    rule, alarm = rules[0]
    assert alarm == pytest.approx(0.9e-3)
    assert rule.sides == (True, True)
    assert rule.words.startswith("the output is at most")
    assert rule.words.endswith("(second input)")


def test_one_event_for_gaussian_claims():
    _, rules = chosen(
        RANDOM.normal(0, 1, 20_000), RANDOM.normal(1, 1, 20_000), GaussianDP(1.0)
    )
    assert all(sum(rule.sides) == 1 for rule, _ in rules)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([3] * 1000, [Raised("ValueError")] * 1000, "it raises ValueError"),
        ([0.5] * 1000, [float("nan")] * 1000, "NaN"),
        (["rows: 1"] * 1000, ["rows: 2"] * 1000, "it is 'rows: 1' (first input)"),
        ([(1, 2)] * 1000, [(1, 2, 3)] * 1000, "it is [1, 2, 3] (second input)"),
        (
            [(1, 2)] * 1000,
            [(1, 2, n) for n in range(1000)],
            "it is 3 numbers (second input)",
        ),
        (
            [3] * 1000,
            [Raised("ValueError", f"{n}") for n in range(1000)],
            "it raises ValueError (second input)",
        ),
        (
            [Raised("ValueError", "a")] * 1000,
            [Raised("ValueError", "b")] * 1000,
            "it raises ValueError: a (first input",
        ),
        (
            [3] * 1000,
            [f"{n}" for n in range(1000)],
            "it is of the type str (second input)",
        ),
        ([1.0] * 1000, [1.0 + 2**-52] * 1000, "at most 1"),
        ([0.0] * 1000, [-0.0] * 1000, "the exact value of the output"),
    ],
)
def test_kinds_of_output_are_events(first, second, words):
    _, rules = chosen(first, second)
    assert words in rules[0][0].words


def test_low_bits_are_an_event():
    coarse = np.rint(RANDOM.normal(0, 1, 4000) * 2**20) / 2**20
    _, rules = chosen(RANDOM.normal(0, 1, 4000), coarse)
    assert "bit" in rules[0][0].words


def test_last_bits_of_whole_numbers_are_an_event():
    even = 2 * RANDOM.integers(-(10**6), 10**6, 4000)
    _, rules = chosen(even, even + RANDOM.integers(0, 2, 4000))
    assert "the last four bits of the output" in rules[0][0].words


def test_the_line_that_separates_vectors_is_found():
    """Two numbers with the same noise: only their difference says anything, and all
    values are new.
    """
    noise = RANDOM.normal(0, 100, (2, 4000, 1))
    first, second = (
        noise[0] + RANDOM.normal(0, 0.1, (4000, 2)),
        noise[1] + RANDOM.normal(0, 0.1, (4000, 2)) + [1, 0],
    )
    _, rules = chosen(first, second)
    assert "a weighted sum of the output" in rules[0][0].words


@chance(1e-12)
def test_likelihood_ratios_add_up_over_numbers():
    first, second = (x + discrete_laplace(2.0, (20_000, 8)) for x in (0, 1))
    encoder, rules = chosen(first, second)
    fresh = [encoder.encode(x + discrete_laplace(2.0, (20_000, 8))) for x in (0, 1)]
    rule = rules[0][0]
    counts = rule.counts([rule.count(one) for one in fresh], (20_000, 20_000))
    assert criterion_of(PureDP(1.0)).bound(counts, 1e-3).value > 2


def test_unseen_outcomes_are_not_guessed_from():
    encoder, rules = chosen(["a", "c"] * 1000, ["b", "c"] * 1000)
    rule = rules[0][0]
    assert rule.count(encoder.encode(["new", "newer", "c"])) == (0, 0)
    assert rule.count(encoder.encode(["a", "b", "b"])) == (1, 2)


def test_nothing_to_find():
    for outputs in ([1] * 1000, [None] * 1000, np.zeros((1000, 3))):
        _, rules = chosen(outputs, outputs)
        assert rules[0][0].words
