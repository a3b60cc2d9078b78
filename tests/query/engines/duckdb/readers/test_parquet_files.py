"""Parquet: what is read, and that no value stops a question (rule R1) or makes one id
of two (rule R10).
"""

from __future__ import annotations

import gc
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as arrow_parquet

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.duckdb.lookup import schema_of
from tests.query.engines.duckdb.reading import owners_of, rows_of


def parquet(path: Path, sql: str) -> Path:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    return path


def test_parquet(tmp_path: Path) -> None:
    sql = """
        SELECT i::INTEGER AS i, i::UBIGINT AS u, i::HUGEINT AS h, i::DECIMAL(9, 2) AS d, i::DECIMAL(9, 0) AS w,
            'x' || i AS t, i > 0 AS b, i::FLOAT AS f, DATE '2024-02-29' AS day,
            TIMESTAMPTZ '2024-02-29 12:00:00+02' AS z, uuid() AS uu, [i] AS l, {'a': i} AS s, TIME '10:00' AS tm,
            'x'::BLOB AS bl, INTERVAL 1 DAY AS iv, ('a')::ENUM('a', 'b') AS e
        FROM range(3) AS r (i)
    """
    path = parquet(tmp_path / "t.parquet", sql)
    schema = schema_of(path)
    assert schema is not None
    assert {name: type_ for name, type_ in schema.items() if name != "h"} == {
        **dict.fromkeys("iuw", Type.INTEGER),
        **dict.fromkeys("df", Type.REAL),
        **dict.fromkeys(("t", "uu", "e"), Type.TEXT),
        "b": Type.BOOLEAN,
        "day": Type.DATE,
        "z": Type.TIMESTAMP,
    }
    found = rows_of(path, i=Type.INTEGER, z=Type.TIMESTAMP, d=Type.REAL, t=Type.TEXT)
    assert found[2] == (2, datetime(2024, 2, 29, 10), 2.0, "x2")
    assert rows_of(path, T=Type.INTEGER, i=Type.TEXT, day=Type.TIMESTAMP)[0] == (
        None,
        "0",
        datetime(2024, 2, 29),
    )


def test_many_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in here" / "day=1"
    folder.mkdir(parents=True)
    parquet(tmp_path / "in here" / "b.parquet", "SELECT range AS i FROM range(2)")
    parquet(folder / "a.parquet", "SELECT range AS i FROM range(3)")
    (folder / "_SUCCESS").write_text("")
    assert schema_of(folder.parent) == {"i": Type.INTEGER}
    assert sorted(rows_of(folder.parent)) == [(0,), (0,), (1,), (1,), (2,)]
    monkeypatch.chdir(tmp_path / "in here")
    assert sorted(rows_of("**/*.parquet")) == [(0,), (0,), (1,), (1,), (2,)]
    parquet(folder / "c.parquet", "SELECT 'x' AS i")
    with pytest.raises(
        ArgumentError, match=r"[bc]\.parquet has other columns or types than"
    ):
        schema_of(folder.parent)


def test_parquet_with_names_that_hide_ids(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "t.parquet", "SELECT 1 AS File_Row_Number, 2 AS a FROM range(3)"
    )
    assert rows_of(path) == [(1, 2)] * 3
    path = parquet(tmp_path / "t.parquet", "SELECT 1 AS rowid, 2 AS a FROM range(3)")
    assert rows_of(path, a=Type.INTEGER) == [(2,)] * 3


def test_what_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(ArgumentError, match="cannot be read as Parquet"):
        schema_of(tmp_path / "t.parquet")


def test_a_type_that_cannot_be_made(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", "SELECT DATE '2024-01-01' AS day, 1 AS a")
    with pytest.raises(
        ArgumentError,
        match="the column 'day' of 'data' holds values of type date, not real; declare the stored type",
    ):
        rows_of(path, a=Type.INTEGER, day=Type.REAL)


def test_names_that_look_like_patterns(tmp_path: Path) -> None:
    path = parquet(tmp_path / "z[1].parquet", "SELECT 1 AS a")
    with pytest.raises(ArgumentError, match="has a wildcard in its path"):
        schema_of(path)


FAR = 1 << 62
WRITTEN: list[dict[str, Any]] = [
    {},
    {"use_dictionary": False, "write_statistics": False},
    {"version": "1.0", "row_group_size": 2},
    {"data_page_version": "2.0", "compression": "zstd"},
]


def texts(*values: bytes) -> pa.Array:
    """A column of texts, whatever their bytes are."""
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(),
        len(values),
        [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(values))],
    )


@pytest.mark.parametrize("options", WRITTEN)
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_milliseconds_that_do_not_fit(
    tmp_path: Path, options: dict[str, Any], zone: str | None
) -> None:
    path, later = tmp_path / "t.parquet", 1_704_067_200_000
    columns = {
        "s": [{"x": 1, "t": [{"x": 2}]}] * 5,
        "x": pa.array([0, FAR, -FAR, later, None], pa.int64()).view(
            pa.timestamp("ms", zone)
        ),
        "n": range(5),
    }
    arrow_parquet.write_table(pa.table(columns), path, **options)
    times = [datetime(1970, 1, 1), None, None, datetime(2024, 1, 1), None]
    assert [x for (x,) in rows_of(path, x=Type.TIMESTAMP)] == times
    assert [x for (x,) in rows_of(path, x=Type.DATE)] == [x and x.date() for x in times]
    assert [x for (x, _) in rows_of(path, x=Type.TEXT, n=Type.INTEGER)] == [
        x and str(x) for x in times
    ]
    assert rows_of(path, n=Type.INTEGER) == [(n,) for n in range(5)]


def test_the_ends_of_time_are_the_same_in_a_copy(tmp_path: Path) -> None:
    """Whether a file is copied depends on one value, so all others have to be read
    alike.
    """
    ends = [
        9_223_372_036_854_775,
        -9_223_372_036_854_775,
        -9_223_372_022_400_000,
        -9_223_372_022_400_001,
        0,
    ]
    for zone in (None, "UTC"):
        found = []
        for values in (ends, [*ends, FAR]):
            column = pa.array(values, pa.int64()).view(pa.timestamp("ms", zone))
            arrow_parquet.write_table(pa.table({"x": column}), tmp_path / "t.parquet")
            table = Table(
                "data", (Field("x", Type.TIMESTAMP),), source=f"{tmp_path}/t.parquet"
            )
            with (
                DuckDBEngine.of(Catalogue("c", (table,))) as engine,
                engine.session() as session,
            ):
                found.append(
                    session.fetch("SELECT epoch_us(x) FROM data ORDER BY rowid")
                )
        assert found[1] == [*found[0], (None,)]


@pytest.mark.parametrize("options", WRITTEN)
def test_texts_that_are_not_utf8(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "t.parquet"
    arrow_parquet.write_table(
        pa.table({"x": texts(b"\xffb", b"?", b"b", b"\xc3"), "n": range(4)}),
        path,
        **options,
    )
    assert rows_of(path, x=Type.TEXT) == [("?b",), ("?",), ("b",), ("?",)]
    assert owners_of(path, Type.TEXT, name="x") == [None, b"?", b"b", None]


def test_copies_last_as_long_as_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, copies = tmp_path / "t.parquet", tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    arrow_parquet.write_table(
        pa.table({"x": texts(b"\xff", b"b"), "n": range(2)}), path
    )
    table = Table("data", (Field("x", Type.TEXT),), owner="x", source=str(path))
    with DuckDBEngine.of(Catalogue("c", (table,), unit=Unit("x"))) as engine:
        assert len(list(copies.rglob("*.parquet"))) == 1
        with engine.session() as session:
            assert session.fetch("SELECT count(x), count(*) FROM data") == [(1, 2)]
    del engine, session
    gc.collect()
    assert not list(copies.rglob("*.parquet"))
