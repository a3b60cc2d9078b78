"""One private step: clipped sums, noise, a step of the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bench.scripts.learn_models import loss
from dither.learn.gaussian import gaussians
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.oracle import Traced, trained
from dither.learn.run.course import keep_memory

__all__ = ["gradients", "noise_for", "private_step"]


def gradients(
    model: nn.Module, inputs: Tensor, targets: Tensor
) -> Callable[[], dict[str, Tensor]]:
    """Sums of clipped gradients of a batch, with memory as training has it."""
    keep_memory()
    oracle = Traced.of(model, loss, inputs, targets)
    there = torch.ones(len(inputs))
    return lambda: oracle.sums(inputs, targets, there, Flat(1.0))


def noise_for(model: nn.Module) -> Tensor:
    return gaussians(sum(one.numel() for one in trained(model).values()))


def private_step(
    model: nn.Module, inputs: Tensor, targets: Tensor
) -> Callable[[], None]:
    sums = gradients(model, inputs, targets)
    optimizer: Any = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        found, drawn, start = sums(), noise_for(model), 0
        for name, parameter in trained(model).items():
            part = drawn[start : start + parameter.numel()].view_as(parameter)
            parameter.grad = found[name].add_(part).div_(len(inputs))
            start += parameter.numel()
        optimizer.step()

    return step
