"""Connections that reach nothing but what they are given, and private folders."""

from __future__ import annotations

import gc
from pathlib import Path

import duckdb
import pytest

from dither.query.catalogue.limits import Limits
from dither.query.engines.duckdb.connection import (
    PrivateFolder,
    _bytes,
    connect,
    described,
    limit,
    lock,
    text,
)


def test_it_takes_no_python_variable_for_a_table() -> None:
    rows = duckdb.connect().sql("SELECT 1")
    with connect() as connection, pytest.raises(duckdb.Error):
        connection.execute("SELECT * FROM rows")
    assert rows is not None


def test_it_is_in_utc() -> None:
    with connect() as connection:
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [
            ("UTC",)
        ]


@pytest.mark.parametrize(
    ("written", "bytes_"),
    [("0 bytes", 0), ("1.5 KiB", 1536), ("12.5 GiB", 12.5 * 2**30), ("1 TiB", 2**40)],
)
def test_sizes(written: str, bytes_: float) -> None:
    assert _bytes(written) == bytes_


def test_limits_of_memory_and_disk() -> None:
    with connect() as connection:
        limit(connection, Limits(memory=100, disk=50))
        ((memory, disk),) = connection.execute(
            "SELECT current_setting('memory_limit'), "
            "current_setting('max_temp_directory_size')"
        ).fetchall()
    assert 90 * 2**20 < _bytes(memory) < 120 * 2**20
    assert _bytes(disk) == pytest.approx(50_000_000, rel=0.01)


def test_a_locked_one_reads_its_files_and_no_others(tmp_path: Path) -> None:
    mine, other = (tmp_path / name for name in ("mine.parquet", "other.parquet"))
    for path in (mine, other):
        duckdb.connect().execute(f"COPY (SELECT 1 AS x) TO {text(str(path))}")
    with connect() as connection:
        lock(connection, [str(mine)])
        read = "SELECT x FROM read_parquet({})"
        assert connection.execute(read.format(text(str(mine)))).fetchall() == [(1,)]
        with pytest.raises(duckdb.Error):
            connection.execute(read.format(text(str(other))))
        with pytest.raises(duckdb.Error):
            connection.execute("SET enable_external_access = true")


def test_columns_of_a_relation() -> None:
    with connect() as connection:
        found = described(connection, "(SELECT 1 AS a, 'x' AS \"b c\") t")
    assert found == {"a": "INTEGER", "b c": "VARCHAR"}


def test_texts_in_sql() -> None:
    with connect() as connection:
        for value in ("it's", "'; --", "\\", ""):
            ((found,),) = connection.execute(f"SELECT {text(value)}").fetchall()
            assert found == value


def test_a_private_folder_is_deleted() -> None:
    folder = PrivateFolder()
    path = folder.path
    assert path.stat().st_mode & 0o077 == 0
    (path / "copy").write_text("rows", encoding="utf-8")
    folder.delete()
    folder.delete()
    assert not path.exists()
    other = PrivateFolder()
    path = other.path
    del other
    gc.collect()
    assert not path.exists()
