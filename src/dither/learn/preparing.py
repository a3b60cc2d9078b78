"""All that is settled before a run is charged: what could fail, fails here (rule R1)."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from dither.errors import ArgumentError
from dither.learn.clipping import Adapting
from dither.learn.eager import eagerly
from dither.learn.failures import FAILED, is_machine, words_of
from dither.learn.gaussian import noise_on
from dither.learn.gradients.oracle import real_type
from dither.learn.holding import held_of
from dither.learn.loop import Loop
from dither.learn.made_up import guarded
from dither.learn.measuring import held_source, run_source, tested_on
from dither.learn.optimizers import go_on, optimizers, worded
from dither.learn.part_size import fitted, micro_of, quickest
from dither.learn.parts import cleared, half
from dither.learn.pinning import check_same, texts_of
from dither.learn.planning import Asked, Plan, asked_of, check_paid, plan_of
from dither.learn.precision import full_precision
from dither.learn.probe import Probed, check_hooks, probe
from dither.learn.ready import Ready
from dither.learn.replay import Replayed
from dither.learn.resuming import Resumed, every_of, kept_at
from dither.learn.run.rehearsal import made_up_units, take_two_steps, undone
from dither.learn.settings import Settings
from dither.learn.source import Source

__all__ = [
    "Planning",
    "asked_for",
    "check_module",
    "copied",
    "differentiating",
    "planned",
    "prepared",
]

Planning = Callable[[Source, Settings, Resumed | None], Plan]
NO_ROOM = "needs more memory than this machine has, even"
LESS = "pass a smaller model, fewer rows=, or another device="


def prepared(
    model: Any,
    data: Any,
    settings: Settings,
    plans: Planning | None = None,
    *,
    each: int | None = None,
    quick: bool = False,
) -> Ready:
    """Check everything that is public; nothing is charged, and no record is read.
    `plans` says what a run of a search does and costs. `each` is how many steps an epoch
    has, where its units do not say it. `quick` asks for parts of the size that takes the
    least time here.
    """
    _check_alone()
    check_module(model)
    device = _device(settings.device, model)
    numbers = real_type(model)
    source = run_source(data, settings.owner, settings).real(numbers)
    check_hooks(model)
    own, fresh = (copied(model).to(device) for _ in range(2))
    with differentiating(own, settings.precision):
        probed = _probed(own, source, settings)
        optimizer, scheduler = optimizers(own, settings)
    found = kept_at(source, settings)
    plan = (plans or partial(planned, each=each))(source, settings, found)
    radius = Adapting.of(settings.clip, own, plan.batch)
    held = held_source(settings, source, probed)
    texts = None
    if settings.keeps:
        texts = texts_of(own, source, held, settings, plan, radius)
    if found is not None and texts is not None:
        check_same(found.saved.pinned, texts)
        check_paid(plan)
        go_on(found.saved, found.run.claimed, own, settings, optimizer, scheduler)
        radius.restore(found.saved.radius)
    radius.check(max(plan.noises))
    micro = micro_of(settings.micro, plan)
    ready = Ready(
        model=own,
        fresh=fresh,
        settings=settings,
        source=source,
        plan=plan,
        radius=radius,
        probed=probed,
        tested=tested_on(settings, own, source, probed),
        device=device,
        optimizer=optimizer,
        scheduler=scheduler,
        micro=micro,
        noise=noise_on(device),
        replayed=Replayed(probed.oracle),
        held=held,
        every=every_of(settings, plan),
        texts=texts,
        resumed=found,
        optimizer_words=worded(optimizer),
    )
    with differentiating(own, settings.precision):
        return _rehearsed(quickest(ready) if quick else ready)


def _rehearsed(ready: Ready) -> Ready:
    """The run in parts that fit in memory: gradients, noise, the optimizer's step, the
    public measurement and the private one are computed for made-up rows, and parts are
    halved until all of this fits. The model and the radius are then what they were;
    each attempt has a new optimizer, and so has the run.
    """
    while True:
        fit, error = undone(ready, partial(_fitted, ready))
        found = None
        if fit is not None:
            found, error = undone(fit, partial(_stepped, fit))
        if found is not None:
            return _begun(found)
        assert error is not None
        if isinstance(error, ArgumentError):
            raise error
        machine, words = is_machine(error), words_of(error)
        if fit is not None and not machine:
            raise ArgumentError(
                "model",
                f"cannot be trained: a step on made-up rows fails ({words}); change the "
                "model, the loss or the optimizer",
            )
        fit = error = None  # they hold memory
        ready = _halved(ready, machine, words)


def _fitted(ready: Ready) -> Ready:
    return fitted(_begun(ready))


def _halved(ready: Ready, machine: bool, words: str) -> Ready:
    if not machine:
        count = ready.micro * ready.plan.rows
        raise ArgumentError(
            "micro",
            f"the gradients of {count:,} rows cannot be computed together ({words}); "
            "pass a smaller micro=",
        )
    if ready.micro == 1:
        raise ArgumentError(
            "model", f"{NO_ROOM} for one unit at a time ({words}); {LESS}"
        )
    cleared(ready.device)
    return replace(ready, micro=half(ready.micro))


def _stepped(ready: Ready) -> Ready:
    """Take the steps; the size of parts may have become smaller on the way."""
    units = made_up_units(ready, ready.micro + 1)
    loop = Loop(ready, units, strict=True)
    take_two_steps(loop)
    if ready.plan.validation is not None:
        held_of(loop.ready, ready.plan.validation, units).counted()
    return loop.ready


def _begun(ready: Ready) -> Ready:
    """The run with an optimizer that has made no step, or those of its checkpoint."""
    settings, found = ready.settings, ready.resumed
    optimizer, scheduler = optimizers(ready.model, settings)
    if found is not None:
        steps, saved = found.run.claimed, found.saved
        go_on(saved, steps, ready.model, settings, optimizer, scheduler)
    return replace(ready, optimizer=optimizer, scheduler=scheduler)


def _probed(model: nn.Module, source: Source, settings: Settings) -> Probed:
    device = next(model.parameters(), torch.zeros(0)).device
    try:
        return probe(model, settings.loss, source.schema, device, source.classes)
    except ArgumentError:
        raise
    except FAILED as error:
        if not is_machine(error):
            raise
        words = words_of(error)
    raise ArgumentError("model", f"{NO_ROOM} for a few made-up rows ({words}); {LESS}")


def planned(
    source: Source,
    settings: Settings,
    found: Resumed | None = None,
    each: int | None = None,
) -> Plan:
    """The cost of a run over these records."""
    paid = None if found is None else found.paid
    return plan_of(asked_for(source, settings, each), settings.cost, paid)


def asked_for(source: Source, settings: Settings, each: int | None = None) -> Asked:
    """The run over these records, before its noise is known."""
    sizes = settings.batch, settings.epochs
    return asked_of(source, settings, *sizes, validation=settings.validation, each=each)


@contextmanager
def differentiating(model: nn.Module, precision: str | None = None) -> Iterator[None]:
    """Gradients in full precision, or by bfloat16 if asked for, whatever the caller has
    switched on or off.
    """
    one = next(model.parameters(), None)
    kind = "cpu" if one is None else one.device.type
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.autocast(kind, torch.bfloat16, enabled=precision == "bf16"),
        torch.autograd.set_detect_anomaly(False),
        np.errstate(all="ignore"),
        full_precision(),
        guarded(model),
        eagerly(),
    ):
        yield


def _check_alone() -> None:
    group = torch.distributed.is_available() and torch.distributed.is_initialized()
    size = torch.distributed.get_world_size() if group else 1
    said = os.environ.get("WORLD_SIZE", "1")
    if size > 1 or (said.isascii() and said.isdigit() and int(said) > 1):
        raise ArgumentError(
            "world size",
            "the world size is above 1, but batches and noise of other processes are "
            "not accounted for; train in one process",
        )


def _device(wanted: Any, model: nn.Module) -> torch.device:
    if wanted is None:
        found = next(model.parameters(), None)
        return torch.device("cpu") if found is None else found.device
    try:
        device = torch.device(wanted)
    except (RuntimeError, TypeError):
        raise ArgumentError(
            "device", 'must be a device of PyTorch; pass "cpu" or "cuda"'
        ) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError("device", 'is a GPU that is not available; pass "cpu"')
    return device


def check_module(model: Any) -> None:
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise ArgumentError("model", f"must be a torch.nn.Module, not {kind}")


def copied(model: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(model)
    except FAILED as error:
        raise ArgumentError(
            "model",
            f"cannot be copied ({error!s:.200}), but training works on a copy; change "
            "it so that copy.deepcopy(model) works",
        ) from None
