"""Attacks on devices: averaging a year of answers, and liars."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import local
from dither.local.oracles import (
    HadamardResponse,
    KAryResponse,
    LocalHashing,
    Loloha,
    Oracle,
    SubsetSelection,
    Unary,
)
from dither.local.words import FRESH
from tests.chance import at_most, chance

DAYS, USERS, VALUES = 365, 2000, 20


def recovered(said: np.ndarray, held: np.ndarray) -> float:
    """The share of users whose most frequent message is their value."""
    counts = np.apply_along_axis(np.bincount, 1, said, minlength=VALUES)
    return float((counts.argmax(axis=1) == held).mean())


@chance(1e-12)
def test_averaging_fresh_noise_recovers_almost_everyone() -> None:
    oracle = KAryResponse.at(VALUES, 1.0)
    held = np.arange(USERS) % VALUES
    said = [oracle.randomize(held, FRESH)[:, 0] for _ in range(DAYS)]
    assert recovered(np.stack(said, axis=1), held) > 0.9


@chance(1e-9)
def test_averaging_kept_noise_recovers_what_is_promised() -> None:
    """At most e^ε∞ / (e^ε∞ + d − 1): as large a share is what an attacker expects."""
    oracle = Loloha._made(VALUES, VALUES, 1, 1.0, 2.0)
    held = np.arange(USERS) % VALUES
    seeds = oracle.seeds(FRESH, USERS)
    kept = oracle.permanent(oracle.memo_keys(held, seeds), FRESH)
    said = [oracle.instant(kept, seeds, FRESH)[:, 0] for _ in range(DAYS)]
    bound = math.exp(2) / (math.exp(2) + VALUES - 1)
    found = recovered(np.stack(said, axis=1), held)
    assert found * USERS <= at_most(USERS, bound, 1e-9) + 1e-6


def lies(oracle: Oracle, item: int, count: int) -> np.ndarray:
    """Messages that support one item: of many that a device could send, the first that
    moves it as far as one can.
    """
    for one in oracle.randomize(np.full(400, item), FRESH)[:, None]:
        found = oracle.evidence(oracle.tally(one), 1, 1, np.array([item]))
        if found.counts[0] >= 0.99 * oracle.influence:
            return np.repeat(one, count, axis=0)
    raise AssertionError("no message supports the item")


@chance(1e-14)
@pytest.mark.parametrize(
    "oracle",
    [
        KAryResponse.at(30, 1.0),
        Unary.optimized(30, 1.0),
        SubsetSelection.at(30, 1.0),
        LocalHashing.at(30, 1.0),
        HadamardResponse.at(30, 1.0),
        Loloha.at(30, 1.0, 2.0),
    ],
    ids=lambda oracle: oracle.kind,
)
def test_liars_move_an_estimate_by_what_is_stated_and_no_more(oracle: Oracle) -> None:
    honest = oracle.randomize(np.arange(20_000) % 30, FRESH)
    liars, wanted = 200, np.array([7])
    false = lies(oracle, 7, liars)
    assert oracle.valid(false).all()  # a lie that looks like an answer passes
    tally = oracle.tally(honest)
    before = oracle.evidence(tally, 20_000, 1, wanted).counts[0]
    total = tally + oracle.tally(false)
    after = oracle.evidence(total, 20_000 + liars, 1, wanted).counts[0]
    bound = liars * oracle.influence
    assert after - before <= bound * (1 + 1e-9)
    assert after - before == pytest.approx(bound, rel=0.01)


def test_a_release_says_what_liars_can_do() -> None:
    task = local.task("x", domain=5, epsilon=1, n=1000)
    found = task.tally(task.randomize([0] * 1000)).estimate()
    points = 100 * 100 * task.influence / 1000
    said = f"100 dishonest devices can change a share by {points:.3g} percentage points"
    assert said in str(found)
