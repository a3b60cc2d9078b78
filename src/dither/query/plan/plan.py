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
from dither.query.plan.vectors import CAP, Kind, Measure, measures_of
from dither.query.sql.question import Question

__all__ = ["Item", "Plan", "different", "plan_of", "plans_of"]

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
class Item:
    """A measure with its part of the cost. Without a radius, it is chosen privately for
    another part, `choosing`.

    `cap` is the norm that no unit exceeds, as the curator declared; None if that is
    open. Where the radius can be less, what clipping cuts off is measured too, for the
    part `hiding` of the cost. `largest` is the largest radius that is worth choosing,
    in rows.
    """

    measure: Measure
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
        row = self.measure.row
        first = max(1, row >> 6) if self.measure.function == "sum" else row
        return Bins(first, min(row * self.largest, CAP - 1, self.cap or CAP))

    @property
    def whole(self) -> Fraction:
        """All of its cost."""
        return self.weight + self.choosing + self.hiding

    def clips(self, radius: int) -> bool:
        """Whether units may have more than the radius."""
        return not self.measure.sure and (self.cap is None or radius < self.cap)

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
    items: tuple[Item, ...]
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

    def additive(self, item: Item, radius: int) -> Additive:
        """The noise of a vector clipped to a radius."""
        return self.spend.additive(
            self.sensitivity(radius), item.part(radius), self.plugin
        )

    def hidden_radius(self, item: Item, radius: int) -> int:
        """To what the vector that clipping cut off one unit is clipped itself.

        A unit with norm N of at most `cap` loses N − C, and what rounding adds: less
        than a step for each part of each of its groups (docs/proofs/intervals.md).
        """
        assert item.cap is not None
        rows = item.measure.most or MANY
        rounding = (
            rows
            if item.measure.kind is Kind.TREE
            else item.measure.size * (math.isqrt(rows) + 1)
        )
        return item.cap - radius + rounding + 1

    def hidden(self, item: Item, radius: int) -> Additive:
        """The noise of what clipping cut off."""
        return self.spend.additive(
            self.sensitivity(self.hidden_radius(item, radius)), item.hiding
        )

    def tree(self, item: Item, radius: int) -> TreeMechanism:
        part, unit = self.spend.part(item.part(radius)), self.guarantee.unit
        promise = {"mu": part} if self.spend.gaussian else {"epsilon": part}
        return TreeMechanism(
            tree=item.measure.leaves.tree,
            radius=self.sensitivity(radius),
            unit=unit,
            **promise,
        )

    def noise(self, item: Item, radius: int) -> Additive:
        """What is added to each number of an item."""
        return (
            self.tree(item, radius).noise
            if item.measure.kind is Kind.TREE
            else self.additive(item, radius)
        )

    def choosing(self, item: Item) -> Additive:
        """The noise of the histogram from which a radius is chosen: each unit is in one
        bin.
        """
        if not self.replacing:
            return self.spend.additive(1, item.choosing)
        if self.spend.gaussian:
            from dither.mechanisms import Gaussian

            moved = float_up(root_up(2))
            return Gaussian(
                sensitivity=moved,
                mu=self.spend.part(item.choosing),
                unit=self.guarantee.unit,
            )
        return self.spend.additive(2, item.choosing)

    def per_radius(self, item: Item) -> float:
        """The standard deviation of an item's noise for a radius of 1."""
        twice, levels = 1 + self.replacing, item.measure.levels
        part = self.spend.part(item.weight + item.hiding)
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
        each = sum(_numbers(item.measure) for item in self.items)
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
            self.question.relation,
            keys,
            aggregates,
            self.spend,
            self.items,
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
    measures = measures_of(question, most)
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
    if not measures and not private:
        raise ArgumentError(
            "sql",
            (
                "asks for nothing but declared keys, which are public; look at "
                "the tables instead"
            ),
        )
    plans = [_plan(question, asked, way, measures, private, plugin) for way in ways]
    _check_size(plans[0])
    fitting = [plan for plan in plans if _noise_fits(plan)]
    if not fitting:
        raise ArgumentError("epsilon", TOO_SMALL)
    return sorted(fitting, key=_badness)


def _check_size(plan: Plan) -> None:
    """Refuse beforehand what would not fit into memory after it was charged."""
    groups = plan.publics
    numbers = groups * sum(_numbers(item.measure) for item in plan.items)
    if numbers > MOST_NUMBERS:
        raise QueryError(
            f"its {groups:,} groups would be made of {numbers:,} numbers, and "
            f"{MOST_NUMBERS:,} is the most; "
            "ask for fewer groups or columns at a time"
        )


def _numbers(measure: Measure) -> int:
    return measure.leaves.tree.nodes if measure.kind is Kind.TREE else measure.size


def _noise_fits(plan: Plan) -> bool:
    """Whether 64-bit integers can hold the noise, for the largest radius that may be
    chosen.
    """
    try:
        return all(
            noise.scale <= LARGEST_SCALE
            for item in plan.items
            for noise in _noises(plan, item)
        )
    except ArgumentError:
        return False  # not even floats could hold it


def _noises(plan: Plan, item: Item) -> list[Additive]:
    """The noise of an item at its most."""
    chosen = [plan.choosing(item)] if item.radius is None else []
    hidden = [plan.hidden(item, item.radius or 1)] if item.hiding else []
    if item.hiding and item.radius is None and item.cap is not None:
        hidden.append(plan.noise(item, item.cap - 1))
    return [
        *chosen,
        *hidden,
        plan.noise(item, item.radius or item.cap or item.bins.edges[-1]),
    ]


def _plan(
    question: Question,
    asked: Asked,
    spend: Spend,
    measures: Sequence[Measure],
    private: bool,
    plugin: Callable[..., Additive] | None,
) -> Plan:
    left = Fraction(1) - (KEYS_PART if private and measures else 0)
    weights = _weights(question, asked, spend, measures)
    items = tuple(
        _item(question, measure, weight * left, asked, spend)
        for measure, weight in zip(measures, weights, strict=True)
    )
    threshold = (
        _threshold(asked, spend, KEYS_PART if measures else Fraction(1))
        if private
        else None
    )
    public = math.prod(
        len(key.values) for key in question.keys if key.values is not None
    )
    return Plan(
        question, asked, spend, items, threshold, None if private else public, plugin
    )


def _threshold(asked: Asked, spend: Spend, part: Fraction) -> KeyThreshold:
    """Which private keys are named. Those of few units are left out inside the engine,
    for a slightly higher threshold: there can be millions of them, and hardly one would
    ever be named (docs/proofs/mechanisms.md)."""
    lowest = KeyThreshold(
        most=asked.groups,
        mu=spend.part(part),
        delta=spend.delta,
        unit=spend.guarantee.unit,
    )
    return replace(lowest, at_least=1 + lowest.threshold // PRUNED)


def _item(
    question: Question, measure: Measure, weight: Fraction, asked: Asked, spend: Spend
) -> Item:
    """A measure's part of the cost, split over an estimate, what clipping hides, and
    the choice of a radius (R30).
    """
    cap = _cap(question, measure, spend)
    radius = _radius(question, measure, asked, spend, cap)
    largest = _largest(question, measure, spend)
    measured = (
        spend.gaussian
        and cap is not None
        and measure.kind is not Kind.DISTINCT
        and not measure.sure
    )
    if radius is not None:
        hiding = (
            weight * _hidden_part(measure)
            if measured and radius < (cap or 0)
            else Fraction(0)
        )
        return Item(
            measure, weight - hiding, radius, hiding=hiding, cap=cap, largest=largest
        )
    choosing = weight * (RADIUS_PART if spend.gaussian else 2 * RADIUS_PART)
    hiding = weight * _hidden_part(measure) if measured else Fraction(0)
    return Item(
        measure, weight - choosing - hiding, None, choosing, hiding, cap, largest
    )


def _hidden_part(measure: Measure) -> Fraction:
    return HIDDEN_PART[measure.kind] if measure.sign else SIGNED_PART


def _largest(question: Question, measure: Measure, spend: Spend) -> int:
    """The largest radius worth choosing, in rows; a unit is in each public group once."""
    if measure.kind is not Kind.UNITS or any(
        key.values is None for key in question.keys
    ):
        return HEAVIEST
    groups = math.prod(len(key.values or ()) for key in question.keys)
    return min(
        HEAVIEST, math.isqrt(max(groups - 1, 0)) + 1 if spend.gaussian else groups
    )


def _cap(question: Question, measure: Measure, spend: Spend) -> int | None:
    """The most that one unit can have, in steps, by what was declared; None where
    nothing was.
    """
    if measure.sure:
        return measure.row
    if measure.kind is Kind.DISTINCT:
        return _different(question, measure)
    rows, root = measure.most, spend.gaussian and measure.kind is Kind.UNITS
    if measure.kind is Kind.UNITS and not question.private_keys:
        groups = math.prod(len(key.values or ()) for key in question.keys)
        rows = groups if rows is None else min(rows, groups)
    found = None if rows is None else (root_up(rows) if root else rows) * measure.row
    total = measure.total
    if total is not None:
        found = total if found is None else min(found, total)
    return None if found is None or found > CAP else math.ceil(found)


def _radius(
    question: Question, measure: Measure, asked: Asked, spend: Spend, cap: int | None
) -> int | None:
    """The radius that needs no choosing: sure by construction, stated, or all that
    units have; in steps.

    Where there are groups and Gaussian noise, a chosen one is often far smaller than
    what units have at most.
    """
    if measure.kind is Kind.DISTINCT:
        return min(
            n
            for n in (asked.values or VALUES, cap, _listed(question, measure))
            if n is not None
        )
    if measure.sure:
        return measure.row
    size = _stated(question, measure, dict(asked.radius))
    if size is not None:
        steps = (
            int(Fraction(size) / measure.step)
            if measure.kind is Kind.TOTAL
            else int(size * measure.row)
        )
        return min(max(steps, 1), CAP if cap is None else cap)
    if cap is None:
        return None
    alone = not spend.gaussian or not question.keys or cap <= FEW * measure.row
    return cap if alone or asked.fixed else None


def _different(question: Question, measure: Measure) -> int | None:
    """How many different values one unit has in all groups at most; None where that is
    open or very many.
    """
    values = different(measure)
    if values is not None and not question.private_keys:
        values *= math.prod(len(key.values or ()) for key in question.keys)
    found = [
        most
        for most in (values if not question.private_keys else None, measure.most)
        if most is not None
    ]
    return min(found) if found else None


def _listed(question: Question, measure: Measure) -> int | None:
    """How many different values were declared, in all groups. Others may be there too,
    but more is seldom worth it.
    """
    (arg,) = measure.args
    keys = arg.column.keys if isinstance(arg, Ref) else None
    if keys is None or question.private_keys:
        return None
    return len(keys) * math.prod(len(key.values or ()) for key in question.keys)


def different(measure: Measure) -> int | None:
    """How many different whole numbers there are within the bounds, to which values are
    held.
    """
    (arg,) = measure.args
    if (
        arg.type is Type.INTEGER
        and arg.range.low is not None
        and arg.range.high is not None
    ):
        return int(arg.range.high) - int(arg.range.low) + 1
    return None


def _stated(
    question: Question, measure: Measure, stated: dict[str, float]
) -> float | None:
    """What was stated for an output that needs this measure, or for all ("")."""
    for output in question.outputs:
        if output.name in stated and used(output.expr) & set(measure.aggregates):
            return stated[output.name]
    return stated.get("")


def used(expr: Expr) -> set[int]:
    """The aggregates that an expression over releases needs."""
    if isinstance(expr, AggregateLeaf):
        return {expr.index}
    return set().union(*map(used, expr.args)) if isinstance(expr, Call) else set()


def _weights(
    question: Question, asked: Asked, spend: Spend, measures: Sequence[Measure]
) -> list[Fraction]:
    """Parts of the cost that make the sum of the squared errors, in rows, smallest; or
    those that were stated.
    """
    stated = dict(asked.shares)
    if stated:
        sizes = [_stated(question, measure, stated) or 0.0 for measure in measures]
        if not all(size > 0 for size in sizes):
            raise ArgumentError(
                "shares",
                "must name every answer column that is measured, with positive numbers",
            )
    else:
        power = 1.0 if spend.gaussian else 2 / 3
        sizes = [_factor(measure, spend, asked) ** power for measure in measures]
    whole = [max(1, round(1_000_000 * size / sum(sizes))) for size in sizes]
    return [Fraction(size, sum(whole)) for size in whole]


def _factor(measure: Measure, spend: Spend, asked: Asked) -> float:
    """How noisy a measure is for one row's radius, beside a count."""
    match measure.kind:
        case Kind.TREE:
            return 2 * (math.sqrt(measure.levels) if spend.gaussian else measure.levels)
        case Kind.MOMENTS:
            return math.sqrt(2)
        case Kind.DISTINCT:
            return 1.0 if measure.sure else float(asked.values or VALUES)
    return 1.0


def _badness(plan: Plan) -> float:
    """The noise of all items, on a logarithmic scale, for the largest radius that they
    may have.

    A unit in several groups has a larger norm in L1 than in L2; what no unit exceeds is
    the same in both. At the same stated ε, Laplace noise costs an account with a δ a
    multiple of what Gaussian noise does, so it has to be better by a quarter.
    """
    dearer = 1.0 if plan.spend.gaussian or plan.asked.share is not None else DEARER
    longer = 2.0 if plan.question.keys and not plan.spend.gaussian else 1.0
    norms = [
        longer if item.cap is None else item.cap / item.measure.row
        for item in plan.items
    ]
    return sum(
        math.log(plan.per_radius(item) * dearer * norm)
        for item, norm in zip(plan.items, norms, strict=True)
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
        lines.append(f"keys private: at most {plan.keys.most} for each unit, {named}")
    for item in plan.items:
        what = (
            plan.question.aggregates[item.measure.aggregates[0]].text
            or item.measure.function
        )
        lines.append(
            f"measure {what}: {_bounded(plan, item)}, {float(item.whole):.1%} "
            "of the cost"
        )
    return lines


def _bounded(plan: Plan, item: Item) -> str:
    norm = (
        "L1"
        if item.measure.kind in (Kind.TREE, Kind.DISTINCT) or not plan.spend.gaussian
        else "L2"
    )
    size: Any = item.radius
    if size is None:
        most = "" if item.cap is None else f" up to {_size_in_words(item, item.cap)}"
        cut = (
            ""
            if not item.hiding
            else f", what it cuts off measured ({float(item.hiding / item.whole):.0%})"
        )
        return (
            f"{norm} radius{most} chosen privately "
            f"({float(item.choosing / item.whole):.0%} of its part){cut}"
        )
    cut = ""
    if item.hides(size):
        moved = _size_in_words(item, plan.sensitivity(plan.hidden_radius(item, size)))
        cut = (
            f", what that cuts off {moved} "
            f"({float(item.hiding / item.whole):.0%} of its part)"
        )
    return f"{norm} sensitivity {_size_in_words(item, plan.sensitivity(size))}{cut}"


def _size_in_words(item: Item, steps: int) -> str:
    if item.measure.kind is Kind.TOTAL:
        return f"{float(steps * item.measure.step):g}"
    exact = steps / item.measure.row
    what = {Kind.UNITS: "group", Kind.DISTINCT: "value"}.get(item.measure.kind, "row")
    return f"{exact:g} {what}{'s' * (exact != 1)}"
