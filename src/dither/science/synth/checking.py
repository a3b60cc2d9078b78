"""How far the made-up rows are from the real ones, measured with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.mechanisms.sums import reach, root_up
from dither.privacy.numbers import float_up, fraction
from dither.question import Question
from dither.science.synth.marginals import Codes

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
Places = tuple[int, ...]

SHARE = Fraction(1, 20)
MOST_SHARE = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class Checked:
    """Noisy distances of tables by one column and by two, in rows: how many counts
    differ, all cells of a table together. Noise may make them negative.
    """

    places: tuple[Places, ...]
    distances: Integers
    mechanism: Additive

    def mean(self, ways: int) -> float:
        """Their mean over all tables by so many columns."""
        return float(np.mean(self.distances[self._of(ways)]))

    def mean_error(self, ways: int, confidence: float) -> float:
        """The ± of that mean."""
        count = int(np.sum(self._of(ways)))
        return reach(self.mechanism, [1 / count] * count, confidence)

    def _of(self, ways: int) -> NDArray[np.bool_]:
        return np.array([len(one) == ways for one in self.places])


def share_of_check(check: Any) -> Fraction:
    """The share of the cost that measures the quality; 0 where that is not wanted."""
    way_out = "pass a share of the cost such as 0.05, or 0 for no check"
    share = SHARE if check is None else fraction("check", check, way_out)
    if not 0 <= share <= MOST_SHARE:
        raise ArgumentError("check", f"must lie between 0 and 0.5; {way_out}")
    return share


def tables_of(columns: Sequence[int]) -> tuple[Places, ...]:
    """All tables by one column and by two."""
    return (*((one,) for one in columns), *combinations(columns, 2))


def checker(question: Question, rows: int, tables: int) -> Additive:
    """The noise of that many distances.

    Guarantee: that of the question.
    Why: the distance in L1 of a table of counts from a fixed one moves by no more than
    the counts do in L1 (triangle inequality): by `rows` where a unit comes or goes, by
    twice that where it is replaced. So all distances together move by that times
    `tables` in L1, and times its root in L2 (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows; the fixed tables are made from what was
    released before.
    """
    each = rows * (2 if question.replacing else 1)
    return question.additive(each * tables, float_up(root_up(tables) * each))


def distances(
    real: Codes, made: Codes, places: Sequence[Places], scale: float
) -> Integers:
    """The distances in L1 of real counts from the made-up ones times `scale`, in whole
    rows.
    """
    found = [_distance(real, made, one, scale) for one in places]
    return np.array(found, np.int64)


def _distance(real: Codes, made: Codes, places: Places, scale: float) -> int:
    wanted = np.rint(_counts(made, places) * scale).astype(np.int64)
    return int(np.abs(_counts(real, places) - wanted).sum())


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
    noisy: Any = mechanism.release(distances(real, made, places, scale))
    return Checked(tuple(places), noisy, mechanism)
