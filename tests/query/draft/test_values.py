"""Types of columns of text files, by their values."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import pytest

from dither.query.catalogue.types import Type
from dither.query.draft.draft import drafted
from dither.query.draft.guesses import Guess, guess
from dither.query.draft.text import unlike
from dither.query.draft.values import COMMAS, DATED, Values, values_of
from dither.query.engines.duckdb.readers.text_files import CsvFile

WHOLE, REAL, TRUTH = Type.INTEGER, Type.REAL, Type.BOOLEAN
DAY, TIME = Type.DATE, Type.TIMESTAMP
MANY = ["1"] * 20

COLUMNS: list[tuple[str, list[str], Type | None]] = [
    # numbers
    ("x", ["1", "-2", "+3", "7.0", "1e+05"], WHOLE),
    ("children", ["0", "1", "2", "5.5"], REAL),
    ("age", ["34", "17.5"], REAL),
    ("age", ["34", "17"], WHOLE),
    ("cost", ["5", "10"], REAL),
    ("x", ["5.5", "NA", "", "-", "?", "NULL", "n/a", "1"], REAL),
    ("x", ["0x10", "1"], None),
    ("x", ["1,5", "2,5"], None),
    # identifiers
    ("plz", ["01067", "80331"], None),
    ("x", ["007", "12"], None),
    ("month", ["01", "12"], WHOLE),
    ("x", ["0", "0.5", "-0.25"], REAL),
    ("iban", ["12345678901234567890", "1"], None),
    ("patient_id", ["0", "1"], WHOLE),
    # booleans
    ("smoker", ["yes", "no", "NA"], TRUTH),
    ("smoker", ["Y", "n"], TRUTH),
    ("smoker", ["0", "1", ""], TRUTH),
    ("smoker", ["T", "F"], TRUTH),
    ("smoker", ["TRUE", "FALSE"], TRUTH),
    ("hat", ["FALSE", "FALSE"], TRUTH),
    ("is_smoker", ["0", "0"], TRUTH),
    ("children", ["0", "1"], WHOLE),
    ("x", ["0", "0"], WHOLE),
    ("sex", ["F", "F"], None),
    ("sex", ["M", "F"], None),
    ("x", ["yes", "0"], None),
    # dates
    ("x", ["2024-01-31", "2024-2-1"], DAY),
    ("x", ["2024/01/31"], DAY),
    ("x", ["31.1.2024", "1.12.2024"], DAY),
    ("date", ["20240131"], DAY),
    ("x", ["20240131"], WHOLE),
    ("x", ["2024-01-31 12:30", "2024-01-31"], TIME),
    ("created_at", ["2024-01-31T12:30:00Z"], TIME),
    ("date", ["1/31/2024", "12/31/2024"], None),
    ("date", ["58", "1974"], WHOLE),
    # names decide if few values do not fit
    ("age", ["90+", *MANY], WHOLE),
    ("age", ["90+", "1.5", *MANY], REAL),
    ("age", ["90+", "34"], None),
    ("x", ["90+", *MANY], None),
    ("birth_date", ["unknown", *["2024-01-31"] * 20], DAY),
    # nothing to see
    ("age", ["", "NA"], WHOLE),
    ("x", ["", ""], None),
    ("ward", ["A", "B"], None),
]


def test_types(tmp_path: Path) -> None:
    """All in one file, whose shorter columns end in missing values."""
    names = [f"c{place}" for place in range(len(COLUMNS))]
    lines = zip_longest(*(values for _, values, _ in COLUMNS), fillvalue="")
    quoted = (";".join(f'"{value}"' for value in line) for line in lines)
    text = "\n".join([";".join(names), *quoted])
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    looks = values_of(CsvFile(tmp_path / "t.csv"))
    assert looks is not None
    assert looks.rows == max(len(values) for _, values, _ in COLUMNS)
    found = [
        guess(name, None, looks.columns[column]).type
        for column, (name, _, _) in zip(names, COLUMNS, strict=True)
    ]
    wrong = [
        (*case, type_)
        for case, type_ in zip(COLUMNS, found, strict=True)
        if case[2] is not type_
    ]
    assert not wrong


def test_a_type_that_is_stated_stays() -> None:
    values = Values(number=2, integers=2, reals=2)
    assert guess("x", Type.TEXT, values) == Guess(Type.TEXT)
    assert guess("age", Type.TEXT, values) == Guess(Type.TEXT)


def test_bounds_come_from_names_alone() -> None:
    values = Values(number=2, integers=1, reals=2)
    assert guess("age", None, values) == Guess(REAL, 0, 120, "years")
    assert guess("age", None, Values(number=2)) == Guess()
    assert guess("x", None, values) == Guess(REAL)


@pytest.mark.parametrize(
    ("values", "looks"),
    [
        (["1/31/2024", "12/31/2024"], DATED),
        (["Jan 31, 2024", "Jan-1-1995"], DATED),
        (["31 January 2024"], DATED),
        (["1,5", "1.000,25"], COMMAS),
        (["1974Q1", "A-12-34", "x"], ""),
    ],
)
def test_what_strings_look_like(tmp_path: Path, values: list[str], looks: str) -> None:
    lines = "\n".join(f"0;{value}" for value in values)
    (tmp_path / "t.csv").write_text(f"n;x\n{lines}\n", encoding="utf-8")
    found = values_of(CsvFile(tmp_path / "t.csv"))
    assert found is not None
    assert found.columns["x"].looks == looks


def test_a_file_without_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"a","b"\n"1",2,3\n"2",4,5\n', encoding="utf-8")
    found = drafted([tmp_path / "t.csv"])
    (said,) = unlike(found)
    assert said.startswith("t: no line has as many fields as the header")
    assert [one.type for one in found.sheets[0].columns] == [None, None]


def test_a_damaged_file_is_guessed_from_names(tmp_path: Path) -> None:
    import gzip

    packed = gzip.compress(b"age,x\n" + b"1,2\n" * 100_000)
    (tmp_path / "t.csv.gz").write_bytes(packed[:-20])
    (sheet,) = drafted([tmp_path / "t.csv.gz"]).sheets
    assert [(one.name, one.type) for one in sheet.columns] == [
        ("age", WHOLE),
        ("x", None),
    ]
