"""Which tables a source holds: files, folders, databases, servers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.draft.found import Found, found_tables, without_password
from tests.query.engines.postgres.test_engine import ROWS, made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/visits.csv").write_text("patient_id,age\n1,2\n", encoding="utf-8")
    return tmp_path


def parquet(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    duckdb.connect().execute(f"COPY (SELECT 1 AS id) TO '{path}'")


def found(source: str) -> list[tuple[str, str, str]]:
    return [(one.name, one.source, one.stored) for one in found_tables(source)]


def test_each_file_of_a_folder_is_a_table() -> None:
    parquet("data/stays.parquet")
    parquet("data/calls/a.parquet")
    Path("data/notes.ndjson").write_text("{}", encoding="utf-8")
    Path("data/more.csv.gz").write_bytes(b"")
    for other in (
        "README.md",
        ".hidden.csv",
        "_SUCCESS",
        "visits.dither.db",
        "clinic.toml",
    ):
        Path("data", other).write_text("x", encoding="utf-8")
    Path("data/empty").mkdir()
    Path("data/more.csv.gz").unlink()
    with duckdb.connect("data/clinic.duckdb") as made_here:
        made_here.execute("CREATE TABLE beds (n BIGINT)")
    assert found("data") == [
        ("calls", "data/calls", ""),
        ("beds", "data/clinic.duckdb", "beds"),
        ("notes", "data/notes.ndjson", ""),
        ("stays", "data/stays.parquet", ""),
        ("visits", "data/visits.csv", ""),
    ]


@pytest.mark.parametrize(
    "paths",
    [
        ["part-0000.parquet", "part-0001.parquet"],
        ["year=2023/x.parquet", "year=2024/x.parquet"],
    ],
)
def test_parts_are_one_table(paths: list[str]) -> None:
    for path in paths:
        parquet(f"visits/{path}")
    assert [one[:2] for one in found("visits")] == [("visits", "visits")]


def test_numbered_files_beside_others_are_tables() -> None:
    parquet("data/2024.parquet")
    assert [one[0] for one in found("data")] == ["2024", "visits"]


def test_a_folder_without_tables() -> None:
    Path("nothing").mkdir()
    with pytest.raises(
        ArgumentError,
        match="the folder 'nothing' does not hold any tables; put files in it",
    ):
        found("nothing")


@pytest.mark.engine("postgres")
def test_a_server() -> None:
    address = made(
        ROWS,
        "CREATE SCHEMA other; CREATE TABLE other.things (x int, y int[])",
        "CREATE TABLE odd (a point)",
    )
    tables = list(found_tables(address))
    assert [(one.name, one.stored) for one in tables] == [
        ("things", "other.things"),
        ("odd", "odd"),
        ("visits", "visits"),
    ]
    assert tables[0].schema == {"x": Type.INTEGER}
    assert tables[2] == Found(
        "visits",
        address,
        "visits",
        {"id": Type.TEXT, "ward": Type.TEXT, "cost": Type.INTEGER},
    )


@pytest.mark.engine("postgres")
def test_a_view_that_cannot_be_opened_says_why() -> None:
    address = made(ROWS, "CREATE VIEW moving AS SELECT random() AS x")
    (problem,) = [one.problem for one in found_tables(address) if one.problem]
    assert "moving" in problem


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://me:secret@host/clinic", "postgresql://me@host/clinic"),
        (
            "postgresql://host/clinic?password=secret&sslmode=require",
            "postgresql://host/clinic?sslmode=require",
        ),
        ("postgresql://me@host:5433/clinic", "postgresql://me@host:5433/clinic"),
    ],
)
def test_no_password_is_written_down(address: str, kept: str) -> None:
    assert without_password(address) == kept
