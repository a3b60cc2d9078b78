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
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.query.catalogue.limits import MOST_NUMBERS
from dither.query.catalogue.model import Catalogue, Table
from dither.query.catalogue.types import Type
from dither.query.collect.groups import looked_up, lookup_name, mixed
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from dither.query.sql.question import Question

__all__ = ["counted"]


def counted(
    catalogue: Catalogue,
    engine: Engine,
    cells: Sequence[str],
    rows: int,
    table: Table,
    salt: str,
) -> NDArray[np.int64]:
    """How many rows lie in each cell, where each unit counts for at most `rows`."""
    most = whole("rows", rows, "pass the most rows of a unit that count, such as 1")
    question = _question(catalogue, cells, table)
    shape = [len(key.values or ()) for key in question.keys]
    if math.prod(shape) > MOST_NUMBERS:
        raise ArgumentError(
            "cells", f"are {math.prod(shape):,}, and {MOST_NUMBERS:,} is the most"
        )
    writer = Writer(engine.dialect, catalogue.table)
    sql = _statement(writer, question, most, salt)
    counts = np.zeros(math.prod(shape), np.int64)
    with engine.session() as session:
        for i, key in enumerate(question.keys):
            values = [value for value in key.values or () if value is not None]
            bound: list[Any] = []
            listed = engine.dialect.listed([values], [key.expr.type], bound)
            session.create(lookup_name(i), listed, bound)
        for cell, count in session.fetch(sql, writer.parameters):
            counts[int(cell)] = int(count)
    return counts.reshape(shape)


def _question(catalogue: Catalogue, cells: Sequence[str], table: Table) -> Question:
    """The cells as keys of a grouped count, so that their public values are known."""
    if isinstance(cells, str) or not cells:
        raise ArgumentError(
            "cells", 'must be a list of expressions, such as ["ward", "age // 10"]'
        )
    name, listed = '"' + table.name.replace('"', '""') + '"', ", ".join(cells)
    sql = f"SELECT {listed}, COUNT(*) FROM {name} GROUP BY {listed}"
    question = bind(parse(sql), catalogue)
    for key, cell in zip(question.keys, cells, strict=False):
        if key.values is None:
            raise ArgumentError(
                "cells",
                f"{cell} has no public values; declare its keys, or bounds that make "
                "it countable",
            )
    return question


def _statement(writer: Writer, question: Question, most: int, salt: str) -> str:
    """The counts by cell. `upto` adds up a unit's rows in the order of its hashes, and
    what lies beyond `most` is cut off."""
    write = writer.dialect
    hashed = write.hashed(["u", "g", write.literal(salt, Type.TEXT, writer.parameters)])
    rows = _placed(writer, question)
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
