"""Exact counts in cells that are listed with the question, counted inside the engine:
the blocks of a geography, of which there are more than a query can have groups.

The list is public: it comes with the question, and never from the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Axis
from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.query.catalogue.model import Catalogue, Table
from dither.query.catalogue.types import ANY, Type
from dither.query.cells import expression, kept
from dither.query.collect.groups import lookup_name, mixed
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine, Session
from dither.query.operations.writing import quoted
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from dither.query.sql.question import Question, Scan

__all__ = ["Listed", "counted_in", "listed_of", "unclipped"]

KINDS: dict[Type, type] = {Type.INTEGER: int, Type.TEXT: str}
MOST_CELLS = 1_000_000_000
"""More counts do not fit into memory anyhow."""


@dataclass(frozen=True)
class Listed:
    """The counted combinations: the expressions of all axes as a question's keys, the
    lists, and how many rows of a unit count.
    """

    question: Question
    axes: tuple[Axis, ...]
    rows: int
    alone: bool

    @property
    def sizes(self) -> list[int]:
        return [axis.size for axis in self.axes]


def unclipped(catalogue: Catalogue) -> Catalogue:
    """The tables without bounds of numbers: what lies beyond them is in no listed cell,
    and clipping would put it into the cell of a bound.
    """
    tables = (
        replace(
            table,
            fields=tuple(
                replace(one, range=ANY) if one.type.numeric else one
                for one in table.fields
            ),
        )
        for table in catalogue.tables
    )
    return replace(catalogue, tables=tuple(tables))


def listed_of(catalogue: Catalogue, axes: Sequence[Axis], table: Table) -> Question:
    """The expressions as keys of a grouped count. Refused where one is none about the
    table, or of another type than what is listed for it.
    """
    written = [expression(one) for axis in axes for one in axis.expressions]
    name, listed = quoted(table.name), ", ".join(written)
    question = bind(
        parse(f"SELECT {listed}, COUNT(*) FROM {name} GROUP BY {listed}"), catalogue
    )
    if len(question.keys) != len(written) or not isinstance(question.rows, Scan):
        raise ArgumentError(
            "cells", "must be different expressions with columns, each listed once"
        )
    columns = [column for axis in axes for column in axis.columns]
    for key, column in zip(question.keys, columns, strict=True):
        kind = KINDS.get(key.expr.type)
        if kind is None or not all(type(one) is kind for one in column):
            raise ArgumentError(
                "cells",
                "must list strings for a column of type text and integers for a column "
                "of type integer; convert them, or choose another column",
            )
    for axis in axes:
        # A row must never find two cells: it would count twice.
        if len(set(zip(*axis.columns, strict=True))) < axis.size:
            raise ArgumentError("cells", "are listed twice; list each cell once")
    if math.prod(axis.size for axis in axes) > MOST_CELLS:
        raise ArgumentError("cells", f"must number at most {MOST_CELLS:,}; list fewer")
    return question


def counted_in(
    catalogue: Catalogue, engine: Engine, histograms: Sequence[Listed], salt: str
) -> list[NDArray[np.int64]]:
    """Number of rows in each cell; each unit contributes at most `rows` of them. All
    histograms are counted in one session, and so of one state of the table.
    """
    for cells in histograms:
        whole("rows", cells.rows, "pass the most rows of a unit that count, such as 1")
    with engine.session() as session:
        return [
            _counted(catalogue, engine, session, cells, salt, number)
            for number, cells in enumerate(histograms)
        ]


def _counted(
    catalogue: Catalogue,
    engine: Engine,
    session: Session,
    cells: Listed,
    salt: str,
    number: int,
) -> NDArray[np.int64]:
    names = [f"{lookup_name(i)}_of_{number}" for i in range(len(cells.axes))]
    for name, axis, types in zip(names, cells.axes, _types(cells), strict=True):
        bound: list[Any] = []
        columns = [list(column) for column in axis.columns]
        session.create(name, engine.dialect.listed(columns, types, bound), bound)
    writer = Writer(engine.dialect, catalogue.table)
    single = catalogue.rows_are_units
    rows = _placed(writer, cells, names, single)
    # Where nobody has a second row there is nothing to choose from.
    plain = f"SELECT g, count(*) FROM ({rows}) t GROUP BY g"
    chosen = not (single or cells.alone)
    sql = kept(writer, rows, cells.rows, salt) if chosen else plain
    counts = np.zeros(math.prod(cells.sizes), np.int64)
    for place, count in session.fetch(sql, writer.parameters):
        counts[int(place)] = int(count)
    return counts.reshape(cells.sizes)


def _types(cells: Listed) -> list[list[Type]]:
    """The types of each axis's expressions."""
    keys = iter(cells.question.keys)
    return [[next(keys).expr.type for _ in axis.expressions] for axis in cells.axes]


def _placed(writer: Writer, cells: Listed, names: list[str], single: bool) -> str:
    """Each row's owner u and the number g of its cell; rows outside all cells are left
    out, and with `alone` rows of owners that have several.
    """
    keys = [
        f"{writer.expr(key.expr)} AS q{i}" for i, key in enumerate(cells.question.keys)
    ]
    own = ["count(*) OVER (PARTITION BY u) AS o"] if cells.alone and not single else []
    source = writer.select(cells.question.rows)
    rows = f"SELECT {', '.join(['u', *keys, *own])} FROM ({source}) t"
    joins, place = "", 0
    for i, (name, axis) in enumerate(zip(names, cells.axes, strict=True)):
        pairs = [f"r.q{place + j} = k{i}.k{j}" for j in range(len(axis.expressions))]
        joins += f" JOIN {name} k{i} ON {' AND '.join(pairs)}"
        place += len(pairs)
    cell = mixed([f"k{i}.i" for i in range(len(cells.axes))], cells.sizes)
    where = " WHERE r.o = 1" if own else ""
    return f"SELECT r.u AS u, {cell} AS g FROM ({rows}) r{joins}{where}"
