"""What can be opened, what it is called, and what cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dither.errors import ArgumentError
from dither.query.engines.files import CsvFile
from dither.query.engines.sources import name_of, public_values, schema_of, source_of
from dither.query.sql.types import Type


@pytest.mark.parametrize(
    ("value", "stored", "name"),
    [
        ("data/visits.csv", "", "visits"),
        (Path("visits.csv.gz"), "", "visits"),
        ("data/visits/", "", "visits"),
        ("data/visits/*.parquet", "", "visits"),
        ("data/visits/**/part-*.parquet", "", "visits"),
        ("*.parquet", "", "data"),
        ("clinic.duckdb", "main.visits", "visits"),
        (("clinic.duckdb", "visits"), "", "visits"),
        (pd.DataFrame(), "", "data"),
    ],
)
def test_names(value: Any, stored: str, name: str) -> None:
    assert name_of(value, stored) == name


def test_paths_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    for path, words in (
        (tmp_path / "gone.csv", "is not there"),
        (tmp_path / "x.xlsx", "has no ending that says what it holds"),
        (tmp_path / "empty", "holds no Parquet files"),
        (tmp_path / "*.parquet", "holds no Parquet files"),
        ("https://example.org/x.csv", "copy it to this machine"),
        ("s3://bucket/x.parquet", "copy it to this machine"),
    ):
        with pytest.raises(ArgumentError, match=words):
            schema_of(path)


@pytest.mark.parametrize("value", [None, 5, [1, 2], {"a": [1]}, object(), b"x.csv", ("a", 5)])
def test_what_is_no_source(value: Any) -> None:
    with pytest.raises(ArgumentError, match="cannot be opened; pass a path, a data frame or a DuckDB connection"):
        source_of(value)


def test_sources_of_ones_own(tmp_path: Path) -> None:
    mine = CsvFile(tmp_path / "x.csv")
    assert source_of(mine) is mine


def test_a_frame_whose_columns_are_named_like_ours() -> None:
    frame = pd.DataFrame({"schema": [1], "store": ["x"], "columns": [2]})
    assert schema_of(frame) == {"schema": Type.INTEGER, "store": Type.TEXT, "columns": Type.INTEGER}


def test_public_values(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("region,beds\nb,2\na,10\na,\n,x\n", encoding="utf-8")
    assert public_values(str(path), "", "region", Type.TEXT) == ["a", "b"]
    assert public_values(path, "", "BEDS", Type.INTEGER) == [2, 10]
    with pytest.raises(ArgumentError, match="has no column size"):
        public_values(path, "", "size", Type.TEXT)
