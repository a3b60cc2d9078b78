"""Columns of tables that attacks are run on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither import ArgumentError
from dither.audit.attacks.columns import (
    coded,
    columns_of,
    joint,
    names_of,
    numeric,
    read,
)

COLUMNS = {"a": [1, 2, 2], "b": ["x", "y", None]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS, dtype=object),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
    ],
    ids=["mapping", "pandas", "polars", "arrow"],
)
def test_every_kind_of_table(table: Any) -> None:
    found = columns_of(table, ["b", "a"], "columns")
    assert list(found["a"]) == [1, 2, 2]
    assert list(found["b"]) == ["x", "y", None]


@pytest.mark.parametrize(
    ("table", "names", "problem"),
    [
        (COLUMNS, ["c"], "'c' is not a column of the table; name columns from: a, b"),
        ({"a": []}, ["a"], "has no rows"),
        ({"a": [1], "b": []}, ["a", "b"], "different lengths"),
        (pd.DataFrame({"a": []}), ["a"], "has no rows"),
        (7, ["a"], "table must be a table, not int"),
        ({}, ["a"], "name columns from: none"),
        ({1: [1]}, ["1"], "name columns from: none"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            ["a"],
            "two columns have the name 'a'",
        ),
    ],
)
def test_what_is_no_table(table: Any, names: list[str], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        columns_of(table, names, "columns")


def test_a_dataset_is_not_read() -> None:
    with (
        duckdb.connect() as connection,
    ):
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
        held = dither.open(
            connection, table="t", unit="id", budget=1.0, ledger=":memory:"
        )
        with held, pytest.raises(ArgumentError, match="only gives noisy answers"):
            columns_of(held, ["id"], "columns")


@pytest.mark.parametrize("names", [[], ["a", "a"], [1], 7, {"a": 1}, ["a"] * 65])
def test_what_are_no_names(names: Any) -> None:
    with pytest.raises(ArgumentError, match="must name 1 to 64 columns"):
        names_of(names, "columns")
    assert names_of("a", "columns") == ("a",)


def test_codes_tell_values_apart() -> None:
    codes, values = coded([1, "1", True, 1.0, math.nan, math.nan, None, [1], [1]])
    assert codes.tolist() == [0, 1, 2, 0, 3, 3, 4, 5, 5]
    assert len(values) == 6


def test_combinations_have_a_code_each() -> None:
    source = np.random.default_rng(1)
    columns = [source.integers(0, 5, 300) for _ in range(3)]
    found = joint(columns)
    lines = list(zip(*columns, strict=True))
    assert len(set(found.tolist())) == len(set(lines))
    assert len(
        {(code, line) for code, line in zip(found.tolist(), lines, strict=True)}
    ) == len(set(lines))


def test_numbers_are_numbers() -> None:
    assert numeric([1, 2.5, np.int64(3), math.nan])
    assert not numeric([1, None])
    assert not numeric([True])


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n30,f\n31,m\n", encoding="utf-8")
    assert read(path) == {"age": [30, 31], "sex": ["f", "m"]}
    path.write_text("age,sex\n", encoding="utf-8")
    assert set(read(path)) == {"age", "sex"}
    with pytest.raises(ArgumentError, match="is not a file"):
        read(tmp_path / "nobody.csv")
    path = tmp_path / "people.parquet"
    path.write_bytes(b"no parquet")
    with pytest.raises(ArgumentError, match="cannot be read"):
        read(path)
