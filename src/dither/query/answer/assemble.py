"""From noisy integers to the rows of an answer, with an interval for each number: all of it is post-processing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dither.query.answer.estimates import Estimate, Sums, plain
from dither.query.answer.measures import Kind
from dither.query.answer.noisy import Measured, Noisy, radius_of
from dither.query.answer.plan import Item, Plan
from dither.query.answer.quantiles import extreme, quantile, rank
from dither.query.sql import evaluate
from dither.query.sql.evaluate_dates import day, moment
from dither.query.sql.expressions import Expr
from dither.query.sql.question import Aggregate
from dither.query.sql.types import Type

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
        """The groups that HAVING keeps, in the order of their keys or of ORDER BY, cut by LIMIT."""
        question = self.plan.question
        found = self._all()
        if question.having is not None:
            found = [group for group in found if evaluate.value(question.having, group.keys, group.values)]
        for expr, descending in reversed(question.order):
            found.sort(key=_sorting(expr, descending))
        last = None if question.limit is None else question.offset + question.limit
        return found[question.offset : last]

    def _all(self) -> list[Group]:
        columns = [self._estimates(i, aggregate) for i, aggregate in enumerate(self.plan.question.aggregates)]
        keys = list(self._keys())
        order = sorted(range(len(keys)), key=lambda g: keys[g][0])
        return [Group(keys[g][1], tuple(column[g] for column in columns)) for g in order]

    def _keys(self) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """For each group, in the order it was measured in: the places of its keys, for sorting, and the keys."""
        question = self.plan.question
        publics = [range(len(key.values)) for key in question.keys if key.values is not None]
        names: list[tuple[Any, ...]] = list(self.noisy.keys) if self.plan.keys is not None else [()]
        ranks = [_ranks(name[n] for name in names) for n in range(len(names[0]) if names else 0)]
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
                found.append((tuple(place for place, _ in pairs), tuple(value for _, value in pairs)))
        return found

    def _estimates(self, index: int, aggregate: Aggregate) -> list[Estimate]:
        """One estimate for each group."""
        m, item = next((m, item) for m, item in enumerate(self.plan.items) if index in item.measure.aggregates)
        measured = self.noisy.items[m]
        if item.measure.kind is Kind.TREE:
            return self._quantiles(item, measured, aggregate)
        mechanism = self.plan.additive(item, measured.radius)
        if item.measure.kind is Kind.MOMENTS:
            sums = [Sums(item.measure.moments, [int(part) for part in row], mechanism) for row in measured.values]
            return [MOMENTS[aggregate.function](one) for one in sums]
        whole = item.measure.function != "sum" or item.measure.args[0].type is Type.INTEGER
        step = float(item.measure.step)
        found = [plain(int(row[0]), mechanism, step if step != 1 else 1) for row in measured.values]
        return [_whole(one) for one in found] if whole else found

    def _quantiles(self, item: Item, measured: Measured, aggregate: Aggregate) -> list[Estimate]:
        mechanism, leaves, row = self.plan.tree(item, measured.radius), item.measure.leaves, item.measure.row
        fitted: Any = mechanism.fit(measured.values) if len(measured.values) else []
        if aggregate.function == "quantile":
            found = [quantile(counts, aggregate.level or 0.0, leaves, mechanism, row) for counts in fitted]
        else:
            largest = aggregate.function == "max"
            found = [extreme(counts, leaves, mechanism, row, largest=largest) for counts in fitted]
        return [_dated(one, item.measure.args[0].type) for one in found]

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        outputs = self.plan.question.outputs
        return tuple(
            tuple(evaluate.value(output.expr, group.keys, group.values) for output in outputs) for group in self.groups
        )

    def spread(self, confidence: float) -> list[list[Ends | None]]:
        """The interval of each cell. Where several aggregates make a number, all hold together (union bound)."""
        return [
            [self._ends(output.expr, group, confidence) for output in self.plan.question.outputs]
            for group in self.groups
        ]

    def _ends(self, expr: Expr, group: Group, confidence: float) -> Ends | None:
        used = evaluate.leaves(expr)
        if not used:
            return None
        each = 1 - (1 - confidence) / len(used)
        known = [group.estimates[i].ends(each) if i in used else None for i in range(len(group.estimates))]
        return evaluate.ends(expr, group.keys, known)

    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers; every figure in it is public or was charged (rule R2)."""
        found = [note for item, measured in self._items() for note in self._clipping(item, measured)]
        for aggregate in self.plan.question.aggregates:
            if aggregate.function in ("min", "max"):
                found.append(self._extreme(aggregate))
        if self.plan.keys is not None:
            found.append(
                f"keys are private: one is named if about {self.plan.keys.threshold} units or more have it; "
                f"a unit counts for at most {self.plan.keys.most} of them"
            )
            if len(self.noisy.keys) == self.plan.most_named:
                found.append(f"no more than {self.plan.most_named:,} keys are named at a time: those of the most units")
        return tuple(dict.fromkeys(found))

    def _items(self) -> Sequence[tuple[Item, Measured]]:
        return list(zip(self.plan.items, self.noisy.items, strict=True))

    def _clipping(self, item: Item, measured: Measured) -> list[str]:
        measure, what = item.measure, self.plan.question.aggregates[item.measure.aggregates[0]].text
        if measure.kind is Kind.DISTINCT:
            most = f"{what}: a unit counts for at most {measured.radius} different values"
            return [] if measure.sure else [most]
        if measure.sure:
            bounded = measure.kind in (Kind.MOMENTS, Kind.TREE) or measure.function == "sum"
            return ["values count within their bounds; intervals cover the noise"] if bounded else []
        size = measured.radius * float(measure.step) if measure.kind is Kind.TOTAL else measured.radius / measure.row
        words = f"{what}: one unit counts for at most {size:.6g}{_of(item)}".replace(" 1 rows", " 1 row").replace(
            " 1 groups", " 1 group"
        )
        if measured.units is None:
            return [f"{words}; intervals cover the noise, not what that changes"]
        chosen = radius_of(self.plan, item, measured.units, len(measured.values))
        about = chosen.in_words(weighs=measure.kind in (Kind.MOMENTS, Kind.TREE))
        return [f"{words} (chosen privately; {about}); intervals cover the noise alone"]

    def _extreme(self, aggregate: Aggregate) -> str:
        item, measured = next(
            (item, measured)
            for item, measured in self._items()
            if item.measure.kind is Kind.TREE and item.measure.args == aggregate.args
        )
        mechanism, largest = self.plan.tree(item, measured.radius), aggregate.function == "max"
        rows = rank(mechanism, item.measure.row, largest=largest) / item.measure.row
        side = "at or above" if largest else "at or below"
        return f"{aggregate.text}: an extreme quantile, the value that about {math.ceil(rows):,} rows lie {side}"


def _of(item: Item) -> str:
    match item.measure.kind:
        case Kind.TOTAL if item.measure.function == "sum":
            return " in all"
        case Kind.UNITS:
            return " groups"
    return " rows"


def _ranks(values: Iterable[Any]) -> dict[Any, int]:
    return {value: place for place, value in enumerate(sorted(set(values)))}


def _sorting(expr: Expr, descending: bool) -> Callable[[Group], Any]:
    """NULLs last, either way."""

    def place(group: Group) -> Any:
        value = evaluate.value(expr, group.keys, group.values)
        return value is None, _Reversed(value) if descending else _Plain(value)

    return place


@dataclass(frozen=True)
class _Plain:
    value: Any

    def __lt__(self, other: _Plain) -> bool:
        return self.value is not None and other.value is not None and bool(self.value < other.value)


@dataclass(frozen=True)
class _Reversed:
    value: Any

    def __lt__(self, other: _Reversed) -> bool:
        return self.value is not None and other.value is not None and bool(other.value < self.value)


@dataclass(frozen=True)
class Whole:
    """The ends of a number that is known to be whole."""

    inner: Estimate

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return math.ceil(low - 1e-9), math.floor(high + 1e-9)


def _whole(estimate: Estimate) -> Estimate:
    return Estimate(round(estimate.value), Whole(estimate))


@dataclass(frozen=True)
class Dated:
    """The ends of a date or a timestamp that was measured as a number."""

    inner: Estimate
    convert: Callable[[int], Any]

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return self.convert(int(low)), self.convert(int(high))


def _dated(estimate: Estimate, type_: Type) -> Estimate:
    if type_ not in (Type.DATE, Type.TIMESTAMP):
        return estimate
    convert = day if type_ is Type.DATE else moment
    return Estimate(convert(int(estimate.value)), Dated(estimate, convert))


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
