"""Which way gradients are found: by one way back, or row by row."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.losses import Loss
from dither.learn.gradients.oracle import Ghost, Inputs, Oracle
from dither.learn.gradients.single import Single

__all__ = ["route_of"]


def route_of(model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor) -> Oracle:
    """One way back where the tape can follow the model, which is compared with gradients
    of single rows; else those.
    """
    try:
        layouts = layouts_of(model, loss, inputs, targets)
        return _tried(Ghost(model, loss, layouts), inputs, targets)
    except Exception:  # `Untraceable`, or whatever a model of somebody's own raises
        return _single(model, loss, inputs, targets)


def _single(model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor) -> Oracle:
    try:
        return _tried(Single(model, loss), inputs, targets)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "model",
            f"has no gradients of single rows ({words}); build it from PyTorch's layers",
        ) from None


def _tried(oracle: Oracle, inputs: Inputs, targets: Tensor) -> Oracle:
    there = torch.ones(len(targets), device=targets.device)
    oracle.sums(inputs, targets, there, Flat(1.0))
    return oracle
