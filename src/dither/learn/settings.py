"""The arguments of a run, as callers state them; `train` and `preview` take the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dither.errors import ArgumentError
from dither.learn.gradients.oracle import Loss
from dither.learn.run.settings import Running, RunSettings
from dither.learn.validation import Validation

__all__ = ["Settings", "Training"]


class Training(Running, total=False):
    """The keywords of a run."""

    loss: Loss
    epochs: int
    batch: int
    optimizer: Callable[..., Any]
    lr: float | None
    collate_fn: Callable[[list[Any]], Any] | None
    micro: int | None
    scheduler: Callable[..., Any] | None
    validation: Validation | None
    checkpoint: str | Path | None
    every: int | None
    resume: str | Path | None
    device: str | torch.device | None
    precision: str | None


@dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """These settings, with the defaults for what is not stated."""

    epochs: Any = None
    batch: Any = None
    optimizer: Any = torch.optim.SGD
    lr: float | None = None
    collate_fn: Any = None
    micro: int | None = None
    scheduler: Any = None
    validation: Validation | None = None
    checkpoint: str | Path | None = None
    every: int | None = None
    resume: str | Path | None = None
    device: Any = None
    precision: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, example in REQUIRED.items():
            if getattr(self, name) is None:
                raise ArgumentError(name, f"is missing; pass one such as {example}")
        self.check_loss()
        if self.precision not in PRECISIONS:
            raise ArgumentError(
                "precision",
                'must be "float32" or "bf16"; pass one of them, or leave it out',
            )
        if not isinstance(self.validation, Validation | None):
            raise ArgumentError(
                "validation",
                "must be a Validation, because its records are private and need noise; "
                "pass Validation(data, noise=20), or Validation(0.2, noise=20) to hold "
                "out a part of the units",
            )
        self.check_callbacks()
        for name in ("checkpoint", "resume"):
            if not isinstance(getattr(self, name), str | os.PathLike | None):
                raise ArgumentError(name, 'must be a path; pass one such as "run.pt"')
        if self.every is not None and not self.keeps:
            raise ArgumentError(
                "every",
                "needs a checkpoint, because it is the number of steps between two "
                "checkpoints; pass checkpoint= too",
            )

    @property
    def keeps(self) -> bool:
        """Whether checkpoints are written."""
        return self.checkpoint is not None or self.resume is not None

    @property
    def place(self) -> Path:
        """The path to write to: a run that is resumed writes to its own file, unless
        told otherwise.
        """
        return Path(self.checkpoint or self.resume or "")


PRECISIONS = (None, "float32", "bf16")
REQUIRED = {
    "loss": "torch.nn.functional.cross_entropy",
    "epochs": "20",
    "batch": "256",
}
