"""Gradients of one row at a time, for models that cannot be traced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.learn.draws import apart
from dither.learn.eager import undisturbed
from dither.learn.gradients.clipping import Clipping
from dither.learn.gradients.losses import row_loss
from dither.learn.gradients.norms import Measured, measured
from dither.learn.gradients.oracle import (
    Inputs,
    Loss,
    Oracle,
    Weights,
    called,
    size_of,
    trained,
)
from dither.learn.gradients.uses import Whole, full
from dither.learn.parts import proved, start_again, tried
from dither.learn.rows import Batch
from dither.learn.state import Held

__all__ = ["Alone"]

HELD = 1 << 26
"""Numbers of gradients that are held at once: 256 MiB in float32."""


@dataclass(frozen=True)
class Alone(Oracle):
    """The model sees a batch of one row, and then holds what it did before: nothing that
    it does can mix rows. Slow.
    """

    model: nn.Module
    loss: Loss
    held: int = HELD
    why: str = ""
    """The operation or trick that keeps the model from being traced."""
    example: Batch | None = None
    fresh: nn.Module | None = None
    """Made-up rows, and a module with the starting weights: they show whether a
    failure is the machine's or a record's."""

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
        parameters, held = trained(self.model), Held.of(self.model, self.loss)
        begin = apart(targets.device)
        each = [
            self._row(inputs, targets, row, held, begin) if here else _nothing(self)
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
        self,
        inputs: Inputs,
        targets: Tensor,
        row: int,
        held: Held,
        begin: Callable[[int], None],
    ) -> dict[str, Tensor]:
        """A row that makes the model fail has a gradient that is not a number: its unit
        is ignored, and no other is computed twice.
        """

        def computed() -> dict[str, Tensor]:
            begin(row)
            return self._restored(inputs, targets, row, held)

        outcome = tried(computed)
        if outcome.failed:
            outcome = proved(computed, partial(self._proof, held))
        if outcome.found is None:
            return {name: one * torch.nan for name, one in _nothing(self).items()}
        return outcome.found

    def _proof(self, held: Held) -> None:
        """Compute the gradient of a made-up row with the starting weights."""
        if self.example is not None and self.fresh is not None:
            start_again(self.model, self.fresh)
            self._restored(self.example.inputs, self.example.targets, 0, held)

    def _restored(
        self, inputs: Inputs, targets: Tensor, row: int, held: Held
    ) -> dict[str, Tensor]:
        try:
            with undisturbed(targets.device):
                return self.gradients(inputs, targets, row)
        finally:
            held.restore()

    def gradients(self, inputs: Inputs, targets: Tensor, row: int) -> dict[str, Tensor]:
        """The gradients of one row; NaN if its loss is not a finite number."""
        some, parameters = slice(row, row + 1), trained(self.model)
        own = tree_map(lambda one: one[some].clone(), (inputs, targets))
        (loss,) = row_loss(self.loss, called(self.model, own[0]), own[1])
        found = _nothing(self)
        if not loss.isfinite():
            return {name: one * torch.nan for name, one in found.items()}
        if loss.requires_grad:
            every = torch.autograd.grad(
                loss, list(parameters.values()), allow_unused=True
            )
            pairs = zip(parameters, every, strict=True)
            found |= {name: one for name, one in pairs if one is not None}
        return found


def _nothing(oracle: Alone) -> dict[str, Tensor]:
    return {name: torch.zeros_like(one) for name, one in trained(oracle.model).items()}


def held_for(gradients: Tensor, there: Tensor, units: int) -> Whole:
    """The sum over a unit's rows; rows that only fill up are ignored, even if their
    gradient is not a number.
    """
    flat = full(gradients.reshape(len(gradients), -1))
    kept = flat.masked_fill(~there.bool()[:, None], 0.0)
    return Whole(kept.reshape(units, -1, flat.shape[1]).sum(1))
