from __future__ import annotations

from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.writing import DUCKDB, POSTGRES, SPARK
from tests.query.operations.columns import (
    AGE,
    ANY_INT,
    ANY_REAL,
    BORN,
    COST,
    ILL,
    NAME,
    bound,
)


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
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        (
            "add",
            (NAME, 1),
            (),
            r"\+ needs numbers, not 'name' \(TEXT\); write CAST\(… AS REAL\)",
        ),
        ("add", (ILL, 1), (), "CASE WHEN"),
        ("mul", (BORN, 2), (), "DATE_DIFF"),
    ],
)
def test_problems_say_what_to_write(
    op: str, args: tuple[Any, ...], options: tuple[Any, ...], message: str
) -> None:
    exprs = [arg if isinstance(arg, Expr) else literal(arg) for arg in args]
    with pytest.raises(TypeProblem, match=message):
        call(op, *exprs, options=options)


@pytest.mark.parametrize(
    ("sql", "op"),
    [
        ("age + 1", "add"),
        ("age - 1", "sub"),
        ("age * 2", "mul"),
        ("-age", "neg"),
        ("ABS(age)", "abs"),
        ("age / 2", "div"),
        ("age // 2", "intdiv"),
        ("age % 2", "mod"),
        ("MOD(age, 2)", "mod"),
        ("SIGN(age)", "sign"),
    ],
)
def test_sql(sql: str, op: str) -> None:
    assert getattr(bound(sql), "op", None) == op


def test_written_decimals_are_added_exactly() -> None:
    assert bound("0.1 + 0.2") == literal(0.3)


def test_python_divides_toward_zero() -> None:
    assert call("intdiv", literal(-7), literal(2)) == literal(-3)
    assert call("mod", literal(-7), literal(2)) == literal(-1)


def test_only_what_may_fail_is_guarded() -> None:
    safe, unsafe = call("div", COST, literal(2)), call("div", COST, ANY_REAL)
    assert isinstance(safe, Call)
    assert isinstance(unsafe, Call)
    assert write(safe, ["a", "b"], DUCKDB) == "(a / b)"
    assert write(unsafe, ["a", "b"], SPARK).count("try_divide(a, b)") == 2
    assert "WHEN b <> 0" in write(unsafe, ["a", "b"], POSTGRES)
