"""Models of usual size for a GPU, with made-up batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.scripts.learn_models import MODELS

__all__ = ["CASES", "Case"]

WORDS, PLACES, WIDTH, HEADS, DEPTH = 32_000, 256, 768, 12, 12


class Block(nn.Module):
    """Attention to places before, and two layers, each beside its input."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.sides, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, values: Tensor) -> Tensor:
        rows, places, _ = values.shape
        sides = self.sides(self.first(values))
        split = sides.view(rows, places, 3, HEADS, WIDTH // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
        values = values + self.out(seen.transpose(1, 2).reshape(rows, places, WIDTH))
        found: Tensor = self.down(functional.gelu(self.up(self.second(values))))
        return values + found


class Language(nn.Module):
    """Scores of the next word at each place: [rows, words, places]."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(PLACES, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.last = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, lines: Tensor) -> Tensor:
        spots = torch.arange(lines.shape[1], device=lines.device)
        values = self.words(lines) + self.places(spots.expand(len(lines), -1))
        found: Tensor = self.out(self.last(self.blocks(values)))
        return found.transpose(1, 2)


class Residual(nn.Module):
    """Two convolutions beside a shorter way."""

    def __init__(self, narrow: int, wide: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = nn.GroupNorm(16, narrow), nn.GroupNorm(16, wide)
        self.one = nn.Conv2d(narrow, wide, 3, stride, padding=1, bias=False)
        self.two = nn.Conv2d(wide, wide, 3, padding=1, bias=False)
        same = narrow == wide and stride == 1
        self.short = None if same else nn.Conv2d(narrow, wide, 1, stride, bias=False)

    def forward(self, values: Tensor) -> Tensor:
        normed = torch.relu(self.first(values))
        short = values if self.short is None else self.short(normed)
        found: Tensor = self.two(torch.relu(self.second(self.one(normed))))
        return short + found


def _wide() -> nn.Module:
    parts: list[nn.Module] = [nn.Conv2d(3, 64, 3, padding=1, bias=False)]
    before = 64
    for width, stride in ((64, 1), (128, 2), (256, 2)):
        parts += [Residual(before, width, stride), Residual(width, width, 1)]
        before = width
    end = [nn.GroupNorm(16, before), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*parts, *end, nn.Linear(before, 10))


@dataclass(frozen=True)
class Case:
    """A model and how its batches look."""

    model: Callable[[], nn.Module]
    inputs: Callable[[int], Tensor]
    targets: Callable[[int], Tensor]


def _labels(rows: int) -> Tensor:
    return torch.randint(0, 10, (rows,))  # allowed: made-up data


def _text(rows: int) -> Tensor:
    return torch.randint(0, WORDS, (rows, PLACES))  # allowed: made-up data


def _reals(*shape: int) -> Callable[[int], Tensor]:
    return lambda rows: torch.randn(rows, *shape)  # allowed: made-up data


CASES = {
    "transformer": Case(Language, _text, _text),
    "WideResNet": Case(_wide, _reals(3, 32, 32), _labels),
    "CNN": Case(MODELS["CNN"][0], _reals(1, 28, 28), _labels),
    "MLP": Case(MODELS["MLP"][0], _reals(784), _labels),
}
