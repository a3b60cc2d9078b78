"""Every operation of the allow-list on hostile rows: Spark computes what it means, and
nothing raises.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from datetime import date, datetime

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.collect.rows import render
from dither.query.engines.spark.dialect import SparkDialect
from dither.query.engines.spark.sessions import own
from dither.query.operations.calls import call, literal
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, ColumnType, KeyLeaf, Ref
from dither.query.operations.record import OPERATIONS
from dither.query.operations.writing import SPARK
from tests.conformance.spark_asking import session
from tests.query.operations.expression_cases import CASES as SHARED
from tests.query.operations.expression_cases import FIELDS, ordinary_row, over_keys

pytestmark = pytest.mark.engine("spark")
BIG = 2**63 - 1
VALUES = {
    "i": (Type.INTEGER, ANY, [0, 1, -1, 7, -7, 2**53 + 1, BIG, -BIG - 1, None]),
    "j": (Type.INTEGER, Range(-100, 100), [0, 1, -3, 100, -100, 55, None]),
    "x": (
        Type.REAL,
        ANY,
        [
            0.0,
            1.0,
            -1.5,
            2.5,
            3.5,
            1e308,
            -1e308,
            5e-324,
            1 / 3,
            2.0**63,
            -(2.0**63),
            1e17,
            None,
        ],
    ),
    "y": (Type.REAL, Range(-8.0, 8.0), [0.0, -8.0, 8.0, 0.5, 2.5, -2.5, 1.005, None]),
    "s": (
        Type.TEXT,
        ANY,
        [
            *(
                "",
                "a",
                "A b ",
                "  x",
                "12",
                " 1.5 ",
                "-2.5",
                "1e5",
                "1e400",
                "1d",
                "NaN",
                "infinity",
                "0",
                "yes",
                "F",
            ),
            *(
                "9223372036854775808",
                "2024-02-29",
                "2023-02-29",
                "2024-02-29 12:30",
                "2024",
                "99999-01-01",
            ),
            *(
                "2024-02-29T23:59:59.123456Z",
                "éa",
                "a%_\\b",
                "\U0001f600z",
                "$1",
                ":p1",
                "'; --",
                "${x}",
                "line\nfeed",
            ),
            None,
        ],
    ),
    "b": (Type.BOOLEAN, Range(0, 1), [True, False, None]),
    "d": (
        Type.DATE,
        ANY,
        [
            date(1, 1, 1),
            date(9999, 12, 31),
            date(2024, 2, 29),
            date(1969, 12, 31),
            None,
        ],
    ),
    "e": (
        Type.DATE,
        ANY,
        [date(2020, 12, 31), date(2021, 1, 3), date(1900, 3, 31), None],
    ),
    "t": (
        Type.TIMESTAMP,
        ANY,
        [
            datetime(1, 1, 1),
            datetime(9999, 12, 31, 23, 59, 59, 999999),
            datetime(1969, 12, 31, 23, 59, 59, 500000),
            datetime(2024, 2, 29, 12, 30, 15, 250000),
            None,
        ],
    ),
}
NAMES = list(VALUES)
ROWS = [
    tuple(row)
    for row in itertools.islice(
        zip(
            *(itertools.cycle(values) for _, _, values in VALUES.values()), strict=False
        ),
        420,
    )
]
PARTS = (
    "year",
    "quarter",
    "month",
    "day",
    "dow",
    "isodow",
    "doy",
    "week",
    "isoyear",
    "decade",
    "century",
    "epoch",
)
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
NUMBERS = [
    ("i", "j"),
    ("j", "j"),
    ("x", "y"),
    ("y", "x"),
    ("y", "y"),
    ("i", "x"),
    ("i", "i"),
    ("x", "x"),
]
SINGLE = (
    "neg",
    "abs",
    "sign",
    "round",
    "floor",
    "ceil",
    "sqrt",
    "ln",
    "log10",
    "log2",
    "exp",
)
CASES = [
    *((op, pair, ()) for op in ("add", "sub", "mul", "div", "intdiv", "mod", "least", "greatest") for pair in NUMBERS),
    *((op, (name,), ()) for op in SINGLE for name in "ijxy"),
    *(("round", (name,), (digits,)) for name in "ijxy" for digits in (2, -2, 15, -15)),
    *(("power", pair, ()) for pair in (("x", "y"), ("y", "y"), ("j", "y"), ("y", 2), ("j", 3))),
    *((op, pair, ()) for op in ("eq", "ne", "lt", "le", "gt", "ge", "is_distinct", "is_not_distinct")
      for pair in (("i", "x"), ("s", "s"), ("s", "a"), ("d", "t"), ("x", "y"))),
    *((op, ("s",), ()) for op in ("length", "trim", "ltrim", "rtrim", "lower")),
    *((op, ("s", "a"), ()) for op in ("starts_with", "contains", "concat")),
    *((op, ("s", pattern), ()) for op in ("like", "ilike") for pattern in ("a%", "%_\\b", "_", "%", "", "a!%", "A%")),
    *((op, ("s", "%!%!_%"), ("!",)) for op in ("like", "ilike")),
    *(("substring", ("s",), cut) for cut in ((1, 2), (0, 2), (0, None), (-2, None), (-5, 3), (2, None), (2**32, 5),
                                              (-(2**32), 2**32), (3, 0), (-1, 2**32))),
    *(("cast", (name,), (type_,)) for name, types in {
        "i": (Type.REAL, Type.TEXT, Type.BOOLEAN), "x": (Type.INTEGER, Type.BOOLEAN), "y": (Type.INTEGER,),
        "s": (Type.INTEGER, Type.REAL, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP),
        "b": (Type.INTEGER, Type.REAL, Type.TEXT),
        "d": (Type.TIMESTAMP, Type.TEXT), "t": (Type.DATE, Type.TEXT)}.items() for type_ in types),
    *(("extract", (name,), (part,)) for name in "det" for part in (*PARTS, "hour", "minute", "second")),
    *(("date_trunc", (name,), (unit,)) for name in "det" for unit in UNITS),
    *(("date_diff", pair, (unit,)) for pair in (("d", "e"), ("t", "d"), ("e", "t")) for unit in UNITS),
    ("date_sub", ("d", "e"), ()),
    *((op, (name,), (by,)) for op in ("add_days", "add_months") for name in "det" for by in (1, -1, 400, -119_000)),
    *((op, ("b", "b"), ()) for op in ("and", "or")),
    *((op, ("b",), ()) for op in ("not", "is_true", "is_false", "is_null", "is_not_null")),
    ("in", ("j", 1, 55, None), ()),
    ("between", ("x", "y", 3.0), ()),
    ("case", ("b", "i", "j"), ()),
    ("coalesce", ("x", "y", 0.5), ()),
    ("nullif", ("j", "i"), ()),
    ("least", ("s", "b b"), ()),
    ("greatest", ("i",), ()),
]  # fmt: skip
OTHERS = [
    expr
    for case in SHARED
    if isinstance(expr := case.build(), Call)
    and expr.op not in {op for op, _, _ in CASES}
]
"""Operations without cases of their own here: the cases that all engines share."""
NEARLY = ("ln", "log10", "log2", "exp", "power", "sqrt")
"""Where the last bit may differ from machine to machine."""


def built(case, leaf):
    op, names, options = case
    return call(
        op,
        *(leaf(name) if name in VALUES else literal(name) for name in names),
        options=options,
    )


def column(name):
    type_, range_, _ = VALUES[name]
    return Ref.to(NAMES.index(name), ColumnType(name, type_, range_))


def leaf(name):
    type_, range_, _ = VALUES[name]
    return KeyLeaf(type_, range_, NAMES.index(name))


@pytest.fixture(scope="module")
def rows():
    """The values in Spark, under the names c0, c1, …"""
    spark = own(session())
    view(spark, "r", [type_ for type_, _, _ in VALUES.values()], ROWS)
    yield spark
    for name in ("r", "ordinary"):
        spark.catalog.dropTempView(name)


def view(spark, name, types, rows):
    columns = [f"c{place} {SPARK.types[one]}" for place, one in enumerate(types)]
    schema = ", ".join([*columns, "n int"])
    numbered = [(*row, place) for place, row in enumerate(rows)]
    frame = spark.createDataFrame(numbered, schema)
    frame.coalesce(1).createOrReplaceTempView(name)


@pytest.mark.parametrize(
    "ops",
    [CASES[start::4] for start in range(4)],
    ids=["first", "second", "third", "fourth"],
)
def test_operations_mean_what_they_mean(rows, ops):
    found = asked(rows, ops)
    wrong = [
        (case, ROWS[n], mine, meant)
        for case, results in zip(ops, found, strict=True)
        for n, (mine, meant) in enumerate(zip(results, meanings(case), strict=True))
        if not alike(case[0], mine, meant)
    ]
    assert not wrong, f"{len(wrong)}: {wrong[:8]}"


def test_shared_cases_mean_what_they_mean(rows):
    source = random.Random(2)  # allowed: it chooses test data
    ordinary = [ordinary_row(source) for _ in range(60)]
    view(rows, "ordinary", [field.type for field in FIELDS], ordinary)
    found = computed(rows, OTHERS, "ordinary")
    for expr, results in zip(OTHERS, found, strict=True):
        meant = [value(over_keys(expr), row, ()) for row in ordinary]
        assert list(results) == meant, expr


def asked(spark, cases):
    return computed(spark, [built(case, column) for case in cases], "r")


def computed(spark, exprs, name):
    parameters = []
    selected = [
        render(expr, SparkDialect({}), parameters, lambda ref: f"c{ref.index}")
        for expr in exprs
    ]
    listed = ", ".join(f"{sql} AS e{n}" for n, sql in enumerate(selected))
    named = {f"p{place}": value for place, value in enumerate(parameters, 1)}
    sql = re.sub(r"\$(\d+)", r":p\1", f"SELECT {listed} FROM {name} ORDER BY n")
    return list(zip(*spark.sql(sql, args=named).collect(), strict=True))


def meanings(case):
    expr = built(case, leaf)
    return [value(expr, row, ()) for row in ROWS]


def alike(op, mine, meant):
    if isinstance(mine, float) and isinstance(meant, float):
        return mine == meant or (
            op in NEARLY and math.isclose(mine, meant, rel_tol=1e-15)
        )
    return mine == meant and (type(mine) is type(meant) or meant is None)


def test_logarithms_of_powers_of_two_are_whole(rows):
    """FLOOR(LOG2(x)) would be one off where they are not."""
    expr = call("log2", Ref.to(0, ColumnType("n", Type.REAL)))
    sql = render(expr, SparkDialect({}), [], lambda ref: f"c{ref.index}")
    powers = ", ".join(f"({2.0**k!r}D, {k}D)" for k in range(-60, 61))
    assert (
        rows.sql(
            f"SELECT c0 FROM VALUES {powers} AS t(c0, k) WHERE {sql} <> k"
        ).collect()
        == []
    )


def test_every_operation_is_asked_about():
    asked_here = {op for op, _, _ in CASES}
    assert asked_here | {expr.op for expr in OTHERS} == set(OPERATIONS)
