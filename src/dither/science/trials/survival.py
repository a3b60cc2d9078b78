"""Survival curves by arm, from noisy counts of deaths and censored people in public
time bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError, UnitMismatch
from dither.mechanisms import Additive
from dither.question import Asking, Paid, Question
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import PUBLIC_ARMS, need_replace, question_of
from dither.science.trials.bands import Bands, Pointwise
from dither.science.trials.cells import MOST_CELLS, counted, edges_of, placed
from dither.science.trials.checks import chosen
from dither.science.trials.columns import (
    Given,
    Integers,
    Labels,
    Raw,
    given,
    label,
    labels,
    names,
    together,
)
from dither.science.trials.curve import CUT, ENDS, EVENLY, WITHIN, LifeTable
from dither.science.trials.curves import SurvivalRelease
from dither.science.trials.null import Law

__all__ = ["kaplan_meier"]

EVERYONE = "everyone"
WHEN = {
    WITHIN: "they hold wherever within a bin people are censored",
    EVENLY: "deaths and censoring are declared to have even rates within each bin",
    ENDS: "people are declared to be censored at the ends of bins",
}
MOST_ARMS = 100


@by_name("kaplan_meier(time, event, edges=(0, 4, 8), groups=arm, epsilon=1)", Asking)
def kaplan_meier(
    time: Any,
    event: Any,
    *,
    edges: Any,
    groups: Any = None,
    arms: Any = None,
    sizes: Any = None,
    entry: Any = None,
    censoring: str = WITHIN,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> SurvivalRelease:
    """The survival curve of each arm, by Kaplan and Meier, at public times.

    `time` is how long each person was followed and `event` whether they died then (1)
    or were censored (0). With `entry`, `time` is on the calendar and each person is
    followed from their own entry on. `edges` are the ends of time bins, declared from
    the protocol and not read off the data. A death counts at the end of its bin, and
    censoring in a bin after its deaths. What is said about the population holds
    wherever `within` bins people are censored. Declare `censoring="evenly"` where that
    goes on all the time, or "ends" where it happens at the ends of bins, as at visits:
    intervals are shorter then, and the test has more power.

    `arms` names the arms, and `groups` is that of each person. Where no arms are named,
    they are read off `groups`, and who is in which arm is public. `sizes` are the
    public numbers of people in them: an arm then has exactly so many, and less noise.

    Who counts for nobody: a missing time, one before the first edge (censoring before
    entry too), an event that is neither 0 nor 1, an arm that was not named. What
    happens after the last edge is not seen.

    Guarantee: the stated cost, for one person's time and event, and their arm too where
    arms are named and sizes are not.
    Why: each person is in one cell of arm, bin, and died or censored, so coming or
    going moves the counts by 1, and being replaced by 2 (√2 in L2); curves, bands and
    the log-rank test are computed from the noisy counts (docs/proofs/trials.md).
    Assumes: one record for each person. Where sizes are given or no arms are named, who
    is in which arm is public: a person who is replaced stays in it.
    """
    ends, when = edges_of(edges), chosen("censoring", censoring, (*WHEN,))
    columns = Columns.of(time, event, groups, arms, entry)
    public = None if sizes is None else checks.sizes(sizes, len(columns.arms))
    declared = note(columns.declared(public is not None), provenance)
    question = question_of("survival curves", cost, *columns.all)
    if public is not None:
        need_replace(question, "sizes", "leave sizes out")
    if columns.read and not question.replacing:
        raise UnitMismatch(
            "arms",
            f"must be declared, because the account is for {question.unit} and an added "
            'person may have a new arm; pass arms=("treatment", "control")',
        )
    plan = Plan.of(question, columns, ends, public, when)
    with question.paying(plan.mechanism.guarantee) as paid:
        noisy = plan.mechanism.release(plan.vector(paid))
    return plan.release(noisy, paid, declared)


@dataclass(frozen=True)
class Columns:
    """The private columns of a question about survival, and the public arms."""

    time: Given
    event: Given
    entry: Given | None
    groups: Labels | None
    arms: tuple[Any, ...]
    read: bool = False
    """Whether the arms were read off the groups."""

    @classmethod
    def of(cls, time: Any, event: Any, groups: Any, arms: Any, entry: Any) -> Columns:
        if groups is None and arms is not None:
            raise ArgumentError("arms", "are the labels in groups; pass groups= too")
        found = None if groups is None else _groups(groups, arms)
        columns = cls(
            given("time", time),
            given("event", event),
            None if entry is None else given("entry", entry),
            found,
            (EVERYONE,) if found is None else tuple(found.among),
            found is not None and arms is None,
        )
        together(*columns.all, *(() if found is None else (found,)))
        return columns

    @property
    def all(self) -> tuple[Given, ...]:
        found = [self.time, self.event, self.entry]
        if self.groups is not None:
            found.append(self.groups.column)
        return tuple(one for one in found if one is not None)

    def declared(self, sizes: bool) -> str:
        arms = " and arms" if self.groups is not None else ""
        return f"time bins{arms}" + (" with their sizes" if sizes else "")


def _groups(groups: Any, arms: Any) -> Labels:
    """The arms of a column; if none are named, all that a public column in memory
    holds, in the order of their labels.
    """
    if arms is None:
        column = given("groups", groups)
        if not isinstance(column, Raw):
            raise ArgumentError(
                "arms",
                "must be declared for a column of a dataset; pass "
                'arms=("treatment", "control")',
            )
        arms = _read_labels(column)
    if len(names("arms", arms)) > MOST_ARMS:
        raise ArgumentError("arms", f"must be at most {MOST_ARMS} labels; pass fewer")
    return labels("arms", groups, arms)


def _read_labels(column: Raw) -> list[str]:
    from dither.science.trials.columns import listed

    found = {label(one) for one in listed(column.column)}
    return sorted(one for one in found if one is not None)


@dataclass(frozen=True)
class Plan:
    """What will be noised, and with what, from public facts only."""

    columns: Columns
    edges: tuple[float, ...]
    sizes: tuple[int, ...] | None
    mechanism: Additive
    variance: float
    censoring: str = WITHIN

    @classmethod
    def of(
        cls,
        question: Question,
        columns: Columns,
        edges: tuple[float, ...],
        sizes: tuple[int, ...] | None,
        censoring: str = WITHIN,
    ) -> Plan:
        if len(columns.arms) * (2 * len(edges) - 1) > MOST_CELLS:
            words = (
                f"edges and arms give more than {MOST_CELLS:,} cells; pass fewer edges"
            )
            raise ArgumentError("edges", words)
        arms = 2 if sizes is not None and question.dataset is not None else 1
        mechanism = question.vector(*sensitivities(question, arms))
        variance = Law.of(mechanism).variance
        return cls(columns, edges, sizes, mechanism, variance, censoring)

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    def vector(self, paid: Paid) -> Integers:
        """The counts that are noised."""
        columns = self.columns
        with np.errstate(all="ignore"):  # infinite times less infinite entries
            time = columns.time.read(paid)
            if columns.entry is not None:
                time = time - columns.entry.read(paid)
            cells = placed(time, columns.event.read(paid), self.edges)
        arms = (
            np.zeros(cells.size, np.int64)
            if columns.groups is None
            else columns.groups.read(paid)
        )
        return counted(cells, arms, len(columns.arms), self.bins, self.sizes)

    def release(self, noisy: Integers, paid: Paid, declared: str) -> SurvivalRelease:
        sizes = None if self.sizes is None else np.array(self.sizes)
        table = LifeTable.of(noisy, self.variance, sizes)
        bands = Bands(table, self.mechanism, self.censoring)
        ends = self.edges[1:]
        single = self.columns.groups is None
        return SurvivalRelease(
            what="survival",
            value=table.survival.ravel(),
            sources=(paid.source,),
            spread=Pointwise(bands),
            keys=ends
            if single
            else tuple((arm, end) for arm in self.columns.arms for end in ends),
            notes=(declared, *self._notes()),
            population=Pointwise(bands, population=True),
            estimand="survival in the population",
            edges=self.edges,
            arms=self.columns.arms,
            bands=bands,
        )

    def _notes(self) -> tuple[str, ...]:
        fixed = self.sizes is not None and self.columns.time.dataset is None
        return (
            *([PUBLIC_ARMS] if fixed or self.columns.read else []),
            "an event of 1 is a death and one of 0 is censoring; rows with another event "
            "are left out",
            f"deaths are counted at the ends of bins; times after {self.edges[-1]:g} are "
            "not used",
            f"intervals for the population: {WHEN[self.censoring]}",
            "intervals are pointwise; curves end where the noisy number at risk is less "
            f"than {CUT:g} standard deviations of its noise",
        )


def sensitivities(question: Question, arms: int = 1) -> tuple[int, float]:
    """How far one person moves the cells: out of one, and where replaced, into
    another.

    In two `arms`: one whose arm is a column of a dataset may leave it for another. With
    public sizes someone else then fills the gap, or makes room.
    """
    if not question.replacing:
        return 1, 1.0
    return 2 * arms, math.nextafter(math.sqrt(2 * arms), 9)
