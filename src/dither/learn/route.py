"""Which way gradients are found: by one way back, row by row, or one row at a time."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.losses import Loss
from dither.learn.gradients.oracle import Ghost, Inputs, Oracle, called
from dither.learn.gradients.single import Single
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.rows import Batch
from dither.learn.separation import gradients_apart
from dither.learn.silence import silently

__all__ = ["route_of"]


def route_of(model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor) -> Oracle:
    """One way back where the tape can follow the model, which is compared with gradients
    of single rows; else those, for all rows at once if the model decides nothing by what
    is in the rows.
    """
    there = torch.ones(len(targets), dtype=torch.float32, device=targets.device)
    batch = Batch(inputs, targets, there)
    with silently():  # some functions are slow for all rows at once
        for make in (_ghost, _single):
            try:
                return make(model, loss, batch)
            except Exception:  # whatever a model of somebody's own raises
                continue
        return _alone(model, loss, batch)


def _ghost(model: nn.Module, loss: Loss, batch: Batch) -> Oracle:
    _check_decides_nothing(model, loss, batch)
    layouts = layouts_of(model, loss, batch.inputs, batch.targets)
    oracle = Ghost(model, loss, layouts)
    if not gradients_apart(oracle, batch, few=True):
        raise Untraceable("gradients that are not apart")
    return oracle


def _single(model: nn.Module, loss: Loss, batch: Batch) -> Oracle:
    _check_decides_nothing(model, loss, batch)
    oracle = Single(model, loss)
    oracle.sums(batch.inputs, batch.targets, batch.there, Flat(1.0))
    return oracle


def _check_decides_nothing(model: nn.Module, loss: Loss, batch: Batch) -> None:
    """That what the model does is the same for all rows: PyTorch's `vmap` refuses every
    decision by a number of a row, and every number that is drawn for one. What Python
    or NumPy draw is for all rows, and may stand for a decision.
    """
    before = Draws.now(batch.targets.device)
    called(model, batch.inputs)
    if before.moved_elsewhere:
        raise Untraceable("a model that draws by Python or NumPy")
    first = tree_map(lambda one: one[:1], batch.inputs)
    Single(model, loss).measured(first, batch.targets[:1], batch.there[:1])


def _alone(model: nn.Module, loss: Loss, batch: Batch) -> Oracle:
    oracle = Alone(model, loss)
    try:
        for row in range(len(batch.targets)):
            oracle.gradients(batch.inputs, batch.targets, row)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "model",
            f"has no gradients of single rows ({words}); build it from PyTorch's layers",
        ) from None
    return oracle
