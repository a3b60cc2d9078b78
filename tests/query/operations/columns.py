"""Columns to write expressions with, in Python and in SQL."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.expressions import ColumnType, Expr, Ref
from dither.query.sql.scope import Scalars
from dither.query.sql.text import QueryText


def column(name: str, type_: Type, range_: Range = ANY) -> Ref:
    return Ref.to(0, ColumnType(name, type_, range_))


AGE = column("age", Type.INTEGER, Range(0, 110))
COST = column("cost", Type.REAL, Range(0.0, 500.0))
ANY_INT = column("n", Type.INTEGER)
ANY_REAL = column("x", Type.REAL)
NAME = column("name", Type.TEXT)
BORN = column("born", Type.DATE, Range(0, 10957))
WHEN = column("seen", Type.TIMESTAMP)
ILL = column("ill", Type.BOOLEAN)
COLUMNS = {
    one.column.name: one
    for one in (AGE, COST, ANY_INT, ANY_REAL, NAME, BORN, WHEN, ILL)
}


def bound(sql: str) -> Expr:
    """An expression over these columns, read from SQL."""

    def leaf(node: exp.Expr) -> Expr | None:
        return COLUMNS[node.name] if isinstance(node, exp.Column) else None

    return Scalars(QueryText(sql, ()), leaf).bind(sqlglot.parse_one(sql, read="duckdb"))
