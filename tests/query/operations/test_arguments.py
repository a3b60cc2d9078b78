from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.arguments import TypeProblem, certain, literal
from dither.query.operations.calls import call
from dither.query.operations.expressions import Call
from tests.query.operations.columns import AGE, BORN


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


def test_dates_beside_texts_and_times() -> None:
    on = call("ge", BORN, literal("1990-05-06"))
    assert isinstance(on, Call)
    assert on.args[1] == literal(dt.date(1990, 5, 6))
    at = call("lt", BORN, literal("1990-05-06 10:00:00"))
    assert isinstance(at, Call)
    assert [arg.type for arg in at.args] == [Type.TIMESTAMP, Type.TIMESTAMP]


def test_what_is_surely_not_null() -> None:
    assert certain(literal(5))
    assert certain(call("coalesce", AGE, literal(0)))
    assert not certain(AGE)
    assert not certain(call("add", AGE, literal(0)))
