from __future__ import annotations

from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Type
from dither.query.operations.calls import TypeProblem, call, literal
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, Expr, KeyLeaf
from tests.query.operations.columns import AGE, BORN, ILL, NAME, bound


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        (
            "eq",
            (NAME, AGE),
            (),
            r"= cannot mix 'name' \(TEXT\) with 'age' \(INTEGER\); write CAST\(name AS INTEGER\)",
        ),
        ("lt", (BORN, NAME), (), r"write CAST\(name AS DATE\)"),
        ("eq", (ILL, 1), (), r"write CAST\(ill AS INTEGER\)"),
        ("eq", (BORN, 5), (), "EXTRACT"),
        ("ge", (BORN, "soon"), (), "write '2024-01-31'"),
        ("and", (ILL, AGE), (), "AND needs a condition"),
        ("in", (AGE,), (), "two or more"),
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
        ("age = 1", "eq"),
        ("age <> 1", "ne"),
        ("age < 1", "lt"),
        ("age <= 1", "le"),
        ("age > 1", "gt"),
        ("age >= 1", "ge"),
        ("age IS DISTINCT FROM 1", "is_distinct"),
        ("age IS NOT DISTINCT FROM 1", "is_not_distinct"),
        ("age BETWEEN 1 AND 2", "between"),
        ("age IN (1, 2)", "in"),
        ("age IS NULL", "is_null"),
        ("age IS NOT NULL", "is_not_null"),
        ("NOT age IS NULL", "is_not_null"),
        ("NOT ill", "not"),
        ("ill AND age > 1 AND age < 5", "and"),
        ("ill OR age > 1", "or"),
        ("ill IS TRUE", "is_true"),
        ("ill IS FALSE", "is_false"),
        ("ill IS NOT TRUE", "not"),
    ],
)
def test_sql(sql: str, op: str) -> None:
    assert getattr(bound(sql), "op", None) == op


def test_a_chain_is_one_operation() -> None:
    found = bound("ill AND age > 1 AND age < 5")
    assert isinstance(found, Call)
    assert len(found.args) == 3


def test_python_has_a_third_truth() -> None:
    unknown = call("eq", KeyLeaf(Type.INTEGER, ANY, 0), literal(1))
    assert value(call("and", unknown, literal(False)), (None,), ()) is False
    assert value(call("or", unknown, literal(False)), (None,), ()) is None
    assert value(call("not", unknown), (None,), ()) is None
    assert (
        value(call("in", literal(1), KeyLeaf(Type.INTEGER, ANY, 0)), (None,), ())
        is None
    )
    assert value(call("is_null", unknown), (None,), ()) is True
