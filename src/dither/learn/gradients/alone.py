"""Gradients of one row at a time, for models that decide by what is in the rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from dither.learn.gradients.losses import row_losses
from dither.learn.gradients.norms import Measured, measured
from dither.learn.gradients.oracle import Inputs, called, size_of, trained
from dither.learn.gradients.single import Single, held_for
from dither.learn.state import Held

__all__ = ["Alone"]


@dataclass(frozen=True)
class Alone(Single):
    """The model sees a batch of one row, and then holds what it did before: nothing that
    it does can mix rows. Slow.
    """

    def measured(
        self, inputs: Inputs, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        parameters, held = trained(self.model), Held.of(self.model)
        each = [
            self._row(inputs, targets, row, held) if here else _nothing(self)
            for row, here in enumerate(there.tolist())
        ]
        units = size_of(inputs) // rows
        return {
            name: measured(
                [held_for(torch.stack([one[name] for one in each]), there, units)]
            )
            for name in parameters
        }

    def _row(
        self, inputs: Inputs, targets: Tensor, row: int, held: Held
    ) -> dict[str, Tensor]:
        """A row that makes the model fail has a gradient that is not a number: its unit
        counts for nothing, and no other is computed twice.
        """
        try:
            return self.gradients(inputs, targets, row)
        except torch.OutOfMemoryError:
            raise
        except Exception:
            return {name: one * torch.nan for name, one in _nothing(self).items()}
        finally:
            held.restore()

    def gradients(self, inputs: Inputs, targets: Tensor, row: int) -> dict[str, Tensor]:
        """Those of one row."""
        some, parameters = slice(row, row + 1), trained(self.model)
        outputs = called(self.model, tree_map(lambda one: one[some], inputs))
        (loss,) = row_losses(self.loss, outputs, targets[some])
        found = _nothing(self)
        if loss.requires_grad:
            every = torch.autograd.grad(
                loss, list(parameters.values()), allow_unused=True
            )
            pairs = zip(parameters, every, strict=True)
            found |= {name: one for name, one in pairs if one is not None}
        return found


def _nothing(oracle: Alone) -> dict[str, Tensor]:
    return {name: torch.zeros_like(one) for name, one in trained(oracle.model).items()}
