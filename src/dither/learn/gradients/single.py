"""Gradients of each row by `torch.func`, for models that the tape cannot follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map

from dither.learn.gradients.clipping import Clipping
from dither.learn.gradients.norms import Measured, measured
from dither.learn.gradients.oracle import (
    Inputs,
    Loss,
    Oracle,
    Weights,
    size_of,
    trained,
)
from dither.learn.gradients.uses import Whole, full

__all__ = ["Single", "held_for"]

HELD = 1 << 26
"""Numbers of gradients that are held at once: 256 MiB in float32."""


@dataclass(frozen=True)
class Single(Oracle):
    """One gradient for each row, held until its unit's sum is clipped. The model sees
    one row at a time, so it cannot mix rows.
    """

    model: nn.Module
    loss: Loss
    held: int = HELD

    def sums(
        self,
        inputs: Inputs,
        targets: Tensor,
        there: Tensor,
        weights: Weights,
        rows: int = 1,
    ) -> dict[str, Tensor]:
        """As many units at once as may be held. A clipping looks at each unit alone;
        weights of another kind are asked once, for all units.
        """
        many = size_of(inputs)
        size = sum(one.numel() for one in trained(self.model).values())
        part = max(self.held // max(size * rows, 1), 1) * rows
        if part >= many or not isinstance(weights, Clipping):
            return super().sums(inputs, targets, there, weights, rows)
        total: dict[str, Tensor] = {}
        for start in range(0, many, part):
            some = slice(start, start + part)
            found = super().sums(
                tree_map(lambda one, some=some: one[some], inputs),
                targets[some],
                there[some],
                weights,
                rows,
            )
            for name, one in found.items():
                total[name] = total[name] + one if name in total else one
        return total

    def measured(
        self, inputs: Inputs, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        parameters = trained(self.model)
        plain = {name: one.detach() for name, one in parameters.items()}
        each = vmap(grad(self._loss), in_dims=(None, 0, 0), randomness="different")
        alone = tree_map(lambda one: one.unsqueeze(1), inputs)
        # Fused attention has no rule for many rows at once.
        with sdpa_kernel(SDPBackend.MATH):
            found = each(plain, alone, targets.unsqueeze(1))
        units = size_of(inputs) // rows
        return {name: measured([held_for(found[name], there, units)]) for name in plain}

    def _loss(self, parameters: dict[str, Any], row: Inputs, target: Tensor) -> Tensor:
        args, words = ((), row) if isinstance(row, dict) else (row, {})
        args = args if isinstance(args, tuple) else (args,)
        given = {place: parameters[name] for place, name in self._places()}
        found = functional_call(self.model, given, args, words, tie_weights=False)
        return self.loss(found, target)

    def _places(self) -> Iterator[tuple[str, str]]:
        """Where each trained parameter is, and its name: once for each module. PyTorch
        would put parameters of a module with two names back in the wrong order.
        """
        names = {id(one): name for name, one in trained(self.model).items()}
        for prefix, module in self.model.named_modules():
            for name, one in module._parameters.items():
                if id(one) in names:
                    yield f"{prefix}.{name}" if prefix else name, names[id(one)]


def held_for(gradients: Tensor, there: Tensor, units: int) -> Whole:
    """The sum over a unit's rows; rows that only fill up count for nothing, even if
    their gradient is not a number.
    """
    flat = full(gradients.reshape(len(gradients), -1))
    kept = flat.masked_fill(~there.bool()[:, None], 0.0)
    return Whole(kept.reshape(units, -1, flat.shape[1]).sum(1))
