"""A run that is settled, and its steps, one after the other: what callers are told, what
is noted, and how a step is taken in smaller parts if the machine fails.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import torch
from torch import nn

from dither.learn.clipping import Adapting
from dither.learn.draws import secretly
from dither.learn.failures import unless_machine
from dither.learn.history import Epoch, Tested
from dither.learn.planning import Plan
from dither.learn.probe import Probed
from dither.learn.rows import Places
from dither.learn.run.settings import RunSettings
from dither.learn.sampler import placed
from dither.learn.silence import silently
from dither.learn.source import Source
from dither.progress import Tell

__all__ = ["Course", "Settled", "Step", "keep_memory", "read"]

T = TypeVar("T")
LARGE = 31 << 20
"""Bytes; pieces of 32 MiB and more glibc always takes from the system."""


@dataclass(frozen=True)
class Step:
    """The arguments of a callback: nothing that depends on private rows."""

    step: int
    steps: int
    epoch: int
    lr: float
    noise: float


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A run that can begin. The model is a copy of the caller's, which sees private
    rows; `fresh` is one that never does.
    """

    model: nn.Module
    fresh: nn.Module
    settings: RunSettings
    source: Source
    plan: Plan
    radius: Adapting
    probed: Probed | None
    tested: Tested | None
    device: torch.device
    process: int = field(default_factory=os.getpid)
    """A copy of this process, forked off by a callback or a dataset, runs nothing."""


class Course(ABC):
    """A run under way, over records that have been read. Those that inherit this say
    what a step does.
    """

    ready: Settled
    tell: Tell | None
    epochs: list[Epoch]
    done: int = 0
    strict: bool = False
    """Whether to refuse a unit that fails by itself; no private one is refused."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The rate of the next step."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of units that are computed together."""

    @abstractmethod
    def advance(self, now: Step) -> None:
        """Take a step over units that are drawn."""

    @abstractmethod
    def take(self, drawn: Places, noise: float) -> None:
        """A step over these units. If there are none, noise alone makes it."""

    @abstractmethod
    def shrink(self) -> None:
        """Compute fewer units together, in all later parts."""

    def noted(self, number: int) -> bool:
        """Whether the history has a line for this step."""
        return number % self.ready.plan.steps_per_epoch == 0

    def measured(self, epoch: Epoch) -> Epoch:
        """A line of the history with what is measured besides public data."""
        return epoch

    def run(self, first: int, last: int) -> bool:
        """Run steps, numbered from 1; whether a callback asked to stop."""
        plan = self.ready.plan
        for number in range(first, last + 1):
            epoch = math.ceil(number / plan.steps_per_epoch)
            noise = plan.noises[number - 1]
            now = Step(number, plan.steps, epoch, self.rate, noise)
            self.advance(now)
            self.done = number
            if self.tell is not None:
                self.tell(number, plan.steps)
            # Each is called, whatever another one says.
            asked = [bool(call(now)) for call in self.ready.settings.callbacks]
            if True in asked or self.noted(number):
                self._note(now)
            if True in asked:
                return True
        return False

    def parts(self, drawn: Places, compute: Callable[[Places, bool], T]) -> Iterator[T]:
        """The results for these units, part by part; `compute` is told whether a part is
        the last one. If the machine fails, it gets a smaller part.
        """
        radius, places = self.ready.radius, placed(drawn, self.size)
        while len(places):
            some, below = places[: self.size], radius.below
            last = len(some) == len(places)
            found = unless_machine(partial(compute, some, last))
            if found is None:
                radius.below = below
                self.shrink()
                continue
            places = places[len(some) :]
            yield found

    def _note(self, now: Step) -> None:
        found = Epoch(now.epoch, now.step, now.lr, now.noise)
        if self.ready.tested is not None:
            loss, accuracy = self.ready.tested.measure(self.ready.model)
            found = replace(found, loss=loss, accuracy=accuracy)
        self.epochs.append(self.measured(found))


def read(device: torch.device, records: Callable[[], T]) -> T:
    """Records, once they are paid for: what their code draws and warns of is hidden."""
    keep_memory()
    with secretly(device), silently():
        return records()


def keep_memory() -> None:
    """Keep memory that a step gives back for the next one: take a large piece, and give
    it back untouched.

    glibc learns from it to keep what is freed, up to twice as much. Else it returns a
    step's memory to the system and gets it back page by page, which was a quarter of
    the time of a private step. Other allocators are not moved by it.
    """
    torch.empty(LARGE, dtype=torch.uint8)
