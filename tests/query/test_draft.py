"""Drafted catalogues: from the schema alone, refused until completed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue_file import load_catalogue, parse_catalogue
from dither.query.draft import draft
from dither.query.sql.types import Type


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_bytes(b"patient_id,ward,age\n1,secret,200\n\xff,\0\n")
    duckdb.execute(
        "COPY (SELECT 'secret' AS patient_id, 1 AS n, DATE '2024-01-01' AS day, [1] AS l) TO 'stays.parquet'"
    )
    Path("notes.json").write_text('{"secret": 1}', encoding="utf-8")
    with duckdb.connect("clinic.duckdb") as made:
        made.execute("CREATE TABLE visits (id BIGINT, x DOUBLE); CREATE VIEW v AS SELECT 1 AS a")
    return tmp_path


def test_it_is_refused_until_it_is_completed(folder: Path) -> None:
    text = draft(["visits.csv", "stays.parquet"])
    assert "patient_id" in text.partition('unit = "?"')[0]
    with pytest.raises(ArgumentError, match='unit: is still "\\?"'):
        parse_catalogue(text)
    text = text.replace('unit = "?"', 'unit = "patient_id"')
    with pytest.raises(ArgumentError, match='epsilon: is still "\\?"'):
        parse_catalogue(text)
    (folder / "c.toml").write_text(text.replace('epsilon = "?"', "epsilon = 3"), encoding="utf-8")
    found = load_catalogue(folder / "c.toml")
    assert [(table.name, table.owner) for table in found.tables] == [("visits", "patient_id"), ("stays", "patient_id")]
    assert [field.type for field in found.tables[0].fields] == [Type.TEXT] * 3
    assert [field.type for field in found.tables[1].fields] == [Type.TEXT, Type.INTEGER, Type.DATE]
    assert found.tables[0].source == str(folder / "visits.csv")


def test_no_value_is_in_it(folder: Path) -> None:
    text = draft([str(folder / "visits.csv"), "stays.parquet", "notes.json", "clinic.duckdb"])
    assert "secret" not in text
    assert "200" not in text


def test_all_tables_of_a_database(folder: Path) -> None:
    tables = tomllib.loads(draft([folder / "visits.csv", folder / "clinic.duckdb"]))["tables"]
    assert list(tables) == ["visits", "v", "visits_2"]
    assert tables["visits_2"]["table"] == "visits"
    assert tables["visits_2"]["columns"] == {"id": {"type": "integer"}, "x": {"type": "real"}}


def test_columns_that_are_not_listed(folder: Path) -> None:
    assert tomllib.loads(draft([folder / "notes.json"]))["tables"]["notes"]["columns"] == {}


def test_odd_names(folder: Path) -> None:
    (folder / "odd [x].csv").write_text('"a = 1\nunit = ""row""",é,a.b\n1,2,3\n', encoding="utf-8")
    tables = tomllib.loads(draft([folder / "odd [x].csv"]))["tables"]
    assert list(tables["odd [x]"]["columns"]) == ["é", "a.b"]


def test_what_cannot_be_drafted(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="there is none"):
        draft([])
    with pytest.raises(ArgumentError, match="is not there"):
        draft([folder / "gone.csv"])
