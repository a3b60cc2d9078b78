from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dither.errors import QueryError
from dither.query.operations.reading import Reading, constant, folded, plain
from tests.query.operations.columns import bound


def node(sql: str) -> Any:
    return sqlglot.parse_one(sql, read="duckdb")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [("5", 5), ("-2.5", -2.5), ("((3))", 3), ("'a'", "a"), ("x", None), ("-'a'", None)],
)
def test_constants(sql: str, expected: Any) -> None:
    assert constant(node(sql)) == expected


def test_decimals_are_folded_exactly() -> None:
    assert folded(node("0.06 + 0.01")) == 0.07
    assert folded(node("2 * (0.5 - 0.1)")) == 0.8
    assert folded(node("1 + 2")) is None  # whole numbers are the operations' business
    assert folded(node("x + 0.1")) is None


def test_brackets_are_left_out() -> None:
    assert isinstance(plain(node("((x))")), exp.Column)


def test_parts_that_are_not_read_are_refused() -> None:
    with pytest.raises(QueryError, match="FLOOR does not support this part"):
        bound("FLOOR(x, 1)")


def test_a_reading_without_a_node_is_known_by_name_and_count() -> None:
    assert Reading("PREFIX", count=2).key == ("PREFIX", 2)
    assert Reading(exp.Abs).key is exp.Abs
