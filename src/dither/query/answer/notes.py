"""The notes on an answer, in an analyst's words. Every figure in them is public or was
charged (rule R2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

from dither.query.answer.noisy import Noisy, NoisyVector
from dither.query.operations.expressions import AggregateLeaf
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.radius import radius_of
from dither.query.plan.vectors import Kind
from dither.query.sql.question import Aggregate
from dither.query.statistics.quantiles import TOLD, rank
from dither.text import number, quantity

__all__ = ["Notes"]


@dataclass(frozen=True)
class Notes:
    """The notes on an answer. `selected_from` is the number of groups from which some
    were selected by their noisy numbers; 1 if all are shown. `absent` are the
    aggregates of each group that have no value.
    """

    plan: Plan
    noisy: Noisy
    selected_from: int
    absent: Sequence[Set[int]] = ()

    def first(self) -> str:
        """Notes to read before the numbers; empty if there are none."""
        unseen = [
            self._name(measurement)
            for measurement, noisy in self._pairs()
            if self._unseen(measurement, noisy)
        ]
        if not unseen:
            return ""
        return (
            f"{', '.join(unseen)}: at this cost there are too few units to find out how "
            "many rows they have, so each of them counts with at most one row, and the "
            "true number may be far larger; declare rows, or spend more"
        )

    def _unseen(self, measurement: Measurement, noisy: NoisyVector) -> bool:
        if noisy.units is None or measurement.cap is not None:
            return False
        return not radius_of(
            self.plan, measurement, noisy.units, len(noisy.values)
        ).seen

    def all(self) -> tuple[str, ...]:
        """All notes, each once."""
        found = [
            note
            for measurement, noisy in self._pairs()
            for note in self._clipping(measurement, noisy)
        ]
        for index, aggregate in enumerate(self.plan.question.aggregates):
            if aggregate.largest is not None:
                found.append(self._extreme(index, aggregate))
        if any(
            not measurement.vector.sure
            and measurement.vector.most is not None
            and measurement.cap
            for measurement in self.plan.measurements
        ):
            unit = self.plan.guarantee.unit.name
            found.append(f"intervals hold if no {unit} has more rows than declared")
        if self.selected_from > 1:
            found.append(
                f"these rows were selected from {self.selected_from:,} by their noisy "
                "values; their intervals hold together"
            )
        if self.plan.keys is not None:
            found.append(
                "keys are private: a key is released if about "
                f"{self.plan.keys.threshold:,} units or more have it; each unit contributes "
                f"to at most {quantity(self.plan.keys.groups, 'key')}"
            )
            if self.plan.gives_up_keys:
                found.append(self._given_up(self.plan.keys.groups))
            if len(self.noisy.keys) == self.plan.most_named:
                found.append(
                    f"at most {self.plan.most_named:,} keys are released at a time: "
                    "those with the most units"
                )
        return tuple(dict.fromkeys(found))

    def _given_up(self, groups: int) -> str:
        """The side on which the numbers of units of private keys are open."""
        counted = self.plan.counted
        names = self._named([i for one in counted for i in one.aggregates])
        rows = self.plan.counted_rows
        way = (
            f"pass groups={rows} to know by how much, which needs more noise"
            if rows
            else "declare rows to know by how much"
        )
        return (
            f"{names}: units with more than {quantity(groups, 'key')} contribute to only "
            f"{groups:,} of them, so the true number may be larger; {way}"
        )

    def _pairs(self) -> Sequence[tuple[Measurement, NoisyVector]]:
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
        names = [output.name for output in leaves if output.needs & set(aggregates)]
        return ", ".join(names or [question.aggregates[i].text for i in aggregates[:1]])

    def _is_extreme(self, index: int) -> bool:
        """Whether an aggregate is an extreme: rows that are seen are there, whatever
        clipping hides.
        """
        return self.plan.question.aggregates[index].largest is not None

    def _clipping(self, measurement: Measurement, noisy: NoisyVector) -> list[str]:
        """One line about what was limited, to which side the number errs for it, and
        what to do.
        """
        if (
            not measurement.clips(noisy.radius)
            or self._unseen(measurement, noisy)
            or not self._name(measurement)
        ):
            return []
        return [f"{self._name(measurement)}: {_limited(measurement, noisy)}"]

    def _extreme(self, index: int, aggregate: Aggregate) -> str:
        measurement, noisy = next(
            (measurement, noisy)
            for measurement, noisy in self._pairs()
            if measurement.vector.kind is Kind.TREE
            and measurement.vector.args == aggregate.args
        )
        mechanism, row = (
            self.plan.tree(measurement, noisy.radius),
            measurement.vector.row,
        )
        largest = bool(aggregate.largest)
        rows = rank(mechanism, row, largest=largest) / row
        name, which = self._named([index]), "largest" if largest else "smallest"
        count, far = math.ceil(rows), "below" if largest else "above"
        hidden = f"{count:,} {which} values" if count > 1 else f"{which} value"
        start = f"{name}: the noise hides about the {hidden}"
        far_off = f"this number can be far {far} the {which} value of all"
        unknown = sum(index in absent for absent in self.absent)
        if not unknown:
            return f"{start}, so {far_off}"
        few = f"fewer than {TOLD} times as many rows (by the noisy count)"
        if unknown == len(self.absent):
            return f"{start}; no number is shown if there are {few}"
        return f"{start}, so {far_off}; no number is shown for groups with {few}"


def _limited(measurement: Measurement, noisy: NoisyVector) -> str:
    """The effect of a radius, in an analyst's words."""
    size = _size(measurement, noisy.radius)
    if measurement.vector.kind is Kind.DISTINCT:
        return (
            f"units with {size} count only for some of them, so the true number may be "
            "larger; raise values"
        )
    how = "chosen privately" if noisy.units is not None else "stated"
    weighs = measurement.vector.kind in (Kind.MOMENTS, Kind.TREE)
    less = "have less weight" if weighs else "are scaled down"
    words = f"units with {size} (a limit that was {how}) {less}"
    if noisy.hidden is not None:
        first = measurement.vector.function in LINEARIZED
        return (
            f"{words}; the interval includes this{' to first order' if first else ''}"
        )
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
    """The side on which the interval is open for this reason, and what would help."""
    if measurement.vector.kind in (Kind.MOMENTS, Kind.TREE):
        why = (
            ", and the number of rows per unit is not declared"
            if measurement.vector.most is None
            else ""
        )
        return f"{why}, so there is no interval; {_way_out(measurement)}"
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
        else "declare fewer rows (the declared number is too large for an interval)"
    )


def _size(measurement: Measurement, radius: int) -> str:
    """More than a radius, in words. Rows are whole: more than 5.657 rows are more than 5,
    and a unit of 5 rows is not limited.
    """
    if measurement.vector.kind is Kind.TOTAL and measurement.vector.function == "sum":
        total = float(radius * measurement.vector.step)
        return f"a total above {number(float(f'{total:.4g}'))}"
    count = f"{radius // measurement.vector.row:,}"
    what = {Kind.UNITS: "group", Kind.DISTINCT: "different value"}.get(
        measurement.vector.kind, "row"
    )
    return f"more than {count} {what}{'s' * (count != '1')}"
