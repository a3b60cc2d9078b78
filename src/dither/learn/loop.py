"""The steps of a run: draw units, sum their clipped gradients, add noise, step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import torch
from torch import Tensor

from dither.learn.draws import secret, secretly, sow
from dither.learn.failures import FAILED, is_machine, unless_machine
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch, Figure
from dither.learn.made_up import made_up_part
from dither.learn.part_size import part_of, smaller
from dither.learn.parts import each_part, failed_too, start_again
from dither.learn.ready import Ready
from dither.learn.rows import Batch, Places, Units
from dither.learn.run.course import Course, Step
from dither.learn.sampler import Poisson
from dither.learn.silence import silently
from dither.learn.state import Held
from dither.learn.validation import HeldOut
from dither.ledger.attempts import check_process
from dither.progress import Tell

__all__ = ["Loop"]

Sums = dict[str, Tensor]


@dataclass
class Loop(Course):
    """A run under way, over units that have been read."""

    ready: Ready
    units: Units
    tell: Tell | None = None
    epochs: list[Epoch] = field(default_factory=list)
    held_out: HeldOut | None = None
    done: int = 0
    strict: bool = False

    @cached_property
    def filler(self) -> Batch:
        """A made-up row, in the place of rows that only fill up: the model takes it."""
        row = made_up_part(self.ready.source.schema, 1, self.ready.model)
        return row.to(self.ready.device)

    @property
    def rate(self) -> float:
        return float(self.ready.optimizer.param_groups[0]["lr"])

    @property
    def size(self) -> int:
        return self.ready.micro

    def advance(self, now: Step) -> None:
        self.step(now.noise)

    def step(self, noise: float) -> None:
        """One noisy step over units that are drawn."""
        rate = self.ready.plan.run.rate
        self.take(Poisson(rate).draw(len(self.units)), noise)

    def take(self, drawn: Places, noise: float) -> None:
        ready = self.ready
        held = Held.of(ready.model)
        # Units that a step counted before it failed would count twice.
        ready.radius.below = 0.0
        sums: Sums = {}
        with secretly(ready.device), silently():
            for found in self.parts(drawn, partial(self._sums, held)):
                _add(sums, found)
        for name, parameter in trained(ready.model).items():
            sums.setdefault(name, torch.zeros_like(parameter))
        try:
            self._descend(sums, ready.radius.deviation(noise))
        except FAILED as error:
            if not is_machine(error):
                raise
        else:
            return
        raise failed_too()  # noise is never drawn twice for the same sums

    def _descend(self, sums: Sums, deviation: float) -> None:
        ready = self.ready
        check_process(ready.process)
        parameters = trained(ready.model)
        # In float32, whatever the parameter's type; the denominator is public.
        for name, noisy in ready.noise.added(sums, deviation, ready.plan.batch):
            parameter = parameters[name]
            parameter.grad = noisy.view_as(parameter).to(parameter.dtype)
        ready.optimizer.step()
        if ready.scheduler is not None:
            ready.scheduler.step()
        ready.radius.step()

    def _sums(self, held: Held, units: Places, last: bool) -> Sums:
        """Clipped sums of a part. If some record makes the model fail, halves of the part
        are tried, and a unit that fails by itself is ignored. All others give what they
        would without it: they keep their places, among as many rows, and what the model
        draws for them.
        """
        ready = self.ready
        clipped = partial(self._clipped, held=held, seed=secret())
        total: Sums = {}
        part = self.units.take(units, ready.micro).to(ready.device)
        part = ready.probed.fitting(part)
        proof = partial(self._proof, held)
        for one, found in each_part(part, ready.plan.rows, clipped, proof):
            if found is None and self.strict:
                raise ValueError("a made-up row fails beside others")
            if last and one is part:
                return found or {}
            # A graph writes the next sums where it wrote these.
            _add(total, {name: one.clone() for name, one in (found or {}).items()})
        return total

    def _clipped(self, part: Batch, held: Held, seed: bytes) -> Sums:
        """The sums of a part; the model then holds what it did before."""
        ready, below = self.ready, self.ready.radius.below
        there, done = part.there.view(-1, ready.plan.rows).any(1), False
        try:
            found = ready.replayed.sums(
                part.filled(self.filler),
                ready.radius.weights(there),
                ready.plan.rows,
                lambda: sow(ready.device, seed),
            )
            held.restore()
            done = True
            return found
        finally:
            if not done:
                ready.radius.below = below
                held.restore()

    def _proof(self, held: Held) -> None:
        """Compute a part of made-up rows with the starting weights."""
        ready = self.ready
        try:
            start_again(ready.model, ready.fresh)
            part, clipping = part_of(ready), ready.radius.clipping
            ready.replayed.sums(part, clipping, ready.plan.rows)
            if ready.device.type == "cuda":
                torch.cuda.synchronize(ready.device)
        finally:
            held.restore()

    def shrink(self) -> None:
        ready = self.ready = smaller(self.ready)
        if self.held_out is not None:
            self.held_out = replace(
                self.held_out, micro=ready.micro, probed=ready.probed
            )

    def measured(self, epoch: Epoch) -> Epoch:
        if self.held_out is None or not self._due(epoch):
            return epoch
        return replace(epoch, **self._measured().fields)

    def _measured(self) -> Figure:
        """The measurement on held-out units; nothing of a failed attempt is shown."""
        while True:
            assert self.held_out is not None
            found = unless_machine(self.held_out.measure)
            if found is not None:
                return found
            self.shrink()

    def _due(self, now: Epoch) -> bool:
        """Whether held-out records are measured now. If a run can be resumed, only
        after the last step of an epoch: that is claimed once, so no measurement is
        taken twice.
        """
        plan = self.ready.plan
        ended = now.step % plan.steps_per_epoch == 0
        once = ended or self.ready.texts is None
        asked = plan.validation
        return asked is not None and once and asked.due(now.epoch, plan.epochs)


def _add(total: Sums, found: Sums) -> None:
    """Add sums in place, which takes no memory and so cannot fail half way."""
    for name, one in found.items():
        if name in total:
            total[name] += one
        else:
            total[name] = one
