"""Calls of operations: checked and typed, read from SQL, and written as an engine's SQL."""

from __future__ import annotations

from typing import Any

from dither.query.catalogue.limits import HIGHEST
from dither.query.catalogue.types import Type
from dither.query.operations.arguments import (
    TypeProblem,
    literal,
    null,
    typed,
)
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import Reading
from dither.query.operations.record import OPERATIONS, Operation
from dither.query.operations.writing import ENGINES, Args, Spelling

__all__ = [
    "FUNCTIONS",
    "PARTS",
    "READINGS",
    "TypeProblem",
    "call",
    "literal",
    "write",
]


def call(op: str, *args: Expr, options: tuple[Any, ...] = ()) -> Expr:
    """An operation applied to expressions, or TypeProblem where it cannot be. Of
    constants it is a constant.
    """
    expr = OPERATIONS[op].build(args, options)
    if not isinstance(expr, Call):
        return expr
    record = OPERATIONS[expr.op]
    if not expr.fits(record.largest, HIGHEST):
        raise TypeProblem(
            "this expression is too large or too deeply nested, with its aliases and "
            "subqueries written out; simplify it"
        )
    constants = [arg for arg in expr.args if isinstance(arg, Literal)]
    # what is NULL whatever the rows hold needs no SQL
    if record.strict and any(arg.value is None for arg in constants):
        return null(expr.type)
    if len(constants) == len(expr.args) and not _of_texts(expr):
        return typed(value(expr, (), ()), expr.type)
    return expr


def _of_texts(expr: Call) -> bool:
    """Whether the engine's own rules for strings decide, such as for upper case."""
    return any(part.type is Type.TEXT for part in (expr, *expr.args))


def write(expr: Call, args: Args, spelling: Spelling) -> str:
    """The SQL of a call, from the SQL of its arguments."""
    return WRITERS[expr.op, spelling.engine](expr, args, spelling)


WRITERS = {
    (record.name, engine): record.writer(engine)
    for record in OPERATIONS.values()
    for engine in ENGINES
}
"""How each engine writes each operation."""
Readings = tuple[tuple[Operation, Reading], ...]


def _by_key() -> dict[object, Readings]:
    found: dict[object, Readings] = {}
    for record in OPERATIONS.values():
        for reading in record.reads:
            found[reading.key] = (*found.get(reading.key, ()), (record, reading))
    return {key: tuple(sorted(one, key=_turn)) for key, one in found.items()}


def _turn(one: tuple[Operation, Reading]) -> bool:
    return one[1].last


READINGS = _by_key()
"""The operations that a node may mean, in the order in which they are asked, by its
type, or by the name and the number of arguments of a function without a node."""
PARTS = {
    key: frozenset(part for _, reading in found for part in reading.parts)
    for key, found in READINGS.items()
}
"""The parts of a node that some of these operations reads."""
FUNCTIONS = frozenset(
    name for record in OPERATIONS.values() for name in record.functions
)
"""The names of functions that a question may use for operations."""
