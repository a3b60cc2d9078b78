"""The loop of all runs: what callers are told, and what happens if the machine fails."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dither.errors import ArgumentError
from dither.learn.history import Epoch
from dither.learn.preparing import prepared
from dither.learn.rows import Places
from dither.learn.run.course import Course, Settled, Step
from dither.learn.run.rehearsal import made_up_units, take_two_steps, undone
from dither.learn.sampler import placed
from dither.learn.settings import Settings
from tests.chance import chance
from tests.learn.data import model, owned, records

DRAWS = 20_000
ERROR = (DRAWS / 12 * 11 / 12) ** 0.5


def settled(**more: Any) -> Settled:
    return prepared(model(), records(), Settings(**owned(**more)))


class Counting(Course):
    """A run whose steps note which units they were given."""

    def __init__(self, ready: Settled, size: int = 4) -> None:
        self.ready, self.tell = ready, None
        self.epochs: list[Epoch] = []
        self.taken: list[list[int]] = []
        self.at_once = size

    @property
    def rate(self) -> float:
        return 0.1

    @property
    def size(self) -> int:
        return self.at_once

    def advance(self, now: Step) -> None:
        self.take(np.arange(now.step), now.noise)

    def take(self, drawn: Places, noise: float) -> None:  # noqa: ARG002
        self.taken.append(drawn.tolist())

    def shrink(self) -> None:
        self.at_once //= 2


def test_steps_run_in_order_and_epochs_are_noted() -> None:
    course = Counting(settled())
    assert not course.run(1, 8)
    assert course.taken == [list(range(step)) for step in range(1, 9)]
    assert [(one.epoch, one.step) for one in course.epochs] == [(1, 4), (2, 8)]


def test_every_callback_is_called_and_any_of_them_stops() -> None:
    seen: list[Step] = []
    calls = [lambda now: now.step == 2, seen.append]
    course = Counting(settled(callbacks=calls))
    assert course.run(1, 8)
    assert [one.step for one in seen] == [1, 2]
    assert course.done == course.epochs[-1].step == 2


def test_parts_become_smaller_when_the_machine_fails() -> None:
    """And each unit counts once, also where norms are counted."""
    course = Counting(settled())

    def compute(some: Places, last: bool) -> tuple[list[int], bool]:
        course.ready.radius.below += len(some)
        if len(some) > 2:
            raise MemoryError
        return some.tolist(), last

    found = list(course.parts(np.arange(7), compute))
    assert [last for _, last in found] == [False] * 3 + [True]
    units = [unit for some, _ in found for unit in some if unit >= 0]
    assert sorted(units) == list(range(7))
    assert course.ready.radius.below == 8  # with the place of nobody


@chance(2e-9)
def test_places_of_units_have_one_law_whoever_else_is_there() -> None:
    """Each of the 4·3 pairs of places is equally likely for the first two of two and of
    three units: 20,000 draws, each count within 6.5 standard errors.
    """
    for count in (2, 3):
        seen = Counter(
            tuple(np.flatnonzero(found == unit)[0] for unit in (0, 1))
            for found in (placed(np.arange(count), 4) for _ in range(DRAWS))
        )
        assert len(seen) == 12
        assert max(abs(one - DRAWS / 12) for one in seen.values()) <= 6.5 * ERROR


def test_other_errors_are_not_of_the_machine() -> None:
    def compute(some: Places, last: bool) -> None:
        raise ValueError(some, last)

    course = Counting(settled())
    with pytest.raises(ValueError, match="array"):
        list(course.parts(np.arange(3), compute))
    assert course.size == 4


@pytest.mark.parametrize("error", [None, MemoryError(), ArgumentError("a", "is b")])
def test_a_rehearsal_changes_nothing(error: Exception | None) -> None:
    ready = settled()
    weights = {name: one.clone() for name, one in ready.model.state_dict().items()}
    state = torch.get_rng_state()

    def compute() -> int:
        torch.rand(3)
        ready.radius.below, ready.radius.clipping = (
            3.0,
            replace(ready.radius.clipping, radius=9.0),
        )
        with torch.no_grad():
            for one in ready.model.parameters():
                one.add_(1.0)
        if error is not None:
            raise error
        return 1

    assert undone(ready, compute) == ((1, None) if error is None else (None, error))
    assert (ready.radius.below, ready.radius.clipping.radius) == (0.0, 1.0)
    assert torch.equal(torch.get_rng_state(), state)
    held = ready.model.state_dict()
    assert all(torch.equal(one, weights[name]) for name, one in held.items())


def test_a_rehearsal_has_steps_of_one_part_and_of_two() -> None:
    course = Counting(settled())
    course.strict = True
    take_two_steps(course)
    assert list(map(len, course.taken)) == [1, 5]
    assert not course.strict
    assert len(made_up_units(course.ready, 5)) == 5
