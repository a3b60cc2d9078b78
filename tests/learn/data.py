"""Small made-up records for tests of training."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset

torch.set_num_threads(1)

UNITS = 200


def records(count: int = UNITS, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Four numbers and one of three classes that a line divides."""
    made = np.random.default_rng(seed)  # allowed: made-up data
    inputs = made.normal(size=(count, 4)).astype(np.float32)
    scores = inputs @ np.array([[1, -1, 0], [0, 1, -1], [1, 0, 1], [-1, 1, 0]])
    return torch.from_numpy(inputs), torch.from_numpy(scores.argmax(1))


def model() -> nn.Sequential:
    torch.manual_seed(3)  # allowed: starting weights are public
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def run(**more: Any) -> dict[str, Any]:
    """Arguments of a short run that states its noise."""
    plain: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "epochs": 2,
        "batch": 50,
        "lr": 0.5,
        "noise": 1.0,
    }
    return plain | more


def owned(**more: Any) -> dict[str, Any]:
    """The same where each row is a unit."""
    return run(owner="row", units=UNITS) | more


class Pairs(Dataset[tuple[Tensor, Tensor]]):
    """A map-style dataset that counts how often it is read."""

    def __init__(self, count: int = UNITS, odd: bool = False) -> None:
        self.inputs, self.targets = records(count)
        self.odd, self.read = odd, 0

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        self.read += 1
        if self.odd and place == 7:
            raise OSError("a broken file")
        return self.inputs[place], self.targets[place]


class Listed(Dataset[Any]):
    """A map-style dataset of rows that are listed."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Any:
        return self.rows[place]


EXAMPLE = (torch.zeros(4), torch.tensor(0))
