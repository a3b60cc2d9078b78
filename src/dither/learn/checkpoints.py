"""Checkpoints: the weights of a run under way, and how a run goes on from them.

A checkpoint holds no keys: whoever goes on draws fresh ones. Each epoch is claimed in the
book before it runs, and no epoch is claimed twice, so that one charge pays for its steps
once (rule R24). Steps that were lost in a crash are not run again.

A checkpoint is for the curator: the charge covers weights that come out at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dither.errors import ArgumentError
from dither.learn.history import Epoch
from dither.learn.preparing import Ready
from dither.ledger import Account, Receipt
from dither.ledger.wire import from_json, to_json

__all__ = ["Claims", "Resumed", "check_place", "fingerprint", "resumed", "save"]

FORMAT = "dither.checkpoint/1"


@dataclass(frozen=True)
class Claims:
    """The epochs of a receipt that some process has begun, in the book, and the hash of
    the weights that came out: they do so once.
    """

    account: Account
    receipt: Receipt

    def claim(self, epoch: int) -> None:
        """Take an epoch; refused if it is taken already."""
        self.account.store(self.receipt, self._key(epoch), "begun")

    def unused(self, epochs: int) -> list[int]:
        """Epochs that nobody has begun; none once weights have come out."""
        if self._stored(self._weights):
            return []
        return [one for one in range(epochs) if not self._stored(self._key(one))]

    def note(self, digest: str) -> None:
        """Keep the hash of the weights that come out; refused a second time."""
        self.account.store(self.receipt, self._weights, f"sha256 {digest}")

    def _stored(self, key: str) -> bool:
        return self.account.stored(key, by=self.receipt.by) is not None

    def _key(self, epoch: int) -> str:
        return f"training {self.receipt.number}, epoch {epoch + 1}"

    @property
    def _weights(self) -> str:
        return f"training {self.receipt.number}, weights"


@dataclass(frozen=True)
class Resumed:
    """Where a run goes on: its receipt, what is done, and what is left."""

    receipt: Receipt
    epochs: tuple[Epoch, ...]
    left: tuple[int, ...]


def account_of(ready: Ready, argument: str) -> Account:
    """The account that counts the steps."""
    account = ready.plan.question.account
    if not isinstance(account, Account):
        raise ArgumentError(
            argument,
            "needs an account, which counts the steps that were run; pass budget=",
        )
    return account


def check_place(ready: Ready, path: Any) -> None:
    """That there is an account to count steps, and a place to write to: before the
    charge.
    """
    account_of(ready, "checkpoint")
    try:
        beside = _beside(Path(path))
        with beside.open("wb"):
            pass
        beside.unlink()
    except (OSError, TypeError, ValueError):
        raise ArgumentError(
            "checkpoint", "cannot be written there; pass a file in a folder that exists"
        ) from None


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def fingerprint(model: nn.Module) -> str:
    """What tells a model from others: its layers, and shapes of its parameters."""
    shapes = [
        (name, tuple(one.shape), one.requires_grad)
        for name, one in model.named_parameters()
    ]
    words = f"{model!r} {shapes}"
    return hashlib.sha256(words.encode()).hexdigest()


def save(
    path: Any, ready: Ready, receipt: Receipt, epochs: list[Epoch], done: int
) -> None:
    """Write a checkpoint in one go: a file that is half written is never found."""
    held = {
        "format": FORMAT,
        "model": fingerprint(ready.model),
        "data": ready.source.words,
        "receipt": _written(receipt),
        "done": done,
        "epochs": [vars(one) for one in epochs],
        "radius": ready.radius.clipping.radius,
        "weights": ready.model.state_dict(),
        "optimizer": ready.optimizer.state_dict(),
        "scheduler": _state(ready),
    }
    target = Path(path)
    beside = _beside(target)
    with beside.open("wb") as file:
        torch.save(held, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(target)


def _state(ready: Ready) -> Any:
    """The scheduler's numbers; functions in it are made anew."""
    if ready.scheduler is None:
        return None
    found = ready.scheduler.state_dict()
    return {name: one for name, one in found.items() if _plain(one)}


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_plain(one) for one in value)
    return value is None or isinstance(value, bool | int | float | str)


def resumed(ready: Ready, path: Any) -> Resumed:
    """Load a checkpoint into a run that was prepared with the same arguments."""
    account = account_of(ready, "resume")
    held = _loaded(path)
    receipt = _receipt(held["receipt"], account)
    if held["model"] != fingerprint(ready.model):
        _refuse("another model", "pass the model that it was made from")
    if held["data"] != ready.source.words:
        _refuse("other data", "pass the data that it was trained on")
    if receipt.guarantee != ready.plan.charged:
        _refuse("another run", "pass the arguments that it was begun with")
    claims = Claims(account, receipt)
    left = [one for one in claims.unused(ready.plan.epochs) if one >= held["done"]]
    if not left:
        raise ArgumentError(
            "resume",
            "has no unused steps left on its receipt; repeated steps are a new charge: "
            "leave resume out to begin anew",
        )
    _load(ready, held, left[0])
    return Resumed(receipt, tuple(Epoch(**one) for one in held["epochs"]), tuple(left))


def _load(ready: Ready, held: Mapping[str, Any], epoch: int) -> None:
    ready.model.load_state_dict(held["weights"])
    ready.optimizer.load_state_dict(held["optimizer"])
    ready.radius.restore(held["radius"])
    if ready.scheduler is None:
        return
    ready.scheduler.load_state_dict(held["scheduler"])
    # Steps that were lost have passed: the rate goes by the number of the step.
    for _ in range((epoch - held["done"]) * ready.plan.steps_per_epoch):
        ready.scheduler.step()


def _loaded(path: Any) -> dict[str, Any]:
    try:
        held = torch.load(Path(path), weights_only=True, map_location="cpu")
    except Exception:
        raise ArgumentError(
            "resume", "cannot be read as a checkpoint; pass a file that train wrote"
        ) from None
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise ArgumentError("resume", "is no checkpoint; pass a file that train wrote")
    return held


def _written(receipt: Receipt) -> str:
    fields = {
        name: value for name, value in vars(receipt).items() if name != "disjoint"
    }
    return json.dumps({**fields, "guarantee": to_json(receipt.guarantee)})


def _receipt(text: str, account: Account) -> Receipt:
    data = json.loads(text)
    guarantee = from_json(data.pop("guarantee"))
    receipt = Receipt(guarantee=guarantee, **data)
    if receipt.account != account.name or not account.holds(receipt):
        _refuse("another account", "pass the budget that paid for it")
    return receipt


def _refuse(what: str, way_out: str) -> None:
    raise ArgumentError("resume", f"is a checkpoint of {what}; {way_out}")
