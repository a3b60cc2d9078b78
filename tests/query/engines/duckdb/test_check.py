"""What the curator is told about a source: encoding, quotation marks, numbers, dates,
copies of rows.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.duckdb.check import about_source
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.lookup import reader_of
from dither.query.engines.duckdb.readers.text_lines import LONGEST


def said(path: Path, stored: str = "", **types: Type) -> list[str]:
    table = Table("t", tuple(Field(name, type_) for name, type_ in types.items()))
    source = reader_of(path, stored)
    with connect() as connection:
        found = about_source(connection, source, source.store(connection, table), table)
        return [
            f"{about}: {what.format(number)}" for about, number, what in found if number
        ]


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


def test_a_file_without_faults(csv: Path) -> None:
    csv.write_text('a,b\n1,"x, ""y"""\n2,\n\n3,z', encoding="utf-8")
    assert said(csv, a=Type.INTEGER, b=Type.TEXT) == []


def test_lines(csv: Path) -> None:
    lines = [
        b"1,x",
        b'2,"oops',
        b'3,a"b',
        b'4,"a"b',
        b"5",
        b"6,x,y",
        b"7,\xe9",
        b"8," + b"x" * LONGEST,
        b"9,\xe9\xe9",
        b"",
    ]
    expected = [
        "t: 1 lines have more than 2,000,000 bytes and are left out",
        "t: 3 lines have a quotation mark inside a field, or one that is not closed on the line, and are left out; "
        "if values contain line breaks, write the table as Parquet",
        "t: 2 lines have more or fewer fields than the header and are left out",
        "t: 2 lines hold text that is not UTF-8; those values are read as NULL; save the file as UTF-8",
    ]
    for end in (b"\n", b"\r\n"):
        csv.write_bytes(end.join([b"a,b", *lines]))
        assert said(csv, a=Type.INTEGER) == expected


def test_numbers(csv: Path) -> None:
    csv.write_text(
        "a;b\n1,5;1.5\n1.234,5;2\n 7,0 ;3\nx;4\n;5\n1 000,5;6\n", encoding="utf-8"
    )
    advice = "4 of these have a comma in the number; write a point before decimals, and nothing between thousands"
    assert said(csv, a=Type.REAL, b=Type.REAL) == [
        "t.a: 5 values are not of type real and are read as NULL",
        f"t.a: {advice}",
    ]


def test_numbers_that_are_not_integers(csv: Path, tmp_path: Path) -> None:
    csv.write_text("a,b\n5.5,1\n5.0,2\nNA,?\n-,4\n1e3,x\n", encoding="utf-8")
    assert said(csv, a=Type.INTEGER, b=Type.INTEGER) == [
        "t.a: 3 values are not of type integer and are read as NULL",
        "t.a: 1 of these have decimals; declare the column as real to keep them",
        "t.a: 2 of these stand for missing values, such as NA",
        "t.b: 2 values are not of type integer and are read as NULL",
        "t.b: 1 of these stand for missing values, such as NA",
    ]
    reals = [5.5, 5.0, float("nan"), float("inf"), None]
    parquet.write_table(pa.table({"a": reals, "b": reals}), tmp_path / "t.parquet")
    assert said(tmp_path / "t.parquet", a=Type.INTEGER, b=Type.REAL) == [
        "t.a: 3 values are not of type integer and are read as NULL",
        "t.a: 1 of these have decimals; declare the column as real to keep them",
        "t.b: 2 values are not of type real and are read as NULL",
    ]


def test_an_infinity_within_bounds_is_read(tmp_path: Path) -> None:
    reals = [5.5, float("nan"), float("inf")]
    parquet.write_table(pa.table({"a": reals}), tmp_path / "t.parquet")
    table = Table("t", (Field("a", Type.REAL, Range(0.0, 9.0)),))
    source = reader_of(tmp_path / "t.parquet")
    with connect() as connection:
        stored = source.store(connection, table)
        counted = list(about_source(connection, source, stored, table))
    assert ("t.a", 1, "{} values are not of type real and are read as NULL") in counted


def test_dates(csv: Path) -> None:
    days = [
        "2024-12-31",
        "31.12.2024",
        "12/31/2024",
        "1 Jan 2024",
        "24-12-31",
        "0024-12-31",
        "20000-01-01",
        "infinity",
        "soon",
        "2024-02-30",
    ]
    csv.write_text("a\n" + "\n".join(days) + "\n", encoding="utf-8")
    assert said(csv, a=Type.DATE) == [
        "t.a: 7 values are not of type date and are read as NULL",
        "t.a: 4 of these are dates in another format; write them as 2024-12-31",
        "t.a: 1 values are before the year 100; check whether years were written with two digits",
    ]


def test_copies_of_rows(csv: Path, tmp_path: Path) -> None:
    """Columns that are not declared count too: two visits on one day need not be one."""
    csv.write_text("id,n,note\n1,a,x\n1,a,x\n1,a,y\n1,a,x\n2,a,x\n", encoding="utf-8")
    copies = ["t: 2 rows are exact copies of other rows"]
    assert said(csv, id=Type.INTEGER) == copies
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{csv}'")
        connection.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    assert said(tmp_path / "t.duckdb", "t", id=Type.INTEGER) == copies
    assert said(tmp_path / "t.parquet", id=Type.INTEGER) == copies


def test_parquet(tmp_path: Path) -> None:
    ends = pa.py_buffer(np.array([0, 1, 2, 3], np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), 3, [None, ends, pa.py_buffer(b"\xff?b")])
    times = pa.array([0, 1 << 62, None], pa.int64()).view(pa.timestamp("ms"))
    far = pa.array([0, 1 << 62, None], pa.int64()).view(pa.time64("us"))
    parquet.write_table(
        pa.table({"x": texts, "t": times, "time": far}), tmp_path / "t.parquet"
    )
    assert said(tmp_path / "t.parquet", x=Type.TEXT, t=Type.TIMESTAMP) == [
        "t.x: 1 strings are not UTF-8; their invalid bytes are read as question marks",
        "t.t: 1 values are not of type timestamp and are read as NULL",
    ]


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(
        b'{"a": "1,5"}\n{"a": 1}\n{"a": 1}\nnonsense\n{"a": "\xff"}\n[1]\n'
    )
    assert said(path, a=Type.REAL) == [
        "t: 3 lines or items are not objects and have only NULLs",
        "t.a: 1 values are not of type real and are read as NULL",
        "t.a: 1 of these have a comma in the number; write a point before decimals, and nothing between thousands",
        "t: 2 rows are exact copies of other rows",
    ]
