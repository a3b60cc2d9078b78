"""The way to compute gradients: by the program of one row, or one row at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.failures import FAILED, is_machine, words_of
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.losses import Loss
from dither.learn.gradients.norms import Measured
from dither.learn.gradients.oracle import Inputs, Oracle, Traced
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.history import evaluating
from dither.learn.reach import unrestorable
from dither.learn.rows import Batch
from dither.learn.silence import silently
from dither.learn.state import GENERATORS, held_by

__all__ = ["route_of"]

NEAR = 1e-3
"""Largest difference of gradients that are computed in two ways."""


def route_of(model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor) -> Oracle:
    """The program of one row where the model can be traced and its gradients are those of
    its trace; else one row at a time.
    """
    there = torch.ones(len(targets), dtype=torch.float32, device=targets.device)
    batch = Batch(inputs, targets, there)
    alone = _alone(model, loss, batch)
    try:
        with silently(), torch.autocast(targets.device.type, enabled=False):
            return _traced(alone, batch)
    except ArgumentError:
        raise
    except Untraceable as error:
        why = str(error)
    except FAILED as error:  # PyTorch has no rule for some operation with many rows
        if is_machine(error):
            raise
        why = words_of(error)
    _check_restorable(model, loss)
    return replace(alone, why=why)


def _traced(alone: Alone, batch: Batch) -> Oracle:
    """Compared with the model's own gradients. Rows side by side draw other numbers than
    one after the other, so a model that draws is compared in its final form, and row by
    row if it draws there too.
    """
    oracle, drew = _compared(alone, batch)
    if drew:
        with evaluating(alone.model):
            final, drew = _compared(alone, batch)
            for row in batch.each(1) if drew else ():
                draws = Draws.now(batch.targets.device)
                found = final.measured(row.inputs, row.targets, row.there)
                draws.restore()  # so that the model draws the same numbers
                _check_same(found, alone, row)
    return oracle


def _compared(alone: Alone, batch: Batch) -> tuple[Traced, bool]:
    """The oracle, compared unless it draws, and whether it draws."""
    before = Draws.now(batch.targets.device)
    oracle = Traced.of(alone.model, alone.loss, batch.inputs, batch.targets)
    found = oracle.measured(batch.inputs, batch.targets, batch.there)
    drew = before.moved
    if not drew:
        _check_same(found, alone, batch)
    return oracle, drew


def _check_same(found: dict[str, Measured], alone: Alone, batch: Batch) -> None:
    """Check norms and the sum: what a model does beside its operations (a gradient of its
    own, a hook) is not in its trace.
    """
    total = {name: one.total(batch.there) for name, one in found.items()}
    for row in range(len(batch.there)):
        each = alone.gradients(batch.inputs, batch.targets, row)
        slack = NEAR * _length(each.values()) + 1e-6
        for name, one in each.items():
            norm = math.sqrt(found[name].squares[row]) if name in found else 0.0
            if not abs(norm - _length([one])) <= slack:
                raise Untraceable(f"a gradient of {name} that is not its trace's")
            if name in total:
                total[name] = total[name] - one.flatten()
    size = math.sqrt(sum(float(one.squares.sum()) for one in found.values()))
    if not _length(total.values()) <= NEAR * size + 1e-6:
        raise Untraceable("gradients that are not those of its trace")


def _length(values: Iterable[Tensor]) -> float:
    return math.sqrt(sum(float(one.double().square().sum()) for one in values))


def _check_restorable(model: nn.Module, loss: Loss) -> None:
    """One row after the other, what a model holds is put back after each."""
    for name, one in held_by(model, loss):
        if isinstance(one, GENERATORS):
            raise ArgumentError(
                "model",
                f"{name!r} is a generator with its own seed, but random masks must be "
                "secret; leave it out",
            )
        if unrestorable(one):
            raise ArgumentError(
                "model",
                f"{name!r} is a {type(one).__name__}, which moves on with each row and "
                "cannot be put back; use a list and a counter instead",
            )


def _alone(model: nn.Module, loss: Loss, batch: Batch) -> Alone:
    oracle = Alone(model, loss, example=batch, fresh=copy.deepcopy(model))
    try:
        for row in range(len(batch.targets)):
            oracle.gradients(batch.inputs, batch.targets, row)
    except FAILED as error:
        if is_machine(error):
            raise
        raise ArgumentError(
            "model",
            f"cannot give gradients of single rows ({words_of(error)}); change it so that "
            "a batch of one row can be trained on",
        ) from None
    return oracle
