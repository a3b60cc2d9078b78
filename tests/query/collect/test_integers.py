"""What rows add up to: counted where that is faster, and the same as adding up each
row's parts.
"""

import math

import duckdb
import pytest

from dither.query.catalogue.types import Range, Type
from dither.query.collect.integers import leaf, row_parts, sums
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.operations.expressions import ColumnType, Ref
from dither.query.plan.vectors import KINDS, Vector

ROWS = [
    (1, 3, 0.5),
    (1, None, None),
    (1, 10, -2.0),
    (2, None, 1.0),
    (3, 0, 7.25),
    (3, 7, 7.0),
]
WHOLE = Ref.to(0, ColumnType("n", Type.INTEGER, Range(0, 10)))
WIDE = Ref.to(0, ColumnType("w", Type.INTEGER, Range(-(2**50), 2**50)))
REAL = Ref.to(1, ColumnType("x", Type.REAL, Range(-2.0, 7.25)))
ASKED = [
    *[("count", args) for args in ([], [WHOLE], [REAL])],
    *[
        (function, [arg])
        for function in ("sum", "avg", "var_samp")
        for arg in (WHOLE, WIDE, REAL)
    ],
    *[("covar_samp", [WHOLE, REAL]), ("corr", [REAL, WHOLE])],
]


def fetch(select, group="u"):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (u BIGINT, a0 BIGINT, a1 DOUBLE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        return connection.execute(
            f"SELECT {group}, {', '.join(select)} FROM t GROUP BY ALL ORDER BY ALL"
        ).fetchall()


@pytest.mark.parametrize("sure", [True, False])
@pytest.mark.parametrize(
    ("function", "args"),
    ASKED,
    ids=[f"{f}-{len(a)}{i}" for i, (f, a) in enumerate(ASKED)],
)
def test_sums_are_the_sums_of_the_parts(function, args, sure):
    vector = Vector(KINDS[function], tuple(args), (0,), function, sure)
    names = [f"a{arg.index}" for arg in args]
    parts = row_parts(vector, names)
    assert fetch(sums(vector, names, DuckDBDialect())) == fetch(
        [f"sum({part})" for part in parts]
    )


def test_a_unit_is_there_once_however_many_rows_it_has():
    everyone = Vector(KINDS["units"], (), (0,), "units", sure=True)
    valued = Vector(KINDS["units"], (WHOLE,), (0,), "units", sure=True)
    dialect = DuckDBDialect()
    assert fetch(sums(everyone, [], dialect)) == [(1, 1), (2, 1), (3, 1)]
    assert fetch(sums(valued, ["a0"], dialect)) == [(1, 1), (2, 0), (3, 1)]


LEAVES = [
    ("integers", Type.INTEGER, 0, 20_000),
    ("integers around zero", Type.INTEGER, -(10**6), 10**6),
    ("few integers", Type.INTEGER, -5, 4000),
    ("long integers", Type.INTEGER, -(2**60), 2**60),
    ("days", Type.DATE, -700_000, 2_900_000),
    ("reals", Type.REAL, 0.0, 1e6),
    ("reals around zero", Type.REAL, -3.0, 1e6),
    ("negative reals", Type.REAL, -1e6, -1e-3),
    ("years", Type.REAL, 1900.0, 2100.0),
    ("large reals", Type.REAL, -1e150, 1e150),
    ("close reals", Type.REAL, 0.0, 1e-300),
]


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [one[1:] for one in LEAVES],
    ids=[one[0] for one in LEAVES],
)
def test_an_engine_sorts_every_value_as_python_does(type_, low, high):
    """Hostile values too: each is in one leaf, and NULL is in none."""
    arg = Ref.to(0, ColumnType("x", type_, Range(low, high)))
    vector = Vector(KINDS["quantile"], (arg,), (0,), "quantile", sure=True)
    real = type_ is Type.REAL
    values = [low, high, 0, 1, -1, 2**62, -(2**62), *range(7000, 2_000_000, 99_991)]
    values += [low + (high - low) * i // 997 for i in range(998)]
    if real:
        values += [1e308, -1e308, 5e-324, -5e-324, -0.0, math.inf, -math.inf]
        values += [low + (high - low) * 2.0**-i for i in range(1000)]
    if type_ is Type.DATE:
        values = [min(max(x, low), high) for x in values]
    column, stored = ("DOUBLE", float) if real else ("BIGINT", int)
    sql = "x" if type_ is not Type.DATE else "DATE '1970-01-01' + CAST(x AS INTEGER)"
    place = leaf(vector, "y", DuckDBDialect())
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT unnest(CAST($1 AS {column}[])) AS x",
            [[*map(stored, values), None]],
        )
        found = connection.execute(
            f"SELECT x, {place} FROM (SELECT x, {sql} AS y FROM t)"
        ).fetchall()
    assert len(found) == len(values) + 1
    for x, at in found:
        expected = None if x is None else vector.leaves.leaf(x)
        assert at == expected, (x, at, expected)
