"""`dither.open` with nonsense of all kinds: a clear error, no book that was not there,
no folder left behind.
"""

from __future__ import annotations

import gc
import math
import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import dither
from dither.errors import ArgumentError, DitherError, LedgerError
from dither.privacy import Unit

NAN = math.nan
GOOD: dict[str, Any] = {
    "unit": "patient_id",
    "bounds": {"age": (0, 110)},
    "keys": {"ward": ["A", "B"]},
    "budget": 3.0,
}
CSV = "patient_id,age,ward,score\n1,30,A,1.5\n2,40,B,2.5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table; what is opened for a while has its temporary files in
    another.
    """
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    place = tmp_path / "data"
    place.mkdir()
    (place / "visits.csv").write_text(CSV)
    monkeypatch.chdir(place)
    return place


def refused(
    source: Any, kind: type[DitherError] = ArgumentError, **declared: Any
) -> str:
    """The message; afterwards there are the same files as before, without waiting for
    garbage to be collected.
    """
    before, folder = _all(Path.cwd().parent), gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(kind) as problem:
            dither.open(source, **declared)
    finally:
        if folder:
            gc.enable()
    assert _all(Path.cwd().parent) == before
    message = str(problem.value)
    assert 10 < len(message) < 400
    assert "Traceback" not in message
    return message


def _all(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nope.csv", "is not there"),
        ("nope.toml", "cannot be read"),
        ("nope", "is not there"),
        ("", "is an empty path"),
        (".", "holds no Parquet files"),
        ("*.parquet", "holds no Parquet files"),
        ("http://x/visits.csv", "copy it to this machine"),
        ("a\0b.csv", "is not there"),
        ("\ud800.csv", "is not there"),
        ("x" * 5000 + ".csv", "is not there"),
        ("/dev/null", "is not there"),
        *(
            (value, "cannot be opened")
            for value in (None, 5, 1.5, True, [], {}, (1, 2), b"visits.csv", ..., print)
        ),
        (np.arange(3), "cannot be opened"),
        (iter([1]), "cannot be opened"),
        (dither, "cannot be opened"),
    ],
    ids=lambda part: repr(part).partition(" at 0x")[0][:30],
)
@pytest.mark.usefixtures("folder")
def test_a_source_that_is_none(source, words) -> None:
    message = refused(source, budget=3.0)
    assert words in message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.xyz", b"x", "rename it to one of .csv"),
        ("empty.csv", b"", "is empty"),
        ("zipped.csv", b"PK\x03\x04" + bytes(90), "is a spreadsheet or an archive"),
        ("table.xlsx", b"PK", "is a spreadsheet"),
        ("binary.csv", bytes(range(256)) * 10, "has no header line"),
        ("wide.csv", "a,b\n1,2\n".encode("utf-16"), "it is UTF-16"),
        ("twice.csv", b"a,A\n1,2\n", "two columns named A"),
        ("bad.parquet", b"PAR1junkPAR1", "cannot be read as Parquet"),
        ("bad.duckdb", b"junk" * 1000, "cannot be opened as a DuckDB database"),
        ("bad.db", b"", "cannot be opened as a DuckDB database"),
        ("bad.toml", b"name = ", "is not TOML"),
        ("bad.json", b"{}", "declare them"),
    ],
)
def test_a_file_that_is_no_table(folder, name, content, words) -> None:
    (folder / name).write_bytes(content)
    assert words in refused(
        name, budget=3.0, **{} if name == "bad.toml" else {"unit": "row"}
    )


DECLARED: dict[str, list[tuple[Any, str]]] = {
    "unit": [
        ("nope", "there is no column nope"),
        ("pateint_id", "did you mean patient_id?"),
        ("ROW", "there is no column ROW"),
        ("", "a unit needs a name"),
        (5, "is no unit"),
        (b"row", "is no unit"),
        ([], "is no unit"),
        (Unit("nope"), "there is no column nope"),
    ],
    "bounds": [
        ({"age": (110, 0)}, "swap them"),
        ({"age": (NAN, 1)}, "are not two numbers"),
        ({"age": (0, math.inf)}, "are not two numbers"),
        ({"age": (None, None)}, "are not two numbers"),
        ({"age": (0, 2**60)}, "not within ±2^56"),
        ({"age": (0, 10**400)}, "not within ±2^56"),
        ({"age": (0.0, 1e200)}, "not within ±1e150"),
        ({"age": (True, False)}, "are not two numbers"),
        ({"age": ("a", "b")}, "are not two numbers"),
        ({"age": (date(2024, 1, 1), 5)}, "are not two numbers"),
        ({"age": (Decimal("NaN"), 5)}, "are not two numbers"),
        ({"age": (np.array([1, 2]), 5)}, "are not two numbers"),
        ({"age": 5}, "such as (0, 110)"),
        ({"age": (0, 1, 2)}, "such as (0, 110)"),
        ({"agee": (0, 1)}, "did you mean age?"),
        ({"age": (0, 1), "AGE": (0, 2)}, "declared twice"),
        ({5: (0, 1)}, "by the names of columns"),
        ([("age", (0, 1))], "by the names of columns"),
        ("age", "by the names of columns"),
    ],
    "keys": [
        ({"ward": ["A", "A"]}, "names a value twice"),
        ({"ward": []}, "0 values"),
        ({"ward": range(200_000)}, "200,000 values"),
        ({"ward": "AB"}, "must be a list"),
        ({"ward": 5}, "must be a list"),
        ({"wrad": ["A"]}, "did you mean ward?"),
        ({"ward": ["A", 5]}, "state the type with types="),
        ({"ward": [NAN]}, "state the type with types="),
        ({"ward": [["A"]]}, "state the type with types="),
        ({"ward": ["\ud800"]}, "is not a text"),
        ({"age": [200]}, "lies outside the bounds"),
        (["ward"], "by the names of columns"),
    ],
    "types": [
        ({"age": "int"}, "did you mean integer?"),
        ({"age": "nonsense"}, "there is integer, real"),
        ({"age": 5}, "is unknown"),
        ({"agee": "integer"}, "did you mean age?"),
        ({"patient_id": "real"}, "no id; declare it as INTEGER or TEXT"),
        ({"patient_id": "boolean"}, "no id; declare it as INTEGER or TEXT"),
        ({"age": "text"}, "has no bounds"),
        (["age"], "by the names of columns"),
    ],
    "population": [
        (value, "whole number of at least 1")
        for value in (0, -1, 1.5, "5", True, NAN, 10**400)
    ],
    "budget": [
        (0, "must be positive"),
        (-1, "must be positive"),
        (NAN, "must be a finite number"),
        (math.inf, "must be a finite number"),
        (10**400, "must be positive"),
        (None, "is missing; pass the ε"),
        ("3", "must be a number"),
        (True, "must be positive, as ε"),
        ([3.0, 1e-6], "must be a number"),
        ((3.0,), "a pair such as (3.0, 1e-6)"),
        ((3.0, 1e-6, 1), "a pair such as (3.0, 1e-6)"),
        ((3.0, 1.0), "below 1"),
        ((3.0, -1), "at least 0"),
        ((3.0, NAN), "must be a finite number"),
        (dither.Budget(epsilon=1.0), "is for one row"),
    ],
    "delta": [
        (value, "delta: must be")
        for value in (1, 1.0, 2, -1, NAN, math.inf, "x", True, 10**400)
    ],
    "rows": [
        (value, "whole number of at least 1") for value in (0, -1, 1.5, "5", True)
    ],
    "ledger": [
        (value, "ledger: must be a book")
        for value in (5, b"book.db", ..., ["book.db"], "a\0b")
    ],
    "table": [
        (5, "must be the name of a table"),
        (None, "must be the name of a table"),
        ("a\0", "is no name"),
    ],
    "name": [
        (5, "is no name"),
        ("a\nb", "is no name"),
        ("x" * 300, "is no name"),
        ("\ud800", "is no name"),
    ],
    "version": [(value, "must be a text") for value in ("", 5, None)],
    "engine": [(value, "there are: duckdb") for value in ("nope", "", 5)],
}


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [(argument, *pair) for argument, pairs in DECLARED.items() for pair in pairs],
    ids=lambda part: repr(part).partition(" at 0x")[0][:30],
)
@pytest.mark.usefixtures("folder")
def test_a_declaration_that_is_none(argument, value, words) -> None:
    assert words in refused("visits.csv", **GOOD | {argument: value})


@pytest.mark.usefixtures("folder")
def test_an_argument_that_is_unknown() -> None:
    with pytest.raises(dither.ArgumentError, match="has no argument nonsense"):
        dither.open("visits.csv", **GOOD, nonsense=1)


@pytest.mark.parametrize(
    ("ledger", "words"),
    [
        ("/nonexistent/book.db", "does its folder exist"),
        (".", "cannot be opened"),
        ("visits.csv", "is not a book"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_book_that_is_none(ledger, words) -> None:
    assert words in refused("visits.csv", LedgerError, **GOOD, ledger=ledger)


FRAME = pd.DataFrame(
    {
        "who": ["a", "b"],
        "age": [1, 2],
        "score": [0.5, 1.5],
        "day": pd.to_datetime(["2024-01-01"] * 2),
    }
)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"unit": "score"}, "no id; declare it as INTEGER or TEXT"),
        ({"unit": "who", "types": {"score": "date"}}, "not a date"),
        ({"unit": "who", "types": {"age": "timestamp"}}, "not a timestamp"),
        ({"unit": "who", "types": {"day": "integer"}}, "not a integer"),
        ({"unit": "who", "bounds": {"who": (0, 1)}}, "has no bounds"),
        ({"unit": "who", "bounds": {"age": (0.5, 2.5)}}, "is not a whole number"),
        ({"unit": "who", "keys": {"age": ["a"]}}, "is not a whole number"),
        ({"unit": "who", "budget": dither.Budget(epsilon=1.0)}, "is for one row"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_frame_with_wrong_declarations(declared, words) -> None:
    assert words in refused(FRAME, **{"budget": 1.0} | declared)


def test_a_database_without_the_table(folder) -> None:
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (who VARCHAR)")
        connection.execute("CREATE TABLE others (who VARCHAR)")
        assert "which table" in refused(connection, unit="who", budget=1.0)
        assert "has no table vist" in refused(
            connection, unit="who", budget=1.0, table="vist"
        )
    assert "say which one" in refused("data.duckdb", unit="who", budget=1.0)
    assert "did you mean visits?" in refused(
        "data.duckdb", unit="who", budget=1.0, table="visit"
    )


@pytest.mark.usefixtures("folder")
def test_a_book_keeps_its_promise() -> None:
    """Another budget, unit or δ for the same dataset is refused, and the book stays as
    it was.
    """
    with dither.open("visits.csv", **GOOD) as database:
        database.sql("SELECT COUNT(*) FROM visits", epsilon=1.0)
    for changed in (
        {"budget": 5.0},
        {"budget": 1.0},
        {"budget": (3.0, 1e-6)},
        {"delta": 1e-6},
        {"unit": "row"},
    ):
        message = refused(
            "visits.csv",
            DitherError if "unit" in changed else LedgerError,
            **GOOD | changed,
        )
        assert "promises" in message or "is for" in message
    with dither.open("visits.csv", **GOOD) as database:
        assert database.account.remaining.epsilon == 2.0


CATALOGUE = """
name = "clinic"
unit = "patient_id"
[budget]
epsilon = 3.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
patient_id = "text"
age = { type = "integer", low = 0, high = 110 }
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "clinic"', 'nmae = "clinic"', "did you mean name?"),
        ("[budget]", "[bugdet]", "did you mean budget?"),
        ("epsilon = 3.0", "epsilom = 3.0", "did you mean epsilon?"),
        ("epsilon = 3.0", "epsilon = 0", "must be positive"),
        ("epsilon = 3.0", 'epsilon = "3"', "must be a number"),
        ("epsilon = 3.0", "epsilon = nan", "finite"),
        ("epsilon = 3.0", "epsilon = 3.0\ndelta = 1", "below 1"),
        ("epsilon = 3.0", "", "is missing"),
        ('source = "visits.csv"', 'sauce = "visits.csv"', "did you mean source?"),
        ('source = "visits.csv"', 'source = "visit.csv"', "is not there"),
        ('source = "visits.csv"', "", "has no source"),
        ('source = "visits.csv"', 'source = "visits.csv"\nrows = 0', "at least 1"),
        (
            'source = "visits.csv"',
            'source = "visits.csv"\npublic = true',
            "all are public",
        ),
        ('patient_id = "text"', 'patient_id = "txt"', "did you mean text?"),
        ('patient_id = "text"', 'patient = "text"', "does not say whose its rows are"),
        ('patient_id = "text"', 'patient_id = "real"', "no id"),
        ("low = 0", "lo = 0", "did you mean low?"),
        ("low = 0, high = 110", "low = 110, high = 0", "swap them"),
        ("low = 0, high = 110", "low = inf, high = 0", "is not a whole number"),
        ("low = 0, high = 110", "keys = [1, 1]", "names a value twice"),
        ("low = 0, high = 110", "keys = []", "0 values"),
        ("low = 0, high = 110", 'keys_from = "nope.x"', "no column of a table"),
        ("age =", "aeg =", "its source has no column aeg; did you mean age?"),
        ('unit = "patient_id"', "", "is not there; declare"),
        ('unit = "patient_id"', 'unit = "?"', 'is still "?"'),
        ('unit = "patient_id"', 'unit = "patient_id"\nrelation = "both"', "relation"),
        ('unit = "patient_id"', 'unit = "patient_id"\npopulation = 0', "at least 1"),
        ('unit = "patient_id"', 'unit = "patient_id"\nversion = 5', "a text in quotes"),
        ("[budget]", "[policy]\nfailures = 0\n[budget]", "failures"),
        ("[budget]", "[analysts]\nann = 2\n[budget]", "at most 1"),
        ("[tables.visits]", "[tables.a.b.c]", "is not known here"),
    ],
)
def test_a_catalogue_with_a_mistake(folder, old, new, words) -> None:
    assert old in CATALOGUE
    (folder / "clinic.toml").write_text(CATALOGUE.replace(old, new))
    assert words in refused("clinic.toml")


def test_a_catalogue_that_is_right(folder) -> None:
    (folder / "clinic.toml").write_text(CATALOGUE)
    with dither.open("clinic.toml") as database:
        assert len(database.sql("SELECT AVG(age) FROM visits", epsilon=0.5).rows) == 1
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
