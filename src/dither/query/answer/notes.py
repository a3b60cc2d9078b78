"""What a reader must know beside the numbers of an answer, in an analyst's words. Every
figure in it is public or was charged (rule R2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dither.query.answer.noisy import Noisy, NoisyVector
from dither.query.operations.expressions import AggregateLeaf
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.radius import radius_of
from dither.query.plan.vectors import Kind
from dither.query.sql.question import Aggregate
from dither.query.statistics.quantiles import rank

__all__ = ["Notes"]


@dataclass(frozen=True)
class Notes:
    """The words about an answer. `selected_from` is out of how many groups some were
    selected by their noisy numbers; 1 where none were.
    """

    plan: Plan
    noisy: Noisy
    selected_from: int

    def first(self) -> str:
        """What must be read before the numbers; empty where nothing must."""
        unseen = [
            self._name(measurement)
            for measurement, noisy in self._pairs()
            if self._unseen(measurement, noisy)
        ]
        if not unseen:
            return ""
        return (
            f"{', '.join(unseen)}: too few units to see how much they have, "
            "at this cost; each counts for one row at "
            "most, so the true number may be far larger: declare rows, or spend more"
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
        return self.plan.question.aggregates[index].function in ("min", "max")

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
        mechanism, largest = (
            self.plan.tree(measurement, noisy.radius),
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


def _limited(measurement: Measurement, noisy: NoisyVector) -> str:
    """What a radius did, in an analyst's words."""
    size, weighs = (
        _size(measurement, noisy.radius),
        measurement.vector.kind in (Kind.MOMENTS, Kind.TREE),
    )
    how = "found privately" if noisy.units is not None else "stated"
    less = "weigh less" if weighs else "count for less"
    if measurement.vector.kind is Kind.DISTINCT:
        return (
            f"units of more than {size} count for some of them, so the true "
            "number may be larger; raise values"
        )
    words = f"units of more than {size} ({how}) {less}"
    if noisy.hidden is not None:
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
