"""Exact distributions of what devices send, for every oracle and every pair of items."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from dither.local.oracles import Loloha, Longitudinal, LongitudinalUnary, Oracle
from dither.local.words import FRESH
from tests.local.oracles.cases import items_of, small
from tests.local.paths import Law, law

NAMES = list(small(1.0))
LEVELS = (0.5, 1.0, 2.0, 4.0)
# small random functions collide by chance, which their variance accounts for on average
HASHED = {"cms", "hcms", "loloha, many items"}


def laws(monkeypatch: pytest.MonkeyPatch, oracle: Oracle) -> list[Law]:
    return [
        law(monkeypatch, lambda one=one: oracle.randomize(one, FRESH).tobytes())
        for one in items_of(oracle)
    ]


def worst(found: list[Law]) -> float:
    """The largest log-ratio of two distributions over all outcomes."""
    ratios = [
        one[outcome] / other.get(outcome, Fraction(0))
        if other.get(outcome)
        else math.inf
        for one, other in permutations(found, 2)
        for outcome in one
    ]
    return math.log(max(ratios))


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_the_largest_ratio_is_the_derived_epsilon(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle, claimed, _ = small(epsilon)[name]
    found = laws(monkeypatch, oracle)
    assert all(sum(one.values()) == 1 for one in found)
    assert worst(found) == pytest.approx(oracle.epsilon, rel=1e-9)
    assert oracle.epsilon <= claimed
    assert oracle.epsilon == pytest.approx(claimed, rel=1e-6)


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize(
    "name",
    [name for name, case in small(1.0).items() if isinstance(case[0], Longitudinal)],
)
def test_what_is_kept_loses_what_is_derived(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle, _, claimed = small(epsilon)[name]
    assert isinstance(oracle, Longitudinal)

    def keep(item: np.ndarray) -> bytes:
        seeds = oracle.seeds(FRESH, 1)
        kept = oracle.permanent(oracle.memo_keys(item, seeds), FRESH)
        return seeds.tobytes() + kept.tobytes()

    found = [law(monkeypatch, lambda one=one: keep(one)) for one in items_of(oracle)]
    assert worst(found) == pytest.approx(oracle.epsilon_for_ever, rel=1e-9)
    assert oracle.epsilon_for_ever <= claimed
    assert oracle.epsilon_for_ever == pytest.approx(claimed, rel=1e-6)


def moments(oracle: Oracle, found: Law, wanted: np.ndarray) -> np.ndarray:
    """The mean and variance of each item's estimate from one message, and the variance
    that the evidence states, on average, for holders and for others.
    """
    rows = []
    for outcome, weight in found.items():
        records = np.frombuffer(outcome, np.uint8).reshape(1, -1)
        assert oracle.valid(records).all()
        evidence = oracle.evidence(oracle.tally(records), 1, 1, wanted)
        stated = [evidence.null + evidence.slope * held for held in (0, 1)]
        numbers = [evidence.counts, evidence.counts**2, *stated]
        rows.append(float(weight) * np.array(numbers))
    mean, square, other, held = np.sum(rows, axis=0)
    return np.array([mean, square - mean**2, other, held]) / np.array(
        [[1], [1], [evidence.gain**2], [evidence.gain**2]]
    )


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in HASHED])
def test_estimates_are_unbiased_and_their_variance_is_exact(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle, _, _ = small(epsilon)[name]
    wanted = np.arange(oracle.items)
    for item, found in enumerate(laws(monkeypatch, oracle)):
        mean, variance, other, held = moments(oracle, found, wanted)
        holds = wanted == item
        assert mean == pytest.approx(holds.astype(float), abs=1e-9)
        assert variance == pytest.approx(np.where(holds, held, other), rel=1e-9)


@pytest.mark.parametrize(
    "oracle",
    [
        Loloha._made(4, 3, 9, 1.0, 1.7),
        Loloha._made(3, 3, 1, 1.0, 1.7),
        LongitudinalUnary.at(2, 1.0, 1.7),
    ],
    ids=["loloha", "not hashed", "unary"],
)
def test_what_is_kept_counts_again_in_every_period(
    monkeypatch: pytest.MonkeyPatch, oracle: Longitudinal
) -> None:
    wanted = np.arange(oracle.items)

    def twice() -> bytes:
        seeds = oracle.seeds(FRESH, 1)
        kept = oracle.permanent(oracle.memo_keys(np.array([0]), seeds), FRESH)
        sent = [oracle.instant(kept, seeds, FRESH) for _ in range(2)]
        return b"".join(one.tobytes() for one in sent)

    mean, square = np.zeros(oracle.items), np.zeros(oracle.items)
    for outcome, weight in law(monkeypatch, twice).items():
        records = np.frombuffer(outcome, np.uint8).reshape(2, -1)
        evidence = oracle.evidence(oracle.tally(records), 2, 2, wanted)
        mean += float(weight) * evidence.counts
        square += float(weight) * evidence.counts**2
    stated = evidence.null + evidence.slope * np.where(wanted == 0, 2, 0)
    assert square - mean**2 == pytest.approx(stated / evidence.gain**2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_distance_is_an_upper_bound_that_is_reached(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle, _, _ = small(epsilon)[name]
    found = laws(monkeypatch, oracle)
    distances = [
        float(sum(max(one[y] - other.get(y, Fraction(0)), Fraction(0)) for y in one))
        for one, other in permutations(found, 2)
    ]
    assert max(distances) <= oracle.distance * (1 + 1e-12)
    if name not in HASHED:
        assert max(distances) == pytest.approx(oracle.distance, rel=0.34)
