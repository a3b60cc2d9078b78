"""The arguments of a run, as callers state them; `train` and `preview` take the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dither.dataset import Account
from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive, Clipping
from dither.learn.gradients.oracle import Loss
from dither.learn.schedules import Schedule
from dither.learn.validation import Validation
from dither.question import Asking

__all__ = ["Settings", "Training"]


class Training(Asking, total=False):
    """The keywords of a run."""

    loss: Loss
    epochs: int
    batch: int
    clip: float | Clipping | Adaptive
    optimizer: Callable[..., Any]
    lr: float | None
    inputs: Sequence[str] | Mapping[str, Any] | None
    target: str | None
    owner: Any
    classes: Sequence[Any] | None
    table: str | None
    collate_fn: Callable[[list[Any]], Any] | None
    example: tuple[Any, Any] | None
    units: int | None
    rows: int | None
    micro: int | None
    noise: float | None
    noise_schedule: Schedule | None
    scheduler: Callable[..., Any] | None
    public: Any
    validation: Validation | None
    callbacks: Sequence[Callable[[Any], Any]] | None
    checkpoint: str | Path | None
    every: int | None
    resume: str | Path | None
    device: str | torch.device | None
    precision: str | None
    delta: float | None


@dataclass(frozen=True)
class Settings:
    """The same with what holds where nothing is stated."""

    loss: Any = None
    epochs: Any = None
    batch: Any = None
    clip: Any = 1.0
    optimizer: Any = torch.optim.SGD
    lr: float | None = None
    inputs: Any = None
    target: Any = None
    owner: Any = None
    classes: Any = None
    table: str | None = None
    collate_fn: Any = None
    example: Any = None
    units: int | None = None
    rows: int | None = None
    micro: int | None = None
    noise: float | None = None
    noise_schedule: Any = None
    scheduler: Any = None
    public: Any = None
    validation: Validation | None = None
    callbacks: Any = ()
    checkpoint: str | Path | None = None
    every: int | None = None
    resume: str | Path | None = None
    device: Any = None
    precision: str | None = None
    delta: float | None = None
    epsilon: float | None = None
    rho: float | None = None
    share: float | None = None
    budget: Account | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        for name, example in REQUIRED.items():
            if getattr(self, name) is None:
                raise ArgumentError(name, f"is missing; pass one such as {example}")
        if self.callbacks is None:
            object.__setattr__(self, "callbacks", ())
        if not callable(self.loss):
            raise ArgumentError(
                "loss", "must be a function, such as torch.nn.functional.cross_entropy"
            )
        if self.precision not in PRECISIONS:
            raise ArgumentError(
                "precision", 'must be "float32", which is usual, or "bf16"'
            )
        if not isinstance(self.validation, Validation | None):
            raise ArgumentError(
                "validation",
                "is private; say how it is measured: Validation(data, noise=20), or "
                "Validation(0.2, noise=20) to hold out a part of the units",
            )
        if not all(callable(one) for one in self.callbacks):
            raise ArgumentError("callbacks", "must be functions of one argument")
        for name in ("checkpoint", "resume"):
            if not isinstance(getattr(self, name), str | os.PathLike | None):
                raise ArgumentError(name, 'must be a file, such as "run.pt"')
        if self.every is not None and not self.keeps:
            raise ArgumentError(
                "every", "is how often a checkpoint is written; pass checkpoint= too"
            )

    @property
    def keeps(self) -> bool:
        """Whether checkpoints are written."""
        return self.checkpoint is not None or self.resume is not None

    @property
    def place(self) -> Path:
        """Where to: a run that goes on writes to its own file, unless told otherwise."""
        return Path(self.checkpoint or self.resume or "")

    @property
    def cost(self) -> dict[str, Any]:
        names = ("epsilon", "rho", "share", "noise", "budget", "by")
        return {name: getattr(self, name) for name in names}


PRECISIONS = (None, "float32", "bf16")
REQUIRED = {
    "loss": "torch.nn.functional.cross_entropy",
    "epochs": "20",
    "batch": "256",
}
