"""Which pairs of columns a model keeps: the edges of a spanning tree, chosen one by one
with noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Exponential, PermuteAndFlip
from dither.question import Question
from dither.science.synth.forest import Edge, Forest
from dither.science.synth.marginals import Codes

__all__ = ["FINE", "Chooser", "Expected", "chosen", "score", "scored", "shifted_by"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Chooser = Exponential | PermuteAndFlip

FINE = 256
"""Scores are whole numbers of such parts of a row, so that sums are exact and one row
moves them by no more than it should.
"""
MARGINS, PAIRS, CAP = 2.0, 0.5, 0.5
"""Found best on average over seven kinds of tables (docs/proofs/synth.md); the promise
does not depend on them.
"""
MOST = 1 << 48
"""No expected count is larger, in parts of a row. They sum up to no more than that
either, so that scores fit 64 bits.
"""


def shifted_by(question: Question, rows: int) -> int:
    """How far one unit moves any score.

    Guarantee: rows · FINE under add/remove, twice that where a unit is replaced.
    Why: a score is the distance in L1 of a table of counts from a fixed one, less a
    public number; it moves by no more than the counts do (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows; expected counts are public or released.
    """
    return (2 if question.replacing else 1) * rows * FINE


def score(counts: Integers, expected: Reals, penalty: float = 0.0) -> int:
    """How far counts are from the expected ones, in parts of a row, less a penalty."""
    held = np.clip(np.rint(expected * FINE), 0, MOST).astype(np.int64)
    away = int(np.abs(counts * FINE - held).sum())
    return away - int(min(penalty * FINE, MOST))


@dataclass(frozen=True, eq=False)
class Expected:
    """What is known of a table once its columns were measured: the expected counts of
    each column's codes, and how far noise moves one count on average, of columns and of
    pairs.
    """

    columns: Sequence[Reals]
    total: float
    ones: float
    twos: float

    def pair(self, first: int, second: int) -> Reals:
        """The expected counts of two columns that have nothing to do with each other."""
        return np.outer(self.columns[first] / self.total, self.columns[second])

    def penalty(self, first: int, second: int, expected: Reals) -> float:
        """What a pair would score, and cost in error, if there were nothing to find:
        the error of both columns, and that of the pair once it is measured. Fits that
        shrink noise keep the latter below a part of the count.
        """
        margins = [self.columns[first], self.columns[second]]
        off = sum(float(np.minimum(one, self.ones).sum()) for one in margins)
        pair = float(np.minimum(expected * CAP, self.twos).sum())
        return MARGINS * off + PAIRS * pair


def scored(codes: Codes, edges: Sequence[Edge], known: Expected) -> dict[Edge, int]:
    """The scores of pairs, which tell how much a model gains by each."""
    found = {}
    for i, j in edges:
        expected = known.pair(i, j)
        penalty = known.penalty(i, j, expected)
        found[i, j] = score(codes.two(i, j), expected, penalty)
    return found


def chosen(
    forest: Forest, among: tuple[int, ...], scores: Mapping[Edge, int], by: Chooser
) -> Forest:
    """The forest grown until the columns are connected, each edge by one choice among
    all that close no circle.
    """
    while candidates := forest.candidates(among):
        values = np.array([scores[edge] for edge in candidates], np.int64)
        forest = forest.joined(candidates[by.release(values)])
    return forest
