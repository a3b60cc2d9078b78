"""From sqlglot's expressions to ours. What a node means is in the records of the
operations; here are constants, brackets, and what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.types import Type
from dither.query.operations.calls import (
    Readings,
    TypeProblem,
    call,
    literal,
    readings,
)
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import Written, constant
from dither.query.sql.refusals import CLOCK, only, refuse
from dither.query.sql.text import QueryText

__all__ = ["Scalars", "conjuncts"]

CLOCKS = ("NOW", "TODAY", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP")


@dataclass(frozen=True)
class Scalars:
    """Binds scalar expressions. `leaf` binds what differs from place to place: columns,
    keys, aggregates.
    """

    text: QueryText
    leaf: Callable[[exp.Expr], Expr | None]

    def bind(self, node: exp.Expr | None) -> Expr:
        """The expression that a node means: a leaf, a constant, or an operation."""
        if node is None:
            raise self.text.problem(
                "a function lacks an argument; write what it is taken of in its "
                "brackets"
            )
        found = self.leaf(node)
        if found is not None:
            return found
        if type(node) in PLAIN:
            parts, bind = PLAIN[type(node)]
            self.only(node, *parts)
            return bind(self, node)
        written = Written(node, self)
        for record, reading in self._asked(node):
            found = reading.read(record.name, written)
            if found is not None:
                return found
        raise refuse(self.text, node)

    def _asked(self, node: exp.Expr) -> Readings:
        """The operations that a node may mean. Parts that none of them reads are
        refused.
        """
        asked = readings(node)
        if isinstance(node, exp.Anonymous):
            self.only(node, "this", "expressions")
            if str(node.this).upper() in CLOCKS:
                raise self.problem(CLOCK, node)
        elif asked:
            self.only(node, *{part for _, reading in asked for part in reading.parts})
        return asked

    def only(self, node: exp.Expr, *parts: str) -> None:
        """Refuse a node that has any other part."""
        only(self.text, node, *parts)

    def problem(self, message: str, node: exp.Expr, word: str = "") -> QueryError:
        """The error that says what is wrong with a node."""
        return self.text.problem(message, node, word)

    def condition(self, node: exp.Expr, what: str) -> Expr:
        """An expression that is true or false."""
        found = self.bind(node)
        if found.type is Type.BOOLEAN:
            return found
        raise self.text.problem(
            f"{what} needs a condition; write a comparison such as x > 0", node
        )

    def call(
        self, node: exp.Expr, op: str, *args: Expr, options: tuple[Any, ...] = ()
    ) -> Expr:
        try:
            return call(op, *args, options=options)
        except TypeProblem as problem:
            raise self.text.problem(str(problem), node) from None

    def literal(self, node: exp.Expr, value: Any) -> Literal:
        try:
            return literal(value)
        except TypeProblem as problem:
            raise self.text.problem(str(problem), node) from None

    def constant(self, node: exp.Expr | None, what: str) -> Any:
        """The value of a part that must be written as a constant."""
        found = constant(node)
        if found is None:
            raise self.text.problem(
                f"{what} must be a constant; write a number or a text", node
            )
        return found

    def whole(self, node: exp.Expr | None, what: str) -> int:
        value = self.constant(node, what)
        if isinstance(value, int):
            return value
        raise self.text.problem(f"{what} must be a whole number", node)


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
        raise scalars.problem(
            "this number cannot be read; write it in decimal digits", node
        )
    return scalars.literal(node, value)


Bind = Callable[[Scalars, exp.Expr], Expr]
PLAIN: dict[type[exp.Expr], tuple[tuple[str, ...], Bind]] = {
    exp.Literal: (("this", "is_string"), _literal),
    exp.Null: ((), lambda scalars, node: scalars.literal(node, None)),
    exp.Boolean: (
        ("this",),
        lambda scalars, node: scalars.literal(node, bool(node.this)),
    ),
    exp.Paren: (("this",), lambda scalars, node: scalars.bind(node.this)),
}
"""Nodes that are no operations: the parts they have, and what they mean."""
