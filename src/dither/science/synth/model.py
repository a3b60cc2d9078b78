"""MST: a model of a table from noisy counts of its columns and of the pairs along a
spanning tree (McKenna, Miklau & Sheldon 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.question import Question
from dither.science.synth.fitting import Fit, fitted, simplex, total_of
from dither.science.synth.forest import Edge, Forest
from dither.science.synth.marginals import Codes
from dither.science.synth.measuring import Measured, measure
from dither.science.synth.planning import Plan, plan
from dither.science.synth.sampling import Rows
from dither.science.synth.selecting import Expected, chosen, scored

__all__ = ["Model", "Plan", "model", "plan", "run"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

MOST_VALUES = 1 << 28
"""In a synthetic table: rows times columns."""


@dataclass(frozen=True, eq=False)
class Model:
    """What was measured of a table, and shares of all codes that fit it.

    `ones` has the noisy counts of the columns `plan.measured`, and `twos` those of the
    pairs `forest.edges`, both in that order. `total` estimates the number of rows from
    them.
    """

    plan: Plan
    ones: Measured
    forest: Forest
    twos: Measured
    total: float
    fit: Fit

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.forest.edges

    @property
    def count(self) -> int:
        """How many rows the table seems to have, and a synthetic one gets."""
        return min(round(self.total), most_rows(self.plan.sizes))

    def marginal(self, first: int, second: int | None = None) -> Reals:
        """Shares of the codes of one column, or of pairs of codes of two, by the way
        between them.
        """
        if second is None:
            return self.fit.ones[first]
        if first == second:
            return np.diag(self.fit.ones[first])
        way = self.forest.path(first, second)
        if way is None:
            return np.outer(self.fit.ones[first], self.fit.ones[second])
        found = self._pair(way[0], way[1])
        for here, there in pairwise(way[1:]):
            found = found @ self._given(here, there)
        return found

    def sample(self, n: int | None = None) -> NDArray[np.int32]:
        """Rows of codes, as many as asked for or as the table seems to have."""
        sizes = self.plan.sizes
        rows = self.count if n is None else checked_rows(n, sizes)
        with np.errstate(all="ignore"):
            return self._drawn(Rows(rows, len(sizes)))

    def _drawn(self, found: Rows) -> NDArray[np.int32]:
        for column, parent in self.forest.walk():
            if parent is None:
                found.draw(column, None, self.fit.ones[column][None, :])
            else:
                found.draw(column, parent, self._pair(parent, column))
        return found.shuffled()

    def _pair(self, first: int, second: int) -> Reals:
        twos = self.fit.twos
        return twos[first, second] if first < second else twos[second, first].T

    def _given(self, first: int, second: int) -> Reals:
        """The shares of the second column's codes given those of the first."""
        pair, ones = self._pair(first, second), self.fit.ones[first][:, None]
        return np.divide(pair, ones, out=np.zeros_like(pair), where=ones > 0)


def model(
    codes: NDArray[Any],
    sizes: Sequence[int],
    question: Question,
    pairs: Sequence[tuple[int, int]] = (),
    rows: int = 1,
) -> Model:
    """The model of a table of codes [rows, columns], charged before the codes are
    read.
    """
    planned = plan(sizes, pairs, question, rows)
    with question.paying(planned.guarantee):
        return run(planned, codes)


def run(planned: Plan, codes: NDArray[Any]) -> Model:
    """Measure a table as planned, and fit a model. The charge is the caller's.

    Guarantee: `planned.guarantee`.
    Why: noisy counts of all columns, choices of edges and noisy counts of these, each
    step by its mechanism and given the steps before; all else is post-processing
    (docs/proofs/synth.md).
    Assumes: no unit has more than `planned.rows` rows.
    """
    # Noise that underflows must not decide whether a call succeeds.
    with np.errstate(all="ignore"):
        return _run(planned, Codes.of(codes, planned.sizes))


def _run(planned: Plan, held: Codes) -> Model:
    ones = measure(planned.ones, [held.one(i) for i in planned.measured])
    total = total_of(ones)
    forest = _grown(planned, held, ones, total)
    twos = Measured((), 1.0)
    if planned.twos is not None:
        twos = measure(planned.twos, [held.two(*edge) for edge in forest.edges])
    return Model(planned, ones, forest, twos, total, _fit(planned, ones, forest, twos))


def _grown(planned: Plan, held: Codes, ones: Measured, total: float) -> Forest:
    if planned.chooser is None or planned.twos is None:
        return planned.forest
    columns = [np.array([total])] * len(planned.sizes)
    for column, table in zip(planned.measured, ones.tables, strict=True):
        columns[column] = simplex(table, total)
    widths = (_width(one) for one in (planned.ones, planned.twos))
    edges = planned.forest.candidates(planned.measured)
    scores = scored(held, edges, Expected(columns, total, *widths))
    return chosen(planned.forest, planned.measured, scores, planned.chooser)


def _width(mechanism: Additive) -> float:
    """How far noise moves one count on average."""
    return math.sqrt(2 / math.pi * noise_variance(mechanism))


def _fit(planned: Plan, ones: Measured, forest: Forest, twos: Measured) -> Fit:
    """The fit of the measured columns, and the rest, which have one code each."""
    place = {column: at for at, column in enumerate(planned.measured)}
    edges = [(place[i], place[j]) for i, j in forest.edges]
    found = fitted(ones, edges, twos, total_of(ones))
    shares = [np.ones(1)] * len(planned.sizes)
    for column, at in place.items():
        shares[column] = found.ones[at]
    twos_of = zip(forest.edges, edges, strict=True)
    return Fit(tuple(shares), {edge: found.twos[at] for edge, at in twos_of})


def most_rows(sizes: Sequence[int]) -> int:
    return MOST_VALUES // len(sizes)


def checked_rows(n: Any, sizes: Sequence[int]) -> int:
    """A declared number of rows, if memory can hold them."""
    most = most_rows(sizes)
    fine = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not fine or not 0 <= n <= most:
        raise ArgumentError(
            "n", f"must be a whole number of rows from 0 to {most:,}, such as 10_000"
        )
    return int(n)
