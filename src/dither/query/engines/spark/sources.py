"""What Spark can open: tables and views by their names, Parquet files, data frames.
Their columns are found out without reading a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.noise import token
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import find, nameable, nearest
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.storage import READABLE, Schema, check_id, ids, unique
from dither.query.engines.spark.local import own, quiet, running, shared
from dither.query.engines.spark.words import NAMES
from dither.query.operations.casts import SPARK_DAY, SPARK_WHOLE, spark_cast

__all__ = [
    "Column",
    "Stored",
    "fields_of",
    "frame_of",
    "name_of",
    "placed",
    "places_of",
    "public_values",
    "schema_of",
    "viewed",
]

TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Type.INTEGER),
    **dict.fromkeys(("float", "double"), Type.REAL),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Type.TIMESTAMP),
    "string": Type.TEXT,
    "boolean": Type.BOOLEAN,
    "date": Type.DATE,
    "void": Type.TEXT,
}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
TEXTS = re.compile(r"(string collate \w+|char\(\d+\)|varchar\(\d+\)).*", re.IGNORECASE)
CHAR = "__CHAR_VARCHAR_TYPE_STRING"
CORRECTED = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
"""Days as they are written: Spark would raise where a file might mean another calendar,
which depends on the rows.
"""


@dataclass(frozen=True)
class Stored:
    """Rows as Spark holds them: a FROM clause, its columns read as their declared
    types, a row's own id, and columns as they are."""

    relation: str
    columns: Mapping[str, str]
    row: str = ""
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column of a data frame, by its place and its type in Spark."""

    place: int
    name: str
    stored: str
    padded: bool = False

    @property
    def type(self) -> Type | None:
        """The type in which it is asked about; None for lists, structures, intervals,
        bytes and others.
        """
        decimal = DECIMAL.fullmatch(self.stored)
        if decimal:
            return (
                Type.INTEGER
                if decimal[2] == "0" and int(decimal[1]) <= 18
                else Type.REAL
            )
        return Type.TEXT if TEXTS.fullmatch(self.stored) else TYPES.get(self.stored)

    def read(self, type_: Type) -> str:
        """What cannot be read is NULL. Texts are compared byte by byte, and CHAR
        without its padding (rule R10).
        """
        sql, mine = f"d{self.place}", self.type
        assert mine is not None
        if mine is Type.TEXT:
            sql = (
                f"(CAST({sql} AS STRING) COLLATE UTF8_BINARY)"
                if self.stored != "string"
                else sql
            )
            sql = f"rtrim({sql})" if self.padded else sql
        elif DECIMAL.fullmatch(self.stored) and type_ in (Type.INTEGER, Type.TEXT):
            return (
                f"try_cast(round({sql}) AS BIGINT)"
                if type_ is Type.INTEGER
                else self._digits()
            )
        elif self.stored.upper() not in NAMES.values():
            sql = f"CAST({sql} AS {NAMES[mine]})"
        return spark_cast(sql, mine, type_)

    def _digits(self) -> str:
        """A decimal as a text without zeros behind its digits: 1.50 and 1.5 are one id."""
        text, decimal = f"CAST(d{self.place} AS STRING)", DECIMAL.fullmatch(self.stored)
        return (
            f"rtrim('.', rtrim('0', {text}))"
            if decimal and int(decimal[2]) > 0
            else text
        )

    def read_id(self, type_: Type) -> str:
        """An id: NULL unless it is exactly that, or two ids could become one owner
        (rule R10).
        """
        read, exact = self.read(type_), self._exactly(type_)
        return read if exact is None else f"(CASE WHEN {exact} THEN {read} END)"

    def _exactly(self, type_: Type) -> str | None:
        """Whether a value is read without loss; None where it always is."""
        sql = f"d{self.place}"
        if type_ is Type.INTEGER and self.real:
            return f"{sql} = rint({sql})"
        if type_ is Type.INTEGER and self.type in (Type.TEXT, Type.REAL):
            return f"CAST({sql} AS STRING) RLIKE '{SPARK_WHOLE}'"
        if type_ is Type.DATE and self.type is Type.TEXT:
            return f"CAST({sql} AS STRING) RLIKE '{SPARK_DAY}'"
        if type_ is Type.DATE and self.type is Type.TIMESTAMP:
            moment = self.read(Type.TIMESTAMP)
            return f"{moment} = CAST(CAST({moment} AS DATE) AS TIMESTAMP_NTZ)"
        return None

    @property
    def real(self) -> bool:
        return self.stored in ("float", "double")


def columns_of(frame: Any) -> list[Column]:
    """The columns of a data frame, in order."""
    fields = frame.schema.fields
    unique("table", [field.name for field in fields])
    return [_column(place, field) for place, field in enumerate(fields)]


def _column(place: int, field: Any) -> Column:
    stored = str(field.metadata.get(CHAR, field.dataType.simpleString())).lower()
    return Column(place, field.name, stored, stored.startswith("char("))


def fields_of(frame: Any, table: Table) -> dict[str, str]:
    """How each declared column is read; refused where it is stored as something else
    altogether.
    """
    columns = {column.name: column for column in columns_of(frame)}
    return {field.name: _field(columns, table, field) for field in table.fields}


def places_of(frame: Any, table: Table) -> dict[str, str]:
    """The declared columns as they are stored."""
    columns = {column.name: column for column in columns_of(frame)}
    found = {
        one.name: one.name if one.name in columns else find(one.name, columns)
        for one in table.fields
    }
    return {
        name: f"d{columns[stored].place}"
        for name, stored in found.items()
        if stored is not None
    }


def _field(columns: Mapping[str, Column], table: Table, field: Field) -> str:
    found = field.name if field.name in columns else find(field.name, columns)
    if found is None:
        raise ArgumentError(
            table.name,
            f"its source has no column {field.name}; {nearest(field.name, columns)}",
        )
    column = columns[found]
    if column.type is None:
        way = "cast it to one in a view, or leave it out of the catalogue"
        raise ArgumentError(
            table.name,
            (
                f"{field.name} is stored as {column.stored:.60}, which is no "
                f"{field.type}; {way}"
            ),
        )
    if field.type not in READABLE[column.type]:
        raise ArgumentError(
            table.name,
            (
                f"{field.name} holds a {column.type}, not a {field.type}; declare "
                "what it holds"
            ),
        )
    if field.name not in ids(table):
        return column.read(field.type)
    check_id(table, field, real=column.real)
    return column.read_id(field.type)


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
            (
                "is a session of Spark Connect, whose plans cannot be looked "
                "into; pass one that was made on the driver"
            ),
        )
    if hasattr(value, "newSession"):
        return _table(value, stored)
    if hasattr(value, "sparkSession"):
        return value
    if not isinstance(value, str | Path):
        raise ArgumentError(
            "source",
            (
                f"a {type(value).__name__} cannot be opened; pass a Spark session "
                "or data frame"
            ),
        )
    return _files(str(value)) if str(value) else _table(running(), stored)


def _table(spark: Any, name: str) -> Any:
    if not name:
        raise ArgumentError("table", "which table of the session is not said; name it")
    with suppress(Exception):
        return spark.table(name)
    known: list[str] = []
    with suppress(Exception):
        known = [table.name for table in spark.catalog.listTables()]
    raise ArgumentError(
        "table",
        f"the session has no table {name} that can be read now; {nearest(name, known)}",
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
        (
            "cannot be read as Parquet; name a file or folder of it, or a "
            "table of the session"
        ),
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
    if found is None:
        raise ArgumentError(
            "keys_from",
            f"{column} of {source} cannot be read as {type_}; list the keys instead",
        )
    return [value for (value,) in found if value is not None]


@contextmanager
def viewed(frame: Any) -> Iterator[str]:
    """A data frame in the FROM clause of every session of its context, until this ends."""
    name = f"dither_{token(8)}"
    frame.createGlobalTempView(name)
    try:
        yield f"{shared(frame.sparkSession)}.{name}"
    finally:
        with suppress(Exception):
            frame.sparkSession.catalog.dropGlobalTempView(name)


def placed(frame: Any) -> Any:
    """A data frame with its columns named by their places: d0, d1, …"""
    return frame.toDF(*(f"d{place}" for place in range(len(frame.columns))))
