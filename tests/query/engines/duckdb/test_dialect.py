from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as evaluate_dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.duckdb.words import NAMES
from dither.query.operations.calls import call, literal
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Expr
from dither.query.operations.record import OPERATIONS
from tests.each import each
from tests.query.operations.expression_cases import (
    CASES,
    DIALECT,
    FIELDS,
    NAMED,
    TABLE,
    C,
    Case,
    nasty_rows,
    ordinary_row,
    over_keys,
    sql_of,
    table,
)


@pytest.fixture(scope="module")
def nasty() -> duckdb.DuckDBPyConnection:
    return table(nasty_rows(1500))


@pytest.fixture(scope="module")
def ordinary() -> duckdb.DuckDBPyConnection:
    source = random.Random(2)
    return table([ordinary_row(source) for _ in range(200)])


def place(found: Any) -> float:
    return evaluate_dates.place(found) if isinstance(found, dt.date) else found


def holds(range_: Range, found: Any) -> bool:
    number = place(found)
    low, high = range_.low, range_.high
    return (
        math.isfinite(number)
        and (low is None or low <= number)
        and (high is None or number <= high)
    )


def computed(connection: duckdb.DuckDBPyConnection, expr: Expr) -> list[Any]:
    sql, parameters = sql_of(expr)
    rows = connection.execute(
        f"SELECT typeof({sql}), {sql} FROM read ORDER BY rowid", parameters
    ).fetchall()
    assert {kind for kind, _ in rows} == {NAMES[expr.type]}
    return [found for _, found in rows]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


def test_every_operation_has_a_case() -> None:
    used = {expr.op for case in CASES if hasattr(expr := case.build(), "op")}
    assert used == set(OPERATIONS)


@pytest.mark.parametrize(
    "place_", range(len(FIELDS)), ids=[field.name for field in FIELDS]
)
def test_columns_are_read_within_their_bounds(
    nasty: duckdb.DuckDBPyConnection, place_: int
) -> None:
    field = FIELDS[place_]
    found = [row[0] for row in nasty.execute(f"SELECT c{place_} FROM read").fetchall()]
    assert any(one is not None for one in found)
    if field.type is not Type.TEXT:
        assert all(holds(field.range, one) for one in found if one is not None)


def test_operations_are_total(nasty: duckdb.DuckDBPyConnection) -> None:
    """Whatever the rows hold: nothing is raised, the type is as declared, values lie in
    the range or are NULL.
    """

    def check(case: Case) -> None:
        expr = case.build()
        found = [one for one in computed(nasty, expr) if one is not None]
        if expr.type is not Type.TEXT:
            assert [one for one in found if not holds(expr.range, one)] == []

    each(NAMED, check)


def test_operations_agree_with_plain_sql(ordinary: duckdb.DuckDBPyConnection) -> None:
    def check(case: Case) -> None:
        found = computed(ordinary, case.build())
        plain = ordinary.execute(
            f"SELECT {case.plain} FROM {DIALECT.relation(TABLE)} ORDER BY rowid"
        ).fetchall()
        assert [
            (one, other)
            for one, (other,) in zip(found, plain, strict=True)
            if not same(one, other)
        ] == []

    stated = [(name, case) for name, case in NAMED if case.plain is not None]
    each(stated, check)


def test_python_agrees_with_the_engine(ordinary: duckdb.DuckDBPyConnection) -> None:
    rows = ordinary.execute("SELECT * FROM read ORDER BY rowid").fetchall()

    def check(case: Case) -> None:
        expr = case.build()
        found = computed(ordinary, expr)
        pairs = [
            (row, one, value(over_keys(expr), row, ()))
            for row, one in zip(rows, found, strict=True)
        ]
        assert [pair for pair in pairs if not same(pair[1], pair[2])] == []

    each(NAMED, check)


def reals(depth: int) -> st.SearchStrategy[Expr]:
    """Random numbers over all columns; what the operators refuse is thrown away."""
    leaf = st.sampled_from([C[name] for name in "ijkxyzp"]) | st.sampled_from(
        CONSTANTS
    ).map(literal)
    if depth == 0:
        return leaf
    below = reals(depth - 1)
    one = st.builds(call, st.sampled_from(UNARY), below)
    two = st.builds(call, st.sampled_from(BINARY), below, below)
    choice = st.builds(
        lambda c, a, b: call("case", c, a, b), conditions(depth - 1), below, below
    )
    rounds = st.builds(
        lambda a, n: call("round", a, options=(n,)), below, st.integers(-15, 15)
    )
    casts = st.builds(
        lambda a, t: call("cast", a, options=(t,)),
        below,
        st.sampled_from([Type.INTEGER, Type.REAL]),
    )
    parts = st.builds(
        lambda a, p: call("extract", a, options=(p,)),
        moments(depth - 1),
        st.sampled_from(["year", "epoch"]),
    )
    spans = st.builds(
        lambda a, b, u: call("date_diff", a, b, options=(u,)),
        moments(depth - 1),
        moments(depth - 1),
        st.sampled_from(evaluate_dates.UNITS),
    )
    return st.one_of(leaf, one, two, two, choice, rounds, casts, parts, spans)


def conditions(depth: int) -> st.SearchStrategy[Expr]:
    below = reals(depth)
    comparisons = st.builds(
        call, st.sampled_from(["lt", "ge", "eq", "is_distinct"]), below, below
    )
    return st.one_of(
        comparisons,
        st.builds(lambda a: call("is_null", a), below),
        st.sampled_from([C["a"], C["b"]]),
    )


def moments(depth: int) -> st.SearchStrategy[Expr]:
    leaf = st.sampled_from([C[name] for name in "deuv"])
    if depth == 0:
        return leaf
    below = moments(depth - 1)
    shifts = st.builds(
        lambda op, a, n: call(op, a, options=(n,)),
        st.sampled_from(["add_days", "add_months"]),
        below,
        st.integers(-200_000, 200_000),
    )
    cuts = st.builds(
        lambda a, u: call("date_trunc", a, options=(u,)),
        below,
        st.sampled_from(evaluate_dates.UNITS),
    )
    return st.one_of(leaf, shifts, cuts)


UNARY = ["neg", "abs", "floor", "ceil", "sign", "sqrt", "ln", "log10", "log2", "exp"]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "intdiv",
    "mod",
    "power",
    "least",
    "greatest",
    "coalesce",
    "nullif",
]
CONSTANTS = [0, 1, -1, 2, 10, 0.5, -2.5, 1e300, -1e-300, 2**62, -(2**63), None]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(expr=reals(3))
def test_random_expressions_stay_in_their_range(
    nasty: duckdb.DuckDBPyConnection, expr: Expr
) -> None:
    found = computed(nasty, expr)
    assert [
        one for one in found if one is not None and not holds(expr.range, one)
    ] == []


def test_guards_do_not_multiply() -> None:
    """Nested guards double the text at each level unless a long value is named."""
    expr: Expr = C["x"]
    for _ in range(60):
        expr = call("div", call("mul", expr, C["y"]), C["z"])
    assert len(sql_of(expr)[0]) < 30_000


def test_deep_expressions_run(nasty: duckdb.DuckDBPyConnection) -> None:
    expr: Expr = C["x"]
    for _ in range(15):
        expr = call(
            "nullif",
            call("div", call("mul", expr, C["y"]), C["i"]),
            call("sqrt", C["x"]),
        )
    assert len(computed(nasty, expr)) == 1500


def test_texts_that_double_are_cut(nasty: duckdb.DuckDBPyConnection) -> None:
    """Twenty doublings of a text of 1,000 characters would be a gigabyte a row."""
    expr: Expr = C["s"]
    for _ in range(7):
        expr = call("concat", expr, expr)
    longest = max(len(one) for one in computed(nasty, expr) if one is not None)
    assert longest == 65_536


@pytest.mark.parametrize(
    "constant",
    [
        0,
        -5,
        2**63 - 1,
        -(2**63),
        0.1,
        -1e300,
        5e-324,
        1e22,
        123456789.123456789,
        "a'b\"c; DROP TABLE read; --$1",
        "",
        True,
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
        dt.datetime(2024, 2, 29, 1, 2, 3, 4),
        None,
    ],
)
def test_constants_come_back_unchanged(
    nasty: duckdb.DuckDBPyConnection, constant: Any
) -> None:
    expr = literal(constant)
    sql, parameters = sql_of(expr)
    assert nasty.execute(f"SELECT {sql}, typeof({sql})", parameters).fetchone() == (
        constant,
        NAMES[expr.type],
    )
    assert len(parameters) == isinstance(constant, str | dt.date)


def test_texts_never_reach_the_sql() -> None:
    sql, parameters = sql_of(call("like", C["s"], literal("a'!%"), options=("!",)))
    assert (sql, parameters) == ("(c7 LIKE CAST($1 AS VARCHAR) ESCAPE '\\')", ["a'\\%"])


def test_parameters_may_be_used_again(nasty: duckdb.DuckDBPyConnection) -> None:
    """A guard repeats its argument; numbered parameters keep their places."""
    inner = call(
        "nullif", call("lower", call("concat", C["s"], literal("x"))), literal("ax")
    )
    expr = call("eq", call("nullif", inner, literal("bx")), literal("12x"))
    assert computed(nasty, expr).count(True) > 0


def one(stored: str, field: Field, *values: str) -> list[Any]:
    """What is read from a column stored like this."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (c {stored})")
    for text in values:
        connection.execute(f"INSERT INTO t VALUES ({text})")
    read = DIALECT.read(Table("t", (field,)), field)
    return [
        row[0]
        for row in connection.execute(f"SELECT {read} FROM t ORDER BY rowid").fetchall()
    ]


@pytest.mark.parametrize(
    ("stored", "field", "values", "expected"),
    [
        (
            "DOUBLE",
            Field("c", Type.REAL),
            ["'nan'", "'inf'", "'-inf'", "1.5", "NULL"],
            [None, None, None, 1.5, None],
        ),
        (
            "DOUBLE",
            Field("c", Type.REAL, Range(0, 9)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, 9.0, 0.0, 1.5],
        ),
        (
            "DOUBLE",
            Field("c", Type.REAL, Range(0, None)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, None, 0.0, 1.5],
        ),
        (
            "DOUBLE",
            Field("c", Type.REAL, Range(None, 9)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, 9.0, None, 1.5],
        ),
        (
            "VARCHAR",
            Field("c", Type.REAL, Range(0, 9)),
            ["'nan'", "'x'", "'2.5'", "'1e999'"],
            [None, None, 2.5, 9.0],
        ),
        (
            "VARCHAR",
            Field("c", Type.INTEGER, Range(0, 9)),
            ["'12'", "'x'", "'-3'", "NULL"],
            [9, None, 0, None],
        ),
        (
            "HUGEINT",
            Field("c", Type.INTEGER),
            ["12", "100000000000000000000"],
            [12, None],
        ),
        ("VARCHAR", Field("c", Type.BOOLEAN), ["'true'", "'maybe'"], [True, None]),
        (
            "DATE",
            Field("c", Type.DATE),
            ["'infinity'", "'0044-01-01 (BC)'", "'12000-01-01'"],
            [None, dt.date.min, dt.date.max],
        ),
        (
            "DATE",
            Field("c", Type.DATE, Range(0, 1)),
            ["'infinity'", "'-infinity'"],
            [dt.date(1970, 1, 2), dt.date(1970, 1, 1)],
        ),
        ("BIGINT", Field("c", Type.TEXT), ["17"], ["17"]),
    ],
)
def test_reading(
    stored: str, field: Field, values: list[str], expected: list[Any]
) -> None:
    assert one(stored, field, *values) == expected


def test_texts_are_compared_byte_by_byte() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT unnest(['a', 'A', 'a']) COLLATE NOCASE AS c"
    )
    read = DIALECT.read(Table("t", ()), Field("c", Type.TEXT))
    assert connection.execute(
        f"SELECT {read}, count(*) FROM t GROUP BY ALL ORDER BY ALL"
    ).fetchall() == [
        ("A", 1),
        ("a", 2),
    ]


def owner(field: Field | None, **facts: Any) -> str:
    return DIALECT.owner(Table("t", () if field is None else (field,), **facts))


def test_owners() -> None:
    assert owner(Field("id", Type.INTEGER), owner="id") == 'TRY_CAST("id" AS BIGINT)'
    assert (
        owner(Field('i"d', Type.TEXT), owner='i"d')
        == 'encode(TRY_CAST("i""d" AS VARCHAR))'
    )
    assert owner(Field("id", Type.DATE), owner="id") == 'TRY_CAST("id" AS DATE)'
    assert owner(Field("x", Type.REAL)) == "rowid"


@pytest.mark.parametrize("type_", [Type.REAL, Type.BOOLEAN])
def test_owners_that_are_no_ids(type_: Type) -> None:
    with pytest.raises(ArgumentError, match="declare it as integer or text"):
        owner(Field("id", type_), owner="id")


def test_owners_that_are_not_there() -> None:
    with pytest.raises(ArgumentError, match="has no column 'id'"):
        owner(None, owner="id")
    with pytest.raises(ArgumentError, match="rename it"):
        owner(Field("RowId", Type.INTEGER))
