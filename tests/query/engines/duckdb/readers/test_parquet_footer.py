"""Copies of Parquet files in which some columns stand for nothing."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from dither.query.engines.duckdb.readers.parquet_footer import bare_copy, bared


@pytest.fixture
def path(tmp_path: Path) -> Path:
    nested = {"x": 1, "t": "a", "deep": [{"x": "b", "m": [("k", 1)]}]}
    shape = pa.struct(
        {
            "x": pa.int64(),
            "t": pa.string(),
            "deep": pa.list_(
                pa.struct({"x": pa.string(), "m": pa.map_(pa.string(), pa.int64())})
            ),
        }
    )
    columns = {
        "first": pa.array([nested, None], shape),
        "x": pa.array([5, None]).view(pa.timestamp("ms")),
        "t": ["é", "b"],
        "d": pa.array([1, None]).cast(pa.decimal128(21, 2)),
        "second": pa.array([nested, None], shape),
        "long": ["x" * 1000, None],
        **{f"c{i}": [i, i] for i in range(40)},
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=1)
    return tmp_path / "t.parquet"


def test_columns_lose_their_meaning(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    bare_copy(path, copy, ["x", "t", "long", "nowhere"])
    with duckdb.connect() as connection:
        before, after = (
            connection.execute(f"DESCRIBE FROM '{one}'").fetchall()
            for one in (path, copy)
        )
        changed = {
            old[0]: new[1] for old, new in zip(before, after, strict=True) if old != new
        }
        assert changed == {"x": "BIGINT", "t": "BLOB", "long": "BLOB"}
        found = connection.execute(
            f"SELECT x, t, d, first, second, c39 FROM '{copy}'"
        ).fetchall()
        expected = connection.execute(
            f"SELECT epoch_ms(x), encode(t), d, first, second, c39 FROM '{path}'"
        ).fetchall()
    assert found == expected


def test_nothing_to_change(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    bare_copy(path, copy, [])
    assert copy.read_bytes() == path.read_bytes()


def test_pyarrow_reads_the_copy_too(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    bare_copy(path, copy, ["t"])
    assert parquet.read_schema(copy).field("t").type in (pa.binary(), pa.string())
    assert parquet.ParquetFile(copy).metadata.num_rows == 2


def test_all_kinds_of_values_are_stepped_over() -> None:
    """A footer may hold fields that are not known here."""
    column = bytes([0x48, 1, ord("x"), 0x25, 0, 0])  # its name, then what it stands for
    schema = bytes([0x2C]) + bytes([0x48, 1, ord("r"), 0]) + column
    values = [
        (1, b""),
        (2, b""),
        (3, b"\x07"),
        (5, b"\x80\x01"),
        (7, bytes(8)),
        (8, b"\x03abc"),
        (9, b"\x21\x01\x02"),  # truths
        (9, b"\xf8\x0f" + b"\x01z" * 15),  # fifteen texts
        (10, b"\x15\x05"),
        (11, b"\x00"),
        (11, b"\x02\x85\x01a\x04\x01b\x06"),
        (12, b"\x15\x02\x00"),
        (13, bytes(16)),
    ]
    random.Random(5).shuffle(values)
    more = b"".join(bytes([0x10 | kind]) + value for kind, value in values)
    far = bytes([0x05, 0x80, 0x02, 0x06])  # a number so far off that it is written out
    footer = bytes([0x29]) + schema + more + far + b"\x00"
    bare = bytes([0x48, 1, ord("x"), 0])
    assert bared(footer, ["x"]) == footer.replace(column, bare, 1)
    assert bared(footer, []) == footer
