"""The rounds of a federated run: choose clients, sum their clipped updates, add noise,
and step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dither.learn.draws import secretly
from dither.learn.federated.aggregation import Sum, Updates
from dither.learn.federated.clients import Clients, Held
from dither.learn.federated.descent import Descent
from dither.learn.federated.factorizations import Stream
from dither.learn.federated.participation import Admission, Arrivals, Phases, Told
from dither.learn.federated.planning import Limited
from dither.learn.federated.servers import Stepper
from dither.learn.federated.settings import Settings
from dither.learn.federated.weighing import Weighted
from dither.learn.gaussian import gaussians
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch
from dither.learn.made_up import made_up_part
from dither.learn.parts import cleared, failed_too, half, proved, tried
from dither.learn.rows import Batch, Places
from dither.learn.run.course import Course, Settled, Step
from dither.learn.sampler import Poisson
from dither.learn.schema import plain
from dither.learn.silence import silently
from dither.learn.state import Held as State
from dither.ledger import Receipt
from dither.ledger.attempts import check_process
from dither.progress import Tell

__all__ = ["Ready", "Rounds"]

NOTED = 20
"""Largest number of rows of history, approximately."""
Weights = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Ready(Settled):
    """A run by updates of clients."""

    settings: Settings
    weight: Weighted
    server: Stepper
    read: Callable[[Receipt | None], Clients]
    block: int
    descent: Descent | None = None

    @property
    def route(self) -> str:
        if self.descent is None:
            return "by a function, one at a time"
        if self.descent.operations is None:
            return "one at a time"
        return f"{self.block:,} at a time"

    def deviation(self, noise: float) -> float:
        """Of a round's noise, before it is correlated, where a client's contributions
        together move rounds as far as one of length 1 does.
        """
        return self.radius.deviation(noise) * self.weight.most


@dataclass
class Rounds(Course):
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

    @property
    def rate(self) -> float:
        return self.ready.settings.server.lr

    @property
    def size(self) -> int:
        return self.ready.block

    def noted(self, number: int) -> bool:
        steps = self.ready.plan.steps
        return number % math.ceil(steps / NOTED) == 0 or number == steps

    def advance(self, now: Step) -> None:
        self.step(now.step, now.noise)

    def step(self, number: int, noise: float) -> None:
        """One round with the clients that are chosen."""
        self.take(self.chosen(number), noise)

    def take(self, drawn: Places, noise: float) -> None:
        ready = self.ready
        total = Sum(ready.radius, ready.weight)
        weights = {name: one.detach() for name, one in trained(ready.model).items()}
        with secretly(ready.device), silently():
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
        yield from self.parts(drawn, partial(self._block, weights, held))

    def _block(self, weights: Weights, held: State, some: Places, _: bool) -> Updates:
        ready = self.ready
        block = self.clients.take(some, ready.block).to(ready.device)
        if ready.probed is not None:
            block = ready.probed.fitting(block)
        sizes = block.there.view(-1, ready.plan.rows).sum(1)
        return Updates(self._changes(weights, block, held), sizes, sizes > 0)

    def _changes(self, weights: Weights, block: Batch, held: State) -> Weights:
        """Of all clients together; one by one, if some client makes the model fail."""
        descent = self.ready.descent
        assert descent is not None

        def changes(rows: Batch, way: Descent = descent) -> Weights:
            try:
                return way.changes(weights, rows)
            finally:
                held.restore()

        outcome = tried(lambda: changes(block))
        if outcome.machine:
            outcome = proved(lambda: changes(block), lambda: changes(self._made_up()))
        if outcome.found is None:
            return changes(block, replace(descent, operations=None))
        return outcome.found

    def _made_up(self) -> Batch:
        ready = self.ready
        count = ready.block * ready.plan.rows
        part = made_up_part(ready.source.schema, count, ready.model)
        return part.to(ready.device)

    def shrink(self) -> None:
        if self.ready.block == 1:
            raise failed_too()
        self.ready = replace(self.ready, block=half(self.ready.block))
        cleared(self.ready.device)

    def _called(self, weights: Weights, drawn: Places) -> Iterator[Updates]:
        """The results of a function for each client, one after the other."""
        assert isinstance(self.clients, Held)
        call, clients = self.ready.settings.client, self.clients

        def copied() -> Weights:
            return {name: one.clone() for name, one in weights.items()}

        for client in drawn.tolist():

            def sent(client: int = client) -> Updates:
                return _sent(call(copied(), clients.held(client)), weights)

            outcome = tried(sent)
            if outcome.machine:
                # Nobody can make up what a client holds; memory for weights is known.
                outcome = proved(sent, copied)
            if outcome.found is not None:  # a client that fails has sent nothing
                yield outcome.found

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


def _sent(found: Any, weights: Weights) -> Updates:
    """What a client sent: an update, or an update and its size. Whatever is not as it
    should be raises here, and is caught by anyone who asked.
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
    device = next(iter(weights.values())).device
    sizes = torch.tensor([float(size)], dtype=torch.float64, device=device)
    return Updates(changes, sizes, torch.ones(1, dtype=torch.bool, device=device))
