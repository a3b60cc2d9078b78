"""Sizes and values of public tables, read by the engine when a question first needs
them. No private row is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from dither.query.catalogue.model import Table
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine
from dither.query.sql.question import Node, Scan

__all__ = ["PublicSizes"]


class PublicSizes:
    """Number of rows of public tables, and of repetitions of values in them; each is
    counted once.
    """

    def __init__(self, engine: Engine, table: Callable[[str], Table]) -> None:
        self._engine, self._table = engine, table
        self.rows = lru_cache(maxsize=None)(self._rows)
        self.repeats = lru_cache(maxsize=None)(self._repeats)
        self._pairs: dict[tuple[str, tuple[Any, ...]], list[tuple[Any, Any]]] = {}

    def _rows(self, table: Table) -> int:
        return self._counted("SELECT count(*) FROM ({rows}) t", table)

    def _repeats(self, table: Table, column: int) -> int:
        name = f"c{column}"
        alike = (
            f"SELECT count(*) AS n FROM ({{rows}}) t WHERE {name} IS NOT NULL "
            f"GROUP BY {name}"
        )
        return self._counted(f"SELECT max(n) FROM ({alike}) t", table)

    def pairs(
        self, node: Node, columns: tuple[int, int], most: int
    ) -> list[tuple[Any, Any]] | None:
        """The distinct pairs of values of two columns of public rows, without NULL;
        None if there are more than `most`.
        """
        writer = Writer(self._engine.dialect, self._table)
        one, two = (f"c{column}" for column in columns)
        sql = (
            f"SELECT DISTINCT {one} AS k0, {two} AS k1 FROM ({writer.select(node)}) t "
            f"WHERE {one} IS NOT NULL AND {two} IS NOT NULL LIMIT {most + 1}"
        )
        asked = sql, tuple(writer.parameters)
        if asked not in self._pairs:
            with self._engine.session() as session:
                found = session.fetch(sql, writer.parameters)
            self._pairs[asked] = [(key, value) for key, value in found]
        pairs = self._pairs[asked]
        return None if len(pairs) > most else pairs

    def _counted(self, sql: str, table: Table) -> int:
        writer = Writer(self._engine.dialect, self._table)
        rows = writer.select(Scan((), False, None, table))
        with self._engine.session() as session:
            ((count,),) = session.fetch(sql.format(rows=rows), writer.parameters)
        return int(count or 0)
