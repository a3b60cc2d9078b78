"""Public values of grouping expressions: declared keys, small ranges, and what
functions make of them (rule R14).

Every value here comes from the catalogue and the question. A list may hold values that
no row has (they are released as noisy zeros); a row whose value is not in the list
belongs to no group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import Any

from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.limits import ALL_EFFORT, EFFORT
from dither.query.catalogue.types import Keys, Range, Type
from dither.query.operations.evaluate import values
from dither.query.operations.expressions import Call, Expr, KeyLeaf, Literal, Ref, refs
from dither.query.operations.record import OPERATIONS

__all__ = ["public_values", "steps_to"]

WHOLE = 10_000
DAYS = 100_000
FEW = 2_000
MANY = 100_000
TIMES = 10
"""Steps for each of the few or many values that are tried."""
MICROSECONDS = 86_400_000_000
STEPS = {
    "year": 365.0,
    "quarter": 90.0,
    "month": 28.0,
    "week": 7.0,
    "day": 1.0,
    "hour": 1 / 24,
    "minute": 1 / 1440,
}
YEARS = 400
"""Number of years up to which dates without bounds are listed."""
Values = frozenset[Any]


def public_values(expr: Expr) -> Keys | None:
    """The values that a key can have, in order; None if they are private. NULL is one
    only if it was declared.
    """
    return _found(expr)[0]


def steps_to(expr: Expr) -> int:
    """How many steps it takes to find the values of a key, whether or not they are
    known already.
    """
    return _found(expr)[1]


@lru_cache(maxsize=256)
def _found(expr: Expr) -> tuple[Keys | None, int]:
    if isinstance(expr, Ref) and expr.column.keys is not None:
        return expr.column.keys, 0
    domains = Domains()
    try:
        found = domains.of(expr)
    except TooLong:
        found = None
    values = (
        None
        if found is None
        else Keys(sorted(item for item in found if item is not None))
    )
    return values, domains.steps


class TooLong(Exception):
    """The values of a key take more steps than all keys of a question may."""


@dataclass
class Domains:
    """The values of expressions, each looked for once."""

    known: dict[Expr, Values | None] = field(default_factory=dict)
    steps: int = 0

    def of(self, expr: Expr) -> Values | None:
        """All values of an expression, if they are few and public."""
        if expr not in self.known:
            self.known[expr] = found = self._look(expr)
            self._count(1 if found is None else len(found))
        return self.known[expr]

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > ALL_EFFORT:
            raise TooLong

    def _look(self, expr: Expr) -> Values | None:
        if isinstance(expr, Literal):
            return frozenset({expr.value})
        if isinstance(expr, Ref):
            return (
                _range(expr)
                if expr.column.keys is None
                else frozenset(expr.column.keys)
            )
        if not isinstance(expr, Call):
            return None
        columns = list(dict.fromkeys(refs(expr)))
        found = _first(
            partial(self._image, expr, columns, FEW),
            partial(self._wider, expr),
            partial(self._image, expr, columns, MANY),
        )
        far = found is not None and len(found) > YEARS and any(map(_timeless, columns))
        return None if far else found

    def _image(self, expr: Call, parts: Sequence[Expr], most: int) -> Values | None:
        """The expression for every combination of values of some parts of it, each of
        which can also be NULL.
        """
        if (
            math.prod(_size_of(part) + 1 for part in parts if isinstance(part, Ref))
            > most
        ):
            return None
        domains = [self.of(part) for part in parts]
        known = [found | {None} for found in domains if found is not None]
        rows = math.prod(map(len, known))
        steps = rows * _nodes(expr)
        if (
            len(known) < len(domains)
            or rows > most
            or steps > min(TIMES * most, EFFORT)
        ):
            return None
        self._count(steps)
        places = {
            part: KeyLeaf(part.type, part.range, index)
            for index, part in enumerate(parts)
        }
        return _values(_replaced(expr, places), product(*known))

    def _wider(self, expr: Call) -> Values | None:
        """A list that holds all values without trying every combination below."""
        chooses = OPERATIONS[expr.op].chooses
        if chooses is not None:
            together = partial(self._together, chooses(expr.args))
            return _first(together, partial(_range, expr))
        if expr.op == "date_trunc":
            return self._truncated(expr)
        if expr.type is Type.BOOLEAN:
            return _range(expr)
        args = [arg for arg in dict.fromkeys(expr.args) if not isinstance(arg, Literal)]
        ways = (
            partial(self._image, expr, args, FEW),
            partial(_range, expr),
            partial(self._image, expr, args, MANY),
        )
        return _first(*ways)

    def _truncated(self, expr: Call) -> Values | None:
        """DATE_TRUNC of days or times within bounds: steps no longer than the unit meet
        every one of its starts.
        """
        arg, unit = expr.args[0], expr.options[0]
        scale, at = (1, day) if arg.type is Type.DATE else (MICROSECONDS, moment)
        step = int(STEPS.get(unit, 1 / 86400) * scale) or 1
        rows = _size(arg.range) / step
        if arg.range.high is None or 2 * rows > EFFORT:
            return None
        self._count(2 * math.ceil(rows))
        leaf = Call(
            expr.type,
            expr.range,
            expr.op,
            (KeyLeaf(arg.type, arg.range, 0),),
            expr.options,
        )
        places = [*_numbers(arg.range)[::step], int(arg.range.high)]
        return _values(leaf, ((at(place),) for place in places))

    def _together(self, parts: Sequence[Expr]) -> Values | None:
        found = [self.of(part) for part in parts]
        known = [values for values in found if values is not None]
        return frozenset().union(*known) if len(known) == len(found) else None


def _first(*ways: Callable[[], Values | None]) -> Values | None:
    """The result of the first way that leads to one."""
    return next((found for found in (way() for way in ways) if found is not None), None)


def _timeless(ref: Ref) -> bool:
    """Whether a column holds dates or times that nobody bounded: all years there are
    would be its keys.
    """
    return ref.type in (Type.DATE, Type.TIMESTAMP) and (
        ref.range.low is None or ref.range.high is None
    )


def _range(expr: Expr) -> Values | None:
    """All values within the range of a small type."""
    if expr.type is Type.BOOLEAN:
        return frozenset({False, True})
    read: dict[Type, tuple[int, Callable[[int], Any]]] = {
        Type.INTEGER: (WHOLE, int),
        Type.DATE: (DAYS, day),
    }
    if expr.type not in read:
        return None
    most, at = read[expr.type]
    return (
        None if _size(expr.range) > most else frozenset(map(at, _numbers(expr.range)))
    )


def _size(range_: Range) -> float:
    if range_.low is None or range_.high is None:
        return math.inf
    return range_.high - range_.low + 1


def _numbers(range_: Range) -> range:
    return range(int(range_.low or 0), int(range_.high or 0) + 1)


def _size_of(ref: Ref) -> float:
    """Number of values in a column, before they are written out."""
    if ref.column.keys is not None:
        return len(ref.column.keys)
    return 2 if ref.type is Type.BOOLEAN else _size(ref.range)


def _nodes(expr: Expr) -> int:
    """Amount of computation for one row; long strings count."""
    if isinstance(expr, Literal) and isinstance(expr.value, str):
        return 1 + len(expr.value) // 4
    return 1 + sum(map(_nodes, expr.args)) if isinstance(expr, Call) else 1


def _values(expr: Expr, rows: Iterable[tuple[Any, ...]]) -> Values:
    return frozenset(values(expr, list(rows), ()))


def _replaced(expr: Expr, places: dict[Expr, KeyLeaf]) -> Expr:
    if expr in places:
        return places[expr]
    if not isinstance(expr, Call):
        return expr
    return Call(
        expr.type,
        expr.range,
        expr.op,
        tuple(_replaced(arg, places) for arg in expr.args),
        expr.options,
    )
