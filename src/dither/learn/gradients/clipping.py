"""How much of each unit's gradient counts: its weight, so that no unit counts for more
than the radius (rule R25).
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["flat", "automatic"]

STABILIZER = 0.01


def flat(norms: Tensor, radius: float) -> Tensor:
    """Scale down what is longer than the radius. A norm that is not a number, or is
    infinite, has weight 0.
    """
    return _finite(radius / norms.clamp_min(radius), norms)


def automatic(norms: Tensor, radius: float) -> Tensor:
    """Every gradient at about the same length (Bu, Wang, Zha, Karypis 2023)."""
    return _finite(radius / (norms + STABILIZER), norms)


def _finite(weights: Tensor, norms: Tensor) -> Tensor:
    # The weight is rounded down: times a norm it must not exceed the radius.
    smaller = weights * (1 - 4 * torch.finfo(torch.float32).eps)
    return torch.where(torch.isfinite(norms), smaller, 0.0).to(torch.float32)
