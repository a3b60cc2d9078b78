"""What clients do in a round: some steps of gradient descent on their own rows, many
clients at once.

Each client has a line of its own in every tensor, and PyTorch's `vmap` computes all lines
by the same operations; so nothing of one client reaches another's. A model that `vmap`
does not take is run for one client after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map

from dither.learn.gradients.losses import Loss, row_losses
from dither.learn.gradients.oracle import Inputs
from dither.learn.rows import Batch
from dither.learn.state import Held

__all__ = ["Descent", "Weights"]

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Descent:
    """Local steps from the weights of a round. A step sees `batch` rows of a client, in
    turn, or all of them.
    """

    model: nn.Module
    loss: Loss
    steps: int
    lr: float
    rows: int
    batch: int | None = None
    together: bool = True

    def changes(self, weights: Weights, block: Batch) -> Weights:
        """How far the steps of each client move the weights."""
        own = block.map(self._lined)
        sizes = own.there.sum(1)
        own = own.map(lambda one: _first(one, own.there))
        clients = len(sizes)
        start = {name: one.detach() for name, one in weights.items()}
        moved = {name: one.expand(clients, *one.shape) for name, one in start.items()}
        for step in range(self.steps):
            part = self._part(own, sizes, step)
            found = self._gradients(moved, part)
            moved = {name: one - self.lr * found[name] for name, one in moved.items()}
        return {name: one - start[name] for name, one in moved.items()}

    def _lined(self, values: Tensor) -> Tensor:
        """[clients, rows, …] in place of [clients · rows, …]."""
        return values.view(-1, self.rows, *values.shape[1:])

    def _part(self, own: Batch, sizes: Tensor, step: int) -> Batch:
        """The rows of a step. One that fills up is one of the client's own, which
        computes to a number where the others do, and counts for nothing.
        """
        width = min(self.batch or self.rows, self.rows)
        places = torch.arange(width, device=sizes.device)
        turn = (step * width + places)[None] % sizes.clamp_min(1)[:, None]
        counted = places[None] < sizes[:, None]
        lines = torch.arange(len(sizes), device=sizes.device)[:, None]
        inputs = tree_map(lambda one: one[lines, turn], own.inputs)
        return Batch(inputs, own.targets[lines, turn], counted)

    def _gradients(self, moved: Weights, part: Batch) -> Weights:
        given = (part.inputs, part.targets, part.there)
        with sdpa_kernel(SDPBackend.MATH):
            if self.together:
                every = vmap(grad(self._loss), randomness="different")
                found: Weights = every(moved, *given)
                return found
            return self._one_by_one(moved, *given)

    def _one_by_one(
        self, moved: Weights, inputs: Inputs, targets: Tensor, there: Tensor
    ) -> Weights:
        found, held = [], Held.of(self.model)
        for line in range(len(there)):
            own, rows = (tree_map(_at(line), one) for one in (moved, inputs))
            found.append(self._alone(own, rows, targets[line], there[line]))
            # What a client that failed left in the model is not for the next one.
            held.restore()
        return {name: torch.stack([one[name] for one in found]) for name in moved}

    def _alone(
        self, moved: Weights, inputs: Inputs, targets: Tensor, there: Tensor
    ) -> Weights:
        """A client's gradient; nothing of it where the model fails."""
        held = {name: one.clone().requires_grad_() for name, one in moved.items()}
        if not there.any():
            return {name: torch.zeros_like(one) for name, one in moved.items()}
        try:
            total = self._loss(held, inputs, targets, there)
            found = torch.autograd.grad(total, list(held.values()), allow_unused=True)
        except Exception:  # NaN counts for nothing in the sum
            return {name: one * torch.nan for name, one in moved.items()}
        pairs = zip(held.items(), found, strict=True)
        return {
            name: torch.zeros_like(own) if one is None else one
            for (name, own), one in pairs
        }

    def _loss(
        self, weights: dict[str, Any], inputs: Inputs, targets: Tensor, there: Tensor
    ) -> Tensor:
        """The mean loss of a client's rows."""
        args, words = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
        args = args if isinstance(args, tuple) else (args,)
        outputs = functional_call(self.model, weights, args, words)
        each = row_losses(self.loss, outputs, targets)
        counted = torch.where(there, each, 0.0)
        return counted.sum() / there.sum().clamp_min(1)


def _at(line: int) -> Callable[[Tensor], Tensor]:
    return lambda one: one[line]


def _first(values: Tensor, there: Tensor) -> Tensor:
    """Each client's rows with those that are there first, in their order."""
    order = torch.argsort(~there, dim=1, stable=True)
    lines = torch.arange(len(there), device=there.device)[:, None]
    return values[lines, order]
