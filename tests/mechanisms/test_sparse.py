"""The sparse vector technique: all answer vectors enumerated on neighbours, the stream
against that law.
"""

import copy
import itertools
import math
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dither
from dither.mechanisms import AboveThreshold
from tests.chance import chance, deviations
from tests.noise.support import LEVEL, p_value

REACH = np.arange(-700, 701)
ROOM = 1 + 1e-9
"""Noise beyond the reach has a probability below e^-100."""


def masses(scale):
    """P(k) of discrete Laplace noise over the reach."""
    if scale == 0:
        return (REACH == 0).astype(float)
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(REACH).astype(float)


def reaches(scale, least):
    """P(noise ≥ k), for every k."""
    if scale == 0:
        return (least <= 0).astype(float)
    q = math.exp(-1 / scale)
    tail = q ** np.maximum(least, 1 - least).astype(float) / (1 + q)
    return np.where(least >= 1, tail, 1 - tail)


def likelihood(vector, values, threshold, scales):
    """P(these answers): Σ over the threshold's noise of the product of the values'
    odds.
    """
    odds = masses(scales[0])
    for yes, value in zip(vector, values, strict=True):
        above = reaches(scales[1], threshold + REACH - value)
        odds = odds * (above if yes else 1 - above)
    return float(odds.sum())


def law(values, threshold, scales, answers):
    """P(answers) for every vector of answers, each cut after the last yes that may be
    given.
    """
    found = {}
    for vector in itertools.product([False, True], repeat=len(values)):
        yeses = list(itertools.accumulate(vector))
        cut = yeses.index(answers) + 1 if answers in yeses else len(values)
        found[vector[:cut]] = likelihood(vector[:cut], values[:cut], threshold, scales)
    return found


@pytest.mark.parametrize("answers", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_every_answer_vector_keeps_the_promise(answers, monotone, epsilon):
    mechanism = AboveThreshold(
        threshold=0, sensitivity=1, epsilon=epsilon, answers=answers, monotone=monotone
    )
    laws = {
        values: law(values, 0, mechanism.scales, answers)
        for values in itertools.product((-2, -1, 0, 1, 2), repeat=3)
    }
    for values, here in laws.items():
        assert sum(here.values()) == pytest.approx(1, abs=1e-9)
        for move in itertools.product((0, 1) if monotone else (-1, 0, 1), repeat=3):
            there = laws.get(
                tuple(v + m for v, m in zip(values, move, strict=True)), here
            )
            assert (
                max(abs(math.log(here[a] / there[a])) for a in here) <= epsilon * ROOM
            )


def lost_by_a_long_stream(scales, answers, *, noes=40):
    """Noes about values that move up, then yeses about values that move down: the worst
    that can happen.
    """
    vector = [False] * noes + [True] * answers
    here, there = (
        likelihood(vector, [low] * noes + [high] * answers, 0, scales)
        for low, high in ((-1, 0), (0, -1))
    )
    return math.inf if here > 0 >= there else math.log(here / there)


@pytest.mark.parametrize("answers", [1, 3])
def test_a_long_stream_nearly_uses_up_the_promise(answers):
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1.0, answers=answers)
    assert 0.9 < lost_by_a_long_stream(mechanism.scales, answers) <= ROOM


@pytest.mark.parametrize("broken", [(0, 1), (1, 0), (1, 1 / 3), (1 / 3, 1), (0.8, 0.8)])
def test_less_noise_is_seen(broken):
    """No noise on the threshold, none on the values, noise for one yes of three: all
    were published as private.
    """
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1.0, answers=3)
    scales = tuple(
        scale * part for scale, part in zip(mechanism.scales, broken, strict=True)
    )
    assert lost_by_a_long_stream(scales, 3) > 1


def ask_all(mechanism, values):
    stream, found = mechanism.open(), []
    for value in values:
        found.append(stream.ask(value))
        if stream.halted:
            break
    return tuple(found)


@chance(1e-8)
@pytest.mark.parametrize("monotone", [False, True])
def test_the_stream_follows_the_law(monotone):
    mechanism = AboveThreshold(
        threshold=7, sensitivity=1, epsilon=1.5, answers=2, monotone=monotone
    )
    values, draws = [5, 7, 8, 6], 20_000
    expected = law(values, 7, mechanism.scales, 2)
    seen = Counter(ask_all(mechanism, values) for _ in range(draws))
    assert set(seen) <= set(expected)
    counts = np.array([seen[answers] for answers in expected])
    assert p_value(counts, np.array(list(expected.values()))) > LEVEL


@chance(2e-9)
def test_reals_follow_the_same_law_on_a_fine_grid():
    real = AboveThreshold(threshold=7.0, sensitivity=1.0, epsilon=1.5, answers=1)
    assert not real.integer
    whole = AboveThreshold(threshold=7, sensitivity=1, epsilon=1.5, answers=1)
    for mine, theirs in zip(real.scales, whole.scales, strict=True):
        assert theirs < mine * float(real.grid.step) < theirs * (1 + 2e-6)
    draws, gap = 20_000, 3.0
    # P(X₁ + X₂ ≥ −g) for two Laplace variables.
    a, b = whole.scales
    share = 1 - (b * b * math.exp(-gap / b) - a * a * math.exp(-gap / a)) / (
        2 * (b * b - a * a)
    )
    seen = sum(real.open().ask(10.0) for _ in range(draws)) / draws
    assert seen == pytest.approx(
        share, abs=deviations(1e-9) * math.sqrt(share * (1 - share) / draws) + 1e-5
    )


def test_the_split_of_epsilon_is_exact_and_best():
    for answers in (1, 2, 10, 1000):
        for monotone in (False, True):
            mechanism = AboveThreshold(
                threshold=0,
                sensitivity=1,
                epsilon=0.1,
                answers=answers,
                monotone=monotone,
            )
            threshold, values = mechanism.parts
            assert threshold + values == dither.privacy.numbers.at_most(0.1)
            moves = answers if monotone else 2 * answers
            assert threshold / mechanism.parts[1] == pytest.approx(moves ** (-2 / 3))
            spread = 1 / threshold**2 + moves**2 / values**2
            for shifted in (0.9, 1.1):
                other = threshold * dither.privacy.numbers.fraction("x", shifted)
                assert (
                    1 / other**2 + moves**2 / (threshold + values - other) ** 2 > spread
                )


@chance(1e-15)
def test_errors_cover_what_they_say():
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, answers=1)
    for asks in (1, 10):
        off = math.ceil(mechanism.error(0.9, asks=asks))
        wrong = (
            sum(any(ask_all(mechanism, [-off - 1] * asks)) for _ in range(3000)) / 3000
        )
        assert wrong < 0.1
    real = AboveThreshold(threshold=0.0, sensitivity=1, epsilon=1)
    assert real.error(0.9, asks=10) == pytest.approx(
        mechanism.error(0.9, asks=10), rel=0.1
    )


def test_it_halts():
    stream = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, answers=2).open()
    assert [stream.ask(10**9), stream.ask(-(10**9)), stream.ask(10**30)] == [
        True,
        False,
        True,
    ]
    assert stream.halted
    assert repr(stream) == "<ThresholdStream: 0 of 2 yeses left>"
    with pytest.raises(dither.ArgumentError, match="open another"):
        stream.ask(0)


def test_the_whole_cost_is_charged_when_opened():
    budget = dither.Budget(1.0)
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=0.6, answers=3)
    stream = mechanism.open(budget, purpose="alarms")
    assert (stream.receipt.guarantee, stream.receipt.purpose) == (
        dither.PureDP(0.6),
        "alarms",
    )
    with pytest.raises(dither.BudgetExceeded):
        mechanism.open(budget)
    with pytest.raises(dither.ArgumentError, match="budget"):
        mechanism.open(1.0)
    assert mechanism.open().receipt is None


def test_there_is_only_one():
    stream = AboveThreshold(threshold=0, sensitivity=1, epsilon=1).open()
    for another in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="same noise"):
            another(stream)


def test_threads_share_the_yeses():
    stream = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, answers=50).open()

    def ask(_):
        try:
            return stream.ask(10**9)
        except dither.ArgumentError:
            return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(200)))
    assert answers.count(True) == 50
    assert answers.count(None) == 150


def test_odd_values_get_an_answer():
    real = AboveThreshold(threshold=-5e3, sensitivity=1, epsilon=1, answers=10).open()
    assert real.ask(math.nan)
    assert real.ask(math.inf)
    assert not real.ask(-math.inf)
    assert real.ask(3)
    assert real.ask(np.float32(3))
    assert real.ask(None)
    whole = AboveThreshold(
        threshold=np.int64(-5000), sensitivity=1, epsilon=1, answers=9
    ).open()
    for value in (np.uint8(0), None, math.nan, np.ma.masked):
        assert whole.ask(value)


def test_bad_questions():
    good = {"threshold": 5, "sensitivity": 1, "epsilon": 1.0}
    for name, value in (
        ("threshold", "5"),
        ("threshold", math.nan),
        ("sensitivity", 0),
        ("epsilon", -1),
        ("answers", 0),
        ("answers", 10**400),
        ("sensitivity", 1e30),
    ):
        with pytest.raises(dither.ArgumentError, match=name):
            AboveThreshold(**good | {name: value})
    for epsilon in (5e-324, 1e-300):
        with pytest.raises(dither.ArgumentError, match="sensitivity"):
            AboveThreshold(**good | {"epsilon": epsilon})
    with pytest.raises(dither.ArgumentError, match="monotone"):
        AboveThreshold(**good, monotone=True, unit=dither.ROW.replacing())
    for value in (1.5, [1, 2]):
        with pytest.raises(dither.ArgumentError, match="value"):
            AboveThreshold(**good).open().ask(value)
