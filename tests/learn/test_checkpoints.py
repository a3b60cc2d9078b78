"""A run goes on from a checkpoint, on the unused steps of its receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from dither import ArgumentError, Budget, LedgerError, PureDP
from dither.learn import Adaptive, train
from dither.learn.checkpoints import Claims
from tests.learn.data import model, owned, records


class Power(Exception):
    """The machine stops."""


def failing(step: int) -> Any:
    def stop(now: Any) -> None:
        if now.step == step:
            raise Power

    return stop


def asked(path: Path, budget: Budget, **more: Any) -> dict[str, Any]:
    return (
        owned(
            epochs=4,
            budget=budget,
            checkpoint=path,
            optimizer=torch.optim.Adam,
            lr=0.01,
        )
        | more
    )


def begun(path: Path, budget: Budget, step: int, **more: Any) -> None:
    with pytest.raises(Power):
        train(
            model(), records(), **asked(path, budget, callbacks=[failing(step)], **more)
        )


@pytest.mark.parametrize("clip", [1.0, Adaptive(0.2)])
def test_a_run_goes_on_with_what_its_receipt_has_left(
    tmp_path: Path, clip: Any
) -> None:
    path, budget = tmp_path / "run.pt", Budget(20.0, 1e-6)
    begun(path, budget, 10, clip=clip)
    spent = str(budget)
    found = train(
        model(),
        records(),
        **asked(path, budget, checkpoint=None, resume=path, clip=clip),
    )
    assert str(budget) == spent  # nothing more was charged
    # Epoch 3 was begun and lost: it is not run again.
    assert [one.epoch for one in found.history] == [1, 2, 4]
    assert found.receipt is not None
    assert found.guarantee == found.receipt.guarantee


def test_steps_are_used_once(tmp_path: Path) -> None:
    path, budget = tmp_path / "run.pt", Budget(20.0, 1e-6)
    begun(path, budget, 5)
    copy = tmp_path / "copy.pt"
    copy.write_bytes(path.read_bytes())
    train(model(), records(), **asked(path, budget, resume=path))
    with pytest.raises(ArgumentError, match="no unused steps"):
        train(model(), records(), **asked(path, budget, resume=copy))


def test_an_epoch_is_claimed_by_one_process_only() -> None:
    budget = Budget(20.0, 1e-6)
    claims = Claims(budget, budget.charge(PureDP(1.0)))
    claims.claim(0)
    assert claims.unused(2) == [1]
    with pytest.raises(LedgerError, match="already"):
        claims.claim(0)


def test_weights_come_out_once() -> None:
    budget = Budget(20.0, 1e-6)
    found = train(model(), records(), **owned(budget=budget))
    assert found.receipt is not None
    claims = Claims(budget, found.receipt)
    assert claims.unused(2) == []
    with pytest.raises(LedgerError, match="already"):
        claims.note("other weights")


def test_checkpoints_hold_no_keys(tmp_path: Path) -> None:
    path, budget = tmp_path / "run.pt", Budget(20.0, 1e-6)
    begun(path, budget, 5)
    held = torch.load(path, weights_only=True)
    assert sorted(held) == [
        "data",
        "done",
        "epochs",
        "format",
        "model",
        "optimizer",
        "radius",
        "receipt",
        "scheduler",
        "weights",
    ]


def test_a_place_that_cannot_be_written_is_refused_before_the_charge(
    tmp_path: Path,
) -> None:
    budget = Budget(20.0, 1e-6)
    spent = str(budget)
    with pytest.raises(ArgumentError, match="checkpoint"):
        train(model(), records(), **asked(tmp_path / "no" / "run.pt", budget))
    assert str(budget) == spent


@pytest.mark.parametrize("what", ["model", "data", "account", "run", "file", "nothing"])
def test_checkpoints_of_something_else_are_refused(tmp_path: Path, what: str) -> None:
    path, budget = tmp_path / "run.pt", Budget(20.0, 1e-6)
    begun(path, budget, 5)
    mine: nn.Module = nn.Linear(4, 3) if what == "model" else model()
    inputs, targets = records()
    data = (inputs.long(), targets) if what == "data" else (inputs, targets)
    if what == "data":
        mine = model()
        data = (inputs, targets.int().float()[:, None].repeat(1, 3))
    other = Budget(20.0, 1e-6) if what == "account" else budget
    more: dict[str, Any] = {"noise": 1.5} if what == "run" else {}
    if what == "file":
        path.write_bytes(b"no checkpoint")
    if what == "nothing":
        path = tmp_path / "absent.pt"
    if what == "data":
        more["loss"] = nn.functional.mse_loss
    spent = str(other)
    with pytest.raises(ArgumentError, match="resume"):
        train(mine, data, **asked(path, other, resume=path, **more))
    assert str(other) == spent
