"""The sum over units of clipped gradients of a model's loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from dither.learn.gradients.losses import Loss, row_losses, scores_of
from dither.learn.gradients.norms import Measured
from dither.learn.gradients.program import Program
from dither.learn.gradients.recorder import Recorder
from dither.learn.gradients.together import all_measured, totals
from dither.learn.gradients.trace import Inputs, called, traced

__all__ = [
    "Inputs",
    "Loss",
    "Oracle",
    "Traced",
    "called",
    "real_type",
    "row_losses",
    "scores_of",
    "trained",
]

HUGE = 2.0**120
"""Squared norms beyond it come from numbers whose products may be infinite."""
Squares = Mapping[str, Tensor]
Weights = Callable[[Squares], Squares]
"""Squared norms of each parameter's gradients, one for each unit, become weights."""


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, each once, by its first name."""
    return {name: one for name, one in model.named_parameters() if one.requires_grad}


def real_type(model: nn.Module) -> torch.dtype:
    """The type that a model computes with: float64 if all of it is."""
    kinds = {one.dtype for one in model.parameters() if one.is_floating_point()}
    return torch.float64 if kinds == {torch.float64} else torch.float32


def as_given(values: Tensor) -> AbstractContextManager[object]:
    """Products in the type of their factors: what autocast is for is the way forward,
    and it would round norms and sums.
    """
    kind = values.device.type
    if not torch.is_autocast_enabled(kind):
        return nullcontext()
    return torch.autocast(kind, enabled=False)


def size_of(inputs: Inputs) -> int:
    """Number of rows."""
    return int(tree_leaves(inputs)[0].shape[0])


class Oracle(ABC):
    """Source of gradients."""

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
class Traced(Oracle):
    """Gradients by one backward pass through the program of one row, without those of
    single rows if norms can be computed without them. No row meets the model's code.
    """

    model: nn.Module
    program: Program

    @classmethod
    def of(
        cls, model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor
    ) -> Traced:
        """The oracle that is traced with the first of these rows."""
        row = tree_map(lambda one: one[:1], (inputs, targets))
        return cls(model, traced(model, loss, row))

    def measured(
        self, inputs: Inputs, targets: Tensor, there: Tensor, rows: int = 1
    ) -> dict[str, Measured]:
        there = there.bool()
        # A row that is not there has a gradient of 0, but 0 times NaN is NaN. Where each
        # row is a unit of its own, such a unit counts for nothing anyway.
        absent = ~there if rows > 1 and not there.all() else None
        recorder = Recorder(self._names, len(there) // rows, rows, absent)
        # Nothing of the way forward is held by a name of its own here: it can go while
        # gradients come back.
        given = tree_leaves((inputs, targets))
        losses = [self.program.run(given, len(there), recorder).flatten()]
        del given
        counted = there.to(losses[0].dtype)
        lost = (~losses[0].isfinite() & there).view(-1, rows).any(1)
        with as_given(targets):
            torch.autograd.grad(
                losses.pop(), recorder.anchor, counted, allow_unused=True
            )
            return _without(all_measured(recorder.uses), lost)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {id(one): name for name, one in trained(self.model).items()}


def _without(found: dict[str, Measured], lost: Tensor) -> dict[str, Measured]:
    """Mark units without a finite loss as odd, even if their gradients are finite: in the
    backward pass, PyTorch's results for NaN may depend on a row's place in the part.
    """
    for name, one in found.items():
        squares = one.squares.masked_fill(lost, math.inf)
        return found | {name: Measured(one.uses, squares)}
    return found
