"""From sqlglot's expressions to ours: an allow-list of nodes, each with the parts that
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.operators import TypeProblem, call, literal
from dither.query.sql.constants import constant, folded, plain
from dither.query.sql.refusals import only, refuse
from dither.query.sql.text import Source

__all__ = ["OPERATORS", "Handler", "Scalars", "conjuncts", "operation"]


@dataclass(frozen=True)
class Scalars:
    """Binds scalar expressions. `leaf` binds what differs from place to place: columns,
    keys, aggregates.
    """

    source: Source
    handlers: Mapping[type[exp.Expr], Handler]
    leaf: Callable[[exp.Expr], Expr | None]

    def bind(self, node: exp.Expr | None) -> Expr:
        if node is None:
            raise self.source.problem(
                "a function lacks an argument; write what it is taken of in its "
                "brackets"
            )
        found = self.leaf(node)
        if found is not None:
            return found
        handler = self.handlers.get(type(node))
        if handler is None:
            raise refuse(self.source, node)
        only(self.source, node, *handler.parts)
        return handler.build(self, node)

    def condition(self, node: exp.Expr, what: str) -> Expr:
        """An expression that is true or false."""
        found = self.bind(node)
        if found.type is Type.BOOLEAN:
            return found
        raise self.source.problem(
            f"{what} needs a condition; write a comparison such as x > 0", node
        )

    def call(
        self, node: exp.Expr, op: str, *args: Expr, options: tuple[Any, ...] = ()
    ) -> Expr:
        try:
            return call(op, *args, options=options)
        except TypeProblem as problem:
            raise self.source.problem(str(problem), node) from None

    def literal(self, node: exp.Expr, value: Any) -> Literal:
        try:
            return literal(value)
        except TypeProblem as problem:
            raise self.source.problem(str(problem), node) from None

    def constant(self, node: exp.Expr | None, what: str) -> Any:
        """The value of a part that must be written as a constant."""
        found = constant(node)
        if found is None:
            raise self.source.problem(
                f"{what} must be a constant; write a number or a text", node
            )
        return found

    def whole(self, node: exp.Expr | None, what: str) -> int:
        value = self.constant(node, what)
        if isinstance(value, int):
            return value
        raise self.source.problem(f"{what} must be a whole number", node)


@dataclass(frozen=True)
class Handler:
    """How one kind of node is bound, and which of its parts are read. Any other part is
    refused.
    """

    build: Callable[[Scalars, Any], Expr]
    parts: tuple[str, ...]


def conjuncts(expr: Expr) -> Iterator[Expr]:
    """The conditions that are joined by AND."""
    if isinstance(expr, Call) and expr.op == "and":
        for arg in expr.args:
            yield from conjuncts(arg)
    else:
        yield expr


def _literal(scalars: Scalars, node: exp.Expr) -> Expr:
    value = constant(node)
    if value is None:
        raise scalars.source.problem(
            "this number cannot be read; write it in decimal digits", node
        )
    return scalars.literal(node, value)


def _negative(scalars: Scalars, node: exp.Neg) -> Expr:
    value = constant(node)
    if isinstance(value, int | float):
        return scalars.literal(node, value)
    return scalars.call(node, "neg", scalars.bind(node.this))


def _brackets(scalars: Scalars, node: exp.Paren) -> Expr:
    return scalars.bind(node.this)


def _fixed(value: Any) -> Callable[[Scalars, exp.Expr], Expr]:
    return lambda scalars, node: scalars.literal(node, value)


def _truth(scalars: Scalars, node: exp.Boolean) -> Expr:
    return scalars.literal(node, bool(node.this))


def _product(scalars: Scalars, node: exp.Mul) -> Expr:
    value = folded(node)
    if value is not None:
        return scalars.literal(node, value)
    return scalars.call(
        node, "mul", scalars.bind(node.this), scalars.bind(node.expression)
    )


def operation(op: str, *parts: str) -> Handler:
    """A node whose parts are the operation's arguments in this order."""

    def build(scalars: Scalars, node: exp.Expr) -> Expr:
        return scalars.call(
            node,
            op,
            *(scalars.bind(node.args[part]) for part in parts if node.args.get(part)),
        )

    return Handler(build, parts)


def _chain(op: str) -> Callable[[Scalars, exp.Expr], Expr]:
    """A chain of AND or OR as one operation, however long it is."""

    def build(scalars: Scalars, node: exp.Expr) -> Expr:
        links: list[exp.Expr] = []
        rest = [node]
        while rest:
            found = rest.pop()
            if type(found) is type(node):
                only(scalars.source, found, "this", "expression")
                rest += [found.expression, found.this]
            else:
                links.append(found)
        return scalars.call(node, op, *(scalars.bind(link) for link in links))

    return build


def _not(scalars: Scalars, node: exp.Not) -> Expr:
    inner = plain(node.this)
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        only(scalars.source, inner, "this", "expression")
        return scalars.call(node, "is_not_null", scalars.bind(inner.this))
    return scalars.call(node, "not", scalars.bind(node.this))


def _is(scalars: Scalars, node: exp.Is) -> Expr:
    wanted, value = node.expression, scalars.bind(node.this)
    if isinstance(wanted, exp.Null):
        return scalars.call(node, "is_null", value)
    if isinstance(wanted, exp.Boolean):
        return scalars.call(node, "is_true" if wanted.this else "is_false", value)
    raise scalars.source.problem(
        "IS compares with NULL, TRUE or FALSE; write = for other values", node
    )


def _in(scalars: Scalars, node: exp.In) -> Expr:
    if node.args.get("query") is not None:
        message = (
            "IN (SELECT …) stands only in WHERE, joined to the rest by AND; "
            "move it there"
        )
        raise scalars.source.problem(message, node)
    if not node.expressions:
        raise scalars.source.problem(
            "IN needs a list of values; write x IN (1, 2)", node
        )
    return scalars.call(
        node,
        "in",
        scalars.bind(node.this),
        *(scalars.bind(item) for item in node.expressions),
    )


def _between(scalars: Scalars, node: exp.Between) -> Expr:
    return scalars.call(
        node,
        "between",
        *(scalars.bind(node.args[part]) for part in ("this", "low", "high")),
    )


def _case(scalars: Scalars, node: exp.Case) -> Expr:
    subject = None if node.this is None else scalars.bind(node.this)
    args: list[Expr] = []
    for branch in node.args["ifs"]:
        only(scalars.source, branch, "this", "true")
        when = scalars.bind(branch.this)
        args.append(
            when if subject is None else scalars.call(branch, "eq", subject, when)
        )
        args.append(scalars.bind(branch.args["true"]))
    default = node.args.get("default")
    return scalars.call(
        node, "case", *args, literal(None) if default is None else scalars.bind(default)
    )


def _if(scalars: Scalars, node: exp.If) -> Expr:
    otherwise = node.args.get("false")
    last = literal(None) if otherwise is None else scalars.bind(otherwise)
    return scalars.call(
        node, "case", scalars.bind(node.this), scalars.bind(node.args["true"]), last
    )


BINARY = ("this", "expression")
OPERATIONS = {
    exp.IntDiv: "intdiv",
    exp.Mod: "mod",
    exp.Pow: "power",
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.NullSafeEQ: "is_not_distinct",
    exp.NullSafeNEQ: "is_distinct",
}
OPERATORS: dict[type[exp.Expr], Handler] = {
    exp.Literal: Handler(_literal, ("this", "is_string")),
    exp.Null: Handler(_fixed(None), ()),
    exp.Boolean: Handler(_truth, ("this",)),
    exp.Neg: Handler(_negative, ("this",)),
    exp.Paren: Handler(_brackets, ("this",)),
    exp.Mul: Handler(_product, BINARY),
    **{kind: operation(op, *BINARY) for kind, op in OPERATIONS.items()},
    exp.And: Handler(_chain("and"), BINARY),
    exp.Or: Handler(_chain("or"), BINARY),
    exp.Not: Handler(_not, ("this",)),
    exp.Is: Handler(_is, BINARY),
    exp.In: Handler(_in, ("this", "expressions", "query", "field")),
    exp.Between: Handler(_between, ("this", "low", "high")),
    exp.Case: Handler(_case, ("this", "ifs", "default")),
    exp.If: Handler(_if, ("this", "true", "false")),
}
