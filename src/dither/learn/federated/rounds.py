"""The rounds of a federated run: choose clients, sum their clipped updates, add noise,
and step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dither.learn.draws import secretly
from dither.learn.federated.aggregation import Sum, Updates
from dither.learn.federated.clients import Clients, Held
from dither.learn.federated.factorizations import Stream
from dither.learn.federated.participation import Admission, Arrivals, Phases, Told
from dither.learn.federated.planning import Limited
from dither.learn.federated.preparing import Ready
from dither.learn.gaussian import gaussians
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch
from dither.learn.loop import Step
from dither.learn.rows import Batch
from dither.learn.sampler import Poisson
from dither.learn.schema import plain
from dither.learn.silence import silently
from dither.learn.state import Held as State
from dither.ledger.attempts import check_process
from dither.progress import Tell

__all__ = ["Rounds"]

NOTED = 20
"""At most about so many lines of history."""
Weights = dict[str, Tensor]
Places = NDArray[np.intp]


@dataclass
class Rounds:
    """A run under way."""

    ready: Ready
    clients: Clients
    tell: Tell | None = None
    epochs: list[Epoch] = field(default_factory=list)
    admission: Admission | None = field(init=False, default=None)
    stream: Stream | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        plan = self.ready.plan
        self.sampler = Poisson(plan.run.rate)
        self.arrivals: Arrivals | None = None
        if isinstance(plan, Limited):
            self.admission = Admission(plan.rule, len(self.clients))
            self.stream = plan.factorization.stream(plan.steps, self._size)
            self.arrivals = self._arrivals(plan)

    @property
    def _size(self) -> int:
        return sum(one.numel() for one in trained(self.ready.model).values())

    def _arrivals(self, plan: Limited) -> Arrivals:
        told = self.ready.settings.arrivals
        if told is None:
            return Phases.drawn(plan.rule.period(plan.steps), len(self.clients))
        assert isinstance(self.clients, Held)
        names = self.clients.names
        return Told(told, {name: place for place, name in enumerate(names)})

    def run(self) -> tuple[Epoch, ...]:
        plan = self.ready.plan
        every = math.ceil(plan.steps / NOTED)
        for number in range(1, plan.steps + 1):
            rate = self.ready.settings.server.lr
            now = Step(number, plan.steps, number, rate, plan.noises[number - 1])
            self.step(number, now.noise)
            if self.tell is not None:
                self.tell(number, plan.steps)
            asked = [bool(call(now)) for call in self.ready.settings.callbacks]
            if True in asked or number % every == 0 or number == plan.steps:
                self._note(now)
            if True in asked:
                break
        return tuple(self.epochs)

    def step(self, number: int, noise: float) -> None:
        """One round. A round without any client steps too, by noise alone."""
        ready = self.ready
        total = Sum(ready.radius, ready.weight)
        weights = {name: one.detach() for name, one in trained(ready.model).items()}
        drawn = self.chosen(number)
        with secretly(_device(weights)), silently():
            for updates in self._updates(weights, drawn):
                total.add(updates)
        mean = self._noisy(total, weights, noise)
        with torch.no_grad():
            ready.server.step(weights, mean)
        ready.radius.step()

    def chosen(self, number: int) -> Places:
        """The clients of a round, by their numbers."""
        if self.admission is None or self.arrivals is None:
            return self.sampler.draw(len(self.clients))
        with silently():
            arrived = self.arrivals(number)
        return self.admission.admit(number, arrived)

    def _updates(self, weights: Weights, drawn: Places) -> Iterator[Updates]:
        if self.ready.descent is None:
            yield from self._called(weights, drawn)
            return
        held = State.of(self.ready.model)
        size, rows = self.ready.block, self.ready.plan.rows
        for start in range(0, len(drawn), size):
            some = drawn[start : start + size]
            block = self.clients.take(some, size).to(_device(weights))
            if self.ready.probed is not None:
                block = self.ready.probed.fitting(block)
            changes = self._changes(weights, block, held)
            sizes = block.there.view(-1, rows).sum(1)
            yield Updates(changes, sizes, sizes > 0)

    def _changes(self, weights: Weights, block: Batch, held: State) -> Weights:
        """Of all clients together; one by one, if some client makes the model fail."""
        descent = self.ready.descent
        assert descent is not None
        try:
            return descent.changes(weights, block)
        except torch.OutOfMemoryError:
            raise
        except Exception:
            held.restore()
            return replace(descent, together=False).changes(weights, block)
        finally:
            held.restore()

    def _called(self, weights: Weights, drawn: Places) -> Iterator[Updates]:
        """What a function returns for each client, one after the other."""
        assert isinstance(self.clients, Held)
        call = self.ready.settings.client
        for client in drawn.tolist():
            try:
                own = {name: one.clone() for name, one in weights.items()}
                found = call(own, self.clients.held(client))
                yield _sent(found, weights)
            except Exception:  # a client that fails has sent nothing
                continue

    def _noisy(self, total: Sum, weights: Weights, noise: float) -> Weights:
        """The mean update with noise, by a public denominator."""
        ready = self.ready
        check_process(ready.process)
        plan = ready.plan
        deviation = ready.deviation(noise)
        if isinstance(plan, Limited):
            assert self.stream is not None
            deviation *= plan.moved
            drawn = self.stream.next()
        else:
            drawn = gaussians(self._size).to(torch.float64)
        over = plan.batch * ready.weight.mean
        found, start = {}, 0
        for name, one in weights.items():
            own = drawn[start : start + one.numel()].view_as(one).to(one.device)
            exact = total.totals.get(name, torch.zeros_like(one, dtype=torch.float64))
            # The noise has the bits of a float32: a sum with more shows through it.
            noisy = (exact + own * deviation).to(torch.float32)
            found[name] = (noisy / over).to(one.dtype)
            start += one.numel()
        return found

    def _note(self, now: Step) -> None:
        tested = self.ready.tested
        loss, accuracy = None, None
        if tested is not None:
            loss, accuracy = tested.measure(self.ready.model)
        found = Epoch(now.epoch, now.step, now.lr, now.noise, loss, accuracy)
        self.epochs.append(found)


def _device(weights: Weights) -> torch.device:
    return next(iter(weights.values())).device


def _sent(found: Any, weights: Weights) -> Updates:
    """What a client sent: an update, or an update and its size. Whatever is not as it
    should be raises here, and is caught by whoever asked.
    """
    change, size = found if isinstance(found, tuple) else (found, 1.0)
    if not isinstance(change, Mapping) or set(change) != set(weights):
        raise ValueError
    changes = {}
    for name, one in weights.items():
        sent = plain(change[name])
        if sent.shape != one.shape or not torch.is_floating_point(sent):
            raise ValueError
        # A copy as plain numbers: a tensor of another kind may fail later.
        held = torch.from_numpy(sent.numpy().copy())
        changes[name] = held.to(one.device)[None]
    device = _device(weights)
    sizes = torch.tensor([float(size)], dtype=torch.float64, device=device)
    return Updates(changes, sizes, torch.ones(1, dtype=torch.bool, device=device))
