"""What rows add up to: counted where that is faster, and the same as adding up each
row's parts.
"""

import duckdb
import pytest

from dither.query.catalogue.types import Range, Type
from dither.query.collect.integers import row_parts, sums
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
