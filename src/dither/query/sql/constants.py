"""What is written as a constant: numbers, texts, and arithmetic of decimals."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

__all__ = ["constant", "folded", "plain"]

DECIMAL = re.compile(r"\d{1,20}(\.\d{0,20})?|\.\d{1,20}")
ARITHMETIC: dict[type[exp.Expr], Callable[[Fraction, Fraction], Fraction]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


def plain(node: exp.Expr) -> exp.Expr:
    """The node without brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def constant(node: exp.Expr | None) -> int | float | str | None:
    """The value of a number, a negative number or a text; None for anything else."""
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
