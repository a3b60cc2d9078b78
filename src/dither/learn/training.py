"""`train` and `preview`: a model trained on private records is one more release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import torch
from torch import nn

from dither.by_name import by_name
from dither.dataset import Dataset
from dither.learn.clipping import Adapting, Adaptive
from dither.learn.draws import secretly
from dither.learn.gradients.oracle import trained
from dither.learn.heap import keep_memory
from dither.learn.history import Epoch, History
from dither.learn.holding import Records
from dither.learn.loop import Loop
from dither.learn.preparing import (
    Ready,
    differentiating,
    every_of,
    kept_at,
    micro_of,
    planned,
    prepared,
)
from dither.learn.previewing import Preview, preview_of
from dither.learn.release import ModelRelease, digest_of
from dither.learn.resuming import blocks, keep, key_of, paying
from dither.learn.settings import Settings, Training
from dither.learn.silence import silently
from dither.learn.tables import unread
from dither.ledger import Account, Attempt
from dither.ledger.attempts import check_process
from dither.question import Paid
from dither.release import Source

__all__ = ["EXAMPLE", "preview", "released", "train"]

EXAMPLE = "train(model, data, loss=loss, epochs=20, batch=256, lr=1.0, epsilon=3)"


@by_name(EXAMPLE, Training)
def train(model: nn.Module, data: Any, **options: Unpack[Training]) -> ModelRelease:
    """Train a copy of a model on private records, by noisy gradients of sampled units.

    `data` is a pair (inputs, targets) of tensors or arrays, a frame with `inputs` and
    `target`, a map-style `Dataset` of PyTorch (with `example`, a made-up row, and
    `collate_fn`), or a dataset that `dither.open` returned. Several inputs are a tuple of
    tensors, or a dict by the model's names. `inputs` lists columns, or says how each is
    read: by bounds, which go to 0 to 1, by keys, which become one number each, or as
    `Words`, which are a tensor of their own. Of an opened dataset, declared bounds and
    keys are meant, and a target with keys is a class. Say whose each row is: `owner` is a
    column or ids, or "row"; of each owner at most `rows` rows count. `units` is how many
    there are by public knowledge (a dataset's `population`).

    `loss` is that of a batch of one row. Each unit enters a batch with probability
    `batch` / `units`; `epochs` is how often it does on average. The gradient of a unit is
    clipped to `clip`: a radius, or Flat, PerLayer, Automatic, Adaptive. `optimizer` is a
    class or a partial (with `lr`; SGD is usual, and needs one), `scheduler` makes one of PyTorch's, which goes by
    steps; `noise_schedule` has a factor for each step. `micro` units are differentiated
    at a time. State the cost as `epsilon` (at the account's δ, or `delta`), as a `share`
    of the account, or as the `noise` multiplier.

    Layers run where the model is, or on `device`; with `precision="bf16"` they multiply
    in bfloat16, and clipping, sums and noise stay in float32.

    `public` test data gives the history a loss and an accuracy; a `Validation` on private
    held-out records has noise, and is part of the cost. `callbacks` see public
    numbers after each step; one that returns True ends the run, which saves time and no
    budget. A run that stops in any other way is paid, and counts as a failure; it is due
    within the `deadline` of the account's policy.

    `checkpoint` is a new file, written after each epoch or `every` so many steps; its
    weights are noisy and safe to show. `resume` is such a file to go on from, with the
    same arguments and the steps that its charge has left: a step runs once, and those
    that were begun and lost are lost. Optimizer settings, `micro`, `device`, `public`
    and `callbacks` may be others. It goes on writing to that file.

    Guarantee: that of `preview`, for one unit with all of its rows, under add/remove
    with Poisson sampling; where units are replaced, without any gain from sampling.
    Why: the sum of clipped gradients moves by the radius at most, and Gaussian noise of
    the multiplier times the radius is added to it; all steps compose numerically, and an
    account is charged for them in the cheapest way (docs/proofs/training.md).
    Assumes: starting weights, the shape of a row, `example`, `units`, `rows`, `classes`
    and `public` are public; the model mixes private rows no more than made-up ones; a
    `Dataset` makes each row from that record alone. Arithmetic is
    that of floats. How long it takes is not protected.
    """
    ready = prepared(model, data, Settings(**options))
    with paying(ready) as (paid, attempt):
        epochs = _run(ready, paid) if attempt is None else _kept(ready, paid, attempt)
        history = History(epochs, ready.plan.epsilon_after)
        return ModelRelease(**released(ready, paid.source, history, attempt))


@by_name(EXAMPLE.replace("train", "preview"), Training)
def preview(model: nn.Module, data: Any, **options: Unpack[Training]) -> Preview:
    """What `train` would do and cost with the same arguments. No record is read, and
    nothing is spent; a question that `train` would refuse, this refuses, and it says
    where too little is left of the account. The columns of an opened
    dataset may be left out: the cost does not depend on them.
    """
    settings = Settings(**options)
    bare = settings.inputs is settings.target is settings.resume is None
    if isinstance(data, Dataset) and bare:
        source = unread(data, settings.table)
        kept_at(source, settings)
        plan = planned(source, settings)
        every_of(settings, plan)
        radius = Adapting.of(settings.clip, model, plan.batch)
        return preview_of(plan, radius, model, micro_of(settings.micro, plan))
    ready = prepared(model, data, settings)
    notes = ready.source.notes
    how = (ready.micro, ready.probed.route, notes, ready.optimizer_words)
    found = preview_of(ready.plan, ready.radius, ready.model, *how)
    if ready.resumed is None:
        return found
    left, lost = ready.resumed.left, ready.resumed.lost
    return replace(found, affordable=True, left=left, lost=lost)


def _run(ready: Ready, paid: Paid) -> tuple[Epoch, ...]:
    """Read the records, and run all steps."""
    with differentiating(ready.model, ready.settings.precision):
        loop = _reading(ready, paid, [])
        loop.run(1, ready.plan.steps)
    return tuple(loop.epochs)


def _kept(ready: Ready, paid: Paid, attempt: Attempt) -> tuple[Epoch, ...]:
    """The same a block at a time: claim its steps, run them, write a checkpoint. Records
    are read after the first claim, so not at all where nothing is left.
    """
    found = ready.resumed
    epochs = [] if found is None else list(found.saved.epochs)
    start = (0, 0) if found is None else (found.saved.done, found.saved.lost)
    # From now on this attempt is the one that the file knows.
    keep(ready, attempt, epochs, *start)
    lost, loop = 0 if found is None else found.lost, None
    with differentiating(ready.model, ready.settings.precision):
        for first, last in blocks(ready):
            attempt.claim(first, last)
            loop = loop or _reading(ready, paid, epochs)
            stopped = loop.run(first, last)
            keep(ready, attempt, epochs, loop.done, lost)
            if stopped:
                break
    return tuple(epochs)


def _reading(ready: Ready, paid: Paid, epochs: list[Epoch]) -> Loop:
    keep_memory()
    with secretly(ready.device), silently():
        units, held = Records.read(ready, paid.receipt).units(ready)
    return Loop(ready, units, paid.tell, epochs, held)


def released(
    ready: Ready, source: Source, history: History, attempt: Attempt | None = None
) -> dict[str, Any]:
    """What a release of a run holds; the book notes which weights came out."""
    check_process(ready.process)
    value = _trained(ready)
    digest = digest_of(value)
    account, receipt = ready.plan.question.account, source.receipt
    if attempt is not None:
        key = key_of(attempt.receipt, attempt.number)
        attempt.store(key, f"sha256 {digest}")
    elif isinstance(account, Account) and receipt is not None:
        account.store(receipt, key_of(receipt, receipt.number), f"sha256 {digest}")
    return {
        "what": "model",
        "value": value,
        "sources": (source,),
        "notes": _notes(ready),
        "history": history,
        "delta": ready.plan.delta,
        "digest": digest,
        "reading": ready.source.reading,
    }


def _trained(ready: Ready) -> nn.Module:
    """A module that no private row went through, with the noisy weights."""
    weights, own = trained(ready.model), trained(ready.fresh)
    with torch.no_grad():
        for name, one in own.items():
            one.copy_(weights[name])
    return ready.fresh


def _notes(ready: Ready) -> tuple[str, ...]:
    plan = ready.plan
    said = [
        f"{plan.units:,} units: declared by whoever asked"
        if ready.source.dataset is None
        else f"{plan.units:,} units: the declared population",
        "starting weights: assumed public",
        "noise in float arithmetic",
        ready.optimizer_words,
    ]
    if ready.settings.precision == "bf16":
        said.append("layers computed in bfloat16, clipping and noise in float32")
    if plan.rows > 1:
        said.append(f"of each unit at most {plan.rows} rows count")
    if isinstance(ready.settings.clip, Adaptive):
        said.append(
            "the clipping radius follows a noisy count, which is part of the cost"
        )
    if ready.settings.public is not None:
        said.append("test data: public, by whoever passed it")
    if plan.validation is not None:
        said.append(f"{plan.validation}: part of the cost")
    lost = 0 if ready.resumed is None else ready.resumed.lost
    if lost:
        said.append(
            f"{lost:,} of {plan.steps:,} steps were lost when the run stopped: they are "
            "paid for, and not in the weights"
        )
    return (*said, *ready.source.notes)
