"""A rehearsal before the charge: two whole steps with made-up rows, after which everything
is as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dither.learn.draws import Draws
from dither.learn.failures import attempted
from dither.learn.made_up import made_up_part
from dither.learn.rows import Tensors, Units
from dither.learn.run.course import Course, Settled
from dither.learn.state import Held

__all__ = ["made_up_units", "take_two_steps", "undone"]

T = TypeVar("T")
STEPS = 2
"""Optimizers allocate their state in the first step."""


def undone(
    ready: Settled, compute: Callable[[], T]
) -> tuple[T | None, BaseException | None]:
    """A result or an error; the model, the radius and all draws are what they were."""
    held, draws = Held.of(ready.model), Draws.now(ready.device)
    radius = vars(ready.radius).copy()
    try:
        return attempted(compute)
    finally:
        held.restore()
        draws.restore()
        vars(ready.radius).update(radius)


def made_up_units(ready: Settled, count: int) -> Units:
    """Units with as many made-up rows as count."""
    rows = ready.plan.rows
    part = made_up_part(ready.source.schema, count * rows, ready.model)
    held = Tensors.of(part.inputs, part.targets)
    return Units(held, np.arange(count + 1) * rows, np.arange(count * rows), rows)


def take_two_steps(course: Course) -> None:
    """Steps over made-up units for one part, and for more than one; the parts may become
    smaller on the way.
    """
    ready, counts = course.ready, (1, course.size + 1)
    for noise, count in zip(ready.plan.noises[:STEPS], counts, strict=False):
        course.take(np.arange(count), noise)
        course.strict = (
            False  # noise has moved the weights, and may have moved them far
        )
    if ready.tested is not None:
        ready.tested.measure(ready.model)
