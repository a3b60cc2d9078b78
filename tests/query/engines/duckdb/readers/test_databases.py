"""DuckDB databases: a file in place, an open connection copied, texts byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.lookup import schema_of
from tests.query.engines.duckdb.reading import engine_of, owners_of, rows_of

TABLES = '''
    CREATE TABLE visits (id BIGINT, ward VARCHAR COLLATE NOCASE, cost DECIMAL(9, 2), tags VARCHAR[]);
    INSERT INTO visits VALUES (1, 'a', 1.5, ['x']), (2, 'A', 2.5, []), (3, NULL, NULL, NULL);
    CREATE VIEW wards AS SELECT ward FROM visits;
    CREATE SCHEMA "odd schema";
    CREATE TABLE "odd schema"."a ""b""" (rowid INTEGER, x VARCHAR);
    INSERT INTO "odd schema"."a ""b""" VALUES (7, 'x'), (7, 'y');
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "it's.duckdb") as connection:
        connection.execute(TABLES)
    return tmp_path / "it's.duckdb"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute(TABLES)
        yield opened


ROWS = [(1, "a", 1.5), (2, "A", 2.5), (3, None, None)]


@pytest.mark.parametrize("name", ["visits", "VISITS", "main.visits"])
def test_a_table_in_a_file(path: Path, name: str) -> None:
    assert schema_of(path, name) == {
        "id": Type.INTEGER,
        "ward": Type.TEXT,
        "cost": Type.REAL,
    }
    assert rows_of(path, name) == ROWS


def test_texts_are_compared_byte_by_byte(
    path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    for value, name in (
        (path, "visits"),
        (path, "wards"),
        (connection, "visits"),
        (connection, "wards"),
    ):
        with (
            engine_of(value, name, ward=Type.TEXT) as engine,
            engine.session() as session,
        ):
            assert session.fetch("SELECT count(DISTINCT ward) FROM data") == [(2,)]
            assert session.fetch("SELECT count(*) FROM data WHERE ward = 'a'") == [(1,)]


def test_files_are_read_in_place_and_views_copied(path: Path) -> None:
    for name, kind in (("visits", "VIEW"), ("wards", "BASE TABLE")):
        with (
            engine_of(path, name, ward=Type.TEXT) as engine,
            engine.session() as session,
        ):
            sql = "SELECT table_type FROM information_schema.tables WHERE table_name = 'data'"
            assert session.fetch(sql) == [(kind,)]


def test_a_column_that_hides_ids(path: Path) -> None:
    assert rows_of(path, 'odd schema.a "b"', x=Type.TEXT) == [("x",), ("y",)]


def test_tables_that_are_not_there(path: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ArgumentError, match=r"has no table 'visit'; did you mean visits\?"
    ):
        schema_of(path, "visit")
    with pytest.raises(ArgumentError, match="needs the name of one of its tables"):
        schema_of(path)
    with duckdb.connect(tmp_path / "one.db") as opened:
        opened.execute("CREATE TABLE single (x INTEGER)")
    assert schema_of(tmp_path / "one.db") == {"x": Type.INTEGER}


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_bytes(b"nothing of the kind" * 1000)
    with pytest.raises(ArgumentError, match="cannot be opened as a DuckDB database"):
        schema_of(tmp_path / "x.duckdb")
    with (
        duckdb.connect(tmp_path / "y.duckdb"),
        pytest.raises(ArgumentError, match="close it if it is open elsewhere"),
    ):
        schema_of(tmp_path / "y.duckdb")


def test_an_open_connection(connection: duckdb.DuckDBPyConnection) -> None:
    assert schema_of(connection, "visits") == {
        "id": Type.INTEGER,
        "ward": Type.TEXT,
        "cost": Type.REAL,
    }
    assert rows_of(connection, "visits") == ROWS
    connection.execute(
        "CREATE TEMP TABLE here AS SELECT 1::HUGEINT AS h, uuid() AS u, ('a')::ENUM('a') AS e"
    )
    assert rows_of(connection, "here", h=Type.INTEGER, e=Type.TEXT) == [(1, "a")]
    with pytest.raises(ArgumentError, match="has no table 'gone'"):
        schema_of(connection, "gone")
    with pytest.raises(
        ArgumentError, match="pass the name of a table of the connection"
    ):
        schema_of(connection)


def test_a_connection_is_copied_and_left_alone(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    with engine_of(connection, "visits") as engine:
        connection.execute("DELETE FROM visits")
        with engine.session() as session:
            assert session.fetch("SELECT count(*) FROM data") == [(3,)]
    assert connection.execute("SELECT count(*) FROM visits").fetchall() == [(0,)]
    assert connection.execute(
        "SELECT current_setting('lock_configuration')"
    ).fetchall() == [(False,)]


NEAR = [
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.6",
    "18446744073709551615",
]


@pytest.mark.parametrize(
    "stored", ["HUGEINT", "UHUGEINT", "UBIGINT", "BIGNUM", "DECIMAL(38, 10)", "VARCHAR"]
)
def test_ids_are_not_rounded(tmp_path: Path, stored: str) -> None:
    whole = stored.startswith(("DECIMAL", "VARCHAR"))
    ids = [text for text in NEAR if whole or "." not in text]
    values = ", ".join(
        f"(CAST('{text}' AS {stored}), {n})" for n, text in enumerate(ids)
    )
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute(f"CREATE TABLE data (id {stored}, n INTEGER)")
        connection.execute(f"INSERT INTO data VALUES {values}")
        open_ones = [
            owners_of(connection, type_, "data") for type_ in (Type.INTEGER, Type.TEXT)
        ]
    for found in (
        open_ones,
        [
            owners_of(tmp_path / "x.duckdb", type_, "data")
            for type_ in (Type.INTEGER, Type.TEXT)
        ],
    ):
        assert found[0] == [
            int(text) if "." not in text and int(text) < 2**63 else None for text in ids
        ]
        assert found[1] == [text.encode() for text in ids]


def test_times_that_are_beyond_all(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TABLE far AS SELECT make_timestamp(x) AS t FROM (VALUES (-9223372036854775806), (0)) v (x)"
    )
    assert [t for (t,) in rows_of(connection, "far", t=Type.TEXT)] == [
        None,
        "1970-01-01 00:00:00",
    ]
