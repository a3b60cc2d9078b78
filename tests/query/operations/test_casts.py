from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, Expr, KeyLeaf
from dither.query.operations.writing import DUCKDB, POSTGRES, SPARK
from tests.query.operations.columns import (
    AGE,
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
    ("op", "args", "options", "message"),
    [
        ("cast", (BORN,), (Type.INTEGER,), "EXTRACT"),
        ("cast", (AGE,), (Type.DATE,), "INTERVAL"),
        ("cast", ("soon",), (Type.DATE,), "not a date"),
    ],
)
def test_problems_say_what_to_write(
    op: str, args: tuple[Any, ...], options: tuple[Any, ...], message: str
) -> None:
    exprs = [arg if isinstance(arg, Expr) else literal(arg) for arg in args]
    with pytest.raises(TypeProblem, match=message):
        call(op, *exprs, options=options)


@pytest.mark.parametrize(
    ("sql", "type_"),
    [
        ("CAST(x AS INTEGER)", Type.INTEGER),
        ("TRY_CAST(name AS DOUBLE)", Type.REAL),
        ("age::VARCHAR", Type.TEXT),
        ("DATE(name)", Type.DATE),
    ],
)
def test_sql(sql: str, type_: Type) -> None:
    found = bound(sql)
    assert isinstance(found, Call)
    assert (found.op, found.type) == ("cast", type_)


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ("12.5", Type.INTEGER, 13),
        ("1e400", Type.REAL, None),
        ("soon", Type.REAL, None),
        ("yes", Type.BOOLEAN, True),
        ("2024-01-31", Type.DATE, dt.date(2024, 1, 31)),
        ("9223372036854775808", Type.INTEGER, None),
    ],
)
def test_texts_in_python(text: str, type_: Type, expected: Any) -> None:
    expr = call("cast", KeyLeaf(Type.TEXT, ANY, 0), options=(type_,))
    assert value(expr, (text,), ()) == expected


def test_no_engine_raises_on_a_text() -> None:
    expr = call("cast", NAME, options=(Type.INTEGER,))
    assert isinstance(expr, Call)
    assert write(expr, ["s"], DUCKDB) == "TRY_CAST(s AS BIGINT)"
    assert write(expr, ["s"], SPARK).startswith("try_cast(")
    assert "CASE WHEN left(s, 1001) ~ " in write(expr, ["s"], POSTGRES)
