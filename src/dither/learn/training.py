"""`train` and `preview`: a model trained on private records is one more release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from torch import nn

from dither.by_name import by_name
from dither.dataset import Dataset
from dither.learn.clipping import Adapting
from dither.learn.history import Epoch, History
from dither.learn.holding import Records
from dither.learn.loop import Loop
from dither.learn.part_size import micro_of
from dither.learn.preparing import differentiating, planned, prepared
from dither.learn.previewing import Preview, preview_of
from dither.learn.ready import Ready
from dither.learn.release import ModelRelease
from dither.learn.resuming import blocks, every_of, keep, kept_at, paying
from dither.learn.rows import Units
from dither.learn.run.course import read
from dither.learn.run.release import notes_of, released
from dither.learn.settings import Settings, Training
from dither.learn.tables import unread
from dither.learn.validation import HeldOut
from dither.ledger import Attempt
from dither.question import Paid

__all__ = ["EXAMPLE", "notes_on", "preview", "train"]

PAID = "nothing more, the run is already charged"

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
    and `public` are public; PyTorch's rules for batches give each row what it gets
    alone; a `Dataset` makes each row from that record alone. Arithmetic is that of
    floats. How long it takes is not protected.
    """
    ready = prepared(model, data, Settings(**options), quick=True)
    with paying(ready) as (paid, attempt):
        epochs = _steps(ready, paid, attempt)
        history = History(epochs, ready.plan.epsilon_after)
        notes = notes_on(ready, history)
        return ModelRelease(**released(ready, paid.source, history, notes, attempt))


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
    return replace(
        found, left=left, lost=lost, affordable=True, cost=PAID, remaining=""
    )


def _steps(ready: Ready, paid: Paid, attempt: Attempt | None) -> tuple[Epoch, ...]:
    """Run the steps that are left, a block at a time. If there are checkpoints, a block
    is claimed in the book before it runs, and one is written after it. Records are read
    after the first claim, so not at all if nothing is left.
    """
    found, loop = ready.resumed, None
    epochs = [] if found is None else list(found.saved.epochs)
    if attempt is not None:
        # From now on this attempt is the one that the file knows.
        start = (0, 0) if found is None else (found.saved.done, found.saved.lost)
        keep(ready, attempt, epochs, *start)

    def units() -> tuple[Units, HeldOut | None]:
        return Records.read(ready, paid.receipt).units(ready)

    with differentiating(ready.model, ready.settings.precision):
        for first, last in blocks(ready):
            if attempt is not None:
                attempt.claim(first, last)
            if loop is None:
                held, out = read(ready.device, units)
                loop = Loop(ready, held, paid.tell, epochs, out)
            stopped = loop.run(first, last)
            if attempt is not None:
                lost = 0 if found is None else found.lost
                keep(ready, attempt, epochs, loop.done, lost)
            if stopped:
                break
    return tuple(epochs)


def notes_on(ready: Ready, history: History) -> tuple[str, ...]:
    plan, found = ready.plan, ready.resumed
    ways, end = [ready.optimizer_words], []
    if ready.settings.precision == "bf16":
        ways.append("layers computed in bfloat16, clipping and noise in float32")
    if plan.validation is not None:
        end.append(f"{plan.validation}, part of the cost")
    lost = 0 if found is None else found.lost
    if lost:
        was, it, are = ("was", "it", "is") if lost == 1 else ("were", "they", "are")
        end.append(
            f"{lost:,} of {plan.steps:,} steps {was} lost when the run stopped; {it} "
            f"{was} charged, but {are} not in the weights"
        )
    # A run that has no steps left to take was not stopped: its last ones are lost.
    stopped = history.stopped(plan.steps)
    if stopped and (found is None or found.left):
        end.append(stopped)
    return notes_of(ready, "unit", ways=ways, end=end)
