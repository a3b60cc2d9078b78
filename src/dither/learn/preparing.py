"""All that is settled before a run is charged: what could fail, fails here (rule R1)."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from dither.errors import ArgumentError
from dither.learn.asking import Asked, asked_of
from dither.learn.checkpoints import check_place
from dither.learn.clipping import Adapting
from dither.learn.draws import Draws
from dither.learn.gaussian import Noise, noise_on
from dither.learn.gradients.oracle import Ghost
from dither.learn.history import Tested
from dither.learn.made_up import guarded, made_up
from dither.learn.measuring import held_source, run_source, tested_on
from dither.learn.mixing import check_odd_batches, refuse_mixing
from dither.learn.optimizers import go_on, optimizers, worded
from dither.learn.pinning import Texts, check_same, texts_of
from dither.learn.planning import Plan, check_paid, plan_of
from dither.learn.precision import full_precision
from dither.learn.probe import (
    Probed,
    check_hooks,
    check_unchanged,
    probe,
    probe_final,
)
from dither.learn.replay import Replayed
from dither.learn.resuming import Resumed, account_of, resumed
from dither.learn.rows import Batch
from dither.learn.separation import decides_nothing, gradients_apart
from dither.learn.settings import Settings
from dither.learn.source import Source
from dither.learn.state import Held
from dither.privacy.numbers import whole

__all__ = [
    "Planning",
    "Ready",
    "asked_for",
    "differentiating",
    "every_of",
    "kept_at",
    "micro_of",
    "planned",
    "prepared",
]

Planning = Callable[[Source, Settings, Resumed | None], Plan]
ROWS_AT_ONCE = 512
"""Rows that are differentiated together, unless `micro` says otherwise."""


@dataclass(frozen=True)
class Ready:
    """A run that can begin. The model is a copy of the caller's, which sees private
    rows; `fresh` is one that never does.
    """

    model: nn.Module
    fresh: nn.Module
    settings: Settings
    source: Source
    plan: Plan
    probed: Probed
    radius: Adapting
    optimizer: Optimizer
    scheduler: LRScheduler | None
    tested: Tested | None
    micro: int
    device: torch.device
    noise: Noise
    replayed: Replayed
    held: Source | None = None
    every: int = 0
    texts: Texts | None = None
    """What is pinned down where checkpoints are written, and how often they are."""
    resumed: Resumed | None = None
    optimizer_words: str = ""
    """The optimizer and the rate that it began with."""
    process: int = field(default_factory=os.getpid)
    """A copy of this process, forked off by a callback or a dataset, runs nothing."""


def prepared(
    model: Any,
    data: Any,
    settings: Settings,
    plans: Planning | None = None,
    *,
    each: int | None = None,
) -> Ready:
    """Check everything that is public; nothing is charged, and no record is read.
    `plans` says what a run of a search does and costs. `each` is how many steps an epoch
    has, where its units do not say it.
    """
    _check_alone()
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise ArgumentError("model", f"must be a torch.nn.Module, not {kind}")
    device = _device(settings.device, model)
    source = run_source(data, settings.owner, settings)
    check_hooks(model)
    own, fresh = (_copy(model).to(device) for _ in range(2))
    with differentiating(own, settings.precision):
        probed = probe(own, settings.loss, source.schema, device, source.classes)
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
    tested = tested_on(settings, own, source, probed)
    ready = Ready(
        own,
        fresh,
        settings,
        source,
        plan,
        probed,
        radius,
        optimizer,
        scheduler,
        tested,
        micro,
        device,
        noise_on(device),
        Replayed(probed.oracle),
        held,
        every_of(settings, plan),
        texts,
        found,
        worded(optimizer),
    )
    with differentiating(own, settings.precision):
        return _rehearsed(ready)


def kept_at(source: Source, settings: Settings) -> Resumed | None:
    """Where checkpoints are written, if anywhere, and the one to go on from."""
    if not settings.keeps:
        return None
    if settings.validation is not None and settings.validation.part is not None:
        raise ArgumentError(
            "validation",
            "draws its part of the units anew when a run goes on, and would measure on "
            "units that were trained on; pass other records, or leave checkpoint out",
        )
    account = account_of(source, settings)
    found = resumed(account, settings)
    check_place(settings.place, settings.resume)
    return found


def every_of(settings: Settings, plan: Plan) -> int:
    """Steps between two checkpoints: an epoch, unless told otherwise."""
    if settings.every is None:
        return plan.steps_per_epoch
    return whole("every", settings.every, "pass a number of steps such as 100")


def planned(
    source: Source,
    settings: Settings,
    found: Resumed | None = None,
    each: int | None = None,
) -> Plan:
    """What a run over these records costs."""
    paid = None if found is None else found.paid
    return plan_of(asked_for(source, settings, each), settings.cost, paid)


def asked_for(source: Source, settings: Settings, each: int | None = None) -> Asked:
    """The run over these records, before its noise is known."""
    return asked_of(
        source,
        settings.cost,
        units=settings.units,
        batch=settings.batch,
        epochs=settings.epochs,
        rows=settings.rows,
        schedule=settings.noise_schedule,
        delta=settings.delta,
        validation=settings.validation,
        each=each,
    )


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
    ):
        yield


def _check_alone() -> None:
    group = torch.distributed.is_available() and torch.distributed.is_initialized()
    size = torch.distributed.get_world_size() if group else 1
    if max(size, _number(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise ArgumentError(
            "world size",
            "is above 1: each process would draw batches and noise of its own, which "
            "nobody accounts for; train in one process",
        )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 1


def _device(wanted: Any, model: nn.Module) -> torch.device:
    if wanted is None:
        found = next(model.parameters(), None)
        return torch.device("cpu") if found is None else found.device
    try:
        device = torch.device(wanted)
    except (RuntimeError, TypeError):
        raise ArgumentError(
            "device", 'is unknown to PyTorch; pass "cpu" or "cuda"'
        ) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError("device", 'there is no GPU here; pass "cpu"')
    return device


def _copy(model: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise ArgumentError(
            "model", f"cannot be copied ({error!s:.200}), and training needs a copy"
        ) from None


def micro_of(micro: int | None, plan: Plan) -> int:
    """Units that are differentiated together. About one batch in twenty is larger than
    its mean by two deviations; the others fit into as many parts.
    """
    if micro is not None:
        return whole("micro", micro, "pass how many units fit in memory, such as 64")
    span = math.ceil(plan.batch + 2 * math.sqrt(plan.batch))
    parts = math.ceil(span * plan.rows / ROWS_AT_ONCE)
    return math.ceil(span / parts)


def _rehearsed(ready: Ready) -> Ready:
    """Differentiate made-up rows of a full part, so that what does not fit in memory is
    known before the charge; and see that so many rows do not mix either. All parts of
    the run have the shapes of this one.
    """
    oracle, rows = ready.probed.oracle, ready.plan.rows
    count, clipping = ready.micro * rows, ready.radius.clipping
    held, draws = Held.of(ready.model), Draws.now(ready.device)
    try:
        batch = ready.probed.fitting(_made_up_batch(ready, count))
        if isinstance(oracle, Ghost):
            oracle = oracle.settled(batch.inputs, batch.targets, rows)
        replayed = Replayed(oracle)
        replayed.sums(batch, clipping, rows)
        check_unchanged(held)
        if isinstance(oracle, Ghost):
            _check_batch(oracle, batch, rows)
        if ready.radius.rule is None:
            held.restore()
            replayed.capture(batch, clipping, rows)
        decides = ready.plan.validation is not None and probe_final(
            ready.model, ready.source.schema, batch.inputs, ready.source.classes
        )
    except ArgumentError:
        raise
    except Exception as error:
        raise ArgumentError(
            "micro",
            f"gradients of {count:,} rows at once cannot be computed "
            f"({error!s:.200}); pass a smaller micro=",
        ) from None
    finally:
        held.restore()
        draws.restore()
    probed = replace(ready.probed, oracle=oracle, decides=decides)
    return replace(ready, probed=probed, replayed=replayed)


def _check_batch(oracle: Ghost, batch: Batch, rows: int) -> None:
    """Only where rows are differentiated together can they mix."""
    check_odd_batches(oracle.model, batch.inputs)
    if not decides_nothing(oracle.model, batch.inputs):
        raise ArgumentError(
            "model",
            f"decides by what is in the rows of a batch of {len(batch.there):,}; let it "
            "do the same whatever is in them, or see each row alone",
        )
    if not gradients_apart(oracle, batch, rows):
        refuse_mixing(oracle.model, "")


def _made_up_batch(ready: Ready, count: int) -> Batch:
    schema = ready.source.schema
    inputs = made_up(schema, count, ready.model)
    there = torch.ones(count, dtype=torch.bool, device="cpu")
    batch = Batch(inputs, schema.blank(count)[1], there)
    return batch.to(ready.device)
