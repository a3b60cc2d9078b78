"""How operations are read from SQL: which of sqlglot's nodes means one, and what is
written as a constant in it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from sqlglot import exp

from dither.errors import QueryError
from dither.query.operations.expressions import Expr

__all__ = ["BINARY", "Binder", "Reading", "Written", "constant", "folded", "plain"]

DECIMAL = re.compile(r"\d{1,20}(\.\d{0,20})?|\.\d{1,20}")
ARITHMETIC: dict[type[exp.Expr], Callable[[Fraction, Fraction], Fraction]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


class Binder(Protocol):
    """Binds what stands in a question, and reports what cannot be asked."""

    def bind(self, node: exp.Expr | None) -> Expr:
        """The expression that a node means."""

    def call(
        self, node: exp.Expr, op: str, *args: Expr, options: tuple[Any, ...] = ()
    ) -> Expr:
        """An operation; the node is where a problem with it is shown."""

    def literal(self, node: exp.Expr, value: Any) -> Expr:
        """A constant."""

    def constant(self, node: exp.Expr | None, what: str) -> Any:
        """The value of a part that must be written as a constant."""

    def whole(self, node: exp.Expr | None, what: str) -> int:
        """The same for a whole number."""

    def only(self, node: exp.Expr, *parts: str) -> None:
        """Refuse a node that has any other part."""

    def problem(self, message: str, node: exp.Expr, word: str = "") -> QueryError:
        """The error that says what is wrong with a node."""


class Written(Protocol):
    """A node of a question, as the operations that it may mean see it."""

    @property
    def node(self) -> Any:
        """The node itself."""

    @property
    def binder(self) -> Binder:
        """Binds what else stands in the node."""

    def arg(self, part: str = "this") -> Expr:
        """A part of the node as an expression."""

    def many(self, part: str = "expressions") -> list[Expr]:
        """A part that is a list."""

    def call(self, op: str, *args: Expr, options: tuple[Any, ...] = ()) -> Expr:
        """An operation in the place of the node."""

    def problem(self, message: str) -> QueryError:
        """The error that says what is wrong with the node."""


@dataclass(frozen=True)
class Reading:
    """One way to write an operation in SQL.

    `form` is sqlglot's node, or the name of a function that it has no node for. The
    arguments are the parts named in `args` that are there. Parts in `also` are read, or
    say how DuckDB reads the node, which is how we do; any other part is refused.

    `bind` makes something else of the node than a call with these arguments. It gives
    None to leave the node to the other operations that are written alike. They are
    asked in the order of their records, and those that take what is left are `last`.
    """

    form: type[exp.Expr] | str
    args: tuple[str, ...] = ("this",)
    also: tuple[str, ...] = ()
    bind: Callable[[Written], Expr | None] | None = None
    last: bool = False
    count: int | None = None
    """Number of arguments of a function without a node."""

    @property
    def key(self) -> object:
        """The key that a node is looked up by."""
        return self.form if self.count is None else (self.form, self.count)

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts of the node that are read."""
        return (*self.args, *self.also)


BINARY = ("this", "expression")


def plain(node: exp.Expr) -> exp.Expr:
    """The node without brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def constant(node: exp.Expr | None) -> int | float | str | None:
    """The value of a number, a negative number or a string; None for anything else."""
    node = plain(node) if node is not None else None
    if isinstance(node, exp.Neg):
        value = constant(node.this)
        return -value if isinstance(value, int | float) else None
    if not isinstance(node, exp.Literal):
        return None
    return str(node.this) if node.is_string else _number(str(node.this))


def _number(text: str) -> int | float | None:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return None


def folded(node: exp.Expr) -> float | None:
    """Arithmetic of written decimals as one number; None if it is anything else."""
    value = _exact(node)
    if value is None or not any(
        "." in str(part.this) for part in node.find_all(exp.Literal)
    ):
        return None
    return float(value)


def _exact(node: exp.Expr) -> Fraction | None:
    """The value of sums, differences and products of written numbers: in SQL these are
    decimals, and exact.

    `x BETWEEN 0.06 - 0.01 AND 0.06 + 0.01` holds for 0.07, which a sum of reals would
    just miss.
    """
    node = plain(node)
    if isinstance(node, exp.Literal):
        written = not node.is_string and DECIMAL.fullmatch(str(node.this))
        return Fraction(Decimal(str(node.this))) if written else None
    if isinstance(node, exp.Neg):
        value = _exact(node.this)
        return None if value is None else -value
    if type(node) not in ARITHMETIC:
        return None
    right = _exact(node.expression)
    left = None if right is None else _exact(node.this)
    return (
        None if left is None or right is None else ARITHMETIC[type(node)](left, right)
    )
