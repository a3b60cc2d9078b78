from __future__ import annotations

from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.evaluate import ends, value
from dither.query.operations.expressions import AggregateLeaf, Call, Expr, KeyLeaf
from dither.query.operations.writing import POSTGRES, SPARK
from tests.query.operations.columns import AGE, ANY_REAL, COST, ILL, bound


@pytest.mark.parametrize(
    ("expr", "type_", "range_"),
    [
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
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        ("case", (AGE, 1, 2), (), "WHEN needs a condition"),
        ("case", (ILL, 1), (), "CASE WHEN"),
        ("case", (ILL, 1, "a"), (), "CASE cannot mix"),
        ("least", (ILL, ILL), (), "AND or OR"),
        ("coalesce", (), (), "COALESCE"),
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
        ("CASE WHEN ill THEN 1 ELSE 0 END", "case"),
        ("CASE age WHEN 1 THEN 2 END", "case"),
        ("IF(ill, 1, 0)", "case"),
        ("COALESCE(age, 0)", "coalesce"),
        ("IFNULL(age, 0)", "coalesce"),
        ("NULLIF(age, 0)", "nullif"),
        ("LEAST(age, 50)", "least"),
        ("GREATEST(age, cost)", "greatest"),
    ],
)
def test_sql(sql: str, op: str) -> None:
    assert getattr(bound(sql), "op", None) == op


def test_nulls_are_left_out() -> None:
    assert call("least", literal(None), literal(3), literal(2)) == literal(2)
    assert call("coalesce", literal(None), literal(3)) == literal(3)
    assert (
        value(call("nullif", KeyLeaf(Type.INTEGER, ANY, 0), literal(5)), (5,), ())
        is None
    )


def test_keys_choose_the_interval_of_a_case() -> None:
    total, key = AggregateLeaf(Type.REAL, ANY, 0), KeyLeaf(Type.INTEGER, ANY, 0)
    expr = call("case", call("eq", key, literal(1)), total, literal(0.0))
    assert ends(expr, (1,), [(2.0, 3.0)]) == (2.0, 3.0)
    assert ends(expr, (2,), [(2.0, 3.0)]) == (0.0, 0.0)


def test_one_argument_in_spark() -> None:
    one = call("least", AGE)
    assert isinstance(one, Call)
    assert write(one, ["x"], SPARK) == "x"
    assert write(one, ["x"], POSTGRES) == "least(x)"
