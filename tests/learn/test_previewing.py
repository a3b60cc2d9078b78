"""What a preview says before anybody pays, and what a run that cannot be paid says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

import dither
from dither import ArgumentError, Budget, BudgetExceeded
from dither.learn import Validation, preview, train
from tests.learn.data import model, owned, records


@pytest.mark.parametrize(
    "kind", [torch.optim.SGD, partial(torch.optim.SGD, momentum=0.9)]
)
def test_sgd_without_a_rate_is_refused(kind: Any) -> None:
    with pytest.raises(ArgumentError, match=r"pass lr=1\.0"):
        preview(model(), records(), **owned(lr=None, optimizer=kind))


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("SGD, lr 0.5", {}),
        ("SGD, lr 2", {"optimizer": partial(torch.optim.SGD, lr=2.0), "lr": None}),
        ("Adam, lr 0.001", {"optimizer": torch.optim.Adam, "lr": None}),
    ],
)
def test_optimizer_and_rate_are_shown(words: str, more: dict[str, Any]) -> None:
    asked = owned(epochs=1, **more)
    line = f"optimizer: {words}"
    assert line in str(preview(model(), records(), **asked)).split("\n")
    assert line in train(model(), records(), **asked).notes


@pytest.mark.parametrize(
    ("more", "what"),
    [({"epsilon": 1.0}, "ε"), ({"share": 0.01, "budget": Budget(8.0, 1e-6)}, "share")],
    ids=["epsilon", "share"],
)
def test_a_dear_validation_is_named(more: dict[str, Any], what: str) -> None:
    asked = owned(noise=None, **more)
    with pytest.raises(ArgumentError, match=f"validation alone costs an? {what}"):
        preview(model(), records(), **asked, validation=Validation(0.2, noise=0.5))
    with pytest.raises(ArgumentError, match="epsilon must be"):
        preview(
            model(),
            records(),
            **owned(noise=None, epsilon=-1.0),
            validation=Validation(0.2, noise=0.5),
        )


def test_a_run_that_does_not_fit_is_said_to() -> None:
    budget = Budget(3.0, 1e-6)
    small = owned(noise=20.0, budget=budget)
    large = owned(noise=0.5, budget=budget)
    assert preview(model(), records(), **small).affordable
    found = preview(model(), records(), **large)
    assert not found.affordable
    assert "does not fit" in str(found)
    with pytest.raises(BudgetExceeded, match="share="):
        train(model(), records(), **large)
    assert budget.affords(dither.PureDP(2.9))


def test_a_refusal_names_its_reason() -> None:
    policy = dither.Policy(ceiling=0.5)
    with dither.Ledger.open(":memory:") as book:
        _refused(book.account("a", epsilon=3.0, delta=1e-6, policy=policy))


def _refused(budget: Any) -> None:
    small, large = (owned(noise=noise, budget=budget) for noise in (30.0, 0.5))
    assert "refused" not in str(preview(model(), records(), **small))
    large_one = str(preview(model(), records(), **large))
    assert "refused: this does not fit into the remaining budget; nothing" in large_one
    capped = str(preview(model(), records(), **owned(noise=2.5, budget=budget)))
    assert "refused: there is room for this, but the policy" in capped
    budget.freeze("three runs failed")
    for asked in (small, large):
        frozen = str(preview(model(), records(), **asked))
        assert "refused: the account is frozen (three runs failed); nothing" in frozen
        assert "does not fit" not in frozen


def test_a_run_of_several_steps_is_refused_in_the_plural() -> None:
    budget = Budget(0.5, 1e-6)
    with pytest.raises(BudgetExceeded, match=r"8 steps of .* do not fit: 100 %"):
        train(model(), records(), **owned(noise=0.5, budget=budget))


def test_one_lost_step_is_one() -> None:
    found = preview(model(), records(), **owned())
    lost = [str(replace(found, left=3, lost=count)) for count in (0, 1, 2)]
    assert "resumed: 3 steps remain\n" in lost[0]
    assert "remain, 1 was lost\n" in lost[1]
    assert "remain, 2 were lost\n" in lost[2]
