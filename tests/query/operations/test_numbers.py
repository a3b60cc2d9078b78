from __future__ import annotations

from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.evaluate import ends
from dither.query.operations.expressions import AggregateLeaf, Call, Expr
from dither.query.operations.writing import DUCKDB, POSTGRES
from tests.query.operations.columns import AGE, ANY_REAL, COST, bound


@pytest.mark.parametrize(
    ("expr", "type_", "range_"),
    [
        (call("round", COST), Type.INTEGER, Range(0, 500)),
        (call("round", AGE, options=(2,)), Type.INTEGER, Range(0, 110)),
        (call("floor", ANY_REAL), Type.REAL, ANY),
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        ("sqrt", (AGE, AGE), (), "SQRT takes 1 argument, not 2"),
        ("round", (COST,), (99,), r"ROUND\(x, 2\)"),
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
        ("ROUND(x, 2)", "round"),
        ("FLOOR(x)", "floor"),
        ("CEIL(x)", "ceil"),
        ("SQRT(x)", "sqrt"),
        ("LN(x)", "ln"),
        ("LOG(x)", "log10"),
        ("LOG(10, x)", "log10"),
        ("LOG10(x)", "log10"),
        ("LOG(2, x)", "log2"),
        ("LOG2(x)", "log2"),
        ("EXP(x)", "exp"),
        ("POWER(x, 2)", "power"),
        ("x ** 2", "power"),
    ],
)
def test_sql(sql: str, op: str) -> None:
    assert getattr(bound(sql), "op", None) == op


def test_halves_go_away_from_zero() -> None:
    found = [call("round", literal(x), options=(1,)) for x in (0.25, -0.25, 0.24)]
    assert found == [literal(0.3), literal(-0.3), literal(0.2)]
    assert call("round", literal(-2.5)) == literal(-3)


def test_intervals_of_what_is_rounded_and_powers() -> None:
    total = AggregateLeaf(Type.REAL, ANY, 0)
    assert ends(call("floor", total), (), [(1.5, 3.2)]) == (1.0, 3.0)
    assert ends(call("ln", total), (), [(-2.0, -1.0)]) is None
    assert ends(call("power", literal(2), total), (), [(1.0, 2.0)]) is None


def test_postgres_asks_before_it_computes() -> None:
    root = call("sqrt", ANY_REAL)
    assert isinstance(root, Call)
    assert write(root, ["x"], POSTGRES) == "(CASE WHEN x >= 0 THEN sqrt(x) END)"
    assert (
        write(root, ["x"], DUCKDB) == "(CASE WHEN isfinite(sqrt(x)) THEN sqrt(x) END)"
    )


def test_a_function_that_never_falls_takes_the_ends_to_its_own() -> None:
    total = AggregateLeaf(Type.REAL, ANY, 0)
    assert ends(call("floor", total), (), [(1.5, 4.2)]) == (1.0, 4.0)
    assert ends(call("round", total, options=(1,)), (), [(1.26, 4.0)]) == (1.3, 4.0)
