"""Data frames: types from the frame alone, objects record by record."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.lookup import schema_of
from tests.query.engines.duckdb.reading import owners_of, rows_of

NOON = datetime(2024, 2, 29, 12)


def series(items: list[Any], dtype: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(items, dtype=dtype)})


@pytest.mark.parametrize(
    ("frame", "type_", "values"),
    [
        (series([1, 2], "int8"), Type.INTEGER, [1, 2]),
        (series([1, 2**64 - 1], "uint64"), Type.INTEGER, [1, None]),
        (series([1, None], "Int32"), Type.INTEGER, [1, None]),
        (series([1, None], "UInt64"), Type.INTEGER, [1, None]),
        (series([0.5, None], "float32"), Type.REAL, [0.5, None]),
        (series([0.5, None], "Float64"), Type.REAL, [0.5, None]),
        (series([True, False], "bool"), Type.BOOLEAN, [True, False]),
        (series([True, None], "boolean"), Type.BOOLEAN, [True, None]),
        (series(["a", None], "str"), Type.TEXT, ["a", None]),
        (series(["a", None], "string"), Type.TEXT, ["a", None]),
        (
            series([1, "a", None, 0.5, [1]], "object"),
            Type.TEXT,
            ["1", "a", None, "0.5", None],
        ),
        (series([None, None], "object"), Type.TEXT, [None, None]),
        (series([], "object"), Type.TEXT, []),
        (series([], "int64"), Type.INTEGER, []),
        (series([NOON, None], "datetime64[s]"), Type.TIMESTAMP, [NOON, None]),
        (series([NOON, None], "datetime64[ns]"), Type.TIMESTAMP, [NOON, None]),
        (
            series([NOON, None], "datetime64[ns, Asia/Tokyo]"),
            Type.TIMESTAMP,
            [datetime(2024, 2, 29, 3), None],
        ),
        (series(["b", None, "a"], "category"), Type.TEXT, ["b", None, "a"]),
        (series([2, None, 1], pd.CategoricalDtype([1, 2])), Type.INTEGER, [2, None, 1]),
        (
            series([None, None], pd.CategoricalDtype(np.array([], "int64"))),
            Type.INTEGER,
            [None, None],
        ),
        (series([None], pd.CategoricalDtype([])), Type.TEXT, [None]),
        (
            series(["x", 1, None], pd.CategoricalDtype(["x", 1])),
            Type.TEXT,
            ["x", "1", None],
        ),
        (series([1, None], "int64[pyarrow]"), Type.INTEGER, [1, None]),
        (series(["a", None], "string[pyarrow]"), Type.TEXT, ["a", None]),
        (series([True, None], "bool[pyarrow]"), Type.BOOLEAN, [True, None]),
        (
            series([date(2024, 2, 29), None], "date32[day][pyarrow]"),
            Type.DATE,
            [date(2024, 2, 29), None],
        ),
        (series([NOON, None], "timestamp[us][pyarrow]"), Type.TIMESTAMP, [NOON, None]),
        (series([0.5, None], "float[pyarrow]"), Type.REAL, [0.5, None]),
        (series([1, 0], "Sparse[int]"), Type.INTEGER, [1, 0]),
        (
            series([True, None], pd.CategoricalDtype([True, False])),
            Type.BOOLEAN,
            [True, None],
        ),
        (
            series([1, None], pd.CategoricalDtype(pd.Index([1, 2], dtype="Int64"))),
            Type.INTEGER,
            [1, None],
        ),
    ],
)
def test_pandas(frame: pd.DataFrame, type_: Type, values: list[Any]) -> None:
    assert schema_of(frame) == {"x": type_}
    assert [value for (value,) in rows_of(frame)] == values


def test_pandas_columns_that_are_left_out() -> None:
    frame = pd.DataFrame(
        {"a": [1], "d": pd.to_timedelta([1]), "c": [1j], 5: ["x"], "b\n": [1]}
    )
    assert schema_of(frame) == {"a": Type.INTEGER, "5": Type.TEXT}
    assert rows_of(frame, **{"5": Type.TEXT}) == [("x",)]
    with pytest.raises(ArgumentError, match="has no column 'd'"):
        rows_of(frame, d=Type.TEXT)
    with pytest.raises(ArgumentError, match="two columns named 'A'"):
        schema_of(pd.DataFrame([[1, 2]], columns=["a", "A"]))


def test_pandas_declared_otherwise() -> None:
    frame = pd.DataFrame(
        {"n": np.array(["7", 8, "x", None], object), "t": ["2024-02-29", "x", "", "1"]}
    )
    assert rows_of(frame, n=Type.INTEGER, t=Type.DATE) == [
        (7, date(2024, 2, 29)),
        (8, None),
        (None, None),
        (None, None),
    ]


def test_what_is_no_frame() -> None:
    for value in (np.array([1]), [1], 5, None):
        with pytest.raises(ArgumentError, match="cannot be opened"):
            schema_of(value)


def test_polars() -> None:
    frame = pl.DataFrame(
        {
            "i": [1, None],
            "t": ["a", None],
            "d": [date(2024, 2, 29), None],
            "s": [NOON, None],
            "z": pl.Series([NOON, None]).dt.replace_time_zone("Asia/Tokyo"),
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "e": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
            "m": [Decimal("0.5"), None],
            "n": [None, None],
            "b": [True, None],
            "f": pl.Series([0.5, None], dtype=pl.Float32),
            "l": [[1], [2]],
            "r": [timedelta(1), None],
            "o": pl.Series([object(), object()], dtype=pl.Object),
        }
    )
    types = {
        "i": Type.INTEGER,
        **dict.fromkeys("tcen", Type.TEXT),
        "d": Type.DATE,
        **dict.fromkeys("sz", Type.TIMESTAMP),
        **dict.fromkeys("mf", Type.REAL),
        "b": Type.BOOLEAN,
    }
    for one in (frame, frame.lazy()):
        assert schema_of(one) == types
        found = rows_of(one, **types)
        expected = (
            1,
            "a",
            "a",
            "a",
            None,
            date(2024, 2, 29),
            NOON,
            datetime(2024, 2, 29, 3),
            0.5,
            0.5,
            True,
        )
        assert found == [expected, (None,) * 11]


def test_arrow() -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int16()),
            "t": pa.array(["a", None]).dictionary_encode(),
            "l": pa.array(["a", None], pa.large_string()),
            "z": pa.array(
                [datetime(2024, 2, 29, 12, tzinfo=UTC), None],
                pa.timestamp("ns", "Asia/Tokyo"),
            ),
            "b": pa.array([b"x", None]),
        }
    )
    types = {"i": Type.INTEGER, "t": Type.TEXT, "l": Type.TEXT, "z": Type.TIMESTAMP}
    for one in (table, table.to_batches()[0], table.to_reader()):
        assert schema_of(one) == types
        assert rows_of(one, **types) == [(1, "a", "a", NOON), (None,) * 4]


FAR = 1 << 62
EXTREME = pa.array([0, FAR, -FAR, None], pa.int64())
EPOCH = [datetime(1970, 1, 1), None, None, None]


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_that_do_not_fit(unit: str) -> None:
    table = pa.table(
        {
            "x": EXTREME.view(pa.timestamp(unit, "Asia/Tokyo")),
            "y": EXTREME.view(pa.timestamp(unit)),
        }
    )
    for one in (
        table,
        table.to_batches()[0],
        table.to_reader(),
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ):
        assert rows_of(one, x=Type.TIMESTAMP, y=Type.TIMESTAMP) == [
            (time, time) for time in EPOCH
        ]
    for zone in (None, "Asia/Tokyo"):
        frame = pl.DataFrame(
            {"x": pl.Series(EXTREME.to_pylist()).cast(pl.Datetime("ms", zone))}
        )
        assert [time for (time,) in rows_of(frame, x=Type.TIMESTAMP)] == EPOCH
    days = pd.Series(
        pd.arrays.ArrowExtensionArray(
            pa.array([0, 2**31 - 1], pa.int32()).view(pa.date32())
        )
    )
    assert rows_of(pd.DataFrame({"x": days}), x=Type.DATE) == [
        (date(1970, 1, 1),),
        (None,),
    ]


def test_times_of_day_and_spans_that_do_not_fit() -> None:
    """They cannot be asked about, and do not stop what can."""
    columns = {
        "x": range(4),
        "d": EXTREME.view(pa.duration("s")),
        "t": EXTREME.view(pa.time64("us")),
    }
    table = pa.table(columns)
    for one in (
        table,
        table.to_reader(),
        pl.DataFrame({"x": range(4), "d": pl.Series(EXTREME).cast(pl.Duration("ms"))}),
    ):
        assert rows_of(one, x=Type.INTEGER) == [(0,), (1,), (2,), (3,)]


def test_texts_that_are_not_utf8() -> None:
    ends = pa.py_buffer(np.array([0, 1, 2, 32], np.int32).tobytes())
    texts = pa.Array.from_buffers(
        pa.string(), 3, [None, ends, pa.py_buffer(b"\xffb" + b"\xc3" * 30)]
    )
    for column in (texts, texts.dictionary_encode()):
        assert rows_of(pa.table({"x": column})) == [(None,), ("b",), (None,)]
    for dtype in (pd.ArrowDtype(pa.string()), "string[pyarrow]"):
        frame = pd.DataFrame(
            {"x": pd.Series(pd.arrays.ArrowExtensionArray(texts)).astype(dtype)}
        )
        assert rows_of(frame) == [(None,), ("b",), (None,)]


def test_columns_that_duckdb_has_no_type_for() -> None:
    half = pa.table(
        {
            "x": [1],
            "h": pa.array([1], pa.float16()),
            "w": pa.array([1], pa.decimal256(76)),
        }
    )
    wide = pl.DataFrame({"x": [1], "h": pl.Series([1]).cast(pl.Int128)})
    for frame in (half, half.to_batches()[0], wide):
        assert schema_of(frame) == {"x": Type.INTEGER}
        assert rows_of(frame) == [(1,)]


def numbered(ids: Any) -> dict[str, Any]:
    return {"id": ids, "n": range(len(ids))}


LONG = 2**53
NEAR = [LONG, LONG + 1, LONG + 2, 2**63 - 1, 2**63 - 2]


def test_whole_ids_are_not_rounded() -> None:
    for dtype in (
        "int64",
        "Int64",
        "uint64",
        "UInt64",
        "int64[pyarrow]",
        "object",
        np.longdouble,
    ):
        frame = pd.DataFrame(numbered(pd.Series(NEAR, dtype=dtype)))
        assert owners_of(frame, Type.INTEGER) == NEAR, dtype
    for dtype in (
        "Int64",
        "int64[pyarrow]",
        pd.CategoricalDtype(pd.Index(NEAR, dtype="Int64")),
    ):
        frame = pd.DataFrame(numbered(pd.Series([*NEAR, None], dtype=dtype)))
        assert owners_of(frame, Type.INTEGER) == [*NEAR, None], dtype
    assert owners_of(pl.DataFrame(numbered(pl.Series(NEAR))), Type.INTEGER) == NEAR
    assert (
        owners_of(pa.table(numbered(pa.array(NEAR, pa.uint64()))), Type.INTEGER) == NEAR
    )
    decimals = pa.array([Decimal(number) for number in NEAR], pa.decimal128(38, 10))
    assert owners_of(pa.table(numbered(decimals)), Type.INTEGER) == NEAR


def test_ids_of_mixed_kinds() -> None:
    """Equal numbers are one owner, whatever they are kept in; what is no whole number,
    or no text, is nobody's.
    """
    items = [
        1,
        1.0,
        "1",
        Decimal("1.00"),
        np.int8(1),
        1.5,
        "1.5",
        LONG + 1,
        Decimal(LONG) + Decimal("0.6"),
        "\ud800",
        "\ud801",
    ]
    frame = pd.DataFrame(numbered(np.array(items, object)))
    assert owners_of(frame, Type.INTEGER) == [1] * 5 + [
        None,
        None,
        LONG + 1,
        None,
        None,
        None,
    ]
    half = str(Decimal(LONG) + Decimal("0.6")).encode()
    assert owners_of(frame, Type.TEXT) == [b"1"] * 5 + [
        b"1.5",
        b"1.5",
        str(LONG + 1).encode(),
        half,
        None,
        None,
    ]


def test_times_as_ids() -> None:
    nano = np.array([1, 2, 1000, 1000], "datetime64[ns]")
    second = datetime(1970, 1, 1, microsecond=1)
    zoned = pa.array(nano).cast(pa.timestamp("ns", "UTC"))
    frames = [
        pd.DataFrame(numbered(nano)),
        pl.DataFrame(numbered(nano)),
        pa.table(numbered(zoned)),
    ]
    for frame in frames:
        assert owners_of(frame, Type.TIMESTAMP) == [None, None, second, second]
        texts = owners_of(frame, Type.TEXT)
        assert texts[2:] == [b"1970-01-01 00:00:00.000001"] * 2
        assert len(set(texts)) == 3
    objects = pd.DataFrame(
        numbered(
            np.array([pd.Timestamp(number) for number in (1, 2, 1000, 1000)], object)
        )
    )
    assert owners_of(objects, Type.TEXT) == texts


def test_reals_are_no_ids_but_where_they_are_whole() -> None:
    """pandas makes reals of whole numbers as soon as one is missing."""
    frame = pd.DataFrame(numbered([1.0, float("nan"), 2.0, 2.5]))
    assert owners_of(frame, Type.INTEGER) == [1, None, 2, None]
    with pytest.raises(
        ArgumentError,
        match="the column 'id' of 'data' holds real numbers, which cannot be ids; declare it as integer",
    ):
        owners_of(frame, Type.TEXT)


def test_long_numbers_of_duckdb() -> None:
    sql = "SELECT x::{} AS id, n FROM (VALUES (9007199254740992, 0), (9007199254740993, 1)) t (x, n)"
    for stored in ("HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL(38, 10)"):
        with duckdb.connect() as connection:
            assert owners_of(connection.sql(sql.format(stored)), Type.INTEGER) == [
                LONG,
                LONG + 1,
            ]


def test_a_relation_of_duckdb() -> None:
    with duckdb.connect() as connection:
        rows = connection.sql("SELECT 7::HUGEINT AS h, 'x' AS t")
        assert rows_of(rows, h=Type.INTEGER, t=Type.TEXT) == [(7, "x")]


def test_frames_are_copied() -> None:
    from tests.query.engines.duckdb.reading import engine_of

    frame = pd.DataFrame({"x": [1, 2]})
    with engine_of(frame) as engine:
        frame.loc[0, "x"] = 99
        with engine.session() as session:
            assert session.fetch("SELECT sum(x) FROM data") == [(3,)]


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import polars as pl
import dither.query.engines.duckdb.engine as d
from dither.query.catalogue.declare import declare
from dither.query.engines.duckdb.lookup import schema_of
frame = pl.DataFrame({"x": [1, 2], "t": ["a", None]})
data = declare("data", schema_of(frame), unit="row")
with d.DuckDBEngine.of(data, {"data": frame}) as engine, engine.session() as session:
    print(session.fetch("SELECT * FROM data ORDER BY x"))
"""


def test_polars_needs_no_pyarrow() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[(1, 'a'), (2, None)]"


def test_a_frame_that_runs_backwards() -> None:
    """A reversed frame is a view with negative strides, which DuckDB refuses."""
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, 1.5, None],
            "m": pd.array([1, None, 3], "Int64"),
            "t": pd.date_range("2024", periods=3),
        }
    )
    assert sorted(rows_of(frame.iloc[::-1])) == sorted(rows_of(frame))
