from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from sqlglot import exp

from dither.query.catalogue.types import Type
from dither.query.operations.calls import (
    FUNCTIONS,
    READINGS,
    TypeProblem,
    call,
    literal,
    write,
)
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.writing import DUCKDB, POSTGRES, SPARK
from tests.query.operations.columns import AGE, BORN, COST, ILL, NAME


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


def test_an_engine_writes_its_own_form_or_the_shared_one() -> None:
    expr = call("starts_with", NAME, literal("a"))
    assert isinstance(expr, Call)
    found = [write(expr, ["x", "y"], one) for one in (DUCKDB, POSTGRES, SPARK)]
    assert found == ["starts_with(x, y)", "starts_with(x, y)", "startswith(x, y)"]


def test_who_is_asked_about_a_node() -> None:
    """Dates come first where they share a sign with numbers."""
    sums = READINGS[exp.Add]
    assert [record.name for record, _ in sums] == ["add_days", "add_months", "add"]
    (prefix,) = READINGS["PREFIX", 2]
    assert prefix[0].name == "starts_with"
    assert ("PREFIX", 1) not in READINGS


def test_names_of_functions() -> None:
    assert {"ROUND", "LOG", "IFNULL", "DATE_PART"} < FUNCTIONS
