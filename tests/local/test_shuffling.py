"""What a trusted shuffler adds: each oracle's messages are as alike as it says, and no
histogram of a few of them tells more.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.oracles import Longitudinal, Oracle
from dither.local.words import FRESH
from dither.privacy import shuffled_numerically
from tests.local.oracles.cases import items_of, small
from tests.local.paths import Law, law

NAMES = list(small(1.0))
ONCE = [name for name in NAMES if not isinstance(small(1.0)[name][0], Longitudinal)]


def laws(monkeypatch: pytest.MonkeyPatch, oracle: Oracle) -> list[Law]:
    return [
        law(monkeypatch, lambda one=one: oracle.randomize(one, FRESH).tobytes())
        for one in items_of(oracle)
    ]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", ONCE)
def test_messages_have_that_much_in_common(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    """Some ω lies between the largest chance over e^ε·γ and the smallest over γ."""
    oracle = small(epsilon)[name][0]
    found = laws(monkeypatch, oracle)
    messages = set().union(*found)
    least = sum(min(one.get(y, Fraction(0)) for one in found) for y in messages)
    most = sum(max(one.get(y, Fraction(0)) for one in found) for y in messages)
    assert oracle.common is not None
    assert oracle.common <= least
    assert most <= oracle.common * Fraction(math.exp(oracle.epsilon) * (1 + 1e-12))


Histogram = dict[Any, float]


def joined(histogram: Histogram, one: Law) -> Histogram:
    more: Histogram = defaultdict(float)
    for seen, mass in histogram.items():
        for message, chance in one.items():
            more[tuple(sorted((*seen, message)))] += mass * float(chance)
    return more


@pytest.mark.parametrize("name", ONCE)
def test_no_histogram_of_three_messages_tells_more(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    oracle = small(1.0)[name][0]
    found = laws(monkeypatch, oracle)
    delta = 0.02
    epsilon = shuffled_numerically(
        oracle.epsilon,
        3,
        delta,
        common=oracle.common,
        total_variation=oracle.distance,
    ).epsilon
    factor = math.exp(epsilon)
    for others in combinations_with_replacement(found[:3], 2):
        rest = joined(joined({(): 1.0}, others[0]), others[1])
        for one, other in permutations([joined(rest, mine) for mine in found[:3]], 2):
            told = sum(max(mass - factor * other[h], 0.0) for h, mass in one.items())
            assert told <= delta * (1 + 1e-9)


def test_a_task_in_a_crowd() -> None:
    task = local.task("emoji", domain=list("abcdef"), epsilon=1, n=100_000)
    alone, crowd = task.oracle.epsilon, local.shuffled(task, 100_000, 1e-6)
    assert crowd.delta == 1e-6
    assert crowd.unit == task.once.unit
    assert crowd.epsilon < alone / 50
    assert local.shuffled(task, 10, 1e-6).epsilon <= alone


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONCE])
def test_kept_answers_hide_among_nobody(name: str) -> None:
    assert small(1.0)[name][0].common is None


def test_a_task_that_is_answered_again_is_refused() -> None:
    task = local.task(
        "emoji", domain=list("abc"), epsilon=1, for_ever=2, every="day", n=1000
    )
    with pytest.raises(ArgumentError, match="answer once"):
        local.shuffled(task, 1000, 1e-6)
