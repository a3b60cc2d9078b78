"""A search over runs of training: its cost is that of its theorem, and only the best run
is shown.
"""

from __future__ import annotations

from typing import Any

import pytest

from dither import ArgumentError, Budget, Unit
from dither.learn import Tuned, search
from dither.learn.tuning import Tuning
from dither.privacy import PureDP, RenyiDP
from dither.privacy.repetition import repeated
from tests.learn.data import model, owned, records

GRID = {"lr": [1e-9, 0.5], "batch": [40, 50]}


def asked(**more: Any) -> dict[str, Any]:
    plain = owned(public=records(seed=2), epsilon=20.0)
    for name in ("noise", "lr", "batch"):
        plain.pop(name)
    return plain | more


def test_the_total_is_that_of_the_theorem() -> None:
    tuning = Tuning.of(model(), records(), GRID, 4, 1.0, asked(delta=1e-5))
    assert tuning.repetitions.mean == pytest.approx(4)
    assert tuning.guarantee.epsilon_at(1e-5) == pytest.approx(20, rel=1e-3)
    assert tuning.guarantee.epsilon_at(1e-5) <= 20
    runs = [plan.run.guarantee for plan in tuning.plans]
    held = tuning.guarantee
    assert isinstance(held, RenyiDP)
    worst = {order: max(run.renyi(order) for run in runs) for order in held.orders}
    again = repeated(RenyiDP(worst, unit=runs[0].unit), tuning.repetitions)
    assert held.epsilon_at(1e-5) == pytest.approx(again.epsilon_at(1e-5))
    alone = [run.epsilon_at(1e-5) for run in runs]
    assert max(alone) < 20
    assert min(alone) > 0.9 * max(alone)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_one_charge_for_all_runs(relation: str) -> None:
    unit = Unit("row", relation)  # type: ignore[arg-type]
    budget = Budget(60.0, 1e-5, unit=unit)
    found = search(model(), records(), GRID, repetitions=3, **asked(budget=budget))
    assert isinstance(found, Tuned)
    assert budget.holds(found.release.receipt)
    assert found.release.guarantee.unit.relation == relation
    number = found.release.receipt.number  # type: ignore[union-attr]
    assert budget.stored(f"training {number}, weights") is not None
    assert found.params["lr"] in GRID["lr"]
    assert found.release.history.epsilons[-1] <= 20
    assert "how long it took" in str(found.release)
    assert found.value is found.release.value


def test_a_share_buys_no_more_than_that() -> None:
    budget = Budget(60.0, 1e-5)
    words = asked(budget=budget, epsilon=None, share=0.5)
    found = search(
        model(), records(), {"lr": [0.1, 0.5], "batch": [50]}, repetitions=2, **words
    )
    loss = budget.terms.cost(found.release.guarantee).loss / budget.terms.loss_cap
    assert 0.49 < loss <= 0.5


def test_the_best_on_public_data_wins() -> None:
    """Of a candidate that learns nothing and one that does, the second, once it was
    run.
    """
    seen = [
        search(
            model(), records(), GRID, repetitions=8, **asked(epsilon=500, delta=1e-5)
        )
        for _ in range(3)
    ]
    assert 0.5 in {one.params["lr"] for one in seen}


@pytest.mark.parametrize(
    ("grid", "words", "said"),
    [
        ({"lr": []}, {}, "candidates"),
        ({"units": [1]}, {}, "not searched"),
        ({"lr": [0.1]}, {"lr": 0.5}, "in the grid"),
        (GRID, {"public": None}, "public"),
        (GRID, {"callbacks": [print]}, "callbacks"),
        (GRID, {"noise": 1.0}, "noise"),
        (GRID, {"epsilon": None}, "epsilon"),
        (GRID, {"epsilon": -1}, "epsilon"),
        (GRID, {"epsilon": 1e-9}, "too small"),
        ({"lr": [0.1], "batch": [0]}, {}, "batch"),
    ],
)
def test_what_is_no_search_is_refused_before_the_charge(
    grid: Any, words: Any, said: str
) -> None:
    budget = Budget(60.0, 1e-5)
    with pytest.raises(ArgumentError, match=said):
        search(model(), records(), grid, **asked(budget=budget, **words))
    assert budget.affords(PureDP(60.0))
    with pytest.raises(ArgumentError, match="eta"):
        search(model(), records(), GRID, eta="poisson", **asked(delta=1e-5))
