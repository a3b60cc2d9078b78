"""Aggregates: the many ways to write them, the few that can be released, what they may
be taken of, and the expressions over groups in which they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.limits import AGGREGATES
from dither.query.catalogue.names import same
from dither.query.catalogue.types import ANY, NUMERIC, Range, Type
from dither.query.operations.arguments import literal
from dither.query.operations.expressions import (
    AggregateLeaf,
    Expr,
    KeyLeaf,
    Ref,
    refs,
)
from dither.query.operations.reading import constant
from dither.query.sql.question import Aggregate
from dither.query.sql.scope import (
    ANONYMOUS,
    OWNER,
    Rows,
    Scalars,
    Scope,
    aggregates_in,
    only,
    row_scalars,
)
from dither.query.sql.text import QueryText, refuse

__all__ = ["Grouping", "Item", "check_bounds", "check_types"]

WRITTEN = (
    "COUNT COUNT_IF COUNTIF SUM AVG MEAN VAR VARIANCE VAR_SAMP "
    "VAR_POP STDDEV STDDEV_SAMP STDDEV_POP COVAR_SAMP "
    "COVAR_POP CORR MIN MAX MEDIAN QUANTILE QUANTILE_CONT "
    "QUANTILE_DISC APPROX_QUANTILE PERCENTILE_CONT PERCENTILE_DISC"
)
NAMES = frozenset(WRITTEN.split())
ONE: dict[Any, str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Min: "min",
    exp.Max: "max",
}
TWO: dict[Any, str] = {
    exp.CovarSamp: "covar_samp",
    exp.CovarPop: "covar_pop",
    exp.Corr: "corr",
}
LEVELS: dict[Any, str] = {
    exp.PercentileCont: "expression",
    exp.PercentileDisc: "expression",
    exp.Quantile: "quantile",
    exp.ApproxQuantile: "quantile",
}
ORDERED = (Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP)
FREE = ("count", "units", "distinct")
EXTREMES = ("min", "max", "quantile")
UNNAMED = "x"
"""Stands for an argument that is long, or not found in the text of the question."""
SHORT = 50
"""Most characters of an argument that a message repeats."""
COUNTS = Range(-(2**53), 2**53)
SUMS = Range(-(2**61), 2**61)


def _released(aggregate: Aggregate) -> tuple[Type, Range]:
    """The type and range of a released aggregate. Noise can make a count larger than the
    table; a minimum stays in range.
    """
    if aggregate.function in ("count", "units", "distinct"):
        return Type.INTEGER, COUNTS
    first = aggregate.args[0]
    if aggregate.function in ("min", "max", "quantile"):
        return first.type, first.range
    if aggregate.function == "sum" and first.type is Type.INTEGER:
        return Type.INTEGER, SUMS
    return Type.REAL, ANY


@dataclass(frozen=True)
class _Reader:
    """Reads aggregates over the rows of a FROM clause; `scalars` binds their arguments."""

    scalars: Scalars
    rows: Rows

    def read(self, node: exp.Expr) -> Aggregate:
        inner, condition = node, None
        if isinstance(node, exp.Filter):
            only(self.scalars.text, node, "this", "expression")
            only(self.scalars.text, node.expression, "this")
            inner, condition = (
                node.this,
                self.scalars.condition(node.expression.this, "FILTER"),
            )
        found = self._plain(inner)
        args = (
            found.args if condition is None else self._filtered(node, condition, found)
        )
        return replace(found, args=args)

    def _filtered(
        self, node: exp.Expr, condition: Expr, found: Aggregate
    ) -> tuple[Expr, ...]:
        """FILTER as a CASE: an aggregate leaves out rows whose first argument is NULL."""
        first = found.args[0] if found.args else literal(1)
        return (
            self.scalars.call(node, "case", condition, first, literal(None)),
            *found.args[1:],
        )

    def _plain(self, node: exp.Expr) -> Aggregate:
        match node:
            case exp.Count():
                return self._count(node)
            case exp.CountIf():
                only(self.scalars.text, node, "this")
                condition = self.scalars.condition(node.this, "COUNT_IF")
                return Aggregate(
                    "count",
                    (
                        self.scalars.call(
                            node, "case", condition, literal(1), literal(None)
                        ),
                    ),
                )
            case exp.Median():
                only(self.scalars.text, node, "this")
                return Aggregate("quantile", (self._argument(node.this),), 0.5)
            case exp.WithinGroup():
                return self._within(node)
            case exp.Anonymous(this=str(name), expressions=[arg]) if (
                name.upper() in ANONYMOUS
            ):
                return Aggregate(ANONYMOUS[name.upper()], (self._argument(arg),))
        return self._listed(node)

    def _listed(self, node: exp.Expr) -> Aggregate:
        kind = type(node)
        if kind in ONE:
            only(self.scalars.text, node, "this")
            return Aggregate(
                ONE[kind], (self._truths(ONE[kind], node, self._argument(node.this)),)
            )
        if kind in TWO:
            only(self.scalars.text, node, "this", "expression")
            return Aggregate(
                TWO[kind], (self._argument(node.this), self._argument(node.expression))
            )
        if kind in LEVELS:
            only(self.scalars.text, node, "this", LEVELS[kind])
            return Aggregate(
                "quantile",
                (self._argument(node.this),),
                self._level(node, node.args.get(LEVELS[kind])),
            )
        raise refuse(self.scalars.text, node)

    def _count(self, node: exp.Count) -> Aggregate:
        only(self.scalars.text, node, "this", "big_int")
        what = node.this
        if isinstance(what, exp.Star):
            only(self.scalars.text, what)
            return Aggregate("count")
        if isinstance(what, exp.Distinct):
            return self._distinct(what)
        if what is None or node.expressions:
            raise self.scalars.text.problem(
                "COUNT takes one argument; write COUNT(*) or COUNT(x)", node
            )
        arg = self._argument(what)
        return (
            Aggregate("count")
            if constant(what) is not None
            else Aggregate("count", (arg,))
        )

    def _distinct(self, node: exp.Distinct) -> Aggregate:
        only(self.scalars.text, node, "expressions")
        if len(node.expressions) != 1 or isinstance(
            node.expressions[0].unnest(), exp.Tuple
        ):
            message = (
                "COUNT(DISTINCT …) takes one value; combine several into one string, "
                "such as COUNT(DISTINCT CAST(a AS TEXT) || '/' || b)"
            )
            raise self.scalars.text.problem(message, node)
        arg = self._argument(node.expressions[0])
        if isinstance(arg, Ref) and OWNER in self.rows.ids[arg.index]:
            # The id of the row's owner: where it cannot be NULL, each owner of a row
            # counts.
            return Aggregate("units", () if arg.column.owner else (arg,))
        return Aggregate("distinct", (arg,))

    def _argument(self, node: exp.Expr | None) -> Expr:
        if isinstance(node, exp.Distinct):
            message = (
                "COUNT is the only aggregate that supports DISTINCT; remove each unit's "
                "repeated values with a subquery in FROM, such as (SELECT DISTINCT id, x "
                "FROM …)"
            )
            raise self.scalars.text.problem(message, node, "DISTINCT")
        return self.scalars.bind(node)

    def _truths(self, function: str, node: exp.Expr, arg: Expr) -> Expr:
        """SUM and AVG of a condition count 1 for true and 0 for false."""
        if arg.type is not Type.BOOLEAN or function not in ("sum", "avg"):
            return arg
        false = self.scalars.call(node, "not", arg)
        return self.scalars.call(
            node, "case", arg, literal(1), false, literal(0), literal(None)
        )

    def _within(self, node: exp.WithinGroup) -> Aggregate:
        """PERCENTILE_CONT(level) WITHIN GROUP (ORDER BY x)."""
        text, function, order = self.scalars.text, node.this, node.expression
        only(text, node, "this", "expression")
        if (
            type(function) not in (exp.PercentileCont, exp.PercentileDisc)
            or len(order.expressions) != 1
        ):
            raise text.problem(
                "WITHIN GROUP needs PERCENTILE_CONT or PERCENTILE_DISC, and orders by one "
                "column; write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
                node,
            )
        only(text, function, "this")
        only(text, order, "expressions")
        only(text, order.expressions[0], "this", "desc")
        level = self._level(function, function.this)
        down = order.expressions[0].args.get("desc")
        return Aggregate(
            "quantile",
            (self._argument(order.expressions[0].this),),
            1 - level if down else level,
        )

    def _level(self, node: exp.Expr, level: exp.Expr | None) -> float:
        value = constant(level)
        if isinstance(value, int | float) and 0 <= value <= 1:
            return float(value)
        message = (
            "a quantile needs a constant level from 0 to 1; select several levels as "
            "several columns"
        )
        raise self.scalars.text.problem(message, node)


def check_types(
    text: QueryText, node: exp.Expr, rows: Rows, aggregate: Aggregate
) -> None:
    for arg in aggregate.args:
        if isinstance(arg, Ref) and OWNER in rows.ids[arg.index]:
            name = arg.column.name
            raise text.problem(
                f"{name!r} is the unit's id and can only be counted; write "
                f"COUNT(DISTINCT {name})",
                node,
            )
        if aggregate.function in EXTREMES and arg.type not in ORDERED:
            raise text.problem(
                f"{aggregate.text} needs numbers or dates; count the values with "
                "GROUP BY instead",
                node,
            )
        if aggregate.function not in EXTREMES and arg.type not in NUMERIC:
            name = _written(text, node, aggregate, arg)
            way_out = _number(arg, name)
            raise text.problem(f"{aggregate.text} needs numbers; {way_out}", node)


def check_bounds(text: QueryText, node: exp.Expr, aggregate: Aggregate) -> None:
    for arg in aggregate.args:
        if arg.range.low is None or arg.range.high is None:
            name = _written(text, node, aggregate, arg)
            raise text.problem(_missing(aggregate, arg, name), node)


def _written(text: QueryText, node: exp.Expr, aggregate: Aggregate, arg: Expr) -> str:
    """An argument as the question has it, for a way out that can be copied, if it is
    short.
    """
    if isinstance(arg, Ref):
        return arg.column.name
    first = arg == aggregate.args[0] and not isinstance(node, exp.WithinGroup)
    found = text.argument(node, NAMES) if first else ""
    return found if 0 < len(found) <= SHORT else UNNAMED


def _number(arg: Expr, name: str) -> str:
    if arg.type in (Type.DATE, Type.TIMESTAMP):
        return (
            "for dates, use MIN, MAX or MEDIAN, or get numbers with DATE_DIFF or "
            "EXTRACT"
        )
    return (
        f"write LEAST(GREATEST(CAST({name} AS DOUBLE), 0), 100) instead of {name}, with "
        f"public bounds, or use COUNT({name})"
    )


def _missing(aggregate: Aggregate, arg: Expr, name: str) -> str:
    """The missing bound and the two ways out."""
    sides = [
        side
        for side, end in (("lower", arg.range.low), ("upper", arg.range.high))
        if end is None
    ]
    missing = " or ".join(sides)
    unnamed = "its argument" if name == UNNAMED else name
    what = repr(arg.column.name) if isinstance(arg, Ref) else unnamed
    low, high = (
        ("DATE '2020-01-01'", "DATE '2024-12-31'")
        if arg.type in (Type.DATE, Type.TIMESTAMP)
        else ("0", "100")
    )
    clamp = f"clamp the values in the SQL: LEAST(GREATEST({name}, {low}), {high})"
    declare = "declare bounds (with bounds= or in the catalogue), or "
    numbers = any(ref.type in ORDERED for ref in refs(arg))
    way_out = f"{declare}{clamp}" if numbers else clamp
    return (
        f"{aggregate.text} needs bounds, but {what} has no {missing} bound; {way_out}"
    )


@dataclass(frozen=True)
class Item:
    """An item of SELECT: its expression, the alias it was given, if any, and the name
    that its column gets.
    """

    node: exp.Expr
    alias: str
    name: str


@dataclass
class Grouping:
    """Binds expressions over groups, and collects the aggregates they need. Here they
    are released; within a unit they are columns of a summary.
    """

    text: QueryText
    scope: Scope
    keys: list[Expr]
    items: list[Item]
    aggregates: list[Aggregate] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scalars = Scalars(self.text, self._leaf, self._aggregate)
        # Keys are looked for with it as well: the errors of a search are never shown.
        self.rows = row_scalars(self.text, self.scope, "an aggregate")

    def key(self, index: int) -> Expr:
        """A key of the group, after aggregation."""
        return KeyLeaf(self.keys[index].type, self.keys[index].range, index)

    def aggregate(self, index: int, found: Aggregate) -> Expr:
        """The value of an aggregate, after aggregation."""
        return AggregateLeaf(*_released(found), index)

    def check(self, node: exp.Expr, found: Aggregate) -> None:
        """Refuse an aggregate whose noise no bound could be computed for."""
        if found.function not in FREE:
            check_types(self.text, node, self.scope.rows, found)
            check_bounds(self.text, node, found)

    def _leaf(self, node: exp.Expr) -> Expr | None:
        found = None if isinstance(node, exp.Star) else self._key(node)
        if found is not None:
            return found
        return self._named(node) if isinstance(node, exp.Column) else None

    def _key(self, node: exp.Expr) -> Expr | None:
        if aggregates_in(node):
            return None
        try:
            expr = self.rows.bind(node)
        except QueryError:
            return None  # an alias stands in it, or it is wrong: its parts will tell
        return self.key(self.keys.index(expr)) if expr in self.keys else None

    def _named(self, node: exp.Column) -> Expr:
        """A name that is no key: another item of SELECT by its alias."""
        for item in self.items:
            if not node.table and item.alias and same(item.alias, node.name):
                # in an item of SELECT, aliases have no meaning
                return replace(self, items=[]).scalars.bind(item.node)
        column = self.scope.ref(self.text, node).column.name
        way = f"add {column} to GROUP BY, or aggregate it, as in COUNT({column})"
        raise self.text.problem(
            f"{column!r} is neither in GROUP BY nor in an aggregate; {way}", node
        )

    def _aggregate(self, node: exp.Expr) -> Expr:
        found = _Reader(self.rows, self.scope.rows).read(node)
        for index, known in enumerate(self.aggregates):
            if replace(known, text="") == found:
                return self.aggregate(index, known)
        found = replace(found, text=self.text.call(node, NAMES))
        self.check(node, found)
        if len(self.aggregates) >= AGGREGATES:
            raise self.text.problem(
                f"a SELECT may have at most {AGGREGATES} aggregates; select fewer", node
            )
        self.aggregates.append(found)
        return self.aggregate(len(self.aggregates) - 1, found)
