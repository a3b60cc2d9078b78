"""Exact counts in public cells, counted inside the engine, for rooms that add noise of
their own: a census, a map. A `Dataset` hands them out against a receipt only.

Of a unit with more rows than may count, those count whose cells come first by a keyed
hash of the unit and the cell: which ones depends on that unit's rows alone (rule R8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlglot import Dialect, TokenType
from sqlglot.errors import TokenError

from dither.dataset import CellCounts
from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.query.catalogue.limits import MOST_NUMBERS
from dither.query.catalogue.model import Catalogue, Table
from dither.query.catalogue.types import Type
from dither.query.collect.groups import looked_up, lookup_name, mixed
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine
from dither.query.operations.writing import quoted
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from dither.query.sql.question import Question, Scan

__all__ = ["axes_of", "cells_of", "counted", "expression", "kept"]

LISTED = 'must be a list of expressions, such as ["ward", "age // 10"]'


def cells_of(catalogue: Catalogue, cells: Sequence[str], table: Table) -> Question:
    """The cells as keys of a grouped count, so that their public values are known.
    Refused where an expression has none, or is not one expression about the table.
    """
    if isinstance(cells, str) or not cells:
        raise ArgumentError("cells", LISTED)
    name, listed = quoted(table.name), ", ".join(map(expression, cells))
    question = bind(
        parse(f"SELECT {listed}, COUNT(*) FROM {name} GROUP BY {listed}"), catalogue
    )
    for key, cell in zip(question.keys, cells, strict=False):
        if key.values is None:
            raise ArgumentError(
                "cells",
                f"{cell!r} has no public values; declare the keys or the bounds of its "
                "column",
            )
    if len(question.keys) != len(cells) or not isinstance(question.rows, Scan):
        raise ArgumentError(
            "cells", "must be different expressions with columns, each listed once"
        )
    sizes = [len(key.values or ()) for key in question.keys]
    if math.prod(sizes) > MOST_NUMBERS:
        raise ArgumentError(
            "cells",
            f"the expressions make {math.prod(sizes):,} cells, and the limit is "
            f"{MOST_NUMBERS:,}; use fewer or coarser expressions",
        )
    return question


def expression(cell: Any) -> str:
    """One expression in brackets. What could end it early, and resume other SQL, is
    refused: a comment, a bracket too many, a comma outside of brackets.
    """
    if not isinstance(cell, str):
        raise ArgumentError("cells", LISTED)
    try:
        # As the question will be read: another dialect ends texts elsewhere.
        tokens = Dialect.get_or_raise("duckdb").tokenize(cell)
    except TokenError:
        tokens = []
    depth, alone = 0, bool(tokens)
    for token in tokens:
        # By its kind: a bracket inside a text or a quoted name is none.
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        outside = depth == 0 and kind in (TokenType.COMMA, TokenType.SEMICOLON)
        alone = alone and depth >= 0 and not outside and not token.comments
    if not alone or depth:
        raise ArgumentError(
            "cells",
            f"{cell!r:.60} is not one expression; list each expression by itself",
        )
    return f"({cell})"


def axes_of(question: Question) -> tuple[tuple[Any, ...], ...]:
    """The public values of each cell."""
    return tuple(tuple(key.values or ()) for key in question.keys)


def counted(
    catalogue: Catalogue, engine: Engine, question: Question, rows: int, salt: str
) -> CellCounts:
    """Number of rows in each cell, if each unit contributes at most `rows`."""
    most = whole("rows", rows, "pass the most rows of a unit that count, such as 1")
    writer = Writer(engine.dialect, catalogue.table)
    sql = _statement(writer, question, most, salt)
    shape = [len(axis) for axis in axes_of(question)]
    counts = np.zeros(math.prod(shape), np.int64)
    with engine.session() as session:
        for i, key in enumerate(question.keys):
            values = [value for value in key.values or () if value is not None]
            bound: list[Any] = []
            listed = engine.dialect.listed([values], [key.expr.type], bound)
            session.create(lookup_name(i), listed, bound)
        for cell, count in session.fetch(sql, writer.parameters):
            counts[int(cell)] = int(count)
    return CellCounts(axes_of(question), counts.reshape(shape))


def _statement(writer: Writer, question: Question, most: int, salt: str) -> str:
    return kept(writer, _placed(writer, question), most, salt)


def kept(writer: Writer, rows: str, most: int, salt: str) -> str:
    """The counts by cell of rows with an owner u in a cell g. `upto` adds up a unit's
    rows in the order of its hashes, and what lies beyond `most` is cut off.
    """
    write = writer.dialect
    hashed = write.hashed(["u", "g", write.literal(salt, Type.TEXT, writer.parameters)])
    each = f"SELECT u, g, count(*) AS n FROM ({rows}) t GROUP BY u, g"
    # The cell's number decides between equal hashes, so that the order is one.
    order = f"PARTITION BY u ORDER BY {hashed}, g ROWS UNBOUNDED PRECEDING"
    added = f"SELECT g, n, sum(n) OVER ({order}) AS upto FROM ({each}) t"
    kept = f"CASE WHEN upto <= {most} THEN n ELSE {most} - (upto - n) END"
    within = f"SELECT g, {kept} AS n FROM ({added}) t WHERE upto - n < {most}"
    return f"SELECT g, sum(n) FROM ({within}) t GROUP BY g"


def _placed(writer: Writer, question: Question) -> str:
    """Each row's owner u and the number g of its cell; rows outside all cells are left
    out.
    """
    keys = [f"{writer.expr(key.expr)} AS q{i}" for i, key in enumerate(question.keys)]
    rows = f"SELECT {', '.join(['u', *keys])} FROM ({writer.select(question.rows)}) t"
    joins, places, conditions = "", list[str](), list[str]()
    for i, key in enumerate(question.keys):
        place, join, condition = looked_up(i, key)
        joins, places = joins + join, [*places, place]
        conditions += condition
    cell = mixed(places, [len(key.values or ()) for key in question.keys])
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT r.u AS u, {cell} AS g FROM ({rows}) r{joins}{where}"
