"""Gradients of each row by `torch.func`, for models that the tape cannot follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from dither.learn.gradients.norms import Measured, measured
from dither.learn.gradients.oracle import Loss, Oracle, trained
from dither.learn.gradients.uses import Whole

__all__ = ["Single"]


@dataclass(frozen=True)
class Single(Oracle):
    """One gradient for each row, held until its unit's sum is clipped. The model sees
    one row at a time, so it cannot mix rows.
    """

    model: nn.Module
    loss: Loss

    def measured(
        self, inputs: Tensor, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        parameters = trained(self.model)
        plain = {name: one.detach() for name, one in parameters.items()}
        each = vmap(grad(self._loss), in_dims=(None, 0, 0), randomness="different")
        # Fused attention has no rule for many rows at once.
        with sdpa_kernel(SDPBackend.MATH):
            found = each(plain, inputs.unsqueeze(1), targets.unsqueeze(1))
        units = inputs.shape[0] // rows
        return {name: measured([_held(found[name], there, units)]) for name in plain}

    def _loss(self, parameters: dict[str, Any], row: Tensor, target: Tensor) -> Tensor:
        return self.loss(functional_call(self.model, parameters, (row,)), target)


def _held(gradients: Tensor, there: Tensor, units: int) -> Whole:
    """The sum over a unit's rows; rows that only fill up count for nothing, even if
    their gradient is not a number.
    """
    flat = gradients.flatten(1)
    kept = flat.masked_fill(~there.bool()[:, None], 0.0)
    return Whole(kept.reshape(units, -1, flat.shape[1]).sum(1))
