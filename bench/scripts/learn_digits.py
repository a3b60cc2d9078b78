"""Handwritten digits: splits, and models that are trained on them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = [
    "DELTA",
    "EPSILONS",
    "SPLITS",
    "Edges",
    "hidden",
    "linear",
    "on_edges",
    "split",
]

SPLITS = 20
DELTA = 1e-4
EPSILONS = (1.0, 3.0, 8.0)
ANGLES = 8
MIDDLE, EDGE = 0.3, 0.08
"""About what an image's numbers and its edges are, fixed beforehand."""


class Edges(nn.Module):
    """Numbers of an image, and how strong edges of eight directions are in each of 16
    squares: nothing here is learned.
    """

    def forward(self, values: Tensor) -> Tensor:
        images = values.view(-1, 8, 8)
        across = nn.functional.pad(images[:, :, 2:] - images[:, :, :-2], (1, 1))
        down = nn.functional.pad(images[:, 2:] - images[:, :-2], (0, 0, 1, 1))
        turns = torch.arange(ANGLES, dtype=values.dtype) * (2 * torch.pi / ANGLES)
        sides = [torch.relu(turn.cos() * across + turn.sin() * down) for turn in turns]
        squares = nn.functional.avg_pool2d(torch.stack(sides, 1), 2).flatten(1)
        return torch.cat([values - MIDDLE, 3 * (squares - EDGE)], 1)


def linear() -> nn.Module:
    return _zero(nn.Linear(64, 10))


def on_edges() -> nn.Module:
    return nn.Sequential(Edges(), _zero(nn.Linear(64 + 16 * ANGLES, 10)))


def hidden() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def _zero(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def split(number: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training inputs and targets, then those for the test; features over 16."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    values, labels = load_digits(return_X_y=True)
    parts = train_test_split(
        values / 16, labels, test_size=0.2, stratify=labels, random_state=number
    )
    inputs, tested = (torch.tensor(one, dtype=torch.float32) for one in parts[:2])
    return inputs, torch.tensor(parts[2]), tested, torch.tensor(parts[3])
