"""The weight of each unit's gradient, which limits the contribution of the unit to the
radius (rule R25).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

__all__ = ["Automatic", "Clipping", "Flat", "PerLayer"]

STABILIZER = 0.01
Squares = Mapping[str, Tensor]


class Clipping(ABC):
    """Turns squared norms of each parameter's gradients into weights of units."""

    radius: float

    @abstractmethod
    def __call__(self, squares: Squares) -> dict[str, Tensor]: ...


@dataclass(frozen=True)
class Flat(Clipping):
    """What is longer than the radius, over all parameters together, is scaled down."""

    radius: float

    def __call__(self, squares: Squares) -> dict[str, Tensor]:
        norms = _together(squares)
        return dict.fromkeys(squares, _safe(self.radius / norms, norms))


@dataclass(frozen=True)
class Automatic(Clipping):
    """Every gradient is brought to about the same length, so there is no radius to tune
    beside the learning rate (Bu, Wang, Zha, Karypis 2023).
    """

    radius: float = 1.0

    def __call__(self, squares: Squares) -> dict[str, Tensor]:
        norms = _together(squares)
        weights = self.radius / (norms + STABILIZER)
        return dict.fromkeys(squares, _safe(weights, norms, most=float("inf")))


@dataclass(frozen=True)
class PerLayer(Clipping):
    """Each parameter has a radius of its own; their squares add up to the square of the
    whole radius.
    """

    radii: Mapping[str, float]
    sent: dict[Any, Tensor] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def radius(self) -> float:  # type: ignore[override]
        return math.hypot(*self.radii.values())

    def __call__(self, squares: Squares) -> dict[str, Tensor]:
        """All parameters at once: one by one they would be a thousand small steps."""
        stacked = torch.stack(list(squares.values()))
        norms, whole = stacked.sqrt(), stacked.sum(0).sqrt()
        radii = self._sent(tuple(squares), stacked)
        weights = _safe(radii / norms, norms + whole * 0)
        return dict(zip(squares, weights, strict=True))

    def _sent(self, names: tuple[str, ...], like: Tensor) -> Tensor:
        """Radii in this order, where norms are: [parameters, 1]."""
        key = (names, like.device)
        if key not in self.sent:
            radii = [self.radii[name] for name in names]
            found = torch.tensor(radii, dtype=like.dtype).to(like.device)
            self.sent[key] = found[:, None]
        return self.sent[key]


def _together(squares: Squares) -> Tensor:
    return torch.stack(list(squares.values())).sum(0).sqrt()


def _safe(weights: Tensor, norms: Tensor, most: float = 1.0) -> Tensor:
    """Weights of at most 1, and 0 for a unit whose norm is infinite or not a number.
    They are rounded down: times the norm they must not exceed the radius. One that is
    not a usual float32 could be rounded up, and is 0.
    """
    smaller = weights.clamp_max(most) * (1 - 4 * torch.finfo(torch.float32).eps)
    usual = (norms < math.inf) & (smaller >= torch.finfo(torch.float32).tiny)
    return torch.where(usual, smaller, 0.0).to(torch.float32)
