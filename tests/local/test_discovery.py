"""New words: what is followed, what is found, and where shares of found words lie. All
draws come from a seed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.local import discovery
from dither.local.discovery import Selected
from dither.local.estimates import detection_limit
from dither.local.evidence import Evidence
from dither.local.hashes import digests, places
from dither.local.oracles import CountMeanSketch, HadamardSketch
from dither.local.oracles.hadamard import transform
from dither.local.vocabulary import Vocabulary

N = 6000
WORDS = ("bad", "bead", "cab", "dab", "decade", "facade", "fed", "ace")


class Seeded:
    """Words that are the same in every run."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(1)

    def take(self, count: int) -> np.ndarray:
        return self.random.integers(0, 1 << 32, count, np.uint32)


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("dither.local.task"), "FRESH", Seeded())


def task_of(epsilon: float = 6.0) -> Any:
    vocabulary = Vocabulary("abcdef", 6, 2)
    return local.task("words", domain=vocabulary, epsilon=epsilon, n=N)


def found_in(values: list[Any], epsilon: float = 6.0) -> Any:
    task = task_of(epsilon)
    return task.tally(task.randomize(values)).estimate()


@pytest.mark.parametrize("epsilon", [2.0, 6.0])
def test_frequent_words_are_found_with_their_shares(epsilon: float) -> None:
    values = ["decade"] * (N // 2) + ["bad"] * (N // 3) + ["fed"] * (N // 6)
    found = found_in(values, epsilon)
    assert found.keys == ("decade", "bad", "fed")
    low, high = found.interval()
    truth = np.array([1 / 2, 1 / 3, 1 / 6])
    # six standard errors: the seed decides nothing
    assert (np.abs(found.value - truth) < 6 * found.standard_errors).all()
    assert (low <= found.value).all()
    assert (found.value <= high).all()
    assert found.notes[0].startswith("3 of ")


def test_nothing_is_found_where_nobody_has_a_word() -> None:
    found = found_in([None] * N)
    assert found.keys == ()
    assert len(found.interval()[0]) == 0


def test_devices_without_a_word_do_not_hide_words() -> None:
    """They send one text, which was taken for a word that could share any place."""
    values = [None] * (N * 9 // 10) + ["bead"] * (N // 20) + ["cab"] * (N // 20)
    found = found_in(values)
    assert set(found.keys) == {"bead", "cab"}
    assert found.detection_limit < 0.025


def test_prefixes_that_are_there_for_sure_are_all_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At most so many were followed, whatever they were."""
    monkeypatch.setattr(discovery, "FOLLOWED", 3)
    found = found_in(list(WORDS) * (N // len(WORDS)))
    assert set(found.keys) == set(WORDS)


def test_words_of_all_lengths_are_told_from_their_beginnings() -> None:
    values = ["a", "ab", "abc", "abcd", "abcde", "abcdef"] * (N // 6)
    assert set(found_in(values).keys) >= set(values)


@pytest.mark.parametrize("height", [-2.0, 0.0, 1.0, 3.0, 6.0])
def test_intervals_of_what_is_above_a_bar_hold_in_19_of_20(height: float) -> None:
    """Over all estimates above the bar that a share of this height leads to."""
    bar = 5.0
    truth = bar + height
    at = np.linspace(bar, max(truth, bar) + 9, 4001)
    heights = np.exp(-((at - truth) ** 2) / 2)
    share, error = at / 40, np.full(len(at), 1 / 40)
    low, high = Selected(share, error, bar * error).ends(0.95)
    held = (low <= truth / 40) & (truth / 40 <= high)
    assert (heights * held).sum() / heights.sum() >= 0.949
    assert high[-1] - low[-1] == pytest.approx(2 * 1.96 / 40, rel=1e-3)


def test_the_detection_limit_knows_what_a_collision_hides() -> None:
    """A value had to be above the shift, and the limit was without it."""
    null = np.full(1, 400.0)
    plain = Evidence(10_000, np.zeros(1), 0.5, null, 0.0)
    doubtful = Evidence(10_000, np.zeros(1), 0.5, null, 0.0, doubt=(300.0, 1e-6))
    more = detection_limit(doubtful, 100, 0.05) - detection_limit(plain, 100, 0.05)
    assert more == pytest.approx(300 / 0.5 / 10_000)


@pytest.mark.parametrize("kind", [CountMeanSketch, HadamardSketch])
def test_what_is_known_of_other_texts_makes_a_sketch_surer(kind: Any) -> None:
    sketch = kind.at(2.0, 64, 64)
    wanted = digests([b"a", b"b"])
    counts = sketch.tally(sketch.randomize(np.repeat(wanted, 500, axis=0), Seeded()))
    asked = (counts, 1000, wanted)
    unknown = sketch.evidence(counts, 1000, 1, wanted)
    bounded = sketch.among(*asked, 10.0)
    assert (bounded.null < unknown.null).all()
    assert bounded.doubt[0] < unknown.doubt[0]
    assert bounded.gain == unknown.gain
    assert bounded.counts == pytest.approx([500, 500], abs=100)


@pytest.mark.parametrize("kind", [CountMeanSketch, HadamardSketch])
def test_collisions_with_frequent_texts_are_taken_off(kind: Any) -> None:
    """Without noise, and in a sketch so small that all texts share places."""
    sketch = kind.at(2.0, 8, 16)
    wanted = digests([b"s:%d" % number for number in range(40)])
    held = np.zeros(40)
    held[[3, 7, 11]] = 40_000, 30_000, 20_000
    counts = expected(sketch, wanted, held)
    plain = sketch.evidence(counts, 90_000, 1, wanted)
    peeled = sketch.among(counts, 90_000, wanted, 0.0)
    assert np.abs(plain.counts - held).max() > 2000
    near = plain.above / np.sqrt(peeled.null) >= 2
    assert near.sum() > 3
    assert peeled.counts[near] == pytest.approx(held[near], abs=100)


def expected(sketch: Any, texts: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The tally without noise, rounded: devices are spread over all rows alike."""
    rows = np.arange(sketch.rows)
    at = places(texts[:, None, :], rows, sketch.columns)
    table = np.zeros((sketch.rows, sketch.columns))
    for row in rows:
        np.add.at(table[row], at[:, row], held / sketch.rows)
    one, zero = sketch.hits
    if isinstance(sketch, HadamardSketch):
        signed = 2 * (one - zero) * transform(table.astype(np.float64))
        return np.rint(signed / sketch.columns).astype(np.int64).reshape(-1)
    said = zero * held.sum() / sketch.rows + (one - zero) * table
    return np.rint(said).astype(np.int64).reshape(-1)
