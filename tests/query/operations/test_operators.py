from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal
from dither.query.operations.expressions import Call, Column, Expr, Literal, Ref


def column(name: str, type_: Type, range_: Range = ANY) -> Ref:
    return Ref.to(0, Column(name, type_, range_))


AGE = column("age", Type.INTEGER, Range(0, 110))
COST = column("cost", Type.REAL, Range(0.0, 500.0))
ANY_INT = column("n", Type.INTEGER)
ANY_REAL = column("x", Type.REAL)
NAME = column("name", Type.TEXT)
BORN = column("born", Type.DATE, Range(0, 10957))
WHEN = column("seen", Type.TIMESTAMP)
ILL = column("ill", Type.BOOLEAN)


@pytest.mark.parametrize(
    ("value", "type_", "range_"),
    [
        (5, Type.INTEGER, Range(5, 5)),
        (2**63, Type.REAL, Range(2.0**63, 2.0**63)),
        (0.5, Type.REAL, Range(0.5, 0.5)),
        (True, Type.BOOLEAN, Range(1, 1)),
        ("a", Type.TEXT, ANY),
        (dt.date(1970, 1, 3), Type.DATE, Range(2, 2)),
        (
            dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
            Type.TIMESTAMP,
            Range(10**6, 10**6),
        ),
    ],
)
def test_constants(value: Any, type_: Type, range_: Range) -> None:
    assert (literal(value).type, literal(value).range) == (type_, range_)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, b"bytes"])
def test_constants_that_are_none(value: Any) -> None:
    with pytest.raises(TypeProblem, match="write"):
        literal(value)


@pytest.mark.parametrize(
    ("expr", "type_", "range_"),
    [
        (call("add", AGE, literal(1)), Type.INTEGER, Range(1, 111)),
        (call("add", AGE, COST), Type.REAL, Range(0.0, 610.0)),
        (call("add", ANY_INT, literal(1)), Type.REAL, ANY),
        (call("mul", AGE, literal(2**61)), Type.REAL, Range(0.0, 110 * 2.0**61)),
        (call("neg", ANY_INT), Type.REAL, ANY),
        (call("div", COST, literal(0)), Type.REAL, Range(0.0, 0.0)),
        (call("div", literal(1), AGE), Type.REAL, Range(1 / 110, 1.0)),
        (call("intdiv", AGE, literal(10)), Type.INTEGER, Range(0, 11)),
        (call("intdiv", ANY_INT, literal(10)), Type.INTEGER, ANY),
        (call("intdiv", ANY_INT, literal(-1)), Type.REAL, ANY),
        (call("mod", ANY_INT, literal(10)), Type.INTEGER, Range(-9, 9)),
        (call("mod", ANY_INT, ANY_INT), Type.REAL, ANY),
        (call("round", COST), Type.INTEGER, Range(0, 500)),
        (call("round", AGE, options=(2,)), Type.INTEGER, Range(0, 110)),
        (call("floor", ANY_REAL), Type.REAL, ANY),
        (call("least", AGE, literal(50)), Type.INTEGER, Range(0, 50)),
        (
            call("greatest", call("least", ANY_REAL, literal(9)), literal(0)),
            Type.REAL,
            Range(0.0, 9.0),
        ),
        (call("case", ILL, AGE, literal(None)), Type.INTEGER, Range(0, 110)),
        (call("case", ILL, literal(1), literal(0)), Type.INTEGER, Range(0, 1)),
        (call("coalesce", AGE, literal(-1), COST), Type.REAL, Range(-1.0, 110.0)),
        (call("nullif", AGE, literal(5)), Type.INTEGER, Range(0, 110)),
        (call("length", NAME), Type.INTEGER, Range(0, None)),
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
        (call("cast", COST, options=(Type.INTEGER,)), Type.INTEGER, Range(0, 500)),
        (call("cast", ANY_REAL, options=(Type.INTEGER,)), Type.INTEGER, ANY),
        (call("cast", ILL, options=(Type.INTEGER,)), Type.INTEGER, Range(0, 1)),
        (call("cast", ILL, options=(Type.REAL,)), Type.REAL, Range(0.0, 1.0)),
        (call("cast", NAME, options=(Type.REAL,)), Type.REAL, ANY),
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (call("neg", literal(5)), -5),
        (call("add", literal(1), literal(0.5)), 1.5),
        (call("div", literal(1), literal(0)), None),
        (
            call("cast", literal("2024-01-31"), options=(Type.DATE,)),
            dt.date(2024, 1, 31),
        ),
        (call("add_months", literal("2024-01-31"), options=(1,)), dt.date(2024, 2, 29)),
        (call("add_days", BORN, options=(10**9,)), None),
        (call("add", AGE, literal(None)), None),
        (call("like", NAME, literal(None)), None),
        (call("eq", literal(1), literal(1)), True),
    ],
)
def test_constants_are_folded(expr: Expr, value: Any) -> None:
    assert isinstance(expr, Literal)
    assert expr.value == value


def test_texts_are_left_to_the_engine() -> None:
    assert isinstance(call("upper", literal("ß")), Call)


def test_dates_beside_texts_and_times() -> None:
    on = call("ge", BORN, literal("1990-05-06"))
    assert isinstance(on, Call)
    assert on.args[1] == literal(dt.date(1990, 5, 6))
    at = call("lt", BORN, literal("1990-05-06 10:00:00"))
    assert isinstance(at, Call)
    assert [arg.type for arg in at.args] == [Type.TIMESTAMP, Type.TIMESTAMP]


def test_patterns_have_one_escape() -> None:
    found = call("like", NAME, literal("50!%\\!!%"), options=("!",))
    assert isinstance(found, Call)
    assert found.args[1] == literal("50\\%\\\\!%")
    assert found.options == ("\\",)
    plain = call("like", NAME, literal("a!%"), options=(None,))
    assert isinstance(plain, Call)
    assert (plain.args[1], plain.options) == (literal("a!%"), (None,))


PROBLEMS: list[tuple[str, tuple[Any, ...], tuple[Any, ...], str]] = [
    (
        "eq",
        (NAME, AGE),
        (),
        r"= cannot mix name \(TEXT\) with age \(INTEGER\); write CAST\(name AS INTEGER\)",
    ),
    ("lt", (BORN, NAME), (), r"write CAST\(name AS DATE\)"),
    ("eq", (ILL, 1), (), r"write CAST\(ill AS INTEGER\)"),
    ("eq", (BORN, 5), (), "EXTRACT"),
    ("ge", (BORN, "soon"), (), "write '2024-01-31'"),
    (
        "add",
        (NAME, 1),
        (),
        r"\+ needs numbers, not name \(TEXT\); write CAST\(… AS REAL\)",
    ),
    ("add", (ILL, 1), (), "CASE WHEN"),
    ("mul", (BORN, 2), (), "DATE_DIFF"),
    ("sqrt", (AGE, AGE), (), "SQRT takes 1 argument, not 2"),
    ("round", (COST,), (99,), r"ROUND\(x, 2\)"),
    ("and", (ILL, AGE), (), "AND needs a condition"),
    ("case", (AGE, 1, 2), (), "WHEN needs a condition"),
    ("case", (ILL, 1), (), "CASE WHEN"),
    ("case", (ILL, 1, "a"), (), "CASE cannot mix"),
    ("least", (ILL, ILL), (), "AND or OR"),
    ("lower", (AGE,), (), r"write CAST\(… AS TEXT\)"),
    ("like", (NAME, NAME), (), "constant pattern"),
    ("like", (NAME, "a!"), ("!",), "ends with its escape character"),
    ("like", (NAME, "%" * 11), (), "at most 10"),
    ("like", (NAME, "a"), ("ab",), "one character"),
    ("substring", (NAME,), (1, -1), "cannot be negative"),
    ("extract", (BORN,), ("eon",), "does not know the part 'eon'; use one of year"),
    ("extract", (AGE,), ("year",), "needs a date"),
    ("date_sub", (WHEN, BORN), (), "DATE_DIFF"),
    ("add_days", (BORN,), (1.5,), "constant whole number"),
    ("cast", (BORN,), (Type.INTEGER,), "EXTRACT"),
    ("cast", (AGE,), (Type.DATE,), "INTERVAL"),
    ("cast", ("soon",), (Type.DATE,), "not a date"),
    ("in", (AGE,), (), "two or more"),
    ("coalesce", (), (), "COALESCE"),
    ("concat", (NAME, AGE), (), "CAST"),
]


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    PROBLEMS,
    ids=[f"{p[0]}-{p[3]}" for p in PROBLEMS],
)
def test_problems_say_what_to_write(
    op: str, args: tuple[Any, ...], options: tuple[Any, ...], message: str
) -> None:
    exprs = [arg if isinstance(arg, Expr) else literal(arg) for arg in args]
    with pytest.raises(TypeProblem, match=message):
        call(op, *exprs, options=options)


def nested(op: str, expr: Expr, levels: int, *, twice: bool) -> Expr:
    for _ in range(levels):
        expr = call(op, expr, expr) if twice else call(op, expr)
    return expr


def test_expressions_have_a_largest_size() -> None:
    """Arguments used twice double the SQL; 40 doublings would be a terabyte."""
    assert nested("mul", COST, 13, twice=True).type is Type.REAL
    with pytest.raises(TypeProblem, match="too large"):
        nested("mul", COST, 40, twice=True)
    with pytest.raises(TypeProblem, match="too deeply nested"):
        nested("not", ILL, 300, twice=False)
