"""The tables that a source holds, for a draft: files, folders, DuckDB databases,
PostgreSQL servers. Only text files are read, because their columns have no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from dither.errors import ArgumentError
from dither.query.draft.values import Looks, values_of
from dither.query.engines.choice import engine_of
from dither.query.engines.columns import Schema
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.lookup import CSV, JSON, PARQUET, name_of, reader_of
from dither.query.engines.duckdb.readers.databases import DatabaseTable
from dither.query.engines.duckdb.readers.text_files import CsvFile, ending

__all__ = ["Found", "found_tables", "without_password"]

DATABASES = (".duckdb", ".ddb")  # a book ends in .db and holds no data
SECRETS = ("password=", "sslpassword=")
PART = re.compile(r"(part|chunk|data|file)?[-_.]?\d+[-_.\w]*|\w+=.*", re.IGNORECASE)
"""How parts of one table are named: part-00000.parquet, 0001.parquet, year=2024."""


@dataclass(frozen=True)
class Found:
    """A table of a source: its name, where it is, what it is called there, its columns
    (None: not listed), and what the values of a text file look like.
    """

    name: str
    source: str
    stored: str
    schema: Schema | None
    problem: str = ""
    looks: Looks | None = None


def found_tables(source: str) -> Iterator[Found]:
    """The tables of a source, in order. One that cannot be opened says why."""
    if engine_of(source) == "postgres":
        yield from _on_server(source)
    elif Path(source).is_dir():
        yield from _in_folder(source)
    else:
        yield from _in_file(source)


def _in_file(source: str) -> Iterator[Found]:
    found = reader_of(source)
    if not isinstance(found, DatabaseTable):
        looks = values_of(found) if isinstance(found, CsvFile) else None
        yield Found(name_of(source), source, "", found.schema(), looks=looks)
        return
    with connect() as connection:
        names = list(found.tables(connection))
    for name in names:
        yield Found(
            name_of(source, name), source, name, reader_of(source, name).schema()
        )


def _in_folder(source: str) -> Iterator[Found]:
    """Each file is a table; a folder of parts, and each folder of Parquet files inside,
    is one table.
    """
    inside = sorted(
        path for path in Path(source).iterdir() if not path.name.startswith((".", "_"))
    )
    tables = [path for path in inside if _is_table(path)]
    if tables and all(_is_part(path) for path in tables):
        yield from _in_file(source)
        return
    if not tables:
        known = ", ".join((*CSV, *JSON, *PARQUET, *DATABASES))
        raise ArgumentError(
            f"{source:.200}",
            f"the folder '{source:.200}' does not hold any tables; put files in it that "
            f"end in {known}",
        )
    for path in tables:
        yield from _in_file(str(path))


def _is_table(path: Path) -> bool:
    if path.is_dir():
        return any(ending(one) in PARQUET for one in path.rglob("*"))
    return ending(path) in (*CSV, *JSON, *PARQUET, *DATABASES)


def _is_part(path: Path) -> bool:
    return (path.is_dir() or ending(path) in PARQUET) and PART.fullmatch(
        path.name
    ) is not None


def _on_server(source: str) -> Iterator[Found]:
    from dither.query.engines.postgres.lookup import schema_of, table_names

    address = without_password(source)
    for name in table_names(source):
        shown = name.rpartition(".")[2]
        try:
            yield Found(shown, address, name, schema_of(source, name))
        except ArgumentError as problem:
            yield Found(shown, address, name, {}, str(problem))


def without_password(address: str) -> str:
    """An address as a file may hold it: many read a catalogue, and a password is found
    in ~/.pgpass or PGPASSWORD.
    """
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    options = "&".join(
        one for one in parts.query.split("&") if not one.lower().startswith(SECRETS)
    )
    return urlunsplit(
        parts._replace(netloc=login.partition(":")[0] + at + host, query=options)
    )
