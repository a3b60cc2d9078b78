"""Models that training is timed on, with made-up batches and a plain step. They are
built of layers that every mode of the peer knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["MODELS", "loss", "made", "plain_gradients", "plain_step"]

loss = functional.cross_entropy


class Block(nn.Module):
    """Attention and two layers, each beside its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.sides = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, values: Tensor) -> Tensor:
        rows, places, width = values.shape
        sides = self.sides(self.first(values))
        split = sides.view(rows, places, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        seen = torch.softmax(scores, dim=3) @ value
        values = values + self.out(seen.transpose(1, 2).reshape(rows, places, width))
        found: Tensor = self.down(torch.relu(self.up(self.second(values))))
        return values + found


class Transformer(nn.Module):
    """Three blocks over 64 words; the mean of places decides."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(2000, 128), nn.Embedding(64, 128)
        self.blocks = nn.Sequential(*[Block(128, 4) for _ in range(3)])
        self.out = nn.Linear(128, 10)

    def forward(self, lines: Tensor) -> Tensor:
        spots = torch.arange(lines.shape[1]).expand(len(lines), -1)
        values = self.words(lines) + self.places(spots.contiguous())
        found: Tensor = self.out(self.blocks(values).mean(1))
        return found


class Recurrent(nn.Module):
    """A recurrent layer over 32 steps; its last output decides."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.out = layer, nn.Linear(128, 10)

    def forward(self, values: Tensor) -> Tensor:
        found: Tensor = self.out(self.layer(values)[0][:, -1])
        return found


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


def _mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )


Inputs = Callable[[], Tensor]
MODELS: dict[str, tuple[Callable[[], nn.Module], Inputs]] = {
    "CNN": (_cnn, lambda: torch.randn(128, 1, 28, 28)),  # allowed: made-up data
    "MLP": (_mlp, lambda: torch.randn(128, 784)),  # allowed: made-up data
    "transformer": (
        Transformer,
        lambda: torch.randint(0, 2000, (32, 64)),  # allowed: made-up data
    ),
    "LSTM": (
        lambda: Recurrent(nn.LSTM(64, 128, batch_first=True)),
        lambda: torch.randn(64, 32, 64),  # allowed: made-up data
    ),
    "GRU": (
        lambda: Recurrent(nn.GRU(64, 128, batch_first=True)),
        lambda: torch.randn(64, 32, 64),  # allowed: made-up data
    ),
    "RNN": (
        lambda: Recurrent(nn.RNN(64, 128, batch_first=True)),
        lambda: torch.randn(64, 32, 64),  # allowed: made-up data
    ),
}


def made(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    """A model and one batch, in one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)  # allowed: made-up data
    model, inputs = MODELS[name]
    batch = inputs()
    targets = torch.randint(0, 10, (len(batch),))  # allowed: made-up data
    return model(), batch, targets


def plain_gradients(model: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    return torch.autograd.grad(loss(model(inputs), targets), list(model.parameters()))


def plain_step(model: nn.Module, inputs: Tensor, targets: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step
