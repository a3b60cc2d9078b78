"""How far the made-up rows are from the real ones, measured with noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.mechanisms.sums import root_up
from dither.privacy.numbers import float_up, fraction
from dither.question import Question
from dither.science.synth.marginals import Codes
from dither.science.synth.selecting import FINE, MOST

__all__ = [
    "SHARE",
    "Checked",
    "checked",
    "checker",
    "distances",
    "share_of_check",
    "tables_of",
]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Places = tuple[int, ...]

SHARE = Fraction(1, 20)
MOST_SHARE = Fraction(1, 2)
DIGITS = 10**12


@dataclass(frozen=True, eq=False)
class Checked:
    """Noisy distances of tables by one column and by two, in parts of a row: how far
    counts differ, all cells of a table together. Noise may make them negative. `slack`
    is how many rows rounding to such parts may hide.
    """

    places: tuple[Places, ...]
    distances: Integers
    slack: Reals
    mechanism: Additive

    @property
    def rows(self) -> Reals:
        """The distances in rows."""
        return self.distances / FINE

    def error(self, confidence: float) -> Reals:
        """The ± of each, in rows."""
        return self.mechanism.error(confidence, integer=True) / FINE + self.slack

    def mean(self, ways: int) -> float:
        """Their mean over all tables by so many columns, in rows."""
        return float(np.mean(self.rows[self._of(ways)]))

    def mean_error(self, ways: int, confidence: float) -> float:
        """The ± of that mean."""
        held = self._of(ways)
        count = int(np.sum(held))
        width = self.mechanism.law.copies(count).reach(confidence) / count / FINE
        return width + float(np.mean(self.slack[held]))

    def _of(self, ways: int) -> NDArray[np.bool_]:
        return np.array([len(one) == ways for one in self.places])


def share_of_check(check: Any) -> Fraction:
    """The share of the cost that measures the quality; 0 where that is not wanted."""
    way_out = "pass a share of the cost such as 0.05, or 0 for no check"
    share = SHARE if check is None else fraction("check", check, way_out)
    if not 0 <= share <= MOST_SHARE:
        raise ArgumentError("check", f"must lie between 0 and 0.5; {way_out}")
    # Few digits, so that this share and the rest are exact as decimal numbers.
    return Fraction(math.floor(share * DIGITS), DIGITS)


def tables_of(columns: Sequence[int]) -> tuple[Places, ...]:
    """All tables by one column and by two."""
    return (*((one,) for one in columns), *combinations(columns, 2))


def checker(question: Question, rows: int, tables: int) -> Additive:
    """The noise of that many distances.

    Guarantee: that of the question.
    Why: the distance in L1 of a table of counts from a fixed one moves by no more than
    the counts do in L1 (triangle inequality): by `rows` where a unit comes or goes, by
    twice that where it is replaced, and FINE times that in parts of a row. So all distances together move by that times
    `tables` in L1, and times its root in L2 (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows; the fixed tables are made from what was
    released before.
    """
    each = FINE * rows * (2 if question.replacing else 1)
    return question.additive(each * tables, float_up(root_up(tables) * each))


def distances(
    real: Codes, made: Codes, places: Sequence[Places], scale: float
) -> tuple[Integers, Reals]:
    """The distances in L1 of real counts from the made-up ones times `scale`, in whole
    parts of a row; and how many rows rounding to these may hide, which depends on the
    made-up ones alone.
    """
    found = [_distance(real, made, one, scale) for one in places]
    away, slack = zip(*found, strict=True)
    return np.array(away, np.int64), np.array(slack, np.float64)


def _distance(
    real: Codes, made: Codes, places: Places, scale: float
) -> tuple[int, float]:
    exact = np.minimum(_counts(made, places) * (scale * FINE), MOST)
    wanted = np.rint(exact)
    away = np.abs(_counts(real, places) * FINE - wanted.astype(np.int64)).sum()
    return int(away), float(np.abs(exact - wanted).sum()) / FINE


def _counts(codes: Codes, places: Places) -> Integers:
    return codes.one(places[0]) if len(places) == 1 else codes.two(*places)


def checked(
    mechanism: Additive,
    real: Codes,
    made: Codes,
    places: Sequence[Places],
    scale: float,
) -> Checked:
    """All distances with noise, released as one vector."""
    exact, slack = distances(real, made, places, scale)
    noisy: Any = mechanism.release(exact)
    return Checked(tuple(places), noisy, slack, mechanism)
