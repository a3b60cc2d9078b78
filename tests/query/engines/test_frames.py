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
from dither.query.engines.frames import text_of
from dither.query.engines.sources import schema_of
from dither.query.sql.types import Type

from .reading import rows_of

NOON = datetime(2024, 2, 29, 12)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("x", "x"),
        ("é\0", "é\0"),
        ("\ud800x", "?x"),
        (True, "true"),
        (np.False_, "false"),
        (7, "7"),
        (np.uint8(7), "7"),
        pytest.param(10**5000, None, id="huge"),
        (2**127, str(2**127)),
        (0.5, "0.5"),
        (np.float32(0.5), "0.5"),
        (float("nan"), None),
        (float("inf"), "inf"),
        (Decimal("0.50"), "0.50"),
        (Decimal("nan"), None),
        (date(2024, 2, 29), "2024-02-29"),
        (NOON, "2024-02-29T12:00:00"),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (b"x", None),
        ([1], None),
        (object(), None),
    ],
)
def test_objects_as_text(item: Any, text: str | None) -> None:
    assert text_of(item) == text


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
        (series([1, "a", None, 0.5, [1]], "object"), Type.TEXT, ["1", "a", None, "0.5", None]),
        (series([None, None], "object"), Type.TEXT, [None, None]),
        (series([], "object"), Type.TEXT, []),
        (series([], "int64"), Type.INTEGER, []),
        (series([NOON, None], "datetime64[s]"), Type.TIMESTAMP, [NOON, None]),
        (series([NOON, None], "datetime64[ns]"), Type.TIMESTAMP, [NOON, None]),
        (series([NOON, None], "datetime64[ns, Asia/Tokyo]"), Type.TIMESTAMP, [datetime(2024, 2, 29, 3), None]),  # noqa: DTZ001
        (series(["b", None, "a"], "category"), Type.TEXT, ["b", None, "a"]),
        (series([2, None, 1], pd.CategoricalDtype([1, 2])), Type.INTEGER, [2, None, 1]),
        (series([None, None], pd.CategoricalDtype(np.array([], "int64"))), Type.INTEGER, [None, None]),
        (series([None], pd.CategoricalDtype([])), Type.TEXT, [None]),
        (series(["x", 1, None], pd.CategoricalDtype(["x", 1])), Type.TEXT, ["x", "1", None]),
        (series([1, None], "int64[pyarrow]"), Type.INTEGER, [1, None]),
        (series(["a", None], "string[pyarrow]"), Type.TEXT, ["a", None]),
        (series([True, None], "bool[pyarrow]"), Type.BOOLEAN, [True, None]),
        (series([date(2024, 2, 29), None], "date32[day][pyarrow]"), Type.DATE, [date(2024, 2, 29), None]),
        (series([NOON, None], "timestamp[us][pyarrow]"), Type.TIMESTAMP, [NOON, None]),
        (series([0.5, None], "float[pyarrow]"), Type.REAL, [0.5, None]),
        (series([1, 0], "Sparse[int]"), Type.INTEGER, [1, 0]),
        (series([True, None], pd.CategoricalDtype([True, False])), Type.BOOLEAN, [True, None]),
        (series([1, None], pd.CategoricalDtype(pd.Index([1, 2], dtype="Int64"))), Type.INTEGER, [1, None]),
    ],
)
def test_pandas(frame: pd.DataFrame, type_: Type, values: list[Any]) -> None:
    assert schema_of(frame) == {"x": type_}
    assert [value for (value,) in rows_of(frame)] == values


def test_pandas_columns_that_are_left_out() -> None:
    frame = pd.DataFrame({"a": [1], "d": pd.to_timedelta([1]), "c": [1j], 5: ["x"], "b\n": [1]})
    assert schema_of(frame) == {"a": Type.INTEGER, "5": Type.TEXT}
    assert rows_of(frame, **{"5": Type.TEXT}) == [("x",)]
    with pytest.raises(ArgumentError, match="its source has no column d"):
        rows_of(frame, d=Type.TEXT)
    with pytest.raises(ArgumentError, match="two columns named A"):
        schema_of(pd.DataFrame([[1, 2]], columns=["a", "A"]))


def test_pandas_declared_otherwise() -> None:
    frame = pd.DataFrame({"n": np.array(["7", 8, "x", None], object), "t": ["2024-02-29", "x", "", "1"]})
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
        expected = (1, "a", "a", "a", None, date(2024, 2, 29), NOON, datetime(2024, 2, 29, 3), 0.5, 0.5, True)  # noqa: DTZ001
        assert found == [expected, (None,) * 11]


def test_arrow() -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int16()),
            "t": pa.array(["a", None]).dictionary_encode(),
            "l": pa.array(["a", None], pa.large_string()),
            "z": pa.array([datetime(2024, 2, 29, 12, tzinfo=UTC), None], pa.timestamp("ns", "Asia/Tokyo")),
            "b": pa.array([b"x", None]),
        }
    )
    types = {"i": Type.INTEGER, "t": Type.TEXT, "l": Type.TEXT, "z": Type.TIMESTAMP}
    for one in (table, table.to_batches()[0], table.to_reader()):
        assert schema_of(one) == types
        assert rows_of(one, **types) == [(1, "a", "a", NOON), (None,) * 4]


def test_a_relation_of_duckdb() -> None:
    with duckdb.connect() as connection:
        rows = connection.sql("SELECT 7::HUGEINT AS h, 'x' AS t")
        assert rows_of(rows, h=Type.INTEGER, t=Type.TEXT) == [(7, "x")]


def test_frames_are_copied() -> None:
    from .reading import engine_of

    frame = pd.DataFrame({"x": [1, 2]})
    with engine_of(frame) as engine:
        frame.loc[0, "x"] = 99
        with engine.session() as session:
            assert session.fetch("SELECT sum(x) FROM data") == [(3,)]


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import polars as pl
import dither.query.engines.duckdb as d
from dither.query.declare import declare
from dither.query.engines.sources import schema_of
frame = pl.DataFrame({"x": [1, 2], "t": ["a", None]})
with d.DuckDBEngine.of(declare("data", schema_of(frame)), {"data": frame}) as engine, engine.session() as session:
    print(session.fetch("SELECT * FROM data ORDER BY x"))
"""


def test_polars_needs_no_pyarrow() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[(1, 'a'), (2, None)]"
