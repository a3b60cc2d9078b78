"""The optimizer of a run, and its scheduler: made for a copy of the model, and tried on
another copy before anything is charged or claimed.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from dither.errors import ArgumentError
from dither.learn.checkpoints import Saved, check_keeps, kind_of, load
from dither.learn.failures import FAILED
from dither.learn.gradients.oracle import trained
from dither.learn.schedules import optimizer_of, scheduler_of
from dither.learn.settings import Settings

__all__ = ["go_on", "optimizers", "worded"]


def worded(optimizer: Optimizer) -> str:
    """The optimizer in words, with the rate that it begins with."""
    rates = dict.fromkeys(f"{one['lr']:.4g}" for one in optimizer.param_groups)
    return f"optimizer: {type(optimizer).__name__}, lr {', '.join(rates)}"


def optimizers(
    model: nn.Module, settings: Settings
) -> tuple[Optimizer, LRScheduler | None]:
    """They are made for the copy, and tried on another copy first."""
    make = optimizer_of(settings.optimizer, settings.lr)
    tried = _made(make, copy.deepcopy(model))
    scheduler = scheduler_of(settings.scheduler, tried)
    before = copy.deepcopy(tried.state_dict()["param_groups"])
    try:
        tried.step()
        after = tried.state_dict()
        if scheduler is not None:
            after = copy.deepcopy(after)
            scheduler.step()
    except FAILED as error:
        raise ArgumentError(
            "optimizer",
            f"cannot step with gradients alone ({error!s:.200}); use one such as "
            "torch.optim.SGD or Adam",
        ) from None
    if settings.keeps:
        check_keeps(tried, before, after)
    optimizer = _made(make, model)
    return optimizer, scheduler_of(settings.scheduler, optimizer)


def _made(make: Any, model: nn.Module) -> Optimizer:
    parameters = list(trained(model).values())
    try:
        found = make(parameters)
    except FAILED as error:
        raise ArgumentError(
            "optimizer",
            f"cannot be made ({error!s:.200}); pass a class such as torch.optim.Adam, "
            "and lr=",
        ) from None
    if not isinstance(found, Optimizer):
        raise ArgumentError(
            "optimizer",
            "must return an optimizer of PyTorch; pass a class such as "
            "torch.optim.Adam",
        )
    for one in parameters:
        one.grad = torch.zeros_like(one)
    return found


def go_on(
    saved: Saved,
    steps: int,
    model: nn.Module,
    settings: Settings,
    optimizer: Optimizer,
    scheduler: LRScheduler | None,
) -> None:
    """Put a checkpoint in place, where so many steps have passed. Its settings are the
    caller's: they only change what is done with noisy gradients.
    """
    other = copy.deepcopy(model)
    try:
        if saved.optimizer != kind_of(optimizer):
            raise TypeError
        tried = _made(optimizer_of(settings.optimizer, settings.lr), other)
        load(saved, other, tried)
        tried.step()
    except FAILED:
        raise ArgumentError(
            "optimizer",
            "does not fit the checkpoint; pass the optimizer that the run began with",
        ) from None
    if scheduler is not None:
        _pass_by(scheduler, steps)
    load(saved, model, optimizer)


def _pass_by(scheduler: LRScheduler, steps: int) -> None:
    """The rate goes by the number of the step, and lost steps have passed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch misses the optimizer's own steps
        for _ in range(steps):
            scheduler.step()
