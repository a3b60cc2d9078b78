"""Connections to DuckDB that reach only what they are given, and folders for what is
written beside them.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from dither.query.catalogue.limits import Limits

if TYPE_CHECKING:
    import duckdb

__all__ = ["PrivateFolder", "connect", "described", "limit", "lock", "text"]

MEGABYTE = 1_000_000
CONFIG = {
    # Nothing is fetched from elsewhere, also not an extension that a file asks for.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    # A table that is not there must not turn into a Python variable of that name.
    "python_enable_replacements": "false",
    # No answer depends on the order of rows, and without it DuckDB needs less memory.
    "preserve_insertion_order": "false",
}


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory that fetches nothing from elsewhere, takes no Python
    variable for a table, and is in UTC.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=dict(CONFIG))
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


def limit(connection: duckdb.DuckDBPyConnection, limits: Limits) -> None:
    """Limit the memory and the disk space of questions; what tables take that were
    copied into memory comes on top.

    DuckDB's own limit, most of what the machine has, stays where it is lower.
    """
    ((used, own),) = connection.execute(
        "SELECT sum(memory_usage_bytes), current_setting('memory_limit') "
        "FROM duckdb_memory()"
    ).fetchall()
    wanted = used + limits.memory * MEGABYTE
    if wanted < _bytes(own):
        connection.execute(f"SET memory_limit = '{wanted} B'")
    connection.execute(f"SET max_temp_directory_size = '{limits.disk * MEGABYTE} B'")


def _bytes(written: str) -> float:
    """A size as DuckDB writes it, such as 12.4 GiB."""
    number, _, unit = written.partition(" ")
    power = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)
    return float(number) * float(1024**power)


def lock(connection: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    """Let a connection read these files and no others from now on, for good."""
    connection.execute(f"SET allowed_paths = [{', '.join(map(text, files))}]")
    # The last setting comes last: it locks the others.
    for setting in ("enable_external_access = false", "lock_configuration = true"):
        connection.execute(f"SET {setting}")


def described(connection: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Names and DuckDB types of the columns of a relation."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: stored for name, stored, *_ in rows}


def text(value: str) -> str:
    """A string in SQL."""
    return "'" + value.replace("'", "''") + "'"


class PrivateFolder:
    """A folder for copies of private data, readable by this user alone, which is
    deleted with this object.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="dither-"))
        self.delete = weakref.finalize(
            self, shutil.rmtree, self.path, ignore_errors=True
        )
