"""What can be opened, what it is called, and what cannot."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.lookup import (
    name_of,
    public_values,
    reader_of,
    schema_of,
)
from dither.query.engines.duckdb.readers.text_files import CsvFile


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "visits.xlsx",
            "is a spreadsheet, which cannot be opened directly; save it as CSV (in Excel: CSV UTF-8), or write ",
        ),
        (
            "visits.XLSX",
            "dither.open(pandas.read_excel('visits.XLSX', dtype=str), …) and pass types=",
        ),
        (
            "visits.feather",
            "write dither.open(pyarrow.feather.read_table('visits.feather'), …)",
        ),
        ("visits.sas7bdat", "dither.open(pandas.read_sas("),
        ("visits.csv.zip", "compress it with gzip (.csv.gz)"),
        ("visits.what", "rename it to one of .csv, .tsv"),
    ],
)
def test_a_file_that_is_not_read_says_how_to_convert_it(
    name: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(ArgumentError) as problem:
        reader_of(tmp_path / name)
    assert words in str(problem.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "age;ward\n1;x\n"),
        ("a.csv", "age|ward\n1|x\n"),
        ("a.txt", "age\tward\n1\tx\n"),
        ("a.tab", "age\tward\n1\tx\n"),
        ("a.tsv", "age\tward\n1\tx\n"),
        ("a.csv", "\ufeffage,ward\r\n1,x\r\n"),
    ],
)
def test_dialects_of_csv(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert schema_of(tmp_path / name) == {"age": None, "ward": None}
    assert public_values(tmp_path / name, "", "age", Type.INTEGER) == [1]
    with gzip.open(tmp_path / f"{name}.gz", "wb") as packed:
        packed.write(content.encode())
    assert public_values(tmp_path / f"{name}.gz", "", "ward", Type.TEXT) == ["x"]


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
        (tmp_path / "gone.csv", "does not exist"),
        (tmp_path / "x.xlsx", "is a spreadsheet"),
        (tmp_path / "empty", "there are no Parquet files in"),
        (tmp_path / "*.parquet", "there are no Parquet files in"),
        ("https://example.org/x.csv", "copy it here"),
        ("s3://bucket/x.parquet", "copy it here"),
    ):
        with pytest.raises(ArgumentError, match=words):
            schema_of(path)


@pytest.mark.parametrize(
    "value", [None, 5, [1, 2], {"a": [1]}, object(), b"x.csv", ("a", 5)]
)
def test_what_is_no_source(value: Any) -> None:
    with pytest.raises(
        ArgumentError,
        match="cannot be opened; pass a path, a data frame or a DuckDB connection",
    ):
        reader_of(value)


def test_sources_of_ones_own(tmp_path: Path) -> None:
    mine = CsvFile(tmp_path / "x.csv")
    assert reader_of(mine) is mine


def test_a_frame_whose_columns_are_named_like_ours() -> None:
    frame = pd.DataFrame({"schema": [1], "store": ["x"], "columns": [2]})
    assert schema_of(frame) == {
        "schema": Type.INTEGER,
        "store": Type.TEXT,
        "columns": Type.INTEGER,
    }


def test_public_values(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("region,beds\nb,2\na,10\na,\n,x\n", encoding="utf-8")
    assert public_values(str(path), "", "region", Type.TEXT) == ["a", "b"]
    assert public_values(path, "", "BEDS", Type.INTEGER) == [2, 10]
    with pytest.raises(ArgumentError, match="has no column 'size'"):
        public_values(path, "", "size", Type.TEXT)
