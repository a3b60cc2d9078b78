"""Counts of one and two columns with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, root_up
from dither.privacy.numbers import float_up
from dither.question import Question

__all__ = ["Measured", "measure", "moved_by"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measured:
    """Tables of counts with noise of one variance."""

    tables: tuple[Integers, ...]
    variance: float


def moved_by(question: Question, rows: int, tables: int) -> tuple[float, float]:
    """How far one unit moves all the counts of several tables together, in L1 and L2.

    Guarantee: rows · tables and rows · √tables under add/remove; twice and √2 times
    that where a unit is replaced.
    Why: each row lies in one cell of each table, so a unit adds a vector of sum at most
    `rows` to each, which is no longer than that in L2 either, and that long if all rows
    share a cell; who is replaced takes away one such vector and adds another
    (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows in the table.
    """
    ways = 2 if question.replacing else 1
    return ways * rows * tables, float_up(root_up(ways * tables) * Fraction(rows))


def measure(mechanism: Additive, tables: Sequence[Integers]) -> Measured:
    """All tables with noise, released as one vector."""
    counts = np.concatenate([table.reshape(-1) for table in tables])
    noisy: Any = mechanism.release(counts)
    ends = np.cumsum([table.size for table in tables])[:-1]
    parts = np.split(noisy, ends)
    shaped = [p.reshape(t.shape) for p, t in zip(parts, tables, strict=True)]
    return Measured(tuple(shaped), noise_variance(mechanism))
