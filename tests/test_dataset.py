"""The front door: one type for tables and columns, and private rows for a receipt."""

from __future__ import annotations

import itertools
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.dataset import Kind, kind_of

ROOT = Path(__file__).parents[1]
VISITS = {
    "id": ["a", "a", "a", "b", "b", "c", None],
    "ward": ["A", "A", "B", "B", "C", "Z", "A"],
    "age": [10, 200, None, 40, 50, 60, 70],
    "day": [date(2024, 1, n) for n in range(1, 8)],
}


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.zeros(1, np.uint8), Kind.INTEGERS),
        (np.zeros(1), Kind.REALS),
        (np.zeros(1, bool), Kind.TRUTHS),
        (np.array(["a"]), Kind.OTHER),
        (np.array(["2020-01-01"], "datetime64[D]"), Kind.OTHER),
        ([1, 2], Kind.ANYTHING),
        (pd.Series([1, None], dtype="Int64"), Kind.INTEGERS),
        (pd.Series([True]), Kind.TRUTHS),
        (pl.Series([1]), Kind.INTEGERS),
        (pl.Series(["a"]), Kind.OTHER),
        (pa.array([1.5]), Kind.REALS),
        (pa.array([True]), Kind.TRUTHS),
    ],
)
def test_kinds_come_from_the_schema(column: Any, kind: Kind) -> None:
    assert kind_of(column) is kind


# Columns in memory


def test_columns_are_fetched_by_name() -> None:
    dataset = dither.Dataset.of({"a": [1], "b": [2]})
    assert dataset.fetch(["b"]).columns == {"b": [2]}
    assert dataset["a"].fetch() == [1]


def test_owners_come_with_the_columns() -> None:
    dataset = dither.Dataset.of({"a": [1], "b": [2]}, owner="b")
    assert dataset.fetch(["a"]).owners == [2]
    assert not dataset.single


@pytest.mark.parametrize("declared", ["bounds", "keys", "provenance"])
def test_declarations_name_columns_that_are_there(declared: str) -> None:
    with pytest.raises(dither.ArgumentError, match=declared):
        dither.Dataset.of({"a": [1]}, **{declared: {"b": (0, 1)}})


def test_unknown_columns() -> None:
    with pytest.raises(dither.ArgumentError, match="'a'"):
        dither.Dataset.of({"a": [1]})["b"]
    with pytest.raises(dither.ArgumentError, match="owner"):
        dither.Dataset.of({"a": [1]}, owner="b")


def test_columns_in_memory_have_no_sql() -> None:
    dataset = dither.Dataset.of({"a": [1]})
    with pytest.raises(dither.ArgumentError, match=r"open a frame with dither\.open"):
        dataset.sql("SELECT COUNT(*) FROM a", epsilon=1.0)
    with pytest.raises(dither.ArgumentError, match="has no account"):
        _ = dataset.account


# Tables


def opened(data: dict[str, list[Any]] = VISITS, **declared: Any) -> dither.Dataset:
    frame = pd.DataFrame(data)
    if "age" in frame:
        frame["age"] = frame["age"].astype("Int64")
    about = {
        "unit": "id",
        "bounds": {"age": (0, 110)},
        "keys": {"ward": ["A", "B", "C"]},
        "rows": 50,
        "budget": 3.0,
        "name": "visits",
    }
    return dither.open(frame, **(about | declared))


def paid(dataset: dither.Dataset) -> dither.Receipt:
    return dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))


def test_open_returns_a_dataset_with_its_facts() -> None:
    with opened() as dataset:
        assert isinstance(dataset, dither.Dataset)
        assert dataset.unit.name == "id"
        assert dataset.bounds == {"age": (0, 110)}
        assert dataset.keys == {"ward": ("A", "B", "C")}
        assert dataset.caps == {"visits": 50}
        assert set(dataset.provenance) == {"age", "ward"}
        assert dataset.facts["age"].kind is Kind.INTEGERS
        assert not dataset.single


def test_several_tables_name_their_columns_in_full() -> None:
    frames = {
        "visits": pd.DataFrame({"id": [1], "age": [2]}),
        "people": pd.DataFrame({"id": [1], "born": [3]}),
    }
    with dither.open(frames, unit="id", budget=1.0) as dataset:
        assert set(dataset.facts) == {
            "visits.id",
            "visits.age",
            "people.id",
            "people.born",
        }
        found = dataset["people.born"].fetch(paid(dataset))
        assert found.tolist() == [3]
        with pytest.raises(dither.ArgumentError, match="name one of visits, people"):
            dataset.fetch(["age"], receipt=paid(dataset))


def test_private_rows_need_a_receipt() -> None:
    with opened() as dataset, opened(name="other") as other:
        with pytest.raises(dither.ArgumentError, match="charge the dataset's account"):
            dataset.fetch(["age"])
        with pytest.raises(dither.ArgumentError, match="receipt"):
            dataset.fetch(["age"], receipt=paid(other))
        with pytest.raises(dither.ArgumentError, match="receipt"):
            dataset.histogram(["ward"])
        made_up = dither.Receipt(
            **{**vars(paid(dataset)), "head": "0" * 64, "number": 2}
        )
        with pytest.raises(dither.ArgumentError, match="of no charge"):
            dataset.fetch(["age"], receipt=made_up)


def test_rows_have_owners_and_stay_within_their_bounds() -> None:
    with opened(types={"day": "date"}) as dataset:
        rows = dataset.fetch(["age", "ward", "day"], receipt=paid(dataset))
    by_owner = sorted(zip(rows.owners, rows.columns["ward"], strict=True))
    assert len(by_owner) == 6  # the row without an owner is left out
    assert by_owner[0] == (b"a", "A")
    ages = rows.columns["age"]
    assert ages.dtype == np.int64
    assert sorted(ages.compressed().tolist()) == [10, 40, 50, 60, 110]
    assert rows.columns["day"].dtype == np.dtype("datetime64[D]")


def test_rows_of_an_empty_table_have_the_same_types() -> None:
    nobody = {name: column[6:] for name, column in VISITS.items()}
    with opened(nobody, types={"ward": "text", "id": "text"}) as dataset:
        rows = dataset.fetch(["age", "ward"], receipt=paid(dataset))
    assert rows.columns["age"].dtype == np.int64
    assert len(rows.owners) == len(rows.columns["ward"]) == 0


def test_array_functions_take_a_column_where_rows_are_units() -> None:
    with opened(unit="row", rows=None) as dataset:
        release = dither.mean(dataset["age"], epsilon=0.5)
        assert release.receipt is not None
        assert dataset.account.charges == 1
    with (
        opened() as dataset,
        pytest.raises(dither.ArgumentError, match="many rows of one id"),
    ):
        dither.mean(dataset["age"], epsilon=0.5)


# Histograms


def counts(rows: list[tuple[str, str]], most: int) -> np.ndarray[Any, Any]:
    table = {"id": [one for one, _ in rows], "ward": [ward for _, ward in rows]}
    about = {"bounds": {}, "types": {"id": "text", "ward": "text"}}
    with opened(table, **about) as dataset:
        return dataset.histogram(["ward"], rows=most, receipt=paid(dataset))


def test_histograms_count_in_public_cells() -> None:
    with opened() as dataset:
        receipt = paid(dataset)
        found = dataset.histogram(["ward", "age // 50"], rows=9, receipt=receipt)
        assert found.shape == (3, 3)
        assert found.tolist() == [[1, 0, 1], [1, 0, 0], [0, 1, 0]]
        with pytest.raises(dither.ArgumentError, match="no public values"):
            dataset.histogram(["day"], receipt=receipt)
        for bad in ("ward", []):
            with pytest.raises(dither.ArgumentError, match="list of expressions"):
                dataset.histogram(bad, receipt=receipt)
        with pytest.raises(dither.ArgumentError, match="rows"):
            dataset.histogram(["ward"], rows=0, receipt=receipt)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_unit_moves_a_histogram_by_its_rows(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables of up to four rows of one unit, beside other units' rows."""
    monkeypatch.setattr("dither.query.database._salt", lambda: "salt")
    others = [("b", "A"), ("b", "B"), ("c", "A")]
    without = counts(others, most)
    for size in range(5):
        for wards in itertools.combinations_with_replacement("ABCZ", size):
            mine = [("a", ward) for ward in wards]
            moved = counts(others + mine, most) - without
            inside = sum(ward != "Z" for ward in wards)
            assert (moved >= 0).all()
            assert moved.sum() == min(inside, most)


# Types


SCRIPT = """
import dither
visits = dither.open("visits.csv", unit="id", budget=1.0)
reveal_type(visits.sql("SELECT 1", epsilon=0.5))
reveal_type(visits.preview("SELECT 1", share=0.1))
reveal_type(dither.mean([1.0], bounds=(0, 1), epsilon=0.5))
visits.sql("SELECT 1", epsilom=0.5)
visits.sql("SELECT 1", epsilon="much")
dither.count([1], share="much")
"""


def test_a_type_checker_knows_what_comes_back(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "script.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )
    said = [line for line in done.stdout.splitlines() if line.startswith("script.py:")]
    assert 'Revealed type is "dither.table.TableRelease"' in done.stdout
    assert 'Revealed type is "dither.query.preview.Preview"' in done.stdout
    assert 'Revealed type is "dither.release.Release"' in done.stdout
    wrong = [line.split(":")[1] for line in said if " error: " in line]
    assert wrong == ["7", "8", "9"], done.stdout
