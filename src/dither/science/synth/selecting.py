"""Which pairs of columns a model keeps: the edges of a spanning tree, chosen one by one
with noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Exponential, PermuteAndFlip
from dither.question import Question
from dither.science.synth.forest import Edge, Forest
from dither.science.synth.marginals import Codes

__all__ = ["FINE", "Chooser", "chosen", "score", "scored", "shifted_by"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Chooser = Exponential | PermuteAndFlip

FINE = 256
"""Scores are whole numbers of such parts of a row, so that sums are exact and one row
moves them by no more than it should.
"""
MOST = 1 << 44
"""No expected count is larger, and none of these sums leaves 64 bits."""


def shifted_by(question: Question, rows: int) -> int:
    """How far one unit moves any score.

    Guarantee: rows · FINE under add/remove, twice that where a unit is replaced.
    Why: a score is the distance in L1 of a table of counts from a fixed one, less a
    public number; it moves by no more than the counts do (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows; expected counts are public or released.
    """
    return (2 if question.replacing else 1) * rows * FINE


def score(counts: Integers, expected: Reals, penalty: float = 0.0) -> int:
    """How far counts are from the expected ones, in parts of a row, less what noise
    would add if they were measured.
    """
    held = np.clip(np.rint(expected * FINE), -MOST, MOST).astype(np.int64)
    away = int(np.abs(counts * FINE - held).sum())
    return away - int(min(penalty * FINE, MOST))


def scored(
    codes: Codes,
    edges: Sequence[Edge],
    expected: Sequence[Reals],
    penalties: Mapping[Edge, float],
) -> dict[Edge, int]:
    """The scores of pairs, given the expected shares of the first column's codes and
    the expected counts of the second one's.
    """
    found = {}
    for i, j in edges:
        total = max(float(expected[i].sum()), 1e-300)
        product = np.outer(expected[i] / total, expected[j])
        found[i, j] = score(codes.two(i, j), product, penalties.get((i, j), 0.0))
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
