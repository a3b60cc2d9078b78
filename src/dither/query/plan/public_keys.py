"""Keys that come from a public table through a join on declared keys: the values that
the public table has for these keys are public too (rule R14).

A value is listed if a row of the public side has it beside a declared key. Whether a
private row has that key is not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dither.query.catalogue.limits import MOST_GROUPS
from dither.query.catalogue.types import Keys, Type
from dither.query.operations.expressions import Call, Expr, Ref, conjuncts, refs
from dither.query.sql.domains import public_values
from dither.query.sql.question import (
    Distinct,
    Filter,
    InPublic,
    Join,
    Node,
    OfOwners,
    Project,
    Question,
    SemiJoin,
)

__all__ = ["PublicRows", "with_public_keys"]

LISTED = (Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)


class PublicRows(Protocol):
    """Rows of public tables."""

    def pairs(
        self, node: Node, columns: tuple[int, int], most: int
    ) -> Iterable[tuple[Any, Any]] | None:
        """The distinct pairs of values of two columns of a public node, without NULL;
        None if there are more than `most`.
        """


def with_public_keys(question: Question, rows: PublicRows) -> Question:
    """The question with the public values of all its keys that have some. It stays as
    it is if these would make too many groups.
    """
    if not question.private_keys:
        return question
    source = Source(rows)
    keys = tuple(
        key
        if key.values is not None
        else replace(key, values=source.values(question.rows, key.expr))
        for key in question.keys
    )
    groups = math.prod(len(key.values) for key in keys if key.values is not None)
    return question if groups > MOST_GROUPS else replace(question, keys=keys)


@dataclass(frozen=True)
class Source:
    """Finds the public values of columns."""

    rows: PublicRows

    def values(self, node: Node, expr: Expr) -> Keys | None:
        """The public values of an expression over a private node's rows; None if they
        are private.
        """
        known = public_values(expr)
        if known is not None:
            return known
        places = {ref: self._listed(node, ref) for ref in dict.fromkeys(refs(expr))}
        return public_values(_listed_in(expr, places)) if any(places.values()) else None

    def _listed(self, node: Node, ref: Ref) -> Ref:
        """A column with its public values, if it has some."""
        if ref.column.keys is not None or ref.type not in LISTED:
            return ref
        found = self._column(node, ref.index)
        return (
            ref if found is None else Ref.to(ref.index, replace(ref.column, keys=found))
        )

    def _column(self, node: Node, index: int) -> Keys | None:
        """The public values of a column of a private node, by the join that it came
        from.
        """
        match node:
            case Filter() | Distinct() | OfOwners() | SemiJoin() | InPublic():
                return self._column(node.source, index)
            case Project():
                return self.values(node.source, node.exprs[index])
            case Join():
                return self._joined(node, index)
        return None

    def _joined(self, join: Join, index: int) -> Keys | None:
        width = len(join.left.columns)
        left = index < width
        side, other = (join.left, join.right) if left else (join.right, join.left)
        place = index if left else index - width
        if side.private:
            return self.values(side, Ref.to(place, side.columns[place]))
        if not other.private:
            return None
        for mine, theirs in _links(join.condition, width, left=left):
            keys = self.values(other, Ref.to(theirs, other.columns[theirs]))
            if keys is not None:
                return self._beside(side, (mine, place), frozenset(keys))
        return None

    def _beside(
        self, side: Node, columns: tuple[int, int], keys: frozenset[Any]
    ) -> Keys | None:
        """The values of the second column in rows whose first one is a declared key."""
        pairs = self.rows.pairs(side, columns, MOST_GROUPS)
        if pairs is None:
            return None
        return Keys(sorted({value for key, value in pairs if key in keys}))


def _listed_in(expr: Expr, places: dict[Ref, Ref]) -> Expr:
    """An expression with other columns in their places."""
    if isinstance(expr, Ref):
        return places[expr]
    if not isinstance(expr, Call):
        return expr
    return replace(expr, args=tuple(_listed_in(arg, places) for arg in expr.args))


def _links(
    condition: Expr | None, width: int, *, left: bool
) -> Iterable[tuple[int, int]]:
    """The pairs of columns that a join compares: one of the public side, which is the
    left one or not, and one of the other.
    """
    for part in () if condition is None else conjuncts(condition):
        if not (isinstance(part, Call) and part.op == "eq"):
            continue
        one, two = part.args
        if not (isinstance(one, Ref) and isinstance(two, Ref)):
            continue
        if one.type is not two.type or (one.index < width) == (two.index < width):
            continue
        first, second = sorted((one.index, two.index))
        yield (first, second - width) if left else (second - width, first)
