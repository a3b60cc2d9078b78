"""How a model of the zoo is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = [
    "ALONE",
    "REFUSED",
    "TRACED",
    "Built",
    "Model",
    "bits",
    "ids",
    "kept",
    "reals",
]

TRACED, ALONE, REFUSED = "one backward pass", "one row at a time", "refused"


class Built(nn.Module):
    """Layers by name, and a function of them and of the inputs."""

    def __init__(self, func: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        for name, one in parts.items():
            if isinstance(one, Tensor) and not isinstance(one, nn.Parameter):
                self.register_buffer(name, one)
            else:
                setattr(self, name, one)
        self.func = func

    def forward(self, *inputs: Tensor, **named: Tensor) -> Any:
        return self.func(self, *inputs, **named)


def reals(*shape: int) -> Callable[[int], Tensor]:
    return lambda rows: torch.randn(rows, *shape)


def ids(*shape: int, size: int = 11) -> Callable[[int], Tensor]:
    return lambda rows: torch.randint(0, size, (rows, *shape))


def bits(*shape: int) -> Callable[[int], Tensor]:
    return lambda rows: torch.randint(0, 2, (rows, *shape)).float()


CLASSES = ids(size=3)


@dataclass(frozen=True)
class Model:
    """A model that people have, small. `draws`: it draws numbers while it is trained.
    `reason`: why it is refused, or goes one row at a time, in the library's words.
    `note`: what else a reader should know.
    """

    name: str
    kind: str
    make: Callable[[], nn.Module]
    inputs: Callable[[int], Any]
    targets: Callable[[int], Tensor] = CLASSES
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    expected: str = TRACED
    reason: str = ""
    note: str = ""
    draws: bool = False


def kept(kind: str) -> Any:
    """Models of one kind."""
    return partial(Model, kind=kind)
