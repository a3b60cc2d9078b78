from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dither.errors import QueryError
from dither.query.operations.arguments import literal
from dither.query.operations.expressions import Expr
from dither.query.sql.scope import PLAIN, Scalars, WrittenNode
from dither.query.sql.text import QueryText
from tests.query.operations.columns import AGE, bound


def node(sql: str) -> Any:
    return sqlglot.parse_one(sql, read="duckdb")


def test_a_part_is_bound_once() -> None:
    asked = []

    def leaf(found: exp.Expr) -> Expr | None:
        asked.append(found)
        return AGE

    written = WrittenNode(node("a + b"), Scalars(QueryText("a + b", ()), leaf))
    assert written.arg() is written.arg()
    assert len(asked) == 1


def test_missing_arguments_are_reported() -> None:
    written = WrittenNode(exp.Abs(), Scalars(QueryText("ABS()", ()), lambda _: None))
    with pytest.raises(QueryError, match="too few arguments"):
        written.arg()
    assert written.many() == []
    assert bound("5") == literal(5)


UNCHECKED = {
    exp.Literal: {"this", "is_string"},
    exp.Null: set(),
    exp.Boolean: {"this"},
    exp.Paren: {"this"},
    exp.Alias: {"this", "alias"},
    exp.From: {"this"},
    exp.Where: {"this"},
    exp.Having: {"this"},
}


def test_nodes_that_are_not_checked_have_no_further_parts() -> None:
    """Every other node is refused if a part of it would go unread."""
    assert PLAIN.keys() <= UNCHECKED.keys()
    assert {kind: set(kind.arg_types) for kind in UNCHECKED} == UNCHECKED
