"""Drafted catalogues: from names, types and values of text files, with guesses that say
so, and ready to be opened.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import pytest

import dither
from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.draft.draft import draft, drafted, first_guess
from dither.query.load import load_catalogue, parse_catalogue


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_bytes(
        b"visit_id,patient_id,ward,age\n1,2,secret,200\n\xff,\0\n"
    )
    Path("codes.csv").write_text("visit_id,code\n1,secret\n", encoding="utf-8")
    Path("regions.csv").write_text("region,beds\nsecret,7\n", encoding="utf-8")
    duckdb.connect().execute(
        "COPY (SELECT 'secret' AS patient_id, 1 AS n, DATE '2024-01-01' AS day, [1] AS l) TO 'stays.parquet'"
    )
    Path("notes.json").write_text('{"secret": 1}', encoding="utf-8")
    with duckdb.connect("clinic.duckdb") as made:
        made.execute(
            "CREATE TABLE visits (user_id BIGINT, x DOUBLE); CREATE VIEW v AS SELECT 1 AS a"
        )
    return tmp_path


def test_it_opens_as_it_is(folder: Path) -> None:
    (folder / "c.toml").write_text(
        draft(["visits.csv", "stays.parquet", "codes.csv", "regions.csv"]),
        encoding="utf-8",
    )
    found = load_catalogue(folder / "c.toml")
    assert [(table.name, table.owner) for table in found.tables] == [
        ("visits", "patient_id"),
        ("stays", "patient_id"),
        ("codes", None),
    ]
    assert found.tables[2].link is not None
    assert found.tables[0].source == str(folder / "visits.csv")
    assert [field.type for field in found.tables[0].fields] == [
        Type.INTEGER,
        Type.TEXT,
        Type.TEXT,
        Type.INTEGER,
    ]
    assert [field.type for field in found.tables[1].fields] == [
        Type.TEXT,
        Type.INTEGER,
        Type.DATE,
    ]
    with dither.open(folder / "c.toml", ledger=":memory:") as database:
        assert (
            database.sql("SELECT COUNT(*) FROM visits", epsilon=0.5).value is not None
        )
        assert database.sql("SELECT AVG(age) FROM visits", epsilon=0.1).rows


def test_guesses_say_so() -> None:
    text = draft(["visits.csv", "codes.csv"])
    lines = {line.partition(" = ")[0]: line for line in text.splitlines()}
    assert "CHECK: guessed from its name; also possible: visit_id" in lines["unit"]
    assert "CHECK" in lines["epsilon"]
    assert "CHECK" in lines["link"]
    assert "CHECK" in lines["age"]
    found = parse_catalogue(text).table("visits").field("age")
    assert (found.range.low, found.range.high) == (0, 120)
    assert (
        found.provenance
        == "a guess of dither init from the name and the values, in years: check it"
    )


def test_what_is_stated_is_no_guess() -> None:
    text = draft(["visits.csv"], unit="VISIT_ID")
    assert 'unit = "visit_id"' in text
    assert "guessed from its name" not in text


def test_whose_rows_nobody_can_tell_stay_closed() -> None:
    text = draft(["visits.csv", "regions.csv"])
    assert "regions" not in [table.name for table in parse_catalogue(text).tables]
    assert "# regions is not open: it has no column patient_id" in text
    opened = "\n".join(
        line.removeprefix("# ")
        for line in text.partition("# regions is not open")[2].splitlines()[1:]
    )
    public = opened.replace("[tables.regions]", "[tables.regions]\npublic = true")
    assert (
        parse_catalogue(text.partition("# regions is")[0] + public)
        .table("regions")
        .public
    )


def test_no_value_is_in_it(folder: Path) -> None:
    text = draft(
        [
            str(folder / "visits.csv"),
            "stays.parquet",
            "notes.json",
            "clinic.duckdb",
            "regions.csv",
        ]
    )
    assert "secret" not in text
    assert "200" not in text.replace("2020", "")


def test_all_tables_of_a_database(folder: Path) -> None:
    tables = tomllib.loads(draft([folder / "clinic.duckdb", folder / "clinic.duckdb"]))[
        "tables"
    ]
    assert list(tables) == ["visits", "visits_2"]
    assert tables["visits_2"]["table"] == "visits"
    assert tables["visits_2"]["columns"] == {"user_id": "integer", "x": "real"}


def test_ids_have_one_type() -> None:
    """Rule R10: a file of texts and a table of numbers hold the same ids."""
    duckdb.connect().execute("COPY (SELECT 7 AS patient_id) TO 'numbers.parquet'")
    duckdb.connect().execute(
        "COPY (SELECT 7.0::DOUBLE AS patient_id) TO 'reals.parquet'"
    )
    for sources, type_ in (
        (["visits.csv", "numbers.parquet"], Type.INTEGER),
        (["visits.csv", "stays.parquet"], Type.TEXT),
        (["stays.parquet", "numbers.parquet"], Type.TEXT),
    ):
        assert {
            one.field("patient_id").type
            for one in parse_catalogue(draft(sources)).tables
        } == {type_}
    only = parse_catalogue(draft(["reals.parquet"], unit="patient_id"))
    assert only.table("reals").field("patient_id").type is Type.INTEGER


def test_rows_as_units() -> None:
    Path("odd.csv").write_text("rowid,x\n1,2\n", encoding="utf-8")
    text = draft(["odd.csv", "visits.csv"], unit="Row")
    (table,) = parse_catalogue(text).tables
    assert [field.name for field in table.fields] == ["x"]
    assert "its rows are different units from those of odd" in text


def test_columns_that_are_not_listed(folder: Path) -> None:
    tables = tomllib.loads(draft([folder / "notes.json"], unit="user_id"))["tables"]
    assert tables["notes"]["columns"] == {"user_id": "text"}
    assert (
        parse_catalogue(draft([folder / "notes.json"], unit="row")).tables[0].fields
        == ()
    )


def test_odd_names(folder: Path) -> None:
    (folder / "odd [x].csv").write_text(
        '"a = 1\nunit = ""row""",é,a.b\n1,2,3\n', encoding="utf-8"
    )
    tables = tomllib.loads(draft([folder / "odd [x].csv"], unit="é"))["tables"]
    assert list(tables["odd [x]"]["columns"]) == ["é", "a.b"]


def test_a_file_may_be_called_anything() -> None:
    """Nothing in a name becomes a line of the catalogue."""
    for name in ("a\nunit = 'x'.csv", "b\nversion = '9'.csv"):
        Path(name).write_text(
            "patient_id\n" if name[0] == "a" else "region\n", encoding="utf-8"
        )
    text = draft(["a\nunit = 'x'.csv", "b\nversion = '9'.csv"])
    found = parse_catalogue(text)
    assert (found.unit.name, found.version) == ("patient_id", "1")
    assert [table.name for table in found.tables] == ["table"]
    assert drafted(["visits.csv"], "a\nb").name == "visits"


@pytest.mark.parametrize(
    ("source", "unit", "said"),
    [
        ([], "", "sources are missing"),
        (["gone.csv"], "", "does not exist"),
        (
            ["regions.csv"],
            "",
            "no column is named like a person's id, so the unit to protect cannot be guessed",
        ),
        (
            ["regions.csv"],
            "patient_id",
            "no table has a column 'patient_id'; name the column with a person's id",
        ),
        (["codes.csv"], "", "perhaps visit_id"),
    ],
)
def test_what_cannot_be_drafted(source: list[str], unit: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        draft(source, unit)


def test_what_somebody_states() -> None:
    found = first_guess(drafted(["visits.csv"], "clinic")).stating(
        epsilon=3.0, population=2500
    )
    assert (found.name, found.epsilon, found.population, found.guessed) == (
        "clinic",
        3.0,
        2500,
        {"unit"},
    )
    assert found.stating(epsilon=None).epsilon == 3.0
