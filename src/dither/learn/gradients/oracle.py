"""The sum over units of clipped gradients of a model's loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.func import vmap

from dither.learn.gradients.norms import Measured, measured
from dither.learn.gradients.tape import Tape

__all__ = ["Ghost", "row_losses", "trained"]

Loss = Callable[[Tensor, Tensor], Tensor]
Weights = Callable[[Tensor], Tensor]


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, each once, by its first name."""
    return {name: one for name, one in model.named_parameters() if one.requires_grad}


def row_losses(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    """The loss of each row: what the loss gives for a batch of that row alone, so it
    cannot mix rows.
    """
    return vmap(loss, randomness="different")(outputs.unsqueeze(1), targets.unsqueeze(1))


@dataclass(frozen=True)
class Ghost:
    """Clipped sums by one way back, without gradients of single rows where norms can do
    without them.
    """

    model: nn.Module
    loss: Loss
    layouts: Mapping[int, str] = field(default_factory=dict)

    def measured(
        self, inputs: Tensor, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        """How each unit used each parameter. `there` is 1 for rows that are there and 0
        for those that fill a unit or a batch up.
        """
        parameters = trained(self.model)
        names = {id(one): name for name, one in parameters.items()}
        tape = Tape(names, inputs.shape[0] // rows, rows, self.layouts)
        with tape:
            outputs = self.model(inputs)
        losses = row_losses(self.loss, outputs, targets)
        total = torch.where(there.bool(), losses, 0.0).sum()
        torch.autograd.grad(total, tape.anchor, allow_unused=True)
        return {name: measured(tape.uses[name]) for name in parameters if name in tape.uses}

    def sums(
        self,
        inputs: Tensor,
        targets: Tensor,
        there: Tensor,
        weights: Weights,
        rows: int = 1,
    ) -> dict[str, Tensor]:
        """The weighted sum of each parameter's gradients; `weights` of norms."""
        found = self.measured(inputs, targets, there, rows)
        squares = torch.stack([one.squares for one in found.values()]).sum(0)
        each = weights(squares.sqrt())
        shapes = {name: one.shape for name, one in trained(self.model).items()}
        return {
            name: (
                found[name].total(each).view(shape)
                if name in found
                else torch.zeros(shape)
            )
            for name, shape in shapes.items()
        }
