"""Attacks by what is stored: a value at the end of its type must not make a question
fail (rules R1, R5).
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import dither
from dither.query.engines.duckdb.lookup import schema_of

LONG, FAR = (1 << 63) - 1, 1 << 62
EDGES = [
    0,
    1,
    FAR,
    -FAR,
    LONG,
    -LONG - 1,
    -LONG,
    LONG - 1,
    -LONG // 1000,
    LONG // 1000,
    253402300800000000,
]
DAYS = [
    0,
    1,
    2**31 - 1,
    -(2**31),
    1 - 2**31,
    2932896,
    2932897,
    -719162,
    -719163,
    10**8,
    -(10**8),
]
REALS = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 6e4, -6e4, 6e-8, 0.5]
WIDE = [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(0), *[None] * 8]


def raw(type_, values, width=np.int64):
    data = np.array(values, width).tobytes()
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(data)])


def texts():
    ends = np.arange(12, dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(),
        11,
        [None, pa.py_buffer(ends), pa.py_buffer(b"\xffb\xc3d9\0ghij\xff")],
    )


COLUMNS = {
    **{
        f"time {unit} {zone}": raw(pa.timestamp(unit, zone), EDGES)
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC")
    },
    "date32": raw(pa.date32(), DAYS, np.int32),
    "date64": raw(pa.date64(), EDGES),
    "int64": raw(pa.int64(), EDGES),
    "uint64": raw(pa.uint64(), [0, 1, 2**64 - 1, 2**63, LONG, *range(6)], np.uint64),
    "float16": pa.array(np.array(REALS, np.float16)),
    "float32": pa.array(np.array(REALS, np.float32)),
    "float64": pa.array(np.array([*REALS[:7], 1.7e308, -1.7e308, 5e-324, 0.5])),
    "decimal": pa.array(WIDE, pa.decimal128(38, 0)),
    "fraction": pa.array(
        [Decimal(f"{sign}0." + "9" * 38) for sign in ("", "-")] + [None] * 9,
        pa.decimal128(38, 38),
    ),
    "text": texts(),
    "truth": pa.array([True, None, *[False] * 9]),
    "nothing": pa.nulls(11),
}
NUMBERS = [
    "SELECT COUNT(DISTINCT x), AVG(x), MEDIAN(x) FROM data WHERE x > 0",
    "SELECT SUM(x * x - x / 3), COUNT(CAST(x AS TEXT)) FROM data WHERE CAST(x AS TEXT) LIKE '1%' OR x < 1",
]
MOMENTS = [
    "SELECT COUNT(DISTINCT x), MEDIAN(x), SUM(EXTRACT(year FROM x)) FROM data WHERE x > DATE '1999-01-01'",
    "SELECT EXTRACT(month FROM x) AS m, COUNT(*) FROM data WHERE CAST(x AS TEXT) LIKE '1%' OR x IS NULL GROUP BY m",
]
QUESTIONS = {
    "integer": NUMBERS,
    "real": NUMBERS,
    "date": MOMENTS,
    "timestamp": MOMENTS,
    "text": [
        "SELECT x, COUNT(*), SUM(CAST(x AS INTEGER) % 3) FROM data WHERE LENGTH(x) < 99 OR x > 'a' GROUP BY x"
    ],
    "boolean": ["SELECT COUNT(x), COUNT(DISTINCT x) FROM data WHERE x OR x IS NULL"],
}
BOUNDS = {
    "integer": (0, 100),
    "real": (-5.0, 5.0),
    "date": ("2000-01-01", "2030-01-01"),
    "timestamp": ("2000-01-01", "2030-01-01"),
}


def sources(table, path):
    """The ways in which rows come in, as far as they can hold the column."""
    yield table
    yield table.to_pandas(types_mapper=pd.ArrowDtype)
    try:
        parquet.write_table(table, path / "data.parquet")
        yield path / "data.parquet"
    except pa.ArrowInvalid:  # pyarrow itself refuses to write such seconds
        pass


def ask(source, declared):
    types = {} if declared is None else {"types": {"x": declared}}
    kind = declared or schema_of(source)["x"].value
    bounds = {"bounds": {"x": BOUNDS[kind]}} if kind in BOUNDS else {}
    with dither.open(
        source,
        unit="id",
        rows=5,
        budget=(1e3, 1e-6),
        ledger=":memory:",
        name="data",
        **types,
        **bounds,
    ) as data:
        for sql in QUESTIONS[kind]:
            data.sql(sql, epsilon=1.0)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_timestamp_of_2_to_the_62_failed_every_question_here(name, tmp_path):
    table = pa.table({"id": range(11), "x": COLUMNS[name]})
    for source in sources(table, tmp_path):
        if "x" in schema_of(source):
            ask(source, None)
    if isinstance(source, Path):  # the last one, in which dictionaries are kept
        ask(source, "text")


@pytest.mark.parametrize(
    "stored", ["HUGEINT", "UHUGEINT", "BIGNUM", "TIMESTAMP", "TIMESTAMPTZ", "DATE"]
)
def test_the_ends_of_duckdbs_own_types(stored):
    ends = {
        "TIMESTAMP": "make_timestamp({})",
        "TIMESTAMPTZ": "make_timestamptz({})",
        "DATE": "DATE 'infinity'",
    }
    value = ends.get(stored, f"TRY_CAST('{{}}000000000000000000' AS {stored})")
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE data AS SELECT 0 AS id, {value.format(-LONG + 1)} AS x"
        )
        connection.execute(f"INSERT INTO data SELECT 1, {value.format(LONG - 1)}")
        for declared in (None, "text"):
            ask((connection, "data"), declared)


@pytest.mark.parametrize("kind", ["duration", "time", "list", "struct", "bytes"])
def test_columns_that_cannot_be_asked_about_are_not_read(kind, tmp_path):
    columns = {
        "duration": raw(pa.duration("s"), EDGES),
        "time": raw(pa.time64("ns"), EDGES),
        "list": pa.array([[FAR]] * 11),
        "struct": pa.array([{"x": FAR}] * 11),
        "bytes": pa.array([b"\xff"] * 11),
    }
    table = pa.table({"id": range(11), "x": EDGES[:1] * 11, "odd": columns[kind]})
    for source in sources(table, tmp_path):
        ask(source, None)
