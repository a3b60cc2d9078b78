"""Spark: tables stay where they are, sums over rows run on the cluster, and only small
results come here.

Each table is checked when it is opened and given a name that our own session sees.
Temporary tables are computed once and kept on the cluster until the question is
answered.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Self, TypeVar

from dither.errors import ArgumentError
from dither.noise import token
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.engines.session import (
    EngineBase,
    ThreadedSession,
    given_sources,
    source_for,
)
from dither.query.engines.spark.dialect import SparkDialect
from dither.query.engines.spark.lookup import frame_of
from dither.query.engines.spark.sessions import hushed, own, pyspark, quiet
from dither.query.engines.spark.steady import plain_files, unsteady
from dither.query.engines.spark.stored import (
    StoredTable,
    fields_of,
    placed,
    places_of,
    viewed,
)

__all__ = ["SparkEngine", "SparkStatements"]

PARAMETER = re.compile(r"\$(\d+)")
ROW = "dither_row"
T = TypeVar("T")


class SparkStatements(ThreadedSession):
    """Statements of one question, in a session of Spark's that `lend` gives."""

    def __init__(
        self, lend: Callable[[], Any], seconds: float, failures: deque[str]
    ) -> None:
        super().__init__("spark", seconds, failures)
        self._lend = lend
        self._spark: Any = None
        self._made: dict[str, Any] = {}
        self._tag = f"dither-{token(8)}"

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._frame(sql, parameters).collect()]

    def _frame(self, sql: str, parameters: list[Any]) -> Any:
        if self._spark is None:
            self._spark = self._lend()
            self._spark.sparkContext.addJobTag(self._tag)
        named = {f"p{place}": value for place, value in enumerate(parameters, 1)}
        return self._spark.sql(PARAMETER.sub(r":p\1", sql), args=named)

    def _create(self, name: str, select: str, parameters: list[Any]) -> None:
        """Computed at once, and kept. Rows that are numbered would get other numbers if
        they were computed again, which Spark does where a machine is lost: then the
        question fails instead."""
        frame = self._frame(select, parameters)
        # A checkpoint forgets how its rows were computed, so they never are again.
        if "row_number()" in select:
            self._made[name] = frame = frame.localCheckpoint()
        else:
            self._made[name] = frame = frame.persist()
            compute(frame)
        frame.createOrReplaceTempView(name)

    def _finished(self, work: Callable[[], T]) -> T:
        return super()._finished(lambda: hushed(work))

    def _stop(self) -> None:
        with suppress(Exception):
            self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def close(self) -> Any:
        """Forget the temporary tables; the session that they were in, if it can be used
        again.
        """
        problem = self._end(lambda: hushed(self._forget))
        return self._spark if problem is None else None

    def _forget(self) -> None:
        for name, frame in self._made.items():
            self._spark.catalog.dropTempView(name)
            forget(frame)


class SparkEngine(EngineBase[SparkStatements]):
    """Private tables in Spark. Each question has a session of our own on the cluster."""

    asking = "asking the cluster"

    def __init__(self, catalogue: Catalogue, sources: Mapping[str, Any]) -> None:
        pyspark()
        super().__init__(catalogue)
        self.tables: dict[str, StoredTable] = {}
        self.dialect = SparkDialect(self.tables)
        self._spark: Any = None
        self._idle: deque[Any] = deque()
        self._open = ExitStack()
        try:
            for table in catalogue.tables:
                source = source_for(table, sources)
                with quiet():
                    self.tables[table.name] = self._stored(table, frame_of(source))
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, catalogue: Catalogue, sources: Mapping[str, Any] | None = None) -> Self:
        """All tables of a catalogue, from the given sources or from where it says they
        are.
        """
        places = {
            table.name: (table.source, table.stored)
            for table in catalogue.tables
            if table.source or table.stored
        }
        return cls(catalogue, places | given_sources(catalogue, sources))

    def _stored(self, table: Table, frame: Any) -> StoredTable:
        self._spark = frame.sparkSession
        moving = "a stream" if frame.isStreaming else unsteady(frame)
        if moving is not None:
            way = "write its rows to a table, and open that"
            raise ArgumentError(
                table.name,
                f"the rows of {table.name!r} may differ each time they are read, "
                f"because of {moving}; {way}",
            )
        columns, rows = fields_of(frame, table), placed(frame)
        if table.owner is None and table.link is None and not table.public:
            rows = self._numbered(table, frame, rows)
        return StoredTable(
            self._open.enter_context(viewed(rows)),
            columns,
            ROW,
            places_of(frame, table),
        )

    def _numbered(self, table: Table, frame: Any, rows: Any) -> Any:
        """Rows with ids of their own, which stay: their places in files, or numbers in
        a copy on the cluster.
        """
        if plain_files(frame):
            with suppress(Exception):
                named = [
                    f"`{name.replace('`', '``')}` AS d{place}"
                    for place, name in enumerate(frame.columns)
                ]
                place = "concat_ws(' ', _metadata.row_index, _metadata.file_path)"
                return frame.selectExpr(*named, f"{place} AS {ROW}")
        with suppress(Exception):
            return self._kept(
                rows.selectExpr("*", f"monotonically_increasing_id() AS {ROW}")
            )
        raise ArgumentError(
            table.name,
            f"the source of {table.name!r} cannot be read to the end; check whether it "
            "is damaged",
        )

    def _kept(self, frame: Any) -> Any:
        copy = frame.localCheckpoint()
        self._open.callback(forget, copy)
        return copy

    def raw(self, table: Table, field: Field) -> str:
        """A column as it is stored: NULL only if nothing is."""
        return self.tables[table.name].places[field.name]

    def _begin(self) -> SparkStatements:
        return SparkStatements(self._lent, self._limits.seconds, self.failures)

    def _end(self, session: SparkStatements) -> None:
        used = session.close()
        if used is not None:
            self._idle.append(used)

    def _lent(self) -> Any:
        # A session with our settings is made once and used again.
        try:
            return self._idle.pop()
        except IndexError:
            return own(self._spark)

    def close(self) -> None:
        with quiet():
            self._open.close()
        self._idle.clear()


def compute(frame: Any) -> None:
    """Compute the rows of a data frame that are to be kept, without the cost of another
    question about them.
    """
    plan = frame._jdf.queryExecution().withCachedData()
    if plan.nodeName().startswith("InMemoryRelation"):
        plan.cacheBuilder().cachedColumnBuffers().count()
    else:
        frame.count()


def forget(frame: Any) -> None:
    """Drop the rows of a data frame that the cluster kept."""
    with suppress(Exception):
        frame.unpersist()
        plan = frame._jdf.queryExecution().analyzed()
        if plan.nodeName() == "LogicalRDD":
            plan.rdd().unpersist(False)
