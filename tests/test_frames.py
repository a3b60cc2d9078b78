"""A private table in the shapes that other tools read."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import dither
from dither.frames import NotInstalled
from dither.privacy import PureDP
from dither.release import Source
from dither.table import TableRelease

ROWS = (("A", date(2024, 1, 2), 10, 2.5), ('B,\n"', None, 7, math.nan))
CELLS = [[None, None, (8, 12), (2.0, math.inf)], [None, None, (5, 9), None]]


def release(
    columns: tuple[str, ...] = ("ward", "day", "n", "mean"), **more: Any
) -> TableRelease:
    return TableRelease(
        columns, ROWS, (Source(PureDP(0.5)),), lambda _: CELLS, ("a note",), **more
    )


NAMES = ["ward", "day", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]


def test_pandas() -> None:
    frame = release().to_pandas()
    assert list(frame) == NAMES
    assert frame["n_low"].tolist() == [8, 5]
    assert frame["mean"].isna().tolist() == [False, True]


def test_polars() -> None:
    frame = release().to_polars()
    assert frame.columns == NAMES
    assert frame["n_high"].to_list() == [12, 9]
    assert frame["mean_low"].to_list() == [2.0, None]


def test_arrow() -> None:
    table = release().to_arrow()
    assert table.column_names == NAMES
    assert table["day"].to_pylist() == [date(2024, 1, 2), None]


@pytest.mark.parametrize(
    ("package", "method"),
    [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalled, match=f"pip install {package}") as caught:
        getattr(release(), method)()
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, dither.DitherError)


def test_names_differ_even_where_columns_do_not() -> None:
    table = release(("n", "n_low", "n", "n"), keys=("none",))
    assert list(table.to_pandas())[:4] == ["n", "n_low_2", "n_high", "n_low"]
    assert len(set(table.to_polars().columns)) == 12


def test_csv(tmp_path: Path) -> None:
    text = release().to_csv()
    assert text is not None
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == NAMES
    assert lines[1] == ["A", "2024-01-02", "10", "8", "12", "2.5", "2.0", "inf"]
    assert lines[2] == ['B,\n"', "", "7", "5", "9", "", "", ""]
    assert release().to_csv(tmp_path / "out.csv") is None
    assert (tmp_path / "out.csv").read_bytes() == text.encode()


def test_json_has_a_versioned_shape() -> None:
    found = json.loads(release().to_json())
    assert found["schema"] == "dither.release/1"
    assert found["columns"][0] == {"name": "ward", "kind": "key"}
    assert found["columns"][3] == {"name": "mean", "kind": "value"}
    assert found["rows"][0] == {
        "values": ["A", "2024-01-02", 10, 2.5],
        "low": [None, None, 8, 2.0],
        "high": [None, None, 12, None],
    }
    assert found["rows"][1]["values"][3] is None
    assert found["guarantee"]["epsilon"] == 0.5
    assert found["receipt"] is None
    intervals = "95 % intervals for the true values, clamped to their declared bounds"
    assert found["about"] == intervals
    assert list(found).index("about") < list(found).index("guarantee")
    assert (found["notes"], found["replayed"], found["confidence"]) == (
        ["a note"],
        False,
        0.95,
    )


def test_json_of_a_number_says_what_it_is_about_as_print_does() -> None:
    mean = dither.mean([1.0, 2.0], bounds=(0, 9), epsilon=1.0)
    about = json.loads(mean.to_json())["about"]
    assert about in str(mean).splitlines()
    assert json.loads(dither.count([1.0], epsilon=1.0).to_json())["about"] is None


def test_json_holds_the_receipt() -> None:
    budget = dither.Budget(epsilon=1.0)
    receipt = budget.charge(PureDP(0.5), purpose="a question")
    charged = TableRelease(
        ("n",), ((1,),), (Source(PureDP(0.5), receipt),), lambda _: [[(0, 2)]]
    )
    found = json.loads(charged.to_json())["receipt"]
    assert found["number"] == receipt.number
    assert found["head"] == receipt.head
    assert found["purpose"] == "a question"


def test_words_for_a_missing_value_are_in_the_rows_that_have_some() -> None:
    words = ((None,) * 4, (None, None, None, "not enough rows"))
    first, second = json.loads(release(words=words).to_json())["rows"]
    assert "words" not in first
    assert second["words"] == list(words[1])
