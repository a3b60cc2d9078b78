"""Stored values as declared types: nothing is raised (rule R1), and ids are never
rounded (rule R10).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import Type
from dither.query.engines.columns import READABLE
from dither.query.engines.duckdb.casts import as_id, as_type
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.duckdb.stored import type_of

LONG, FAR = (1 << 63) - 1, 1 << 62
CALENDAR = 9_223_372_022_400_000_000
EDGES = [
    0,
    -1,
    FAR,
    -FAR,
    LONG,
    LONG - 1,
    -LONG,
    -LONG - 1,
    -LONG + 1,
    -CALENDAR,
    -CALENDAR - 1,
]
EDGES += [number // 1000 for number in EDGES] + [
    number // 1_000_000 for number in EDGES
]
DAYS = [
    0,
    2**31 - 1,
    -(2**31),
    1 - 2**31,
    2_932_897,
    -719_163,
    106_751_991,
    106_751_992,
    -106_751_992,
    5_881_580,
]
KINDS: dict[str, tuple[Any, Any, list[int]]] = {
    **{
        f"timestamp {unit} {zone}": (pa.timestamp(unit, zone), np.int64, EDGES)
        for unit in ("us", "ns")
        for zone in (None, "UTC")
    },
    **{
        f"timestamp {unit}": (pa.timestamp(unit), np.int64, EDGES)
        for unit in ("s", "ms")
    },
    "date32": (pa.date32(), np.int32, DAYS),
    "date64": (pa.date64(), np.int64, EDGES),
    "integer": (pa.int64(), np.int64, EDGES),
}


def column(kind: str) -> pa.Array:
    type_, width, values = KINDS[kind]
    data = np.array(values, width).tobytes()
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(data)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoded", [False, True])
def test_no_value_raises(kind: str, encoded: bool) -> None:
    values = column(kind).dictionary_encode() if encoded else column(kind)
    with connect() as connection:
        connection.register("stored", pa.table({"x": values}))
        ((_, stored, *_),) = connection.execute("DESCRIBE stored").fetchall()
        found = type_of(stored)
        assert found is not None
        for type_ in READABLE[found]:
            for read in (as_type, as_id):
                sql = read("x", stored, type_)
                assert connection.execute(
                    f"SELECT count(*), bit_xor(hash({sql})) FROM stored"
                ).fetchall()[0][0]


WIDE = [
    "0",
    "-1",
    "9007199254740993",
    "9223372036854775808",
    "1" + "0" * 60,
    "-" + "9" * 40,
]


@pytest.mark.parametrize(
    "stored",
    ["HUGEINT", "UHUGEINT", "BIGNUM", "UBIGINT", "DECIMAL(38,0)", "DECIMAL(38,38)"],
)
def test_long_numbers(stored: str) -> None:
    with connect() as connection:
        rows = f"(SELECT TRY_CAST(t AS {stored}) AS x FROM (SELECT unnest($1) AS t))"
        types = [Type.INTEGER, Type.REAL, Type.TEXT]
        listed = ", ".join(as_type("x", stored, type_) for type_ in types)
        found = connection.execute(
            f"SELECT x::VARCHAR, {listed} FROM {rows}", [WIDE]
        ).fetchall()
    for text, whole, real, again in found:
        exact = None if text is None else Decimal(text)
        fits = exact is not None and -LONG - 1 <= exact <= LONG
        assert whole == (int(exact) if exact is not None and fits else None)
        assert real == (None if exact is None else float(exact))
        assert (None if again is None else Decimal(again)) == exact


SAME = {"5", "5.", "5.0", "+5", "05", " 5 ", "5.000000000000000000000000000000"}
NEAR = [
    "5.0000000000000000000000001",
    "4.9999999999999999999999",
    "5e0",
    "0x5",
    "5_0",
    "5,0",
    "5.5",
    "five",
    "",
]
BY_A_DOUBLE = [
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.6",
    "9007199254740993.4",
    "9007199254740994",
]
LARGEST = [
    "9223372036854775807",
    "9223372036854775806.6",
    "9223372036854775807.4",
    "9223372036854775808",
]


def ids(texts: list[str], stored: str, type_: Type) -> list[Any]:
    with connect() as connection:
        rows = f"(SELECT n, CAST(t AS {stored}) AS x FROM (SELECT unnest($1) AS t, unnest(range({len(texts)})) AS n))"
        found = connection.execute(
            f"SELECT {as_id('x', stored, type_)} FROM {rows} ORDER BY n", [texts]
        ).fetchall()
    return [id for (id,) in found]


def test_texts_as_whole_ids() -> None:
    assert set(ids(sorted(SAME), "VARCHAR", Type.INTEGER)) == {5}
    assert set(ids(NEAR, "VARCHAR", Type.INTEGER)) == {None}
    assert ids(BY_A_DOUBLE, "VARCHAR", Type.INTEGER) == [
        2**53,
        2**53 + 1,
        None,
        None,
        2**53 + 2,
    ]
    assert ids(LARGEST, "VARCHAR", Type.INTEGER) == [LONG, None, None, None]


def test_decimals_as_ids() -> None:
    stored = "DECIMAL(38,10)"
    assert ids(BY_A_DOUBLE, stored, Type.INTEGER) == [
        2**53,
        2**53 + 1,
        None,
        None,
        2**53 + 2,
    ]
    assert ids(BY_A_DOUBLE, stored, Type.TEXT) == BY_A_DOUBLE
    for text in ("1.5", "0", "-0.5", "100", "-20", "0.01"):
        forms = {
            scale: ids([text], f"DECIMAL(38,{scale})", Type.TEXT)
            for scale in (2, 5, 20)
        }
        assert all(found == [text] for found in forms.values()), forms
    assert ids(["0", "0.5"], "DECIMAL(2,2)", Type.TEXT) == ["0", "0.5"]
    assert ids(["0", "0.5"], "DECIMAL(2,2)", Type.INTEGER) == [0, None]


def test_times_as_ids() -> None:
    near = [
        f"2024-01-01 00:00:00.12345{digits}"
        for digits in ("6", "6001", "6999", "7", "70", "700000")
    ]
    times = [datetime(2024, 1, 1, microsecond=123_456 + k) for k in (0, 1)]
    exact = [times[0], None, None, times[1], times[1], times[1]]
    assert ids(near, "VARCHAR", Type.TIMESTAMP) == exact
    near_nano = [text[:29] for text in near]
    for stored in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
        assert ids(near_nano, stored, Type.TIMESTAMP) == exact
        assert ids(near_nano, stored, Type.TEXT) == [
            text.rstrip("0") for text in near_nano
        ]
    days = ["2024-01-01", "2024-01-01 00:00:00.000001", "2024-01-02"]
    for stored in ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "VARCHAR"):
        assert ids(days, stored, Type.DATE) == [
            date(2024, 1, 1),
            None,
            date(2024, 1, 2),
        ]
    for stored in (
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
        "TIMESTAMP",
        "TIMESTAMP_NS",
        "TIMESTAMP WITH TIME ZONE",
    ):
        assert ids(["2024-01-01 10:00:00"], stored, Type.TEXT) == [
            "2024-01-01 10:00:00"
        ]


def test_reals_as_ids() -> None:
    assert ids(
        ["5.0", "5.5", "nan", "inf", "1e300", "9007199254740993"],
        "DOUBLE",
        Type.INTEGER,
    ) == [
        5,
        *[None] * 4,
        2**53,
    ]


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE data AS SELECT i / 2 AS real, i AS n, i::DECIMAL(9, 2) AS d FROM range(4) r (i)"
        )
        yield connection


def engine(database: duckdb.DuckDBPyConnection, *tables: Table) -> DuckDBEngine:
    catalogue = Catalogue("c", tables, unit=Unit("one"))
    return DuckDBEngine.of(
        catalogue, {table.name: (database, "data") for table in tables}
    )


def test_reals_are_refused_as_texts_of_ids(database: duckdb.DuckDBPyConnection) -> None:
    """An owner's id, and a key that rows are linked by."""
    real, whole = Field("real", Type.TEXT), Field("n", Type.INTEGER)
    parent = Table("data", (whole, real), owner="n")
    child = Table("more", (real,), link=Link("real", "data", "real"))
    for tables in ((Table("data", (real,), owner="real"),), (parent, child)):
        with pytest.raises(
            ArgumentError,
            match="the column 'real' of 'data' holds real numbers, which cannot be ids; declare it as integer",
        ):
            engine(database, *tables)
    engine(database, parent).close()


def test_reals_and_decimals_that_are_whole(database: duckdb.DuckDBPyConnection) -> None:
    for name, owners in (("real", {0, 1, None}), ("d", {0, 1, 2, 3})):
        table = Table("data", (Field(name, Type.INTEGER),), owner=name)
        with engine(database, table) as opened, opened.session() as session:
            found = session.fetch(f"SELECT {opened.dialect.owner(table)} FROM data")
        assert {id for (id,) in found} == owners
