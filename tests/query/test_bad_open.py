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
        ("nope.csv", "does not exist"),
        ("nope.toml", "does not exist"),
        ("nope", "does not exist"),
        ("", "is an empty path"),
        (".", "there are no Parquet files in"),
        ("*.parquet", "there are no Parquet files in"),
        ("http://x/visits.csv", "copy it here"),
        ("a\0b.csv", "does not exist"),
        ("\ud800.csv", "does not exist"),
        ("x" * 5000 + ".csv", "does not exist"),
        ("/dev/null", "does not exist"),
        *(
            (value, "cannot be opened")
            for value in (None, 5, 1.5, True, [], (1, 2), b"visits.csv", ..., print)
        ),
        ({}, "must hold at least one table"),
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
        ("wide.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("twice.csv", b"a,A\n1,2\n", "two columns named 'A'"),
        ("bad.parquet", b"PAR1junkPAR1", "cannot be read as Parquet"),
        ("bad.duckdb", b"junk" * 1000, "cannot be opened as a DuckDB database"),
        ("bad.db", b"", "cannot be opened as a DuckDB database"),
        ("bad.toml", b"name = ", "is not valid TOML"),
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
        ("nope", "the column 'nope' in unit= does not exist"),
        ("pateint_id", "did you mean patient_id?"),
        ("ROW", "the column 'ROW' in unit= does not exist"),
        ("", "a unit needs a name"),
        (5, "unit cannot be 5; pass the name of the column"),
        (b"row", "unit cannot be b'row'; pass the name of the column"),
        ([], "unit cannot be []; pass the name of the column"),
        (Unit("nope"), "the column 'nope' in unit= does not exist"),
    ],
    "bounds": [
        ({"age": (110, 0)}, "swap them"),
        ({"age": (NAN, 1)}, "must be two numbers or two dates, not"),
        ({"age": (0, math.inf)}, "must be two numbers or two dates, not"),
        ({"age": (None, None)}, "must be two numbers or two dates, not"),
        ({"age": (0, 10**400)}, "write a number, as the type real requires"),
        ({"age": (0.0, 1e200)}, "must be within ±1e150"),
        ({"age": (True, False)}, "must be two numbers or two dates, not"),
        ({"age": ("a", "b")}, "must be two numbers or two dates, not"),
        ({"age": (date(2024, 1, 1), 5)}, "must be two numbers or two dates, not"),
        ({"age": (Decimal("NaN"), 5)}, "must be two numbers or two dates, not"),
        ({"age": (np.array([1, 2]), 5)}, "must be two numbers or two dates, not"),
        ({"age": 5}, "such as (0, 110)"),
        ({"age": (0, 1, 2)}, "such as (0, 110)"),
        ({"agee": (0, 1)}, "did you mean age?"),
        ({"age": (0, 1), "AGE": (0, 2)}, "declared twice"),
        ({5: (0, 1)}, "must be a dictionary by column"),
        ([("age", (0, 1))], "must be a dictionary by column"),
        ("age", "must be a dictionary by column"),
    ],
    "keys": [
        ({"ward": ["A", "A"]}, "must list each value once"),
        ({"ward": []}, "must have between 1 and 100,000 keys, not 0"),
        ({"ward": range(200_000)}, "keys, not 200,000"),
        ({"ward": "AB"}, "must be a list"),
        ({"ward": 5}, "must be a list"),
        ({"wrad": ["A"]}, "did you mean ward?"),
        ({"ward": ["A", 5]}, "all booleans; declare the type"),
        ({"ward": [NAN]}, "all booleans; declare the type"),
        ({"ward": [["A"]]}, "all booleans; declare the type"),
        ({"ward": ["\ud800"]}, "write a string"),
        ({"age": [200]}, "outside the bounds and never occurs"),
        (["ward"], "must be a dictionary by column"),
    ],
    "types": [
        ({"age": "int"}, "did you mean integer?"),
        ({"age": "nonsense"}, "use one of integer, real"),
        ({"age": 5}, "is unknown"),
        ({"agee": "integer"}, "did you mean age?"),
        ({"patient_id": "real"}, "ids cannot be; declare it as integer or text"),
        ({"patient_id": "boolean"}, "ids cannot be; declare it as integer or text"),
        ({"age": "text"}, "cannot be given for the type text"),
        (["age"], "must be a dictionary by column"),
    ],
    "population": [
        (value, "whole number of at least 1")
        for value in (0, -1, 1.5, "5", True, NAN, 10**400)
    ],
    "budget": [
        (0, "must be a positive ε"),
        (-1, "must be a positive ε"),
        (NAN, "must be a finite number"),
        (math.inf, "must be a finite number"),
        (10**400, "must be positive"),
        (None, "is missing; pass the total ε"),
        ("3", "must be a number"),
        (True, "must be a positive ε"),
        ([3.0, 1e-6], "must be a number"),
        ((3.0,), "one pair such as (3.0, 1e-6)"),
        ((3.0, 1e-6, 1), "one pair such as (3.0, 1e-6)"),
        ((3.0, 1.0), "below 1"),
        ((3.0, -1), "at least 0"),
        ((3.0, NAN), "must be a finite number"),
        (dither.Budget(epsilon=1.0), "is for one row"),
    ],
    "delta": [
        (value, "delta must be")
        for value in (1, 1.0, 2, -1, NAN, math.inf, "x", True, 10**400)
    ],
    "rows": [
        (value, "whole number of at least 1") for value in (0, -1, 1.5, "5", True)
    ],
    "ledger": [
        (value, "ledger must be the path of a ledger file")
        for value in (5, b"book.db", ..., ["book.db"], "a\0b")
    ],
    "table": [
        (5, "must be the name of a table"),
        (None, "must be the name of a table"),
        ("a\0", "cannot be a name"),
    ],
    "name": [
        (5, "cannot be a name"),
        ("a\nb", "cannot be a name"),
        ("x" * 300, "cannot be a name"),
        ("\ud800", "cannot be a name"),
    ],
    "version": [(value, "must be a string") for value in ("", 5, None)],
    "engine": [(value, "use one of 'duckdb'") for value in ("nope", "", 5)],
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
@pytest.mark.parametrize("high", [2**60, 10**400])
def test_whole_numbers_have_a_range(high) -> None:
    declared = GOOD | {"bounds": {"age": (0, high)}, "types": {"age": "integer"}}
    assert "must be within ±2^56" in refused("visits.csv", **declared)


@pytest.mark.usefixtures("folder")
def test_an_argument_that_is_unknown() -> None:
    with pytest.raises(dither.ArgumentError, match="has no argument 'nonsense'"):
        dither.open("visits.csv", **GOOD, nonsense=1)


@pytest.mark.parametrize(
    ("ledger", "words"),
    [
        ("/nonexistent/book.db", "check that its folder exists"),
        (".", "is a folder; name a file"),
        ("visits.csv", "is not a ledger"),
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
        ({"unit": "score"}, "ids cannot be; declare it as integer or text"),
        ({"unit": "who", "types": {"score": "date"}}, "type real, not date"),
        ({"unit": "who", "types": {"age": "timestamp"}}, "type integer, not timestamp"),
        ({"unit": "who", "types": {"day": "integer"}}, "type timestamp, not integer"),
        (
            {"unit": "who", "bounds": {"who": (0, 1)}},
            "cannot be given for the type text",
        ),
        ({"unit": "who", "bounds": {"age": (0.5, 2.5)}}, "write a whole number"),
        ({"unit": "who", "keys": {"age": ["a"]}}, "write a whole number"),
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
        assert "pass the name of a table of the connection" in refused(
            connection, unit="who", budget=1.0
        )
        assert "has no table 'vist'" in refused(
            connection, unit="who", budget=1.0, table="vist"
        )
    assert "needs the name of one of its tables" in refused(
        "data.duckdb", unit="who", budget=1.0
    )
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
        assert "not ε = " in message or "is for" in message
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
        ('source = "visits.csv"', 'source = "visit.csv"', "does not exist"),
        ('source = "visits.csv"', "", "has no source"),
        ('source = "visits.csv"', 'source = "visits.csv"\nrows = 0', "at least 1"),
        (
            'source = "visits.csv"',
            'source = "visits.csv"\npublic = true',
            "tables are all public",
        ),
        ('patient_id = "text"', 'patient_id = "txt"', "did you mean text?"),
        (
            'patient_id = "text"',
            'patient = "text"',
            "that unit names, nor an owner or a link",
        ),
        ('patient_id = "text"', 'patient_id = "real"', "ids cannot be"),
        ("low = 0", "lo = 0", "did you mean low?"),
        ("low = 0, high = 110", "low = 110, high = 0", "swap them"),
        ("low = 0, high = 110", "low = inf, high = 0", "write a whole number"),
        ("low = 0, high = 110", "keys = [1, 1]", "must list each value once"),
        (
            "low = 0, high = 110",
            "keys = []",
            "must have between 1 and 100,000 keys, not 0",
        ),
        (
            "low = 0, high = 110",
            'keys_from = "nope.x"',
            "does not name a table and its column",
        ),
        (
            "age =",
            "aeg =",
            "the source of 'visits' has no column 'aeg'; did you mean age?",
        ),
        ('unit = "patient_id"', "", "unit is missing; declare"),
        ('unit = "patient_id"', 'unit = "?"', 'is still "?"'),
        ('unit = "patient_id"', 'unit = "patient_id"\nrelation = "both"', "relation"),
        ('unit = "patient_id"', 'unit = "patient_id"\npopulation = 0', "at least 1"),
        (
            'unit = "patient_id"',
            'unit = "patient_id"\nversion = 5',
            "a string in quotes",
        ),
        ("[budget]", "[policy]\nfailures = 0\n[budget]", "failures"),
        ("[budget]", "[analysts]\nann = 2\n[budget]", "at most 1"),
        ("[tables.visits]", "[tables.a.b.c]", "is not a known entry"),
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
