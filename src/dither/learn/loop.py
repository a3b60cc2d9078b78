"""The steps of a run: draw units, sum their clipped gradients, add noise, step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from dither.learn.draws import secret, secretly, sow
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch
from dither.learn.preparing import Ready
from dither.learn.rows import Batch, Units
from dither.learn.sampler import Poisson
from dither.learn.silence import silently
from dither.learn.state import Held
from dither.learn.validation import HeldOut
from dither.ledger.attempts import check_process
from dither.progress import Tell

__all__ = ["Loop", "Step"]

Sums = dict[str, Tensor]


@dataclass(frozen=True)
class Step:
    """What a callback sees: nothing that depends on private rows."""

    step: int
    steps: int
    epoch: int
    lr: float
    noise: float


@dataclass
class Loop:
    """A run under way, over units that have been read."""

    ready: Ready
    units: Units
    tell: Tell | None = None
    epochs: list[Epoch] = field(default_factory=list)
    held_out: HeldOut | None = None
    done: int = 0

    def run(self, first: int, last: int) -> bool:
        """Run steps, numbered from 1; whether a callback asked to stop."""
        plan = self.ready.plan
        for number in range(first, last + 1):
            noise = plan.noises[number - 1]
            epoch = math.ceil(number / plan.steps_per_epoch)
            now = Step(number, plan.steps, epoch, self.rate, noise)
            self.step(noise)
            self.done = number
            if self.tell is not None:
                self.tell(number, plan.steps)
            # Each is called, whatever another one says.
            asked = [bool(call(now)) for call in self.ready.settings.callbacks]
            if True in asked or number % plan.steps_per_epoch == 0:
                self._note(now)
            if True in asked:
                return True
        return False

    @property
    def rate(self) -> float:
        return float(self.ready.optimizer.param_groups[0]["lr"])

    def step(self, noise: float) -> None:
        """One noisy step. A batch without any unit steps too, by noise alone."""
        ready = self.ready
        drawn = Poisson(ready.plan.run.rate).draw(len(self.units))
        held = Held.of(ready.model)
        # Units that a step counted before it failed would count twice.
        ready.radius.below = 0.0
        sums: Sums = {}
        with secretly(ready.device), silently():
            for start in range(0, len(drawn), ready.micro):
                part = self.units.take(drawn[start : start + ready.micro], ready.micro)
                part = ready.probed.fitting(part.to(ready.device))
                # A graph writes sums of the next part where it wrote these.
                last = start + ready.micro >= len(drawn)
                for name, one in self._sums(part, held, secret()).items():
                    if name in sums:
                        sums[name] += one
                    else:
                        sums[name] = one if last else one.clone()
        for name, parameter in trained(ready.model).items():
            sums.setdefault(name, torch.zeros_like(parameter))
        self._descend(sums, ready.radius.deviation(noise))

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

    def _sums(self, part: Batch, held: Held, seed: bytes) -> Sums:
        """Clipped sums of a part. If some record makes the model fail, halves of it are
        tried, and a unit that fails by itself counts for nothing. All others give what
        they would without it: they keep their places, among as many rows, and what the
        model draws for them.
        """
        radius, before = self.ready.radius, self.ready.radius.below
        try:
            return self._clipped(part, held, seed)
        except torch.OutOfMemoryError:
            raise
        except Exception:
            radius.below = before
        total: Sums = {}
        for half in part.halves(self.ready.plan.rows):
            for name, found in self._sums(half, held, seed).items():
                total[name] = total[name] + found if name in total else found.clone()
        return total

    def _clipped(self, part: Batch, held: Held, seed: bytes) -> Sums:
        """The sums of a part; the model then holds what it did before."""
        rows = self.ready.plan.rows
        there = part.there.view(-1, rows).any(1)
        try:
            return self.ready.replayed.sums(
                part,
                self.ready.radius.weights(there),
                rows,
                lambda: sow(self.ready.device, seed),
            )
        finally:
            held.restore()

    def _note(self, now: Step) -> None:
        tested = self.ready.tested
        loss, accuracy = (
            (None, None) if tested is None else tested.measure(self.ready.model)
        )
        found = Epoch(now.epoch, now.step, now.lr, now.noise, loss, accuracy)
        if self.held_out is not None and self._due(now):
            found = replace(found, **self.held_out.measure().fields)
        self.epochs.append(found)

    def _due(self, now: Step) -> bool:
        """Whether held-out records are measured now. Where a run can be gone on with,
        only after the last step of an epoch: that is claimed once, so no measurement is
        taken twice.
        """
        plan = self.ready.plan
        ended = now.step % plan.steps_per_epoch == 0
        once = ended or self.ready.texts is None
        asked = plan.validation
        return asked is not None and once and asked.due(now.epoch, plan.epochs)
