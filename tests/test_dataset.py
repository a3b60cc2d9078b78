"""The front door: one type for tables and columns, and private rows for a receipt."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.dataset import Kind, kind_of
from tests.query.visits import opened, paid

ROOT = Path(__file__).parents[1]


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


def test_columns_are_read_by_name() -> None:
    dataset = dither.Dataset.of({"a": [1], "b": [2]})
    assert dataset["a"].fetch() == [1]
    assert dataset["b"].fetch() == [2]


def test_columns_in_memory_are_no_rows_to_fetch() -> None:
    """They are not clamped and have no canonical owners, so they are not handed out."""
    dataset = dither.Dataset.of({"a": [1], "b": [2]}, owner="b")
    assert not dataset.single
    for ask in (dataset.fetch, dataset.histogram, dataset.axes):
        with pytest.raises(
            dither.ArgumentError, match=r"open a data frame with dither\.open"
        ):
            ask(["a"])


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
    with pytest.raises(
        dither.ArgumentError, match=r"open a data frame with dither\.open"
    ):
        dataset.sql("SELECT COUNT(*) FROM a", epsilon=1.0)
    with pytest.raises(dither.ArgumentError, match="has no account"):
        _ = dataset.account


# Tables


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
        with pytest.raises(
            dither.ArgumentError, match="pass one of 'visits', 'people'"
        ):
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
        richer = replace(paid(dataset), guarantee=dither.PureDP(50, unit=dataset.unit))
        for receipt in (made_up, richer):
            with pytest.raises(
                dither.ArgumentError, match="does not belong to this dataset's account"
            ):
                dataset.fetch(["age"], receipt=receipt)


def test_what_is_fetched_is_named() -> None:
    with opened() as dataset:
        for columns, table in (("age", None), ([3], None), (["age"], 3), (["x"], None)):
            with pytest.raises(dither.ArgumentError):
                dataset.fetch(columns, table=table, receipt=paid(dataset))
        with pytest.raises(dither.ArgumentError, match="no column"):
            dataset[["age"]]


def test_array_functions_take_a_column_where_rows_are_units() -> None:
    with opened(unit="row", rows=None) as dataset:
        release = dither.mean(dataset["age"], epsilon=0.5)
        assert release.receipt is not None
        assert dataset.account.charges == 1
        with pytest.raises(
            dither.ArgumentError, match="each question must cost at least"
        ):
            dither.count(dataset["age"], epsilon=1e-12)
        with pytest.raises(
            dither.ArgumentError, match="unit cannot differ from the dataset's unit"
        ):
            dither.count(dataset["age"], epsilon=1.0, unit=dither.Unit("hospital"))
        counted = dither.count(dataset["age"], epsilon=0.5, by="ann")
        assert counted.receipt.by == "ann"
    with (
        opened() as dataset,
        pytest.raises(dither.ArgumentError, match="several rows per id"),
    ):
        dither.mean(dataset["age"], epsilon=0.5)


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
    # Our own signatures: reading the types of other packages takes most of the time
    ours = ["--no-site-packages", "--follow-imports=silent"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            *ours,
            "script.py",
        ],
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
