"""Files to go on from: whole or not at all, and nothing in them is run."""

from __future__ import annotations

import hashlib
import io
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from dither.errors import ArgumentError
from dither.learn import checkpoints
from dither.learn.checkpoints import (
    FORMAT,
    Saved,
    check_keeps,
    check_place,
    load,
    read,
    write,
)
from dither.learn.clipping import LEAST, Adapting, Adaptive
from dither.learn.history import Epoch
from tests.learn.data import model


def saved(**more: Any) -> Saved:
    mine = model()
    optimizer = stepped(torch.optim.Adam(mine.parameters(), lr=0.1))
    held: dict[str, Any] = {
        "pinned": {"noises": [[1.0, 8]]},
        "number": 3,
        "head": "0" * 64,
        "attempt": 3,
        "done": 4,
        "lost": 1,
        "epochs": (Epoch(1, 4, 0.1, 1.0, 0.5, None),),
        "radius": 0.5,
        "weights": {name: one.detach() for name, one in mine.named_parameters()},
        "optimizer": "torch.optim.adam.Adam",
        "state": optimizer.state_dict()["state"],
    }
    return Saved(**held | more)


def stepped(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    for group in optimizer.param_groups:
        for one in group["params"]:
            one.grad = torch.ones_like(one)
    optimizer.step()
    return optimizer


def test_what_is_written_is_read(tmp_path: Path) -> None:
    one, path = saved(), tmp_path / "run.pt"
    write(path, one)
    write(path, one)
    found = read(path)
    for name in ("pinned", "number", "head", "attempt", "done", "lost", "epochs"):
        assert getattr(found, name) == getattr(one, name)
    assert all(
        torch.equal(found.weights[name], one.weights[name]) for name in one.weights
    )
    assert os.listdir(tmp_path) == ["run.pt"]  # noqa: PTH208


def test_weights_and_state_are_put_in_place(tmp_path: Path) -> None:
    one, path = saved(), tmp_path / "run.pt"
    write(path, one)
    other = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(other.parameters(), lr=0.7)
    load(read(path), other, optimizer)
    assert all(
        torch.equal(dict(other.named_parameters())[name], one.weights[name])
        for name in one.weights
    )
    assert optimizer.state_dict()["state"][0]["step"] == 1
    assert optimizer.param_groups[0]["lr"] == 0.7  # settings are the caller's


def test_a_crash_while_writing_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.pt"
    write(path, saved())
    before = path.read_bytes()

    def crash(_: int) -> None:
        raise OSError("disk")

    monkeypatch.setattr("dither.learn.checkpoints.os.fsync", crash)
    with pytest.raises(OSError, match="disk"):
        write(path, replace(saved(), done=8))
    assert path.read_bytes() == before


def changed(place: int) -> Any:
    def change(data: bytes) -> bytes:
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: data + b"x", "damaged"),
        (changed(-500), "damaged"),
        (changed(30), "damaged"),
        (changed(2), "not a checkpoint"),
        (lambda _: b"", "not a checkpoint"),
        (lambda _: b"\xff\xfe junk\n", "not a checkpoint"),
    ],
    ids=["cut", "longer", "body", "hash", "name", "empty", "junk"],
)
def test_changed_files_are_refused(tmp_path: Path, change: Any, words: str) -> None:
    path = tmp_path / "run.pt"
    write(path, saved())
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ArgumentError, match=words):
        read(path)


def forged(path: Path, held: Any) -> None:
    """A file with a true hash, by somebody who knows the format."""
    body = io.BytesIO()
    torch.save(held, body)
    digest = hashlib.sha256(body.getvalue()).hexdigest()
    path.write_bytes(f"{FORMAT} {digest}\n".encode() + body.getvalue())


class Code:
    """What would be run if it were unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("ran",)


@pytest.mark.parametrize(
    "held",
    [
        lambda good: good | {"state": {0: Code()}},
        lambda good: good | {"done": "4"},
        lambda good: good | {"done": True},
        lambda good: good | {"epochs": [{"epoch": 1}]},
        lambda good: good | {"radius": "wide"},
        lambda good: good | {"more": 1},
        lambda good: {name: one for name, one in good.items() if name != "head"},
        lambda _: [1, 2],
    ],
    ids=["code", "text", "truth", "epochs", "radius", "more", "less", "list"],
)
def test_forged_files_are_refused_and_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    good = vars(saved()) | {"epochs": []}
    forged(tmp_path / "good.pt", good)
    assert read("good.pt").done == 4
    forged(tmp_path / "run.pt", held(good))
    with pytest.raises(ArgumentError, match="does not hold a training run"):
        read("run.pt")
    assert not Path("ran").exists()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pt", tmp_path, "a\0b"):
        with pytest.raises(ArgumentError, match="cannot be read"):
            read(path)


def test_places(tmp_path: Path) -> None:
    there = tmp_path / "run.pt"
    check_place(there, None)
    there.touch()
    check_place(there, there)
    other = tmp_path / "other.pt"
    other.touch()
    for path, resumed in ((there, None), (other, there)):
        with pytest.raises(ArgumentError, match="is an existing file"):
            check_place(path, resumed)
    for path in (tmp_path, tmp_path / "no" / "run.pt", Path()):
        with pytest.raises(ArgumentError, match="cannot be written"):
            check_place(path, None)


class Counting(torch.optim.SGD):
    """It counts among its settings."""

    def step(self, closure: Any = None) -> Any:
        self.param_groups[0]["count"] = self.param_groups[0].get("count", 0) + 1
        return super().step(closure)


class Strange(torch.optim.SGD):
    """It keeps an object of its own."""

    def step(self, closure: Any = None) -> Any:
        self.state[self.param_groups[0]["params"][0]]["own"] = Code()
        return super().step(closure)


@pytest.mark.parametrize("kind", [Counting, Strange, torch.optim.SGD])
def test_optimizers_that_a_file_cannot_hold(kind: Any) -> None:
    optimizer = kind(model().parameters(), lr=0.1)
    before = optimizer.state_dict()["param_groups"]
    after = stepped(optimizer).state_dict()
    if kind is torch.optim.SGD:
        check_keeps(optimizer, before, after)
        return
    with pytest.raises(ArgumentError, match="cannot be stored in a checkpoint"):
        check_keeps(optimizer, before, after)


def test_no_keys_are_kept() -> None:
    assert set(Saved.__annotations__) == {
        "pinned",
        "number",
        "head",
        "attempt",
        "done",
        "lost",
        "epochs",
        "radius",
        "weights",
        "optimizer",
        "state",
    }
    assert "noise" not in vars(checkpoints)


def test_a_forged_radius_is_refused() -> None:
    """Weights below the range of floats would not be rounded down."""
    mine = nn.Linear(2, 2)
    held = Adapting.of(Adaptive(1.0), mine, 10)
    for radius in (1e-44, 1e30, -1.0, 0.0, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="usable clipping norm"):
            held.restore(radius)
    held.restore(LEAST)
    assert held.clipping.radius == LEAST
