"""The sum of clients' clipped updates: how far one client can move it."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dither.learn.clipping import Adapting
from dither.learn.federated.weighing import Weighted

__all__ = ["Sum", "Updates"]


@dataclass(frozen=True)
class Updates:
    """Updates of a block of clients: each tensor has a line for each client. `there` is
    0 for lines without a client, and for clients that sent nothing usable.
    """

    changes: dict[str, Tensor]
    sizes: Tensor
    there: Tensor


@dataclass
class Sum:
    """The sum over the clients of a round, in float64.

    Guarantee: one client more or less moves it by the largest weight times the radius,
    in L2 over all parameters together.
    Why: an update with anything infinite, or not a number, is replaced by zeros before
    it is multiplied; any other is scaled to the radius, and then by its weight
    (docs/proofs/federated.md).
    Assumes: a client's update depends on that client and on noisy weights alone.
    """

    radius: Adapting
    weight: Weighted
    totals: dict[str, Tensor] = field(default_factory=dict)

    def add(self, updates: Updates) -> None:
        usual = updates.there & _finite(updates.changes)
        # Not 0 times what is there: that may be NaN.
        kept = {name: _flat(one, usual) for name, one in updates.changes.items()}
        squares = {name: one.square().sum(1) for name, one in kept.items()}
        factors = self.radius.weights(usual)(squares)
        weights = self.weight.of(updates.sizes).to(usual.device) * usual
        for name, one in kept.items():
            total = (factors[name].to(one) * weights) @ one
            shaped = total.view(updates.changes[name].shape[1:])
            self.totals[name] = self.totals.get(name, 0.0) + shaped


def _finite(changes: dict[str, Tensor]) -> Tensor:
    """Which clients have only numbers, all finite."""
    each = [
        torch.isfinite(one).reshape(len(one), -1).all(1) for one in changes.values()
    ]
    return torch.stack(each).all(0)


def _flat(values: Tensor, usual: Tensor) -> Tensor:
    found = values.detach().reshape(len(values), -1).to(torch.float64)
    return found.masked_fill(~usual[:, None], 0.0)
