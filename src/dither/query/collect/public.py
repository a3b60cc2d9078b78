"""Sizes of public tables, counted by the engine when a question first needs them. No
private row is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from dither.query.catalogue.model import Table
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine
from dither.query.sql.question import Scan

__all__ = ["PublicSizes"]


class PublicSizes:
    """Number of rows of public tables, and of repetitions of values in them; each is
    counted once.
    """

    def __init__(self, engine: Engine, table: Callable[[str], Table]) -> None:
        self._engine, self._table = engine, table
        self.rows = lru_cache(maxsize=None)(self._rows)
        self.repeats = lru_cache(maxsize=None)(self._repeats)

    def _rows(self, table: Table) -> int:
        return self._counted("SELECT count(*) FROM ({rows}) t", table)

    def _repeats(self, table: Table, column: int) -> int:
        name = f"c{column}"
        alike = (
            f"SELECT count(*) AS n FROM ({{rows}}) t WHERE {name} IS NOT NULL "
            f"GROUP BY {name}"
        )
        return self._counted(f"SELECT max(n) FROM ({alike}) t", table)

    def _counted(self, sql: str, table: Table) -> int:
        writer = Writer(self._engine.dialect, self._table)
        rows = writer.select(Scan((), False, None, table))
        with self._engine.session() as session:
            ((count,),) = session.fetch(sql.format(rows=rows), writer.parameters)
        return int(count or 0)
