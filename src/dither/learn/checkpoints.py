"""Checkpoints: files with the weights of a run under way, to go on from.

A checkpoint holds weights, the optimizer's state, the clipping norm, where the run
stands, which charge pays for it, and public history. It never holds keys of sampler or
noise: a process that resumes draws fresh ones (rule R24). Its first line has the hash
of the rest, which is read without running anything that it holds.
"""

from __future__ import annotations

import copy
import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from dither.errors import ArgumentError
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch

__all__ = ["Saved", "check_keeps", "check_place", "kind_of", "load", "read", "write"]

FORMAT = "dither.checkpoint/1"
NUMBERS = ("number", "attempt", "done", "lost")


@dataclass(frozen=True)
class Saved:
    """A run under way. `number` and `head` are of its charge, `attempt` is the line of
    the process that wrote this; `done` is the last step, and `lost` steps before it
    never ran.
    """

    pinned: dict[str, Any]
    number: int
    head: str
    attempt: int
    done: int
    lost: int
    epochs: tuple[Epoch, ...]
    radius: float
    weights: dict[str, Tensor]
    optimizer: str
    state: dict[Any, Any]


def write(path: Path, saved: Saved) -> None:
    """Write a file in one go: a reader finds the old one or this one, and no half."""
    held = vars(saved) | {"epochs": [asdict(one) for one in saved.epochs]}
    body = _packed(held)
    line = f"{FORMAT} {hashlib.sha256(body).hexdigest()}\n".encode()
    beside = path.with_name(f"{path.name}.part-{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(line + body)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """A new name is on the disk when its folder is. Windows cannot open folders."""
    if os.name == "nt":
        return
    found = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(found)
    finally:
        os.close(found)


def _packed(held: Mapping[str, Any]) -> bytes:
    body = io.BytesIO()
    torch.save(dict(held), body)
    return body.getvalue()


def _unpacked(body: bytes) -> Any:
    """Tensors and plain values; nothing else is made, and no code is run."""
    return torch.load(io.BytesIO(body), weights_only=True, map_location="cpu")


def read(path: Any) -> Saved:
    """A checkpoint, if the file is one and nothing in it was changed."""
    line, _, body = _content(path).partition(b"\n")
    name, _, digest = line.decode("ascii", "replace").partition(" ")
    if name != FORMAT:
        raise ArgumentError(
            "resume", "is not a checkpoint; pass a file that train wrote"
        )
    if hashlib.sha256(body).hexdigest() != digest:
        raise ArgumentError(
            "resume",
            "the checkpoint is damaged, or was changed after it was written; pass an "
            "intact copy as resume=",
        )
    try:
        return _saved(_unpacked(body))
    except Exception:
        raise ArgumentError(
            "resume",
            "the checkpoint does not hold a training run; pass a file that train wrote",
        ) from None


def _content(path: Any) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, TypeError, ValueError):
        raise ArgumentError(
            "resume",
            "cannot be read as a file; pass the path that the run had as checkpoint=",
        ) from None


def _saved(held: dict[str, Any]) -> Saved:
    if not all(type(held[name]) is int for name in NUMBERS):
        raise TypeError
    epochs = tuple(Epoch(**one) for one in held["epochs"])
    return Saved(**held | {"epochs": epochs, "radius": float(held["radius"])})


def load(saved: Saved, model: nn.Module, optimizer: Optimizer) -> None:
    """Put weights and the optimizer's state in place; its settings are the caller's."""
    with torch.no_grad():
        for name, one in trained(model).items():
            one.copy_(saved.weights[name])
    # A copy: PyTorch goes on with the tensors that it is given.
    state = copy.deepcopy(saved.state)
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def kind_of(optimizer: Optimizer) -> str:
    kind = type(optimizer)
    return f"{kind.__module__}.{kind.__qualname__}"


def check_keeps(
    optimizer: Optimizer, before: list[dict[str, Any]], after: dict[str, Any]
) -> None:
    """That a file can hold the state of an optimizer that has stepped. What it keeps
    among its settings would be lost, so those must be as before.
    """
    try:
        _unpacked(_packed({"state": after["state"]}))
        fine = after["param_groups"] == before
    except Exception:
        fine = False
    if not fine:
        raise ArgumentError(
            "optimizer",
            f"the state of {type(optimizer).__name__} cannot be stored in a "
            "checkpoint; use an optimizer of PyTorch, or leave checkpoint out",
        )


def check_place(path: Path, resumed: Any) -> None:
    """Check that a checkpoint can be written, and that it does not replace another one."""
    folder = path.parent
    if not path.name or path.is_dir() or not os.access(folder, os.W_OK):
        raise ArgumentError(
            "checkpoint", "cannot be written; pass a file in an existing folder"
        )
    if path.exists() and (resumed is None or not path.samefile(resumed)):
        raise ArgumentError(
            "checkpoint",
            "is an existing file; pass it as resume= to resume its run, or pass a new "
            "name",
        )
