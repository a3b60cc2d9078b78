"""`train` and `preview`: a model trained on private records is one more release."""

from __future__ import annotations

from typing import Any, Unpack

import torch
from torch import nn

from dither.by_name import by_name
from dither.dataset import Dataset
from dither.learn.clipping import Adaptive
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch, History
from dither.learn.loop import Loop
from dither.learn.preparing import (
    Ready,
    differentiating,
    micro_of,
    planned,
    prepared,
)
from dither.learn.previewing import Preview, preview_of
from dither.learn.records import unread
from dither.learn.release import ModelRelease, digest_of
from dither.learn.rows import units_of
from dither.learn.settings import Settings, Training
from dither.ledger import Account, Receipt
from dither.progress import Tell
from dither.release import Source

__all__ = ["preview", "train"]

EXAMPLE = "train(model, data, loss=loss, epochs=20, batch=256, epsilon=3)"


@by_name(EXAMPLE, Training)
def train(model: nn.Module, data: Any, **options: Unpack[Training]) -> ModelRelease:
    """Train a copy of a model on private records, by noisy gradients of sampled units.

    `data` is a pair (inputs, targets) of tensors or arrays, a frame with `inputs` and
    `target`, a map-style `Dataset` of PyTorch (with `example`, a made-up row, and
    `collate_fn`), or a dataset that `dither.open` returned. Of the latter, numbers go from their declared bounds to 0 to
    1, declared keys become one number each, and a target with keys is a class. Say whose
    each row is: `owner` is a column or ids, or "row"; of each owner at most `rows` rows
    count. `units` is how many there are by public knowledge (a dataset's `population`).

    `loss` is that of a batch of one row. Each unit enters a batch with probability
    `batch` / `units`; `epochs` is how often it does on average. The gradient of a unit is
    clipped to `clip`: a radius, or Flat, PerLayer, Automatic, Adaptive. `optimizer` is a
    class or a partial (with `lr`), `scheduler` makes one of PyTorch's, which goes by
    steps; `noise_schedule` has a factor for each step. `micro` units are differentiated
    at a time. State the cost as `epsilon` (at the account's δ, or `delta`), as a `share`
    of the account, or as the `noise` multiplier.

    `public` test data gives the history a loss and an accuracy. `callbacks` see public
    numbers after each step; one that returns True ends the run, which saves time and no
    budget. A run that stops in any other way is paid and lost; it is due within the
    `deadline` of the account's policy.

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
    plan = ready.plan
    with plan.question.paying(plan.charged) as paid:
        epochs = rounds(ready, paid.receipt, paid.tell)
        return finished(ready, paid.source, History(epochs, ready.plan.epsilon_after))


@by_name(EXAMPLE.replace("train", "preview"), Training)
def preview(model: nn.Module, data: Any, **options: Unpack[Training]) -> Preview:
    """What `train` would do and cost with the same arguments. No record is read, and
    nothing is spent; what `train` would refuse, this refuses. The columns of an opened
    dataset may be left out: the cost does not depend on them.
    """
    settings = Settings(**options)
    if isinstance(data, Dataset) and settings.inputs is settings.target is None:
        plan = planned(unread(data, settings.table), settings)
        return preview_of(plan, micro_of(settings.micro, plan), "")
    ready = prepared(model, data, settings)
    return preview_of(ready.plan, ready.micro, ready.probed.route)


def rounds(
    ready: Ready, receipt: Receipt | None, tell: Tell | None
) -> tuple[Epoch, ...]:
    """Read the records, and run the epochs."""
    with differentiating(ready.model):
        rows, owners = ready.source.read(receipt)
        loop = Loop(ready, units_of(rows, owners, ready.plan.rows), tell)
        for epoch in range(ready.plan.epochs):
            if loop.epoch(epoch):
                break
    return tuple(loop.epochs)


def finished(
    ready: Ready, source: Source, history: History, notes: tuple[str, ...] = ()
) -> ModelRelease:
    """The release of a run; the book notes which weights it had."""
    value = _trained(ready)
    digest = digest_of(value)
    account = ready.plan.question.account
    if isinstance(account, Account) and source.receipt is not None:
        key = f"training {source.receipt.number}, weights"
        account.store(source.receipt, key, f"sha256 {digest}")
    return ModelRelease(
        what="model",
        value=value,
        sources=(source,),
        notes=(*notes, *_notes(ready)),
        history=history,
        delta=ready.plan.delta,
        digest=digest,
    )


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
    ]
    if plan.rows > 1:
        said.append(f"of each unit at most {plan.rows} rows count")
    if isinstance(ready.settings.clip, Adaptive):
        said.append(
            "the clipping radius follows a noisy count, which is part of the cost"
        )
    if ready.settings.public is not None:
        said.append("test data: public, by whoever passed it")
    return (*said, *ready.source.notes)
