"""From noisy integers to the rows of an answer, with an interval for each number: all
of it is post-processing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dither.mechanisms import Additive
from dither.query.answer.known import known_of
from dither.query.answer.noisy import Noisy, NoisyVector
from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.types import Type
from dither.query.operations import evaluate
from dither.query.operations.expressions import AggregateLeaf, Expr
from dither.query.plan.plan import Clipping, Measurement, Plan
from dither.query.plan.vectors import KINDS, Kind, Vector
from dither.query.sql.question import Aggregate, Output
from dither.query.statistics.estimates import figures
from dither.query.statistics.intervals import ANYWHERE, NOTHING, OPEN, Ends, Hidden
from dither.query.statistics.named import named_counts
from dither.query.statistics.quantiles import Lost, extreme, quantile
from dither.query.statistics.rounding import moved
from dither.query.statistics.totals import (
    SIDES,
    Estimate,
    at_most,
    changed,
    ends_of,
    opened,
    totals,
    whole,
)
from dither.text import number, told

__all__ = ["Answer"]

HIDDEN = "not enough rows"
ORDERED = 0.95
"""Confidence of the intervals by which groups are ordered."""
CALENDAR: dict[Type, Callable[[Any], Any]] = {
    Type.DATE: lambda days: day(int(days)),
    Type.TIMESTAMP: lambda microseconds: moment(int(microseconds)),
}


@dataclass(frozen=True)
class Group:
    """One group: its keys, and the estimate of each aggregate."""

    keys: tuple[Any, ...]
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class Answer:
    """The rows that a plan's outputs make of what was measured."""

    plan: Plan
    noisy: Noisy

    @cached_property
    def groups(self) -> list[Group]:
        """The groups that HAVING keeps, in the order of their keys or of ORDER BY, cut
        by LIMIT.
        """
        question, found = self.plan.question, self._found
        if question.having is not None:
            kept = _column(question.having, found)
            found = [group for group, keep in zip(found, kept, strict=True) if keep]
        for expr, descending in reversed(question.order):
            found = self._sorted(found, expr, descending)
        last = None if question.limit is None else question.offset + question.limit
        return found[question.offset : last]

    @cached_property
    def _found(self) -> list[Group]:
        """All groups that were measured, in the order of their keys."""
        columns = [
            self._estimates(i, aggregate)
            for i, aggregate in enumerate(self.plan.question.aggregates)
        ]
        keys = self._keys()
        order = sorted(range(len(keys)), key=lambda g: keys[g][0])
        return [
            Group(keys[g][1], tuple(column[g] for column in columns)) for g in order
        ]

    def _keys(self) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """For each group, in the order it was measured in: the places of its keys, for
        sorting, and the keys.
        """
        question = self.plan.question
        publics = [
            range(len(key.values)) for key in question.keys if key.values is not None
        ]
        names: list[tuple[Any, ...]] = (
            list(self.noisy.keys) if self.plan.keys is not None else [()]
        )
        ranks = [
            _ranks(name[n] for name in names)
            for n in range(len(names[0]) if names else 0)
        ]
        found = []
        for name in names:
            for places in itertools.product(*publics):
                private, public = iter(enumerate(name)), iter(places)
                pairs = []
                for key in question.keys:
                    if key.values is None:
                        n, value = next(private)
                        pairs.append((ranks[n][value], value))
                    else:
                        place = next(public)
                        pairs.append((place, key.values[place]))
                found.append(
                    (
                        tuple(place for place, _ in pairs),
                        tuple(value for _, value in pairs),
                    )
                )
        return found

    def _estimates(self, index: int, aggregate: Aggregate) -> list[Estimate]:
        """An aggregate's column: one estimate for each group."""
        if self.plan.keys is not None and self.plan.is_counted(index):
            return named_counts(
                self.noisy.counts,
                self.plan.keys,
                self.noisy.left_out,
                open_=self.plan.gives_up_keys,
            )
        measurement, noisy = next(
            (one, noisy)
            for one, noisy in zip(
                self.plan.measurements, self.noisy.vectors, strict=True
            )
            if index in one.vector.aggregates
        )
        vector = measurement.vector
        clipping = self.plan.clipping(measurement, noisy.radius)
        hidden = _hidden(noisy, clipping)
        match vector.kind:
            case Kind.TREE:
                return self._quantiles(measurement, noisy, hidden, aggregate)
            case Kind.MOMENTS:
                return figures(
                    aggregate.function,
                    vector.moments,
                    noisy.values.tolist(),
                    clipping.noise,
                    hidden,
                )
        return _totals(vector, noisy, hidden, clipping.noise)

    def _quantiles(
        self,
        measurement: Measurement,
        noisy: NoisyVector,
        hidden: list[Hidden],
        aggregate: Aggregate,
    ) -> list[Estimate]:
        vector = measurement.vector
        mechanism, leaves = self.plan.tree(measurement, noisy.radius), vector.leaves
        fitted: Any = mechanism.fit(noisy.values) if len(noisy.values) else []
        if aggregate.largest is None:
            level = aggregate.level or 0.0
            found = [
                opened(quantile(counts, level, leaves, mechanism, vector.row, lost))
                if cut.open
                else quantile(counts, level, leaves, mechanism, vector.row, lost)
                for counts, cut, lost in zip(
                    fitted, hidden, self._lost(measurement, noisy), strict=True
                )
            ]
        else:
            largest = aggregate.largest
            found = [
                extreme(counts, leaves, mechanism, vector.row, largest=largest)
                for counts in fitted
            ]
        shown = CALENDAR.get(vector.args[0].type)
        return found if shown is None else changed(found, shown)

    def _lost(self, measurement: Measurement, noisy: NoisyVector) -> list[Lost | None]:
        """The leaf counts that clipping cut off each group."""
        if noisy.hidden is None or not len(noisy.hidden):
            return [None] * len(noisy.values)
        mechanism = self.plan.hidden_tree(measurement, noisy.radius)
        return [Lost(counts, mechanism) for counts in mechanism.fit(noisy.hidden)]

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        outputs = self.plan.question.outputs
        columns = [_column(output.expr, self.groups) for output in outputs]
        return tuple(zip(*columns, strict=True))

    def _sorted(self, found: list[Group], expr: Expr, descending: bool) -> list[Group]:
        """By a noisy number. Groups without information about it come after the others in
        either direction, because noise alone would put them first; NULLs are last.
        """
        ordered = _sorted(found, expr, descending)
        if not evaluate.leaves(expr):
            return ordered
        missed = (1 - ORDERED) / self.selected_from
        sure = told(
            self._ends(expr, ordered, missed, noise=False),
            lambda: self._ends(expr, ordered, missed, noise=True),
            self._known(expr, ordered),
        )
        if all(sure):
            return ordered
        values = _column(expr, ordered)
        last = [
            (value is None, not one) for value, one in zip(values, sure, strict=True)
        ]
        return [ordered[at] for at in sorted(range(len(last)), key=last.__getitem__)]

    def known(self) -> list[list[Ends | None]]:
        """The range of each cell that was public before; None for keys."""
        outputs = self.plan.question.outputs
        columns = [self._known(output.expr, self.groups) for output in outputs]
        return [list(row) for row in zip(*columns, strict=True)]

    def _known(self, expr: Expr, groups: Sequence[Group]) -> list[Ends | None]:
        if not evaluate.leaves(expr):
            return [None] * len(groups)
        if isinstance(expr, AggregateLeaf):
            return [self._declared[expr.index]] * len(groups)
        keys = [group.keys for group in groups]
        return evaluate.intervals(expr, keys, [self._declared] * len(groups))

    @cached_property
    def _declared(self) -> list[Ends]:
        """The range of each aggregate that follows from what was declared."""
        vectors = {
            index: one.vector
            for one in self.plan.measurements
            for index in one.vector.aggregates
        }
        found = []
        for index, aggregate in enumerate(self.plan.question.aggregates):
            low, high = known_of(aggregate, vectors.get(index))
            shown = CALENDAR.get(aggregate.args[0].type) if aggregate.args else None
            tree = KINDS[aggregate.function] is Kind.TREE
            found.append((shown(low), shown(high)) if shown and tree else (low, high))
        return found

    @cached_property
    def absent(self) -> list[set[int]]:
        """The extremes of each group that noise hides: they have no value."""
        return _absent(self.groups)

    @cached_property
    def words(self) -> tuple[tuple[str | None, ...], ...]:
        """The text of cells that have no value because noise hides an extreme."""
        if not any(self.absent):
            return ()
        aggregates, outputs = self.plan.question.aggregates, self.plan.question.outputs
        return tuple(
            tuple(
                _words(output, aggregates, absent) if value is None else None
                for output, value in zip(outputs, row, strict=True)
            )
            for row, absent in zip(self.rows, self.absent, strict=True)
        )

    def spread(self, confidence: float) -> list[list[Ends | None]]:
        """The interval of each cell. If several aggregates make a number, all hold
        together (union bound).
        """
        return self._intervals(confidence, noise=False)

    def noise(self, confidence: float) -> list[list[Ends | None]]:
        """The same for the noise alone, as if nothing had been hidden."""
        return self._intervals(confidence, noise=True)

    def _intervals(self, confidence: float, *, noise: bool) -> list[list[Ends | None]]:
        missed = (1 - confidence) / self.selected_from
        outputs = self.plan.question.outputs
        columns = [
            self._ends(output.expr, self.groups, missed, noise=noise)
            for output in outputs
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def _ends(
        self, expr: Expr, groups: Sequence[Group], missed: float, *, noise: bool
    ) -> list[Ends | None]:
        """The intervals of an expression for groups."""
        used = evaluate.leaves(expr)
        if not used:
            return [None] * len(groups)
        each = 1 - missed / len(used)
        known: list[Sequence[Ends | None]] = [
            ends_of([group.estimates[i] for group in groups], each, noise=noise)
            if i in used
            else [None] * len(groups)
            for i in range(len(self.plan.question.aggregates))
        ]
        keys = [group.keys for group in groups]
        ends = list(zip(*known, strict=True))
        return evaluate.intervals(expr, keys, ends, _absent(groups))

    @cached_property
    def selected_from(self) -> int:
        """Out of how many groups some were selected by their noisy numbers; 1 where
        none were.

        Numbers that are shown because they are large are often too large. Intervals
        that hold for all groups at once hold for those that are shown (rule R30).
        """
        return max(len(self._found), 1) if self.plan.question.selects else 1


def _totals(
    vector: Vector,
    noisy: NoisyVector,
    hidden: list[Hidden],
    mechanism: Additive,
) -> list[Estimate]:
    """A count or a sum for each group."""
    numbers = [int(number) for (number,) in noisy.values]
    found = [
        moved(one, vector.rounding, SIDES[vector.sign], ANYWHERE)
        for one in totals(numbers, mechanism, float(vector.step), vector.sign, hidden)
    ]
    if vector.kind is Kind.DISTINCT:
        found = at_most(found, vector.different)
    real = vector.function == "sum" and vector.args[0].type is not Type.INTEGER
    return found if real else whole(found)


def _words(
    output: Output, aggregates: Sequence[Aggregate], absent: set[int]
) -> str | None:
    """The declared bound is all that is told of an extreme that noise hides."""
    hidden = output.needs & absent
    if not hidden:
        return None
    if not isinstance(output.expr, AggregateLeaf):
        return HIDDEN
    aggregate = aggregates[hidden.pop()]
    (arg,) = aggregate.args
    side, end = (
        ("most", arg.range.high) if aggregate.largest else ("least", arg.range.low)
    )
    shown = CALENDAR.get(arg.type, lambda plain: plain)
    return f"{HIDDEN}: at {side} {number(shown(end))}, declared"


def _hidden(noisy: NoisyVector, clipping: Clipping) -> list[Hidden]:
    """The amount that clipping hid of each group."""
    if noisy.hidden is None or clipping.hidden is None:
        known = OPEN if clipping.clips else NOTHING
        return [known] * len(noisy.values)
    law = clipping.hidden.law
    return [
        Hidden(float(sum(parts)), law, parts=tuple(map(int, parts)))
        for parts in noisy.hidden
    ]


def _column(expr: Expr, groups: Sequence[Group]) -> list[Any]:
    """An expression for each of the groups."""
    keys = [group.keys for group in groups]
    values = [[one.value for one in group.estimates] for group in groups]
    return evaluate.values(expr, keys, values)


def _absent(groups: Sequence[Group]) -> list[set[int]]:
    return [
        {i for i, one in enumerate(group.estimates) if one.value is None}
        for group in groups
    ]


def _sorted(groups: list[Group], expr: Expr, descending: bool) -> list[Group]:
    """NULLs last, either way; if values are equal, the order stays."""
    side = _Reversed if descending else _Plain
    values = _column(expr, groups)
    places = sorted(
        range(len(groups)), key=lambda at: (values[at] is None, side(values[at]))
    )
    return [groups[at] for at in places]


def _ranks(values: Iterable[Any]) -> dict[Any, int]:
    return {value: place for place, value in enumerate(sorted(set(values)))}


@dataclass(frozen=True)
class _Plain:
    value: Any

    def __lt__(self, other: _Plain) -> bool:
        return (
            self.value is not None
            and other.value is not None
            and bool(self.value < other.value)
        )


@dataclass(frozen=True)
class _Reversed:
    value: Any

    def __lt__(self, other: _Reversed) -> bool:
        return (
            self.value is not None
            and other.value is not None
            and bool(other.value < self.value)
        )
