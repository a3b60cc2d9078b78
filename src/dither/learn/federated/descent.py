"""What clients do in a round: some steps of gradient descent on their own rows, many
clients at once.

What one client does is traced with made-up rows, and PyTorch's `vmap` computes these
operations for all clients, each of which has a line of its own in every tensor; so nothing
of one client reaches another's. A model that cannot be traced, or that `vmap` does not
take, is run for one client after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from dither.learn.draws import apart
from dither.learn.eager import undisturbed
from dither.learn.gradients.losses import Loss, row_losses
from dither.learn.gradients.oracle import Inputs, trained
from dither.learn.gradients.trace import called, operations_of
from dither.learn.parts import proved, tried
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
    example: Batch | None = None
    """Rows of a made-up client, which tell failures of the machine from those of a
    client."""
    operations: fx.GraphModule | None = None
    """The loss of one client's step; None if clients go one after the other."""

    def together(self) -> Descent:
        """A descent that computes many clients at once; the model must be traceable."""
        assert self.example is not None
        example = self.example.map(itemgetter(slice(self._width)))
        weights = {
            name: one.detach().clone().requires_grad_()
            for name, one in trained(self.model).items()
        }
        given = weights, example.inputs, example.targets, example.there
        leaves, shape = tree_flatten(given)

        def loss(*values: Tensor) -> Tensor:
            return self._loss(*tree_unflatten(list(values), shape))

        return replace(self, operations=operations_of(loss, leaves))

    def changes(self, weights: Weights, block: Batch) -> Weights:
        """The change of the weights by each client's steps."""
        own = block.map(self._lined)
        sizes = own.there.sum(1)
        own = own.map(lambda one: _first(one, own.there))
        clients = len(sizes)
        start = {name: one.detach() for name, one in weights.items()}
        moved = {name: one.expand(clients, *one.shape) for name, one in start.items()}
        for step in range(self.steps):
            part = self._part(own, sizes, step)
            found = self._gradients(moved, part, start)
            moved = {name: one - self.lr * found[name] for name, one in moved.items()}
        return {name: one - start[name] for name, one in moved.items()}

    def _lined(self, values: Tensor) -> Tensor:
        """[clients, rows, …] in place of [clients · rows, …]."""
        return values.view(-1, self.rows, *values.shape[1:])

    def _part(self, own: Batch, sizes: Tensor, step: int) -> Batch:
        """The rows of a step. One that fills up is one of the client's own, which
        computes to a number where the others do, and is ignored.
        """
        width = self._width
        places = torch.arange(width, device=sizes.device)
        turn = (step * width + places)[None] % sizes.clamp_min(1)[:, None]
        counted = places[None] < sizes[:, None]
        lines = torch.arange(len(sizes), device=sizes.device)[:, None]
        inputs = tree_map(lambda one: one[lines, turn], own.inputs)
        return Batch(inputs, own.targets[lines, turn], counted)

    def _gradients(self, moved: Weights, part: Batch, start: Weights) -> Weights:
        given = (part.inputs, part.targets, part.there)
        with sdpa_kernel(SDPBackend.MATH):
            operations = self.operations
            if operations is None:
                return self._one_by_one(moved, *given, start)

            def total(*client: Any) -> Tensor:
                found: Tensor = operations(*tree_leaves(client))
                return found

            every = vmap(grad(total), randomness="different")
            found: Weights = every(moved, *given)
            return found

    @property
    def _width(self) -> int:
        """Number of a client's rows in a step."""
        return min(self.batch or self.rows, self.rows)

    def _one_by_one(
        self,
        moved: Weights,
        inputs: Inputs,
        targets: Tensor,
        there: Tensor,
        start: Weights,
    ) -> Weights:
        found, held = [], Held.of(self.model, self.loss)
        begin = apart(there.device)
        for line in range(len(there)):
            begin(line)
            own, rows = (tree_map(_at(line), one) for one in (moved, inputs))
            found.append(
                self._alone(own, Batch(rows, targets[line], there[line]), held, start)
            )
        return {name: torch.stack([one[name] for one in found]) for name in moved}

    def _alone(
        self,
        moved: Weights,
        rows: Batch,
        model: Held,
        start: Weights,
    ) -> Weights:
        """A client's gradient; nothing of it if the model fails. What a client makes of
        its weights is its own, so made-up rows are tried with those of the round.
        """
        if not rows.there.any():
            return {name: torch.zeros_like(one) for name, one in moved.items()}
        client = partial(self._gradient, moved, rows, model)
        outcome = tried(client)
        if outcome.failed and self.example is not None:
            example = self.example.map(itemgetter(slice(len(rows.there))))
            outcome = proved(client, partial(self._gradient, start, example, model))
        if outcome.found is None:  # NaN counts for nothing in the sum
            return {name: one * torch.nan for name, one in moved.items()}
        return outcome.found

    def _gradient(self, moved: Weights, rows: Batch, model: Held) -> Weights:
        """Like the model's own, but nothing of a failed attempt stays in the model."""
        held = {name: one.clone().requires_grad_() for name, one in moved.items()}
        try:
            with undisturbed(rows.there.device):
                total = self._loss(held, rows.inputs, rows.targets, rows.there)
                found = torch.autograd.grad(
                    total, list(held.values()), allow_unused=True
                )
        finally:
            model.restore()
        pairs = zip(held.items(), found, strict=True)
        return {
            name: torch.zeros_like(own) if one is None else one
            for (name, own), one in pairs
        }

    def _loss(
        self, weights: dict[str, Any], inputs: Inputs, targets: Tensor, there: Tensor
    ) -> Tensor:
        """The mean loss of a client's rows."""

        def model(*args: Any, **words: Any) -> Any:
            return functional_call(self.model, weights, args, words)

        outputs = called(model, inputs)
        each = row_losses(self.loss, outputs, targets)
        counted = torch.where(there, each, 0.0)
        return counted.sum() / there.sum().clamp_min(1)


def _at(line: int) -> Callable[[Tensor], Tensor]:
    return lambda one: one[line]


def _first(values: Tensor, there: Tensor) -> Tensor:
    """Each client's rows with the present ones first, in their order."""
    order = torch.argsort(~there, dim=1, stable=True)
    lines = torch.arange(len(there), device=there.device)[:, None]
    return values[lines, order]
