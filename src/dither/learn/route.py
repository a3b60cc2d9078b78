"""Which way gradients are found: by one way back, or row by row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.oracle import Ghost, Loss, Oracle, trained
from dither.learn.gradients.single import Single

__all__ = ["route_of"]

MANY = 5_000_000
"""Models with more numbers than this are not differentiated in two ways to compare."""
NEAR = 1e-3


def route_of(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Oracle:
    """One way back where the tape can follow the model and agrees with gradients of
    single rows; else those.
    """
    single = Single(model, loss)
    ghost, together = _tried(
        lambda: _ghost(model, loss, inputs, targets), inputs, targets
    )
    size = sum(one.numel() for one in trained(model).values())
    if ghost is not None and (size > MANY or not _steady(model, inputs)):
        return ghost
    found, alone = _tried(lambda: single, inputs, targets)
    if ghost is not None and (found is None or _agree(together, alone)):
        return ghost
    if found is None:
        raise ArgumentError(
            "model", "has no gradients of single rows; build it from PyTorch's layers"
        )
    return single


def _ghost(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Oracle:
    return Ghost(model, loss, layouts_of(model, loss, inputs, targets))


def _tried(
    make: Callable[[], Oracle], inputs: Tensor, targets: Tensor
) -> tuple[Oracle | None, dict[str, Tensor]]:
    there = torch.ones(len(inputs), device=inputs.device)
    try:
        oracle = make()
        return oracle, oracle.sums(inputs, targets, there, Flat(1.0))
    except Exception:  # whatever a model of somebody's own does under it
        return None, {}


def _steady(model: nn.Module, inputs: Tensor) -> bool:
    """Whether the model gives the same twice: no dropout."""
    with torch.no_grad():
        return torch.equal(model(inputs), model(inputs))


def _agree(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    apart = sum(float((one[name] - two[name]).square().sum()) for name in two)
    whole = sum(float(part.square().sum()) for part in two.values())
    return apart <= NEAR**2 * whole
