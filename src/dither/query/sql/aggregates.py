"""Aggregates: from the many ways to write them to the few that can be released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import literal
from dither.query.operations.expressions import Expr, Ref
from dither.query.operations.reading import constant
from dither.query.sql.question import Aggregate
from dither.query.sql.refusals import only, refuse
from dither.query.sql.scalars import Scalars
from dither.query.sql.scope import OWNER, Rows

__all__ = ["ORDERED", "Reader", "aggregates_in", "is_aggregate", "released"]

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
ANONYMOUS = {"MEAN": "avg", "VAR": "var_samp"}
ORDERED = (Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP)
COUNTS = Range(-(2**53), 2**53)
SUMS = Range(-(2**61), 2**61)


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in ANONYMOUS
    return isinstance(
        node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls
    )


def aggregates_in(node: exp.Expr) -> bool:
    """Whether an aggregate stands in an expression (and not in a SELECT inside it)."""
    return any(
        is_aggregate(part)
        for part in node.walk(
            prune=lambda part: isinstance(part, exp.Query | exp.Window)
        )
    )


def released(aggregate: Aggregate) -> tuple[Type, Range]:
    """The type and range of a released aggregate. Noise can make a count negative; a
    minimum stays in range.
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
class Reader:
    """Reads aggregates over the rows of a FROM clause; `scalars` binds their arguments."""

    scalars: Scalars
    rows: Rows

    def read(self, node: exp.Expr) -> Aggregate:
        text = self.scalars.text.call(node, NAMES)
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
        return Aggregate(found.function, args, found.level, text)

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
            case exp.Anonymous() if is_aggregate(node) and len(node.expressions) == 1:
                return Aggregate(
                    ANONYMOUS[str(node.this).upper()],
                    (self._argument(node.expressions[0]),),
                )
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
                "COUNT(DISTINCT …) takes one value; make one text of several, such as "
                "COUNT(DISTINCT CAST(a AS TEXT) || '/' || b)"
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
                "DISTINCT stands only in COUNT(DISTINCT x); make each unit's "
                "values distinct in a SELECT inside FROM"
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
                "WITHIN GROUP belongs to PERCENTILE_CONT(0.5) and orders by one column",
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
            "a quantile needs one constant level from 0 to 1; ask for "
            "several levels as several columns"
        )
        raise self.scalars.text.problem(message, node)
