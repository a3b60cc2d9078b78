"""What a run over several hospitals does, as callers state it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import torch

from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive, Clipping
from dither.learn.gradients.oracle import Loss
from dither.privacy.numbers import whole

__all__ = ["COSTS", "MANY_ROUNDS", "Rounds", "RoundsSettings"]

MANY_ROUNDS = 10**6
COSTS = ("epsilon", "share", "noise")
"""Ways to state what a run costs each hospital."""


class Rounds(TypedDict, total=False):
    """The keywords of a run: each hospital gets the same."""

    loss: Loss
    rounds: int
    steps: int
    batch: int
    clip: float | Clipping | Adaptive
    optimizer: Callable[..., Any]
    lr: float | None
    epsilon: float | None
    share: float | None
    noise: float | None
    micro: int | None
    device: str | torch.device | None
    precision: str | None


@dataclass(frozen=True)
class RoundsSettings:
    """The same with what holds where nothing is stated."""

    loss: Any = None
    rounds: Any = None
    steps: Any = None
    batch: Any = None
    clip: Any = 1.0
    optimizer: Any = torch.optim.SGD
    lr: float | None = None
    epsilon: float | None = None
    share: float | None = None
    noise: float | None = None
    micro: int | None = None
    device: Any = None
    precision: str | None = None

    def __post_init__(self) -> None:
        rounds = whole("rounds", self.rounds, "pass how many there are, such as 10")
        if rounds > MANY_ROUNDS:
            raise ArgumentError("rounds", f"must be at most {MANY_ROUNDS:,}")
        steps = whole(
            "steps", self.steps, "pass how many steps a hospital takes in a round"
        )
        object.__setattr__(self, "rounds", rounds)
        object.__setattr__(self, "steps", steps)
