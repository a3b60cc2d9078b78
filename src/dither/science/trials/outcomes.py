"""Outcomes of yes and no: one declared outcome is a success, and all else is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.question import Paid
from dither.science.trials.columns import (
    Codes,
    Given,
    Integers,
    Seen,
    given,
    label,
    labels,
)
from dither.text import clean

__all__ = ["successes", "told"]


@dataclass(frozen=True)
class Successes(Seen):
    """Who has the number that counts: 0, the first level, and 1 for everybody else."""

    column: Given
    success: float

    def read(self, paid: Paid) -> Integers:
        return np.asarray(self.column.read(paid) != self.success, np.int64)


@dataclass(frozen=True)
class Named(Seen):
    """The same for an outcome that is a word."""

    column: Codes

    def read(self, paid: Paid) -> Integers:
        return -self.column.read(paid)


def told(success: Any) -> str:
    """What was counted, for the notes of a release."""
    return (
        f"a success is {clean(str(success))}; every other outcome, also a missing one, is "
        "a failure"
    )


def successes(outcomes: Any, success: Any) -> Codes:
    """A column of outcomes as levels: 0 for a success, 1 for anything else."""
    if label(success) is None:
        raise ArgumentError("success", 'must be one outcome, such as 1 or "yes"')
    if isinstance(success, bool | int | float | np.number | np.bool_):
        return Successes(given("outcomes", outcomes), float(success))
    return Named(labels("outcomes", outcomes, (success,)))
