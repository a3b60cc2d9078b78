"""χ² tests of private labels: are two labels independent, and do labels have expected
shares?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.privacy.numbers import fraction
from dither.question import Asking
from dither.release import Source
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.columns import Reals, labels, names, together
from dither.science.trials.comparisons import TableTest
from dither.science.trials.squares import (
    Axis,
    GoodnessOfFit,
    Independence,
    Squares,
    pvalue,
)
from dither.science.trials.tables import Counted, Design

__all__ = ["ChiSquare", "chi2_contingency", "chisquare"]

NOWHERE = "people without a declared label on each side are in no cell"
LAST = "a missing outcome, or one that is not declared, counts in the last column"
MOST_LEVELS = 500
BOTH = 'pass levels=(("drug", "placebo"), ("better", "same", "worse"))'


@dataclass(frozen=True, eq=False, repr=False)
class ChiSquare(TableTest):
    """A χ² test of a noisy table: `statistic`, `pvalue`, `dof`, and the noisy `table`.

    The statistic divides each deviation by the variance that sampling and noise give it
    together, so it is Pearson's where there is no noise. The p-value is the share of
    simulated noisy tables, under the null that fits, with a statistic as large.
    """

    dof: int = 0

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> NoReturn:  # noqa: ARG002
        raise ArgumentError(
            "interval",
            "a χ² statistic does not have an interval; read the intervals of the counts "
            "from .table",
        )


@by_name("chi2_contingency(arm, outcome, levels=(arms, outcomes), epsilon=1)", Asking)
def chi2_contingency(
    rows: Any,
    columns: Any,
    *,
    levels: Sequence[Sequence[Any]],
    sizes: Any = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> ChiSquare:
    """Test whether two labels of each person are independent, as
    `scipy.stats.chi2_contingency(correction=False)` does, on private labels.

    `levels` declares the labels of rows and of columns. Who has none of them is in no
    cell. With `sizes`, the public numbers of people in each row, row membership is
    public, and a missing or undeclared label of a column counts as the last one.

    Guarantee: the stated cost, for one person's labels (with sizes: for the label of
    their column).
    Why: a replaced person leaves one cell and enters another: the counts move by 2 in
    L1 and √2 in L2; one who comes or goes moves one cell by 1. With sizes and two
    columns, one count tells all of a row, and moves by 1. All else is post-processing
    (docs/proofs/trials.md).
    Assumes: one record for each person.
    """
    if not isinstance(levels, Sequence) or len(levels) != 2:
        raise ArgumentError(
            "levels", f"must be the labels of the rows and those of the columns; {BOTH}"
        )
    count = len(names("levels", levels[0]))
    public = None if sizes is None else checks.sizes(sizes, count)
    design = Design.of(levels[0], levels[1], public)
    down, across = (
        labels("rows", rows, levels[0]),
        labels("columns", columns, levels[1]),
    )
    together(down, across)
    question = question_of("χ²", cost, down, across)
    if public is not None:
        need_replace(question, "sizes", "leave sizes out")
    mechanism = design.mechanism(question)
    words = "levels" if public is None else "levels, and sizes of rows"
    nobody = NOWHERE if public is None else LAST
    notes = (note(words, provenance), nobody, *design.assumed(question))
    with question.paying(mechanism.guarantee) as paid:
        noisy = mechanism.release(design.counts(down.read(paid), across.read(paid)))
    counted = Counted(design, design.table(noisy), mechanism)
    squares = Independence(counted.law, counted.variance, public)
    dof = (design.shape[0] - 1) * (design.shape[1] - 1)
    found = _Found(counted, squares, paid.source, ("row", "column"), notes)
    return found.release(dof, "dependent")


@by_name("chisquare(label, levels=('a', 'b', 'c'), epsilon=1)", Asking)
def chisquare(
    labelled: Any,
    *,
    levels: Sequence[Any],
    expected: Sequence[float] | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> ChiSquare:
    """Test whether labels have the expected shares (even ones, where none are stated),
    as `scipy.stats.chisquare` does, on private labels.

    `levels` declares the labels; who has none of them does not count. `expected` are
    shares or counts: only their proportions matter.

    Guarantee: the stated cost, for one person's label.
    Why: a replaced person leaves one count and enters another: they move by 2 in L1 and
    √2 in L2; one who comes or goes moves one by 1.
    Assumes: one record for each person; the expected shares are public.
    """
    if not 2 <= len(names("levels", levels)) <= MOST_LEVELS:
        raise ArgumentError("levels", f"must be a list of 2 to {MOST_LEVELS:,} labels")
    design = Design(("all",), tuple(levels))
    shares = _shares(expected, len(design.columns))
    column = labels("labelled", labelled, levels)
    question = question_of("χ²", cost, column)
    mechanism = design.mechanism(question)
    with question.paying(mechanism.guarantee) as paid:
        codes = column.read(paid)
        noisy = mechanism.release(design.counts(np.zeros_like(codes), codes))
    counted = Counted(design, design.table(noisy), mechanism)
    squares = GoodnessOfFit(counted.law, counted.variance, Axis(shares))
    notes = (note("levels and expected shares", provenance), NOWHERE)
    found = _Found(counted, squares, paid.source, ("of", "label"), notes)
    return found.release(len(shares) - 1, "other shares")


def _shares(expected: Any, count: int) -> Reals:
    """Expected shares, all of them above 0."""
    if expected is None:
        return np.full(count, 1 / count)
    way_out = "pass one number above 0 for each level, such as (0.25, 0.5, 0.25)"
    listed = hasattr(expected, "__len__") and not isinstance(expected, str | bytes)
    if not listed or len(expected) != count:
        raise ArgumentError("expected", f"must be a list of {count} numbers; {way_out}")
    found = [fraction("expected", one, way_out) for one in expected]
    if min(found) <= 0:
        raise ArgumentError("expected", f"must be positive; {way_out}")
    return np.array([float(one / sum(found)) for one in found])


@dataclass(frozen=True)
class _Found:
    """A noisy table and the statistic to test it by."""

    counted: Counted
    squares: Squares
    source: Source
    named: tuple[str, str]
    notes: tuple[str, ...]

    def release(self, dof: int, alternative: str) -> ChiSquare:
        table = self.counted.fitted
        seen = float(self.squares.statistics(table))
        return ChiSquare(
            what="χ²",
            value=seen,
            sources=(self.source,),
            notes=self.notes,
            pvalue=pvalue(self.squares, table, seen),
            alternative=alternative,
            counted=self.counted,
            named=self.named,
            dof=dof,
        )
