"""The sum over units of clipped gradients of a model's loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from dither.learn.gradients.layers import KNOWN
from dither.learn.gradients.losses import Loss, row_losses
from dither.learn.gradients.norms import Measured
from dither.learn.gradients.tape import Call, Shapes, Tape
from dither.learn.gradients.together import all_measured, totals

__all__ = ["Ghost", "Inputs", "Loss", "Oracle", "called", "row_losses", "trained"]

HUGE = 2.0**120
"""Squared norms beyond it come from numbers whose products may be infinite."""
Inputs = Any
"""A tensor, a tuple of a model's arguments, or a dict of its named arguments; the first
axis of each tensor is rows."""
Squares = Mapping[str, Tensor]
Weights = Callable[[Squares], Squares]
"""Squared norms of each parameter's gradients, one for each unit, become weights."""


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, each once, by its first name."""
    return {name: one for name, one in model.named_parameters() if one.requires_grad}


def called(model: Callable[..., Any], inputs: Inputs) -> Any:
    """What a model gives for inputs of any of these kinds."""
    if isinstance(inputs, tuple):
        return model(*inputs)
    return model(**inputs) if isinstance(inputs, dict) else model(inputs)


def as_given(values: Tensor) -> AbstractContextManager[object]:
    """Products in the type of their factors: what autocast is for is the way forward,
    and it would round norms and sums.
    """
    kind = values.device.type
    if not torch.is_autocast_enabled(kind):
        return nullcontext()
    return torch.autocast(kind, enabled=False)


def size_of(inputs: Inputs) -> int:
    """How many rows there are."""
    return int(tree_leaves(inputs)[0].shape[0])


class Oracle(ABC):
    """Where gradients come from."""

    model: nn.Module

    @abstractmethod
    def measured(
        self, inputs: Inputs, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        """How each unit used each trained parameter. A unit has `rows` rows, which
        stand beside each other; `there` is 0 for rows that only fill a unit up.
        """

    def sums(
        self,
        inputs: Inputs,
        targets: Tensor,
        there: Tensor,
        weights: Weights,
        rows: int = 1,
    ) -> dict[str, Tensor]:
        """The sum of each parameter's gradients, with a weight for each unit that
        depends on its norms.
        """
        found = self.measured(inputs, targets, there, rows)
        odd = odd_units(found)
        if odd.any():
            found = {name: one.without(odd) for name, one in found.items()}
        return self.clipped(found, weights)

    def clipped(
        self, found: dict[str, Measured], weights: Weights
    ) -> dict[str, Tensor]:
        """The sums of gradients that were measured."""
        each = weights({name: one.squares for name, one in found.items()})
        with as_given(next(iter(each.values()))):
            sums = totals(found, each)
        return {
            name: (
                sums[name].view_as(parameter)
                if name in sums
                else torch.zeros_like(parameter)
            )
            for name, parameter in trained(self.model).items()
        }


def odd_units(found: Mapping[str, Measured]) -> Tensor:
    """Units whose gradient is not a number somewhere, infinite or huge: nothing of them
    may count.
    """
    squares = [one.squares for one in found.values()]
    return ~(torch.stack(squares).sum(0) < HUGE)


@dataclass(frozen=True)
class Ghost(Oracle):
    """Gradients by one way back, and none of single rows where norms can do without
    them.
    """

    model: nn.Module
    loss: Loss
    layouts: Mapping[Call, str] = field(default_factory=dict)
    shapes: Sequence[Shapes] | None = None
    """Of what layers take for a part of a batch. All parts have as many rows, so other
    shapes come from what is in the rows."""

    def settled(self, inputs: Inputs, targets: Tensor, rows: int = 1) -> Ghost:
        """The same for parts of this size only, with the shapes of these rows."""
        tape = self._tape(size_of(inputs) // rows, rows)
        self._losses(tape, inputs, targets)
        return replace(self, shapes=tuple(tape.shapes))

    def measured(
        self, inputs: Inputs, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        there = there.bool()
        # A row that is not there has a gradient of 0, but 0 times NaN is NaN. Where each
        # row is a unit of its own, such a unit counts for nothing anyway.
        absent = ~there if rows > 1 and not there.all() else None
        tape = self._tape(size_of(inputs) // rows, rows, absent)
        # Nothing of the way forward is held by a name of its own here: it can go while
        # gradients come back.
        losses = [self._losses(tape, inputs, targets)]
        counted = there.to(losses[0].dtype)
        with as_given(targets):
            torch.autograd.grad(losses.pop(), tape.anchor, counted, allow_unused=True)
            return all_measured(tape.uses)

    def _tape(self, units: int, rows: int, absent: Tensor | None = None) -> Tape:
        names = {id(one): name for name, one in trained(self.model).items()}
        return Tape(KNOWN, names, units, rows, self.layouts, absent)

    def _losses(self, tape: Tape, inputs: Inputs, targets: Tensor) -> Tensor:
        with tape:
            outputs = called(self.model, inputs)
        tape.check(self.shapes)
        return row_losses(self.loss, outputs, targets)
