"""The plan of a question: what is measured, with what noise, at what cost. Pure: no
data, no budget, no clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.errors import ArgumentError, QueryError
from dither.ledger.terms import Terms
from dither.mechanisms import Additive, KeyThreshold
from dither.mechanisms.sums import root_up
from dither.mechanisms.tree import TreeMechanism
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import Guarantee, Relation
from dither.privacy.numbers import float_up
from dither.query.catalogue.limits import MOST_GROUPS, MOST_NUMBERS, PRUNED
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import AggregateLeaf, Call, Expr, Ref
from dither.query.plan.fingerprint import fingerprint
from dither.query.plan.radius import Bins
from dither.query.plan.spend import (
    HIDDEN_PART,
    KEYS_PART,
    RADIUS_PART,
    SIGNED_PART,
    TOO_SMALL,
    VALUES,
    Asked,
    Spend,
    afford,
)
from dither.query.plan.vectors import CAP, Kind, Vector, vectors_of
from dither.query.sql.question import Question

__all__ = ["Measurement", "Plan", "different", "plan_of", "plans_of"]

DEARER = 1.25
HEAVIEST = 1 << 14
"""A radius is chosen up to so many rows."""
MANY = 1 << 12
"""Over how many groups a unit is spread at most where that is not declared, as far as
rounding goes.
"""
FEW = 4
"""Up to so many rows of one unit, a radius is not worth choosing: it is what units have
at most.
"""


@dataclass(frozen=True)
class Measurement:
    """A vector with its part of the cost. Without a radius, it is chosen privately for
    another part, `choosing`.

    `cap` is the norm that no unit exceeds, as the curator declared; None if that is
    open. Where the radius can be less, what clipping cuts off is measured too, for the
    part `hiding` of the cost. `largest` is the largest radius that is worth choosing,
    in rows.
    """

    vector: Vector
    weight: Fraction
    radius: int | None
    choosing: Fraction = Fraction(0)
    hiding: Fraction = Fraction(0)
    cap: int | None = None
    largest: int = HEAVIEST

    @cached_property
    def bins(self) -> Bins:
        """The norms by which units are counted to choose a radius: from one row (a
        small sum: less) upwards.
        """
        row = self.vector.row
        first = max(1, row >> 6) if self.vector.function == "sum" else row
        return Bins(first, min(row * self.largest, CAP - 1, self.cap or CAP))

    @property
    def whole(self) -> Fraction:
        """All of its cost."""
        return self.weight + self.choosing + self.hiding

    def clips(self, radius: int) -> bool:
        """Whether units may have more than the radius."""
        return not self.vector.sure and (self.cap is None or radius < self.cap)

    def hides(self, radius: int) -> bool:
        """Whether what clipping to this radius cuts off is measured."""
        return self.hiding > 0 and self.clips(radius)

    def part(self, radius: int) -> Fraction:
        """The part of the cost that the estimate gets: where nothing can be cut off,
        what measuring that costs too.
        """
        return self.weight if self.clips(radius) else self.weight + self.hiding


@dataclass(frozen=True)
class Plan:
    """What a question will do and cost. `groups` is how many groups there are; None
    where keys are private.
    """

    question: Question
    asked: Asked
    spend: Spend
    measurements: tuple[Measurement, ...]
    keys: KeyThreshold | None
    groups: int | None
    plugin: Callable[..., Additive] | None = None

    @property
    def guarantee(self) -> Guarantee:
        return self.spend.guarantee

    @property
    def replacing(self) -> bool:
        return self.guarantee.unit.relation is Relation.REPLACE

    def sensitivity(self, radius: int) -> int:
        """How far one unit moves a vector that is clipped to a radius."""
        return radius * (2 if self.replacing else 1)

    def additive(self, measurement: Measurement, radius: int) -> Additive:
        """The noise of a vector clipped to a radius."""
        return self.spend.additive(
            self.sensitivity(radius), measurement.part(radius), self.plugin
        )

    def hidden_radius(self, measurement: Measurement, radius: int) -> int:
        """To what the vector that clipping cut off one unit is clipped itself.

        A unit with norm N of at most `cap` loses N − C, and what rounding adds: less
        than a step for each part of each of its groups (docs/proofs/intervals.md).
        """
        assert measurement.cap is not None
        rows = measurement.vector.most or MANY
        rounding = (
            rows
            if measurement.vector.kind is Kind.TREE
            else measurement.vector.size * (math.isqrt(rows) + 1)
        )
        return measurement.cap - radius + rounding + 1

    def hidden(self, measurement: Measurement, radius: int) -> Additive:
        """The noise of what clipping cut off."""
        return self.spend.additive(
            self.sensitivity(self.hidden_radius(measurement, radius)),
            measurement.hiding,
        )

    def tree(self, measurement: Measurement, radius: int) -> TreeMechanism:
        part, unit = self.spend.part(measurement.part(radius)), self.guarantee.unit
        promise = {"mu": part} if self.spend.gaussian else {"epsilon": part}
        return TreeMechanism(
            tree=measurement.vector.leaves.tree,
            radius=self.sensitivity(radius),
            unit=unit,
            **promise,
        )

    def noise(self, measurement: Measurement, radius: int) -> Additive:
        """What is added to each number of a measurement."""
        return (
            self.tree(measurement, radius).noise
            if measurement.vector.kind is Kind.TREE
            else self.additive(measurement, radius)
        )

    def choosing(self, measurement: Measurement) -> Additive:
        """The noise of the histogram from which a radius is chosen: each unit is in one
        bin.
        """
        if not self.replacing:
            return self.spend.additive(1, measurement.choosing)
        if self.spend.gaussian:
            from dither.mechanisms import Gaussian

            moved = float_up(root_up(2))
            return Gaussian(
                sensitivity=moved,
                mu=self.spend.part(measurement.choosing),
                unit=self.guarantee.unit,
            )
        return self.spend.additive(2, measurement.choosing)

    def per_radius(self, measurement: Measurement) -> float:
        """The standard deviation of a measurement's noise for a radius of 1."""
        twice, levels = 1 + self.replacing, measurement.vector.levels
        part = self.spend.part(measurement.weight + measurement.hiding)
        return twice * (
            math.sqrt(levels) / part
            if self.spend.gaussian
            else levels * math.sqrt(2) / part
        )

    @property
    def publics(self) -> int:
        """How many groups the public keys make, for each private key."""
        return math.prod(
            len(key.values) for key in self.question.keys if key.values is not None
        )

    @property
    def most_named(self) -> int:
        """How many private keys an answer can have."""
        each = sum(_numbers(measurement.vector) for measurement in self.measurements)
        return max(1, min(MOST_GROUPS, MOST_NUMBERS // max(each, 1)) // self.publics)

    @cached_property
    def identity(self) -> str:
        """The same where the same is measured at the same cost, and different
        otherwise.

        Names, HAVING, ORDER BY, LIMIT and arithmetic over aggregates only say how that
        is shown.
        """
        asked = (self.asked.groups, self.asked.values, self.asked.mechanism)
        keys = [(key.expr, key.values) for key in self.question.keys]
        aggregates = [
            (one.function, one.args, one.level) for one in self.question.aggregates
        ]
        about = (
            self.question.rows,
            keys,
            aggregates,
            self.spend,
            self.measurements,
            self.keys,
            asked,
        )
        return fingerprint(about)


def plan_of(
    question: Question,
    asked: Asked,
    terms: Terms,
    plugin: Callable[..., Additive] | None = None,
    most: int | None = None,
) -> Plan:
    """The plan with the smaller public error, of the ways in which the cost can be
    spent (rule R16).

    `most` is how many rows one unit has at most, where more is known than the relation
    says by itself.
    """
    return plans_of(question, asked, terms, plugin, most)[0]


def plans_of(
    question: Question,
    asked: Asked,
    terms: Terms,
    plugin: Callable[..., Additive] | None = None,
    most: int | None = None,
) -> list[Plan]:
    """A plan for each kind of noise that the cost can be spent on; the one with the
    smallest public error first.
    """
    vectors = vectors_of(question, most)
    private = question.private_keys
    ways = [
        way
        for way in afford(asked, terms, keys=private)
        if plugin is None or not way.gaussian
    ]
    if not ways:
        raise ArgumentError(
            "mechanism",
            "promises a pure ε, which this question or its account has no use for",
        )
    if not vectors and not private:
        raise ArgumentError(
            "sql",
            (
                "asks for nothing but declared keys, which are public; look at "
                "the tables instead"
            ),
        )
    plans = [_plan(question, asked, way, vectors, private, plugin) for way in ways]
    _check_size(plans[0])
    fitting = [plan for plan in plans if _noise_fits(plan)]
    if not fitting:
        raise ArgumentError("epsilon", TOO_SMALL)
    return sorted(fitting, key=_badness)


def _check_size(plan: Plan) -> None:
    """Refuse beforehand what would not fit into memory after it was charged."""
    groups = plan.publics
    numbers = groups * sum(
        _numbers(measurement.vector) for measurement in plan.measurements
    )
    if numbers > MOST_NUMBERS:
        raise QueryError(
            f"its {groups:,} groups would be made of {numbers:,} numbers, and "
            f"{MOST_NUMBERS:,} is the most; "
            "ask for fewer groups or columns at a time"
        )


def _numbers(vector: Vector) -> int:
    return vector.leaves.tree.nodes if vector.kind is Kind.TREE else vector.size


def _noise_fits(plan: Plan) -> bool:
    """Whether 64-bit integers can hold the noise, for the largest radius that may be
    chosen.
    """
    try:
        return all(
            noise.scale <= LARGEST_SCALE
            for measurement in plan.measurements
            for noise in _noises(plan, measurement)
        )
    except ArgumentError:
        return False  # not even floats could hold it


def _noises(plan: Plan, measurement: Measurement) -> list[Additive]:
    """The noise of a measurement at its most."""
    chosen = [plan.choosing(measurement)] if measurement.radius is None else []
    hidden = (
        [plan.hidden(measurement, measurement.radius or 1)]
        if measurement.hiding
        else []
    )
    if (
        measurement.hiding
        and measurement.radius is None
        and measurement.cap is not None
    ):
        hidden.append(plan.noise(measurement, measurement.cap - 1))
    return [
        *chosen,
        *hidden,
        plan.noise(
            measurement,
            measurement.radius or measurement.cap or measurement.bins.edges[-1],
        ),
    ]


def _plan(
    question: Question,
    asked: Asked,
    spend: Spend,
    vectors: Sequence[Vector],
    private: bool,
    plugin: Callable[..., Additive] | None,
) -> Plan:
    left = Fraction(1) - (KEYS_PART if private and vectors else 0)
    weights = _weights(question, asked, spend, vectors)
    measurements = tuple(
        _item(question, vector, weight * left, asked, spend)
        for vector, weight in zip(vectors, weights, strict=True)
    )
    threshold = (
        _threshold(asked, spend, KEYS_PART if vectors else Fraction(1))
        if private
        else None
    )
    public = math.prod(
        len(key.values) for key in question.keys if key.values is not None
    )
    return Plan(
        question,
        asked,
        spend,
        measurements,
        threshold,
        None if private else public,
        plugin,
    )


def _threshold(asked: Asked, spend: Spend, part: Fraction) -> KeyThreshold:
    """Which private keys are named. Those of few units are left out inside the engine,
    for a slightly higher threshold: there can be millions of them, and hardly one would
    ever be named (docs/proofs/mechanisms.md)."""
    lowest = KeyThreshold(
        groups=asked.groups,
        mu=spend.part(part),
        delta=spend.delta,
        unit=spend.guarantee.unit,
    )
    return replace(lowest, at_least=1 + lowest.threshold // PRUNED)


def _item(
    question: Question, vector: Vector, weight: Fraction, asked: Asked, spend: Spend
) -> Measurement:
    """A measure's part of the cost, split over an estimate, what clipping hides, and
    the choice of a radius (R30).
    """
    cap = _cap(question, vector, spend)
    radius = _radius(question, vector, asked, spend, cap)
    largest = _largest(question, vector, spend)
    measured = (
        spend.gaussian
        and cap is not None
        and vector.kind is not Kind.DISTINCT
        and not vector.sure
    )
    if radius is not None:
        hiding = (
            weight * _hidden_part(vector)
            if measured and radius < (cap or 0)
            else Fraction(0)
        )
        return Measurement(
            vector, weight - hiding, radius, hiding=hiding, cap=cap, largest=largest
        )
    choosing = weight * (RADIUS_PART if spend.gaussian else 2 * RADIUS_PART)
    hiding = weight * _hidden_part(vector) if measured else Fraction(0)
    return Measurement(
        vector, weight - choosing - hiding, None, choosing, hiding, cap, largest
    )


def _hidden_part(vector: Vector) -> Fraction:
    return HIDDEN_PART[vector.kind] if vector.sign else SIGNED_PART


def _largest(question: Question, vector: Vector, spend: Spend) -> int:
    """The largest radius worth choosing, in rows; a unit is in each public group once."""
    if vector.kind is not Kind.UNITS or any(
        key.values is None for key in question.keys
    ):
        return HEAVIEST
    groups = math.prod(len(key.values or ()) for key in question.keys)
    return min(
        HEAVIEST, math.isqrt(max(groups - 1, 0)) + 1 if spend.gaussian else groups
    )


def _cap(question: Question, vector: Vector, spend: Spend) -> int | None:
    """The most that one unit can have, in steps, by what was declared; None where
    nothing was.
    """
    if vector.sure:
        return vector.row
    if vector.kind is Kind.DISTINCT:
        return _different(question, vector)
    rows, root = vector.most, spend.gaussian and vector.kind is Kind.UNITS
    if vector.kind is Kind.UNITS and not question.private_keys:
        groups = math.prod(len(key.values or ()) for key in question.keys)
        rows = groups if rows is None else min(rows, groups)
    found = None if rows is None else (root_up(rows) if root else rows) * vector.row
    total = vector.total
    if total is not None:
        found = total if found is None else min(found, total)
    return None if found is None or found > CAP else math.ceil(found)


def _radius(
    question: Question, vector: Vector, asked: Asked, spend: Spend, cap: int | None
) -> int | None:
    """The radius that needs no choosing: sure by construction, stated, or all that
    units have; in steps.

    Where there are groups and Gaussian noise, a chosen one is often far smaller than
    what units have at most.
    """
    if vector.kind is Kind.DISTINCT:
        return min(
            n
            for n in (asked.values or VALUES, cap, _listed(question, vector))
            if n is not None
        )
    if vector.sure:
        return vector.row
    size = _stated(question, vector, dict(asked.radius))
    if size is not None:
        steps = (
            int(Fraction(size) / vector.step)
            if vector.kind is Kind.TOTAL
            else int(size * vector.row)
        )
        return min(max(steps, 1), CAP if cap is None else cap)
    if cap is None:
        return None
    alone = not spend.gaussian or not question.keys or cap <= FEW * vector.row
    return cap if alone or asked.fixed else None


def _different(question: Question, vector: Vector) -> int | None:
    """How many different values one unit has in all groups at most; None where that is
    open or very many.
    """
    values = different(vector)
    if values is not None and not question.private_keys:
        values *= math.prod(len(key.values or ()) for key in question.keys)
    found = [
        most
        for most in (values if not question.private_keys else None, vector.most)
        if most is not None
    ]
    return min(found) if found else None


def _listed(question: Question, vector: Vector) -> int | None:
    """How many different values were declared, in all groups. Others may be there too,
    but more is seldom worth it.
    """
    (arg,) = vector.args
    keys = arg.column.keys if isinstance(arg, Ref) else None
    if keys is None or question.private_keys:
        return None
    return len(keys) * math.prod(len(key.values or ()) for key in question.keys)


def different(vector: Vector) -> int | None:
    """How many different whole numbers there are within the bounds, to which values are
    held.
    """
    (arg,) = vector.args
    if (
        arg.type is Type.INTEGER
        and arg.range.low is not None
        and arg.range.high is not None
    ):
        return int(arg.range.high) - int(arg.range.low) + 1
    return None


def _stated(
    question: Question, vector: Vector, stated: dict[str, float]
) -> float | None:
    """What was stated for an output that needs this vector, or for all ("")."""
    for output in question.outputs:
        if output.name in stated and used(output.expr) & set(vector.aggregates):
            return stated[output.name]
    return stated.get("")


def used(expr: Expr) -> set[int]:
    """The aggregates that an expression over releases needs."""
    if isinstance(expr, AggregateLeaf):
        return {expr.index}
    return set().union(*map(used, expr.args)) if isinstance(expr, Call) else set()


def _weights(
    question: Question, asked: Asked, spend: Spend, vectors: Sequence[Vector]
) -> list[Fraction]:
    """Parts of the cost that make the sum of the squared errors, in rows, smallest; or
    those that were stated.
    """
    stated = dict(asked.shares)
    if stated:
        sizes = [_stated(question, vector, stated) or 0.0 for vector in vectors]
        if not all(size > 0 for size in sizes):
            raise ArgumentError(
                "shares",
                "must name every answer column that is measured, with positive numbers",
            )
    else:
        power = 1.0 if spend.gaussian else 2 / 3
        sizes = [_factor(vector, spend, asked) ** power for vector in vectors]
    whole = [max(1, round(1_000_000 * size / sum(sizes))) for size in sizes]
    return [Fraction(size, sum(whole)) for size in whole]


def _factor(vector: Vector, spend: Spend, asked: Asked) -> float:
    """How noisy a vector is for one row's radius, beside a count."""
    match vector.kind:
        case Kind.TREE:
            return 2 * (math.sqrt(vector.levels) if spend.gaussian else vector.levels)
        case Kind.MOMENTS:
            return math.sqrt(2)
        case Kind.DISTINCT:
            return 1.0 if vector.sure else float(asked.values or VALUES)
    return 1.0


def _badness(plan: Plan) -> float:
    """The noise of all measurements, on a logarithmic scale, for the largest radius that they
    may have.

    A unit in several groups has a larger norm in L1 than in L2; what no unit exceeds is
    the same in both. At the same stated ε, Laplace noise costs an account with a δ a
    multiple of what Gaussian noise does, so it has to be better by a quarter.
    """
    dearer = 1.0 if plan.spend.gaussian or plan.asked.share is not None else DEARER
    longer = 2.0 if plan.question.keys and not plan.spend.gaussian else 1.0
    norms = [
        longer if measurement.cap is None else measurement.cap / measurement.vector.row
        for measurement in plan.measurements
    ]
    return sum(
        math.log(plan.per_radius(measurement) * dearer * norm)
        for measurement, norm in zip(plan.measurements, norms, strict=True)
    )


def described(plan: Plan) -> list[str]:
    """What the plan does about privacy, line by line: sensitivities, noise, cost."""
    kind = "Gaussian" if plan.spend.gaussian else "Laplace"
    lines = [f"noise {kind}, {plan.guarantee}"]
    if plan.keys is not None:
        few = (
            f"; keys of fewer than {plan.keys.at_least} units never are"
            if plan.keys.at_least > 1
            else ""
        )
        named = f"named from {plan.keys.threshold} noisy units on{few}"
        lines.append(f"keys private: at most {plan.keys.groups} for each unit, {named}")
    for measurement in plan.measurements:
        what = (
            plan.question.aggregates[measurement.vector.aggregates[0]].text
            or measurement.vector.function
        )
        lines.append(
            f"measure {what}: {_bounded(plan, measurement)}, {float(measurement.whole):.1%} "
            "of the cost"
        )
    return lines


def _bounded(plan: Plan, measurement: Measurement) -> str:
    norm = (
        "L1"
        if measurement.vector.kind in (Kind.TREE, Kind.DISTINCT)
        or not plan.spend.gaussian
        else "L2"
    )
    size: Any = measurement.radius
    if size is None:
        most = (
            ""
            if measurement.cap is None
            else f" up to {_size_in_words(measurement, measurement.cap)}"
        )
        cut = (
            ""
            if not measurement.hiding
            else f", what it cuts off measured ({float(measurement.hiding / measurement.whole):.0%})"
        )
        return (
            f"{norm} radius{most} chosen privately "
            f"({float(measurement.choosing / measurement.whole):.0%} of its part){cut}"
        )
    cut = ""
    if measurement.hides(size):
        moved = _size_in_words(
            measurement, plan.sensitivity(plan.hidden_radius(measurement, size))
        )
        cut = (
            f", what that cuts off {moved} "
            f"({float(measurement.hiding / measurement.whole):.0%} of its part)"
        )
    return (
        f"{norm} sensitivity {_size_in_words(measurement, plan.sensitivity(size))}{cut}"
    )


def _size_in_words(measurement: Measurement, steps: int) -> str:
    if measurement.vector.kind is Kind.TOTAL:
        return f"{float(steps * measurement.vector.step):g}"
    exact = steps / measurement.vector.row
    what = {Kind.UNITS: "group", Kind.DISTINCT: "value"}.get(
        measurement.vector.kind, "row"
    )
    return f"{exact:g} {what}{'s' * (exact != 1)}"
