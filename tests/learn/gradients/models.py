"""Small models that use every kind of layer, each with inputs and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

ROWS = 8


@dataclass(frozen=True)
class Case:
    name: str
    model: Callable[[], nn.Module]
    inputs: Callable[[int], Any]
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


class Loose(nn.Module):
    """Parameters outside of layers: a token, places, a scale, a shift, a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 6))
        self.places = nn.Parameter(torch.randn(1, 7, 6))
        self.lines = nn.Parameter(torch.randn(7, 6))
        self.scale = nn.Parameter(torch.randn(6))
        self.size = nn.Parameter(torch.tensor(1.5))
        self.matrix = nn.Parameter(torch.randn(6, 5))
        self.last = nn.Parameter(torch.randn(5, 5))

    def forward(self, values: Tensor) -> Tensor:
        first = self.token.expand(len(values), -1, -1)
        seen = torch.cat([first, values], 1)
        seen = seen + self.places[:, : seen.shape[1]]
        seen = torch.tanh(seen * self.scale + self.lines[: seen.shape[1]])
        seen = torch.tanh(self.size * (seen @ self.matrix))
        return torch.matmul(seen.mean(1) - seen[:, 0], self.last)


class Two(nn.Module):
    """Two inputs: words and numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(9, 4)
        self.numbers = nn.Linear(3, 4)
        self.out = nn.Linear(4, 5)

    def forward(self, lines: Tensor, numbers: Tensor) -> Tensor:
        return self.out(torch.tanh(self.words(lines).mean(1) + self.numbers(numbers)))


class Masked(nn.Module):
    """Attention with every kind of mask, widths of its own, and its weights."""

    def __init__(self, *, own: bool = False, weights: bool = True) -> None:
        super().__init__()
        sizes = {"kdim": 6, "vdim": 5} if own else {}
        self.inner = nn.MultiheadAttention(8, 2, batch_first=True, **sizes)
        self.start = nn.Linear(3, 8)
        self.key = nn.Linear(3, 6 if own else 8)
        self.value = nn.Linear(3, 5 if own else 8)
        self.out = nn.Linear(8, 5)
        self.weights = weights

    def forward(self, values: Tensor) -> Tensor:
        rows, places, _ = values.shape
        causal = torch.ones(places, places, dtype=torch.bool).triu(1)
        padding = values[:, :, 0] > 0.5
        padding[:, 0] = False
        found, seen = self.inner(
            self.start(values),
            self.key(values),
            self.value(values),
            key_padding_mask=padding,
            attn_mask=causal,
            need_weights=self.weights,
        )
        slanted = torch.linspace(0, 1, places * places).view(places, places)
        many = slanted.expand(rows * 2, places, places)
        again, _ = self.inner(
            found,
            self.key(values),
            self.value(values),
            attn_mask=many,
            need_weights=self.weights,
            average_attn_weights=False,
        )
        extra = 0.0 if seen is None else seen.mean((1, 2))[:, None]
        return self.out(again.mean(1)) + extra


class Last(nn.Module):
    """Places first; only the last of them is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.start, self.norm, self.out = (
            nn.Linear(3, 6),
            nn.LayerNorm(6),
            nn.Linear(6, 5),
        )

    def forward(self, values: Tensor) -> Tensor:
        return self.out(torch.relu(self.norm(self.start(values.transpose(0, 1)))))[-1]


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
    Case("loose", Loose, reals(4, 6)),
    Case("two", Two, lambda rows: (ids(4)(rows), reals(3)(rows))),
    Case("masked", Masked, reals(4, 3)),
    Case("masked, no weights", lambda: Masked(weights=False), reals(4, 3)),
    Case("masked, own widths", lambda: Masked(own=True), reals(4, 3)),
    Case("last", Last, reals(3, 3)),
    Case(
        "deep images",  # few places beside entries: norms from products
        lambda: image(
            nn.Conv2d(16, 33, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 2)),
            nn.Tanh(),
            nn.Conv2d(33, 17, 2, bias=False),
            size=17,
        ),
        reals(16, 5, 2),
    ),
    Case(
        "padded",
        lambda: image(
            nn.Conv2d(2, 3, 3, padding=2, padding_mode="reflect"),
            nn.Conv2d(3, 4, 3, padding="valid", dilation=2),
            nn.Conv2d(4, 4, 3, padding="same", groups=4),
            size=4 * 36,
        ),
        reals(2, 8, 8),
    ),
)
