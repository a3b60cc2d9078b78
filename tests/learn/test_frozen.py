"""Settings of the bench on accuracy are those that did best on development splits."""

from __future__ import annotations

import pytest

from bench.harness import RESULTS, load
from bench.learn_accuracy import CHOSEN_ON, EPSILONS, FROZEN, TESTED

METRIC = f"accuracy, splits {CHOSEN_ON[0]} to {CHOSEN_ON[-1]}"


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", FROZEN)
def test_the_best_on_development_splits(name: str, epsilon: float) -> None:
    rows = [
        row
        for row in load(RESULTS / "learn_accuracy_choose.json").rows
        if row.case == f"digits, ε = {epsilon:g}" and row.metric == METRIC
    ]
    tried = {
        row.system: row.value or 0.0 for row in rows if row.system.startswith(name)
    }
    best = max(tried, key=tried.__getitem__)
    assert tried[best] == next(
        value
        for system, value in tried.items()
        if system.endswith(f": {FROZEN[name][epsilon]}")
    )


def test_splits_for_choosing_are_not_tested() -> None:
    assert not set(CHOSEN_ON) & set(TESTED)
