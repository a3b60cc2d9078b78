"""Interactive mechanisms: charged at once, one at a time, one of each, in one process."""

import copy
import os
import pickle
import threading

import pytest

import dither
from dither.mechanisms import AboveThreshold, ContinualCount
from dither.mechanisms.interactive import Interactive, charged
from dither.science import genomes

PROMISE = dither.PureDP(0.6)


class Counter(Interactive):
    """The least that can be opened."""

    def __init__(self):
        super().__init__(PROMISE, None)
        self.steps = 0

    def step(self):
        with self._step():
            seen = self.steps
            self.steps = seen + 1
            return seen


def test_the_whole_cost_is_charged_or_nothing():
    budget = dither.Budget(1.0)
    receipt = charged(budget, PROMISE, "alarms")
    assert (receipt.guarantee, receipt.purpose) == (PROMISE, "alarms")
    with pytest.raises(dither.BudgetExceeded):
        charged(budget, PROMISE, "alarms")
    assert charged(None, PROMISE, "alarms") is None
    with pytest.raises(dither.ArgumentError, match="budget"):
        charged(1.0, PROMISE, "alarms")


@pytest.mark.parametrize("another", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_is_only_one(another):
    with pytest.raises(TypeError, match="same noise"):
        another(Counter())


def test_another_process_cannot_go_on(monkeypatch):
    opened = Counter()
    assert opened.step() == 0
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="forked"):
        opened.step()


def test_steps_are_taken_one_at_a_time():
    opened, seen = Counter(), []
    threads = [
        threading.Thread(target=lambda: seen.extend(opened.step() for _ in range(500)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(4000))


MECHANISMS = {
    "ThresholdStream": AboveThreshold,
    "CountStream": ContinualCount,
    "Beacon": genomes.beacon,
}


def test_each_mechanism_names_what_allows_other_charges_between_its_answers():
    own = {
        one.__name__
        for one in Interactive.__subclasses__()
        if one.__module__.startswith("dither.")
    }
    assert own == set(MECHANISMS)
    for mechanism in MECHANISMS.values():
        words = " ".join((mechanism.__doc__ or "").split())
        assert "Other charges may come between its" in words
        assert "docs/proofs/filter.md" in words
