"""A bound question: which rows, which keys, which aggregates, and what is done with the
released answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.query.catalogue.types import Keys
from dither.query.operations.expressions import AggregateLeaf, Call, Expr
from dither.query.sql.nodes import Node

__all__ = ["Aggregate", "Key", "Output", "Question"]


@dataclass(frozen=True)
class Key:
    """A grouping expression. `values` are its public values in order; None means they
    are private (rule R14).
    """

    expr: Expr
    name: str
    values: Keys | None


@dataclass(frozen=True)
class Aggregate:
    """One aggregate over the rows of a group.

    `function`: count (no argument: rows; one argument: where it is not NULL), units
    (owners of such rows), distinct, sum, avg, var_samp, var_pop, stddev_samp,
    stddev_pop, covar_samp, covar_pop, corr, min, max, quantile (its level as `level`).
    Every argument but those of count, units and distinct has a bounded range.
    """

    function: str
    args: tuple[Expr, ...] = ()
    level: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Output:
    """A column of the answer: an expression over keys and aggregates."""

    name: str
    expr: Expr

    @property
    def needs(self) -> set[int]:
        """The numbers of the aggregates that it is made of."""
        return _aggregates(self.expr)


@dataclass(frozen=True)
class Question:
    """What was asked. HAVING, ORDER BY, LIMIT and the outputs are post-processing of
    the releases, and free.
    """

    rows: Node
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expr | None = None
    order: tuple[tuple[Expr, bool], ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def selects(self) -> bool:
        """Whether groups are shown or not by their own numbers: those that are shown
        are then a choice (rule R30).
        """
        ordered = any(_aggregates(expr) for expr, _ in self.order)
        ranked = self.limit is not None and ordered
        return ranked or (self.having is not None and bool(_aggregates(self.having)))

    @property
    def private_keys(self) -> bool:
        """Whether some keys are found in the data."""
        return any(key.values is None for key in self.keys)


def _aggregates(expr: Expr) -> set[int]:
    if isinstance(expr, AggregateLeaf):
        return {expr.index}
    if not isinstance(expr, Call):
        return set()
    return set().union(*map(_aggregates, expr.args))
