"""From noisy integers to the rows of an answer, with an interval for each number: all
of it is post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dither.mechanisms.sums import noise_variance
from dither.query.answer.measure import Noisy, NoisyVector
from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.types import Type
from dither.query.operations import evaluate
from dither.query.operations.expressions import AggregateLeaf, Expr
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Kind
from dither.query.plan.weighing import radius_of
from dither.query.sql.question import Aggregate
from dither.query.statistics.estimates import Estimate, Sums, plain
from dither.query.statistics.intervals import NOTHING, OPEN, Hidden
from dither.query.statistics.quantiles import extreme, quantile, rank
from dither.release import Spread

__all__ = ["Answer"]

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Group:
    """One group: its keys, and the estimate of each aggregate."""

    keys: tuple[Any, ...]
    estimates: tuple[Estimate, ...]

    @cached_property
    def values(self) -> tuple[Any, ...]:
        return tuple(estimate.value for estimate in self.estimates)


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
        question = self.plan.question
        found = list(self._found)
        if question.having is not None:
            kept = _column(question.having, found)
            found = [group for group, keep in zip(found, kept, strict=True) if keep]
        for expr, descending in reversed(question.order):
            found = _sorted(found, expr, descending)
        last = None if question.limit is None else question.offset + question.limit
        return found[question.offset : last]

    @cached_property
    def _found(self) -> list[Group]:
        """All groups that were measured."""
        columns = [
            self._estimates(i, aggregate)
            for i, aggregate in enumerate(self.plan.question.aggregates)
        ]
        keys = list(self._keys())
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
        """One estimate for each group."""
        m, measurement = next(
            (m, measurement)
            for m, measurement in enumerate(self.plan.measurements)
            if index in measurement.vector.aggregates
        )
        measured = self.noisy.vectors[m]
        groups = list(
            zip(measured.values, self._hidden(measurement, measured), strict=True)
        )
        if measurement.vector.kind is Kind.TREE:
            return self._quantiles(measurement, measured, aggregate)
        mechanism = self.plan.additive(measurement, measured.radius)
        if measurement.vector.kind is Kind.MOMENTS:
            sums = [
                Sums(
                    measurement.vector.moments,
                    [int(part) for part in row],
                    mechanism,
                    cut,
                )
                for row, cut in groups
            ]
            return [MOMENTS[aggregate.function](one) for one in sums]
        whole = (
            measurement.vector.function != "sum"
            or measurement.vector.args[0].type is Type.INTEGER
        )
        step, sign = float(measurement.vector.step), measurement.vector.sign
        found = [
            plain(int(row[0]), mechanism, step if step != 1 else 1, sign, cut)
            for row, cut in groups
        ]
        if measurement.vector.kind is Kind.DISTINCT:
            found = [_at_most(one, measurement.vector.different) for one in found]
        return [_whole(one) for one in found] if whole else found

    def _hidden(self, measurement: Measurement, measured: NoisyVector) -> list[Hidden]:
        """What clipping hid of each group."""
        if measured.hidden is not None:
            deviation = math.sqrt(
                noise_variance(self.plan.hidden(measurement, measured.radius))
            )
            return [Hidden(float(steps), deviation) for steps in measured.hidden]
        return [OPEN if measurement.clips(measured.radius) else NOTHING] * len(
            measured.values
        )

    def _quantiles(
        self, measurement: Measurement, measured: NoisyVector, aggregate: Aggregate
    ) -> list[Estimate]:
        mechanism, leaves, row = (
            self.plan.tree(measurement, measured.radius),
            measurement.vector.leaves,
            measurement.vector.row,
        )
        fitted: Any = mechanism.fit(measured.values) if len(measured.values) else []
        if aggregate.function == "quantile":
            level, hidden = aggregate.level or 0.0, self._hidden(measurement, measured)
            groups = zip(fitted, hidden, strict=True)
            found = [
                quantile(counts, level, leaves, mechanism, row, cut)
                for counts, cut in groups
            ]
        else:
            largest = aggregate.function == "max"
            found = [
                extreme(counts, leaves, mechanism, row, largest=largest)
                for counts in fitted
            ]
        return [_dated(one, measurement.vector.args[0].type) for one in found]

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        outputs = self.plan.question.outputs
        columns = [_column(output.expr, self.groups) for output in outputs]
        return tuple(zip(*columns, strict=True))

    def spread(self, confidence: float) -> list[list[Ends | None]]:
        """The interval of each cell. Where several aggregates make a number, all hold
        together (union bound).
        """
        return self._cells(confidence, noise=False)

    def noise(self, confidence: float) -> list[list[Ends | None]]:
        """The same for the noise alone, as if nothing had been hidden."""
        return self._cells(confidence, noise=True)

    def _cells(self, confidence: float, *, noise: bool) -> list[list[Ends | None]]:
        outputs = self.plan.question.outputs
        missed = (1 - confidence) / self.selected_from
        columns = [self._ends(output.expr, missed, noise) for output in outputs]
        return [list(row) for row in zip(*columns, strict=True)]

    def _ends(self, expr: Expr, missed: float, noise: bool) -> list[Ends | None]:
        """The intervals of one column."""
        used = evaluate.leaves(expr)
        if not used:
            return [None] * len(self.groups)
        each = 1 - missed / len(used)
        known = [
            [
                one.ends(each, noise=noise) if i in used else None
                for i, one in enumerate(group.estimates)
            ]
            for group in self.groups
        ]
        keys = [group.keys for group in self.groups]
        return evaluate.intervals(expr, keys, known)

    @cached_property
    def selected_from(self) -> int:
        """Out of how many groups some were selected by their noisy numbers; 1 where
        none were.

        Numbers that are shown because they are large are often too large. Intervals
        that hold for all groups at once hold for those that are shown (rule R30).
        """
        return max(len(self._found), 1) if self.plan.question.selects else 1

    def first(self) -> str:
        """What must be read before the numbers; empty where nothing must."""
        unseen = [
            self._name(measurement)
            for measurement, measured in self._items()
            if self._unseen(measurement, measured)
        ]
        if not unseen:
            return ""
        return (
            f"{', '.join(unseen)}: too few units to see how much they have, "
            "at this cost; each counts for one row at "
            "most, so the true number may be far larger: declare rows, or spend more"
        )

    def _unseen(self, measurement: Measurement, measured: NoisyVector) -> bool:
        if measured.units is None or measurement.cap is not None:
            return False
        return not radius_of(
            self.plan, measurement, measured.units, len(measured.values)
        ).seen

    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers; every figure in it is public or
        was charged (rule R2).
        """
        found = [
            note
            for measurement, measured in self._items()
            for note in self._clipping(measurement, measured)
        ]
        for index, aggregate in enumerate(self.plan.question.aggregates):
            if aggregate.function in ("min", "max"):
                found.append(self._extreme(index, aggregate))
        if any(
            not measurement.vector.sure
            and measurement.vector.most is not None
            and measurement.cap
            for measurement in self.plan.measurements
        ):
            found.append("intervals hold if no unit has more rows than declared")
        if self.selected_from > 1:
            found.append(
                f"rows were chosen out of {self.selected_from:,} by their "
                "numbers: intervals hold all at once"
            )
        if self.plan.keys is not None:
            found.append(
                "keys are private: one is named if about "
                f"{self.plan.keys.threshold} units or more have it; "
                f"a unit counts for at most {self.plan.keys.groups} of them"
            )
            if len(self.noisy.keys) == self.plan.most_named:
                found.append(
                    f"no more than {self.plan.most_named:,} keys are named at a "
                    "time: "
                    "those of the most units"
                )
        return tuple(dict.fromkeys(found))

    def _items(self) -> Sequence[tuple[Measurement, NoisyVector]]:
        return list(zip(self.plan.measurements, self.noisy.vectors, strict=True))

    def _name(self, measurement: Measurement) -> str:
        """The answer's columns that clipping a measurement concerns; empty where it concerns
        none.
        """
        return self._named(
            [i for i in measurement.vector.aggregates if not self._is_extreme(i)]
        )

    def _named(self, aggregates: Sequence[int]) -> str:
        """The columns that some aggregates are; the aggregates themselves, where they
        are none by themselves.
        """
        question = self.plan.question
        leaves = [
            output
            for output in question.outputs
            if isinstance(output.expr, AggregateLeaf)
        ]
        names = [
            output.name
            for output in leaves
            if evaluate.leaves(output.expr) & set(aggregates)
        ]
        return ", ".join(names or [question.aggregates[i].text for i in aggregates[:1]])

    def _is_extreme(self, index: int) -> bool:
        """Whether an aggregate is an extreme: rows that are seen are there, whatever
        clipping hides.
        """
        return self.plan.question.aggregates[index].function in ("min", "max")

    def _clipping(self, measurement: Measurement, measured: NoisyVector) -> list[str]:
        """One line about what was limited, to which side the number errs for it, and
        what to do.
        """
        if (
            not measurement.clips(measured.radius)
            or self._unseen(measurement, measured)
            or not self._name(measurement)
        ):
            return []
        return [f"{self._name(measurement)}: {limited(measurement, measured)}"]

    def _extreme(self, index: int, aggregate: Aggregate) -> str:
        measurement, measured = next(
            (measurement, measured)
            for measurement, measured in self._items()
            if measurement.vector.kind is Kind.TREE
            and measurement.vector.args == aggregate.args
        )
        mechanism, largest = (
            self.plan.tree(measurement, measured.radius),
            aggregate.function == "max",
        )
        rows = (
            rank(mechanism, measurement.vector.row, largest=largest)
            / measurement.vector.row
        )
        side = "at or above" if largest else "at or below"
        name, which = self._named([index]), "largest" if largest else "smallest"
        about = f"{name}: the value that about {math.ceil(rows):,} rows lie {side}"
        return f"{about}; the {which} of all may lie as far out as its declared bound"


def limited(measurement: Measurement, measured: NoisyVector) -> str:
    """What a radius did, in an analyst's words."""
    size, weighs = (
        _size(measurement, measured.radius),
        measurement.vector.kind in (Kind.MOMENTS, Kind.TREE),
    )
    how = "found privately" if measured.units is not None else "stated"
    less = "weigh less" if weighs else "count for less"
    if measurement.vector.kind is Kind.DISTINCT:
        return (
            f"units of more than {size} count for some of them, so the true "
            "number may be larger; raise values"
        )
    words = f"units of more than {size} ({how}) {less}"
    if measured.hidden is not None:
        about = "to first order" if measurement.vector.function in LINEARIZED else "too"
        return f"{words}; the interval holds that {about}"
    return f"{words}{_open_side(measurement)}"


LINEARIZED = (
    "var_samp",
    "var_pop",
    "stddev_samp",
    "stddev_pop",
    "covar_samp",
    "covar_pop",
    "corr",
)


def _open_side(measurement: Measurement) -> str:
    """What is not known for it, and what would help."""
    if measurement.vector.kind in (Kind.MOMENTS, Kind.TREE):
        why = (
            ", and nobody declared how many rows a unit has"
            if measurement.vector.most is None
            else ""
        )
        return f"{why}: no interval; {_way_out(measurement)}"
    towards = {1: "larger", -1: "smaller", 0: "larger or smaller"}[
        measurement.vector.sign
    ]
    return f", so the true number may be {towards}; {_way_out(measurement)} to know by how much"


def _way_out(measurement: Measurement) -> str:
    if measurement.cap is not None:
        return "leave radius out"
    return (
        "declare rows"
        if measurement.vector.most is None
        else "declare fewer rows (a unit with so many fits no grid)"
    )


def _size(measurement: Measurement, radius: int) -> str:
    if measurement.vector.kind is Kind.TOTAL and measurement.vector.function == "sum":
        return f"{float(radius * measurement.vector.step):,.4g} in all"
    count = f"{radius / measurement.vector.row:,.4g}"
    what = {Kind.UNITS: "group", Kind.DISTINCT: "different value"}.get(
        measurement.vector.kind, "row"
    )
    return f"{count} {what}{'s' * (count != '1')}"


def _ranks(values: Iterable[Any]) -> dict[Any, int]:
    return {value: place for place, value in enumerate(sorted(set(values)))}


def _column(expr: Expr, groups: Sequence[Group]) -> list[Any]:
    """An expression for each of the groups."""
    keys = [group.keys for group in groups]
    return evaluate.values(expr, keys, [group.values for group in groups])


def _sorted(groups: list[Group], expr: Expr, descending: bool) -> list[Group]:
    """NULLs last, either way; where values are equal, the order stays."""
    side = _Reversed if descending else _Plain
    values = _column(expr, groups)
    places = sorted(
        range(len(groups)), key=lambda at: (values[at] is None, side(values[at]))
    )
    return [groups[at] for at in places]


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


@dataclass(frozen=True)
class Whole:
    """The ends of a number that is known to be whole."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return _inwards(low, math.ceil, -1e-9), _inwards(high, math.floor, 1e-9)


def _inwards(end: float, to: Callable[[float], int], least: float) -> float:
    return end if math.isinf(end) else to(end + least)


def _whole(estimate: Estimate) -> Estimate:
    return estimate.seen(Whole, round(estimate.value))


@dataclass(frozen=True)
class AtMost:
    """The ends of a number that cannot be larger than a public one."""

    inner: Spread
    most: float

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return min(low, self.most), min(high, self.most)


def _at_most(estimate: Estimate, most: int | None) -> Estimate:
    """A number of different values, of which there are so many at most."""
    if most is None:
        return estimate
    return estimate.seen(lambda spread: AtMost(spread, most), min(estimate.value, most))


@dataclass(frozen=True)
class Dated:
    """The ends of a date or a timestamp that was measured as a number; None where there
    is no bound.
    """

    inner: Spread
    convert: Callable[[int], Any]

    def ends(self, confidence: float) -> Ends:
        ends = self.inner.ends(confidence)
        low, high = (
            None if math.isinf(end) else self.convert(int(end)) for end in ends
        )
        return low, high


def _dated(estimate: Estimate, type_: Type) -> Estimate:
    if type_ not in (Type.DATE, Type.TIMESTAMP):
        return estimate
    convert = day if type_ is Type.DATE else moment
    return estimate.seen(
        lambda spread: Dated(spread, convert), convert(int(estimate.value))
    )


MOMENTS: dict[str, Callable[[Sums], Estimate]] = {
    "avg": lambda sums: sums.mean(),
    "var_samp": lambda sums: sums.variance(sample=True),
    "var_pop": lambda sums: sums.variance(),
    "stddev_samp": lambda sums: sums.deviation(sample=True),
    "stddev_pop": lambda sums: sums.deviation(),
    "covar_samp": lambda sums: sums.covariance(sample=True),
    "covar_pop": lambda sums: sums.covariance(),
    "corr": lambda sums: sums.correlation(),
}
