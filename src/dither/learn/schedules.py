"""Schedules: a factor for each step, fixed before the first one.

A schedule is a function of how much of the run is done, from 0 to 1, or a list with one
factor for each step. Noise is rounded up to few levels, and the learning rate goes by
what PyTorch's schedulers do at each step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor
from torch.optim import LBFGS, SGD, Optimizer, SparseAdam
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau
from torch.utils._pytree import tree_map_only

from dither.errors import ArgumentError
from dither.learn.failures import FAILED
from dither.privacy.numbers import positive
from dither.privacy.training import levels

__all__ = ["Cosine", "Linear", "factors_of", "optimizer_of", "scheduler_of"]

WAY_OUT = (
    "pass a function of the finished part of the run, such as Linear(1.0, 0.5), or "
    "a list"
)


@dataclass(frozen=True)
class Linear:
    """From one factor to another along a line."""

    start: float = 1.0
    end: float = 1.0

    def __call__(self, done: float) -> float:
        return self.start + (self.end - self.start) * done


@dataclass(frozen=True)
class Cosine:
    """From one factor to another along half a wave."""

    start: float = 1.0
    end: float = 0.0

    def __call__(self, done: float) -> float:
        half = (1 + math.cos(math.pi * done)) / 2
        return self.end + (self.start - self.end) * half


Schedule = Callable[[float], float] | Sequence[float]


def factors_of(schedule: Schedule | None, steps: int) -> tuple[float, ...]:
    """The factor of the noise at each step, each rounded up to one of few levels."""
    if schedule is None:
        return (1.0,) * steps
    found = _listed(schedule, steps)
    known = [level for level, _ in levels(found)]
    return tuple(min(one for one in known if one >= factor) for factor in found)


def _listed(schedule: Schedule, steps: int) -> list[float]:
    if callable(schedule):
        listed = [schedule(step / max(steps - 1, 1)) for step in range(steps)]
    elif isinstance(schedule, Sequence) and not isinstance(schedule, str):
        listed = list(schedule)
    else:
        raise ArgumentError(
            "noise_schedule", f"must be a function or a list; {WAY_OUT}"
        )
    if len(listed) != steps:
        raise ArgumentError(
            "noise_schedule",
            f"must have one factor for each of {steps:,} steps; pass a list of this "
            "length, or a function such as Linear(1.0, 0.5)",
        )
    return [positive("noise_schedule", one, WAY_OUT) for one in listed]


def optimizer_of(optimizer: Any, lr: float | None) -> Callable[..., Optimizer]:
    """A factory of the optimizer, which is made for the trained copy of the model."""
    kind = optimizer.func if isinstance(optimizer, partial) else optimizer
    if isinstance(optimizer, Optimizer) or not callable(optimizer):
        raise ArgumentError(
            "optimizer",
            "must be a class or a partial of one, because it is made for a copy of the "
            "model; pass one such as torch.optim.Adam",
        )
    for odd in (LBFGS, SparseAdam):
        if isinstance(kind, type) and issubclass(kind, odd):
            raise ArgumentError(
                "optimizer",
                f"the optimizer {odd.__name__} needs several gradients per step, or "
                "sparse ones, but private training has one dense gradient; use "
                "torch.optim.SGD or Adam",
            )
    rated = isinstance(optimizer, partial) and "lr" in optimizer.keywords
    if lr is None and kind is SGD and not rated:
        raise ArgumentError(
            "lr",
            "is missing, but the default of SGD, 0.001, is too small for "
            "clipped gradients; pass lr=1.0, or optimizer=torch.optim.Adam with "
            "lr=0.02",
        )
    if lr is not None:
        optimizer = partial(optimizer, lr=positive("lr", lr, "pass a rate such as 0.1"))
    return partial(_fresh, optimizer)


def _fresh(optimizer: Any, parameters: Any) -> Any:
    """An optimizer with tensors of its own: schedulers write rates into them, which the
    next one made alike would begin with.
    """
    if not isinstance(optimizer, partial):
        return optimizer(parameters)
    words = tree_map_only(Tensor, _copied, optimizer.keywords)
    return optimizer.func(*optimizer.args, parameters, **words)


def _copied(one: Tensor) -> Tensor:
    return one.detach().clone()


def scheduler_of(scheduler: Any, optimizer: Optimizer) -> LRScheduler | None:
    """The scheduler of the learning rate for this optimizer."""
    if scheduler is None:
        return None
    kind = scheduler.func if isinstance(scheduler, partial) else scheduler
    if isinstance(kind, type) and issubclass(kind, ReduceLROnPlateau):
        _refuse_plateau()
    if isinstance(scheduler, LRScheduler) or not callable(scheduler):
        raise ArgumentError(
            "scheduler",
            "must be a class or a partial of one, because it is made for a copy of the "
            "optimizer; pass one such as "
            "partial(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=steps)",
        )
    try:
        found = scheduler(optimizer)
    except FAILED as error:
        raise ArgumentError(
            "scheduler",
            f"cannot be made ({error!s:.200}); pass a partial with all arguments but "
            "the optimizer",
        ) from None
    if isinstance(found, ReduceLROnPlateau):
        _refuse_plateau()
    if not isinstance(found, LRScheduler):
        raise ArgumentError(
            "scheduler",
            "must return a scheduler of PyTorch; pass a class of "
            "torch.optim.lr_scheduler, or a partial of one",
        )
    return found


def _refuse_plateau() -> None:
    raise ArgumentError(
        "scheduler",
        "cannot be ReduceLROnPlateau, because it follows the loss of private rows; use "
        "one that follows the number of steps, such as CosineAnnealingLR",
    )
