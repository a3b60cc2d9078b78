from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, Expr, KeyLeaf
from dither.query.operations.writing import DUCKDB, POSTGRES, SPARK
from tests.query.operations.columns import AGE, BORN, WHEN, bound


@pytest.mark.parametrize(
    ("expr", "type_", "range_"),
    [
        (call("extract", BORN, options=("year",)), Type.INTEGER, Range(1970, 2000)),
        (call("extract", BORN, options=("MONTHS",)), Type.INTEGER, Range(1, 12)),
        (call("date_trunc", BORN, options=("year",)), Type.DATE, Range(0, 10957)),
        (
            call("date_trunc", BORN, options=("hour",)),
            Type.TIMESTAMP,
            Range(0, 10957 * 86_400_000_000),
        ),
        (
            call("date_diff", BORN, literal("2000-01-02"), options=("year",)),
            Type.INTEGER,
            Range(0, 30),
        ),
        (call("date_sub", BORN, BORN), Type.INTEGER, Range(-10957, 10957)),
        (call("add_days", BORN, options=(3,)), Type.DATE, Range(3, 10960)),
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        (
            "extract",
            (BORN,),
            ("eon",),
            "does not support the part 'eon'; use one of year",
        ),
        ("extract", (AGE,), ("year",), "needs a date"),
        ("date_sub", (WHEN, BORN), (), "DATE_DIFF"),
        ("add_days", (BORN,), (1.5,), "moved by a constant"),
    ],
)
def test_problems_say_what_to_write(
    op: str, args: tuple[Any, ...], options: tuple[Any, ...], message: str
) -> None:
    exprs = [arg if isinstance(arg, Expr) else literal(arg) for arg in args]
    with pytest.raises(TypeProblem, match=message):
        call(op, *exprs, options=options)


@pytest.mark.parametrize(
    ("sql", "op", "options"),
    [
        ("EXTRACT(year FROM born)", "extract", ("year",)),
        ("YEAR(born)", "extract", ("year",)),
        ("DATE_PART('month', born)", "extract", ("month",)),
        ("WEEKDAY(born)", "extract", ("dow",)),
        ("DATE_TRUNC('month', born)", "date_trunc", ("month",)),
        ("DATE_DIFF('day', born, seen)", "date_diff", ("day",)),
        ("born + 3", "add_days", (3,)),
        ("born - 3", "add_days", (-3,)),
        ("born + INTERVAL 2 WEEK", "add_days", (14,)),
        ("born - INTERVAL 1 YEAR", "add_months", (-12,)),
        ("born - DATE '2000-01-01'", "date_sub", ()),
    ],
)
def test_sql(sql: str, op: str, options: tuple[Any, ...]) -> None:
    found = bound(sql)
    assert isinstance(found, Call)
    assert (found.op, found.options) == (op, options)


def test_differences_run_from_the_first_date_to_the_second() -> None:
    found = bound("DATE_DIFF('day', DATE '2020-01-01', DATE '2020-01-03')")
    assert found == literal(2)


def test_months_have_a_last_day() -> None:
    month = KeyLeaf(Type.DATE, ANY, 0)
    later = call("add_months", month, options=(1,))
    assert value(later, (dt.date(2024, 1, 31),), ()) == dt.date(2024, 2, 29)
    assert value(later, (dt.date(9999, 12, 1),), ()) is None


def test_what_leaves_the_calendar_is_guarded() -> None:
    near, far = (
        call("add_days", BORN, options=(1,)),
        call("add_days", WHEN, options=(1,)),
    )
    assert isinstance(near, Call)
    assert isinstance(far, Call)
    assert write(near, ["d"], DUCKDB) == "(d + (1))"
    assert write(near, ["d"], SPARK) == "date_add(d, 1)"
    assert write(far, ["d"], POSTGRES).startswith(
        "(CASE WHEN d BETWEEN TIMESTAMP '0001"
    )
