"""Sources that can be opened: paths, data frames, DuckDB databases. Reading their
columns reads no row.
"""

from __future__ import annotations

import difflib
import glob
from contextlib import suppress
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import COMPARED
from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema, public_keys
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.readers.databases import DatabaseTable, OpenTable
from dither.query.engines.duckdb.readers.frames import frame_of
from dither.query.engines.duckdb.readers.parquet_files import ParquetFiles
from dither.query.engines.duckdb.readers.text_files import CsvFile, JsonFile, ending
from dither.query.engines.duckdb.stored import TableReader

__all__ = ["name_of", "public_values", "reader_of", "schema_of"]

CSV = (".csv", ".tsv", ".tab", ".txt")
JSON = (".json", ".ndjson", ".jsonl")
PARQUET = (".parquet", ".pq")
DATABASE = (".duckdb", ".ddb", ".db")
# Other libraries guess the type of a column from its values, which is private; as texts
# they are read one by one.
AS_TEXTS = "dither.open(pandas.{}({!r}, dtype=str), …) and pass types="
ARROW = "dither.open(pyarrow.{}({!r}), …)"
OTHERS = {
    **dict.fromkeys(
        (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"),
        ("a spreadsheet", AS_TEXTS, "read_excel"),
    ),
    **dict.fromkeys(
        (".feather", ".arrow", ".ipc"), ("an Arrow file", ARROW, "feather.read_table")
    ),
    ".orc": ("an ORC file", ARROW, "orc.read_table"),
    ".dta": ("a Stata file", "dither.open(pandas.{}({!r}), …)", "read_stata"),
    ".sas7bdat": ("a SAS file", "dither.open(pandas.{}({!r}), …)", "read_sas"),
    ".sav": ("an SPSS file", "dither.open(pandas.{}({!r}), …)", "read_spss"),
    **dict.fromkeys(
        (".pkl", ".pickle"),
        ("a pickled object", "dither.open(pandas.{}({!r}), …)", "read_pickle"),
    ),
    ".xml": ("an XML file", AS_TEXTS, "read_xml"),
}
PACKED = (".zip", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz")


def reader_of(value: Any, stored: str = "") -> TableReader:
    """The source of rows behind a path, a frame or a connection; `stored` is the
    table's name in a database.
    """
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return reader_of(*value)
    if isinstance(value, str | Path):
        return _file(str(value), stored)
    if type(value).__name__ == "DuckDBPyConnection":
        if not stored:
            raise ArgumentError(
                "table",
                "is missing; pass the name of a table of the connection, such as "
                'table="visits"',
            )
        return OpenTable(value, stored)
    frame = frame_of(value)
    if frame is None and isinstance(value, TableReader):
        return value
    if frame is None:
        raise ArgumentError(
            "source",
            f"a source of type {type(value).__name__} cannot be opened; pass a path, "
            "a data frame or a DuckDB connection",
        )
    return frame


def _file(written: str, stored: str) -> TableReader:
    path = Path(written)
    if not written:
        raise ArgumentError(
            "source", "is an empty path; name a file, or a folder of Parquet files"
        )
    if "://" in written or "password=" in written:  # not shown: it may hold a password
        raise ArgumentError(
            "source",
            "is not a file on this machine; copy it here, or write "
            "postgresql://… for a server",
        )
    if not _there(path) and any(sign in written for sign in "*?["):
        return _parquet(
            written,
            [Path(found) for found in glob.glob(written, recursive=True)],  # noqa: PTH207 - Path.glob takes no absolute pattern
        )
    if _there(path) and path.is_dir():
        return _parquet(
            written, [found for kind in PARQUET for found in path.rglob(f"*{kind}")]
        )
    if not (_there(path) and path.is_file()):
        raise ArgumentError(
            f"{written:.200}",
            f"the file or folder '{written:.200}' does not exist; {_meant(path)}",
        )
    return _single(path.resolve(), stored)


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file can have
        return False


def _meant(path: Path) -> str:
    """Which file beside a path was probably meant."""
    try:
        beside = [
            found.name
            for found in path.parent.iterdir()
            if ending(found) in (*CSV, *JSON, *PARQUET, *DATABASE)
        ]
    except (OSError, ValueError):  # no such folder, or a name that none can have
        beside = []
    close = difflib.get_close_matches(
        path.name[:COMPARED], sorted(beside)[:COMPARED], n=1
    )
    return (
        f"did you mean {close[0]}?"
        if close
        else "name a file, or a folder of Parquet files"
    )


def _single(path: Path, stored: str) -> TableReader:
    kind = ending(path)
    if kind in CSV:
        return CsvFile(path)
    if kind in JSON:
        return JsonFile(path)
    if kind in PARQUET:
        return ParquetFiles((path,))
    if kind in DATABASE:
        return DatabaseTable(path, stored)
    raise ArgumentError(path.name, _unknown(path.name, kind))


def _unknown(name: str, kind: str) -> str:
    """What to do with a file that is not read, as far as its ending says what it is."""
    if kind in OTHERS:
        what, way, reader = OTHERS[kind]
        sheet = (
            "save it as CSV (in Excel: CSV UTF-8), or write "
            if what == "a spreadsheet"
            else "write "
        )
        return (
            f"is {what}, which cannot be opened directly; "
            f"{sheet}{way.format(reader, name)}"
        )
    if kind in PACKED:
        return (
            "is compressed in a format that is not supported; unpack it, or compress "
            "it with gzip (.csv.gz)"
        )
    known = ", ".join((*CSV, *JSON, *PARQUET, *DATABASE))
    return f"has an unknown ending; rename it to one of {known}"


def _parquet(written: str, found: list[Path]) -> ParquetFiles:
    paths = sorted(
        path.resolve() for path in found if path.is_file() and ending(path) in PARQUET
    )
    if not paths:
        raise ArgumentError(
            written,
            f"there are no Parquet files in '{written:.200}'; name some, or a single "
            "file of another kind",
        )
    return ParquetFiles(tuple(paths))


def schema_of(value: Any, stored: str = "") -> Schema | None:
    """Columns with their types, None for strings; None if they have to be declared
    (JSON).
    """
    return reader_of(value, stored).schema()


def name_of(value: Any, stored: str = "") -> str:
    """What a table is called if nobody says so: after its file or its table, else
    "data".
    """
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return name_of(*value)
    if stored:
        return stored.rpartition(".")[2]
    if not isinstance(value, str | Path):
        return "data"
    pattern = "" if _there(Path(value)) else "*?["
    parts = [
        part for part in Path(value).parts if not any(sign in part for sign in pattern)
    ]
    return Path(parts[-1]).name.partition(".")[0] or "data" if parts else "data"


def public_values(source: Any, stored: str, column: str, type_: Type) -> list[Any]:
    """The different values of a column of a public table, in order, without NULL."""
    import duckdb

    field = Field(column, type_)
    table = Table("keys", (field,), public=True)
    found = None
    with connect() as connection:
        rows = reader_of(source, stored).store(connection, table)
        value = rows.field(table, field)
        with suppress(duckdb.Error):
            found = connection.execute(
                f"SELECT DISTINCT {value} FROM {rows.relation} ORDER BY ALL"
            ).fetchall()
    return public_keys(found, column, source, type_)
