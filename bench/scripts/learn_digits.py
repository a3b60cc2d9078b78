"""Handwritten digits: splits, and models that are trained on them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = [
    "DELTA",
    "EPSILONS",
    "MODELS",
    "WAYS",
    "Edges",
    "Setting",
    "split",
]

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


MODELS = {"linear": linear, "hidden": hidden, "edges": on_edges}
WAYS = {"batches of 240": 6, "all rows": 1}
"""Into how many parts, on average, an epoch cuts the rows."""


@dataclass(frozen=True)
class Setting:
    """A way to train a model. `clip` is None for automatic clipping, to length 1;
    `rate` is the learning rate times that length.
    """

    model: str
    way: str
    clip: float | None
    rate: float

    def __str__(self) -> str:
        clip = "automatic" if self.clip is None else f"at {self.clip:g}"
        return f"{self.model}, {self.way}, clipping {clip}, rate × clip {self.rate:g}"

    @property
    def parts(self) -> int:
        return WAYS[self.way]

    @property
    def falling(self) -> bool:
        return self.parts == 1

    @property
    def momentum(self) -> float:
        return 0.9 if self.falling else 0.0

    @property
    def epochs(self) -> int:
        if self.falling:
            return 60
        return 30 if self.model == "hidden" else 20

    @property
    def lr(self) -> float:
        return self.rate / (self.clip or 1.0)


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
