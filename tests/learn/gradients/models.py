"""Small models that use every kind of layer, each with inputs and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

ROWS = 8


@dataclass(frozen=True)
class Case:
    name: str
    model: Callable[[], nn.Module]
    inputs: Callable[[int], Tensor]
    classes: int = 5
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy

    def targets(self, rows: int) -> Tensor:
        return torch.randint(0, self.classes, (rows,))


def reals(*shape: int) -> Callable[[int], Tensor]:
    return lambda rows: torch.randn(rows, *shape)


def ids(places: int, size: int = 9) -> Callable[[int], Tensor]:
    return lambda rows: torch.randint(0, size, (rows, places))


class Text(nn.Module):
    """An embedding, positions that all rows share, and something between."""

    def __init__(self, inner: nn.Module, *, tied: bool = False) -> None:
        super().__init__()
        self.words = nn.Embedding(9, 8, padding_idx=0)
        self.places = nn.Embedding(4, 8)
        self.inner = inner
        self.out = nn.Linear(8, 9, bias=False)
        if tied:
            self.out.weight = self.words.weight

    def forward(self, lines: Tensor) -> Tensor:
        seen = self.words(lines) + self.places(torch.arange(lines.shape[1]))
        return self.out(self.inner(seen).mean(1))


class Both(nn.Module):
    """A decoder that looks at what came before it, with places along the first axis."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(9, 8)
        self.first = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.then = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
        self.out = nn.Linear(8, 9)

    def forward(self, lines: Tensor) -> Tensor:
        seen = self.words(lines).transpose(0, 1)
        return self.out(self.then(seen.flip(0), self.first(seen)).mean(0))


class Shared(nn.Module):
    """One layer that is called three times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 6)
        self.out = nn.Linear(6, 5)

    def forward(self, values: Tensor) -> Tensor:
        for _ in range(3):
            values = torch.tanh(self.layer(values))
        return self.out(values)


class Adapter(nn.Module):
    """A frozen layer and a low-rank one beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(12, 12).requires_grad_(False)
        self.down = nn.Linear(12, 2, bias=False)
        self.up = nn.Linear(2, 12, bias=False)
        self.out = nn.Linear(12, 5)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.base(values) + self.up(self.down(values)))


class Flattened(nn.Module):
    """Places inside the first axis."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.out = nn.Linear(6, 5), nn.Linear(5, 5)

    def forward(self, values: Tensor) -> Tensor:
        rows, places, width = values.shape
        seen = torch.relu(self.layer(values.reshape(rows * places, width)))
        return self.out(seen.view(rows, places, 5).sum(1))


def encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)


def image(*layers: nn.Module, size: int) -> nn.Module:
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(size, 5))


CASES = (
    Case(
        "mlp",
        lambda: nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 5)),
        reals(20),
    ),
    Case("places", Flattened, reals(3, 6)),
    Case("shared", Shared, reals(6)),
    Case("adapter", Adapter, reals(12)),
    Case(
        "images",
        lambda: image(
            nn.Conv2d(2, 4, 3, padding=1, stride=2),
            nn.GroupNorm(2, 4),
            nn.ReLU(),
            nn.Conv2d(4, 6, (1, 3), dilation=(1, 2), padding="same", groups=2),
            size=6 * 16,
        ),
        reals(2, 8, 8),
    ),
    Case(
        "series",
        lambda: image(
            nn.Conv1d(3, 4, 4, padding=1),
            nn.ReLU(),
            nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular"),
            size=36,
        ),
        reals(3, 10),
    ),
    Case(
        "norms",
        lambda: nn.Sequential(
            nn.Linear(6, 6),
            nn.LayerNorm(6),
            nn.Linear(6, 6),
            nn.RMSNorm(6),
            nn.Linear(6, 5),
        ),
        reals(6),
    ),
    Case("text", lambda: Text(encoder()), ids(4), 9),
    Case("tied", lambda: Text(encoder(), tied=True), ids(4), 9),
    Case("both", Both, ids(3), 9),
)
