"""What Spark can open: tables and views by their names, Parquet files, data frames.
Their columns are found out without reading a row."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import nameable, nearest
from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema, public_keys
from dither.query.engines.spark.sessions import own, quiet, running
from dither.query.engines.spark.stored import columns_of, fields_of, placed, viewed

__all__ = ["frame_of", "name_of", "public_values", "schema_of"]

CORRECTED = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
"""Days as they are written: Spark would raise where a file might mean another calendar,
which depends on the rows.
"""


def frame_of(value: Any, stored: str = "") -> Any:
    """The data frame that a session and a name, a path, or a frame gives."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return frame_of(*value)
    with quiet():
        return _frame(value, stored)


def _frame(value: Any, stored: str) -> Any:
    if type(value).__module__.startswith("pyspark.sql.connect"):
        raise ArgumentError(
            "source",
            "cannot be of Spark Connect, whose plans cannot be inspected; pass a "
            "session or data frame of the driver",
        )
    if hasattr(value, "newSession"):
        return _table(value, stored)
    if hasattr(value, "sparkSession"):
        return value
    if not isinstance(value, str | Path):
        raise ArgumentError(
            "source",
            f"a source of type {type(value).__name__} cannot be opened; pass a Spark "
            "session or data frame",
        )
    return _files(str(value)) if str(value) else _table(running(), stored)


def _table(spark: Any, name: str) -> Any:
    if not name:
        raise ArgumentError(
            "table",
            "is missing; pass the name of a table of the session, such as "
            'table="visits"',
        )
    with suppress(Exception):
        return spark.table(name)
    known: list[str] = []
    with suppress(Exception):
        known = [table.name for table in spark.catalog.listTables()]
    raise ArgumentError(
        "table",
        f"the session has no table {name!r} that can be read now; "
        f"{nearest(name, known)}",
    )


def _files(path: str) -> Any:
    reader = running().read.options(**CORRECTED)
    with suppress(Exception):
        return (
            reader.format("delta").load(path)
            if (Path(path) / "_delta_log").is_dir()
            else reader.parquet(path)
        )
    raise ArgumentError(
        f"{path:.200}",
        f"the source '{path:.200}' cannot be read as Parquet; name a Parquet file or "
        "folder, or a table of the session",
    )


def schema_of(value: Any, stored: str = "") -> Schema:
    """Columns with their types. Those that cannot be asked about are left out."""
    return {
        column.name: column.type
        for column in columns_of(frame_of(value, stored))
        if column.type and nameable(column.name)
    }


def name_of(value: Any, stored: str = "") -> str:
    """What a table is called if nobody says so: after its table or file, else "data"."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return name_of(*value)
    written = stored or (str(value) if isinstance(value, str | Path) else "")
    path = written.rpartition("`")[0].rpartition("`")[2] or ("" if stored else written)
    return (
        Path(path).name.partition(".")[0] if path else stored.rpartition(".")[2]
    ) or "data"


def public_values(source: Any, stored: str, column: str, type_: Type) -> list[Any]:
    """The different values of a column of a public table, in order, without NULL."""
    table = Table("keys", (Field(column, type_),), public=True)
    frame = frame_of(source, stored)
    read = fields_of(frame, table)[column]
    found: list[Any] | None = None
    with quiet(), suppress(Exception), viewed(placed(frame)) as relation:
        found = (
            own(frame.sparkSession)
            .sql(f"SELECT DISTINCT {read} AS k FROM {relation} ORDER BY k")
            .collect()
        )
    return public_keys(found, column, source, type_)
