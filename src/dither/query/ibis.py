"""Questions as Ibis expressions: they are compiled to SQL and take the road of every
other question.

Ibis writes some shapes that people do not. What follows an aggregation stands around
it, as SELECT … FROM (SELECT … GROUP BY …), and is moved inside: a condition becomes
HAVING. Semi and anti joins become IN and NOT IN. Clipping guards NULLs in a way that
would hide its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp, parse_one

from dither.errors import ArgumentError, MissingExtra, QueryError
from dither.query.catalogue.model import Catalogue
from dither.query.catalogue.types import Type

if TYPE_CHECKING:
    from ibis.expr.types import Table

__all__ = ["sql_of", "table_of"]

TYPES = {
    Type.INTEGER: "int64",
    Type.REAL: "float64",
    Type.TEXT: "string",
    Type.BOOLEAN: "boolean",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
}
AROUND = {"expressions", "from_", "where", "order", "limit", "offset", "kind"}
"""Operations around an aggregation that may be moved inside."""


def table_of(catalogue: Catalogue, name: str) -> Table:
    """A declared table as an Ibis table without data."""
    declared = catalogue.table(name)
    made: Table = _ibis().table(
        {field.name: TYPES[field.type] for field in declared.fields}, name=declared.name
    )
    return made


def sql_of(expression: Any) -> str:
    """The SQL of an Ibis expression."""
    ibis = _ibis()
    if not isinstance(expression, ibis.expr.types.Expr):
        raise ArgumentError(
            "expression",
            f"must be an Ibis expression, not {type(expression).__name__}; "
            "for SQL, call .sql",
        )
    try:
        text = str(ibis.to_sql(expression, dialect="duckdb"))
        tree = parse_one(text, dialect="duckdb")
    except Exception as problem:
        raise QueryError(
            "Ibis cannot write this expression as SQL "
            f"({type(problem).__name__}); write the question in SQL"
        ) from None
    return _plain(tree).sql(dialect="duckdb")


def _ibis() -> Any:
    try:
        import ibis
    except ImportError:
        raise MissingExtra("ibis-framework", "ibis") from None
    return ibis


def _plain(tree: exp.Expr) -> exp.Expr:
    for select in list(tree.find_all(exp.Select)):
        _without_half_joins(select)
    for case in reversed(list(tree.find_all(exp.Case))):  # innermost first
        _without_null_guard(case)
    return _inside(tree) if isinstance(tree, exp.Select) else tree


def _without_null_guard(case: exp.Case) -> None:
    """CASE WHEN x IS NULL THEN x ELSE …, as clipping is written, has NULL there: the
    bounds are those of the rest.

    (CASE y WHEN x IS NULL THEN x … has not: it compares, and y may be false.)
    """
    for one in () if case.this else case.args["ifs"]:
        asked = one.this
        if (
            isinstance(asked, exp.Is)
            and isinstance(asked.expression, exp.Null)
            and asked.this == one.args["true"]
        ):
            one.set("true", exp.Null())


def _without_half_joins(select: exp.Select) -> None:
    """FROM a SEMI JOIN b ON a.x = b.y as WHERE a.x IN (SELECT b.y FROM b); with ANTI,
    NOT IN.

    Not before a RIGHT or FULL JOIN, which brings rows that the condition is not about.
    """
    joins = list(select.args.get("joins") or ())
    for place, join in enumerate(joins):
        on = join.args.get("on")
        kind = (join.args.get("kind") or "").upper()
        added = any(later.side in ("RIGHT", "FULL") for later in joins[place:])
        if kind not in ("SEMI", "ANTI") or not isinstance(on, exp.EQ) or added:
            continue
        there = join.this.alias_or_name
        sides = sorted((on.this, on.expression), key=lambda side: _of(side, there))
        chosen = exp.select(sides[1].copy()).from_(join.this.copy())
        condition: exp.Expr = exp.In(
            this=sides[0].copy(), query=exp.Subquery(this=chosen)
        )
        join.pop()
        select.where(
            exp.Not(this=condition) if kind == "ANTI" else condition, copy=False
        )


def _of(side: exp.Expr, table: str) -> bool:
    return any(column.table == table for column in side.find_all(exp.Column))


def _inside(outer: exp.Select) -> exp.Select:
    """A SELECT around an aggregation, moved into it."""
    source = outer.args["from_"].this if outer.args.get("from_") else None
    if (
        not isinstance(source, exp.Subquery)
        or not isinstance(source.this, exp.Select)
        or _aggregated(outer)
    ):
        return outer
    inner = _inside(source.this)
    used = {name for name, part in outer.args.items() if part}
    limited = inner.args.get("limit") or inner.args.get("offset")
    if (
        not _aggregated(inner)
        or used - AROUND
        or (limited and used - {"expressions", "from_", "kind"})
    ):
        return outer
    _spell_groups(inner)
    return _moved(outer, inner)


def _aggregated(select: exp.Select) -> bool:
    return bool(select.args.get("group")) or any(
        item.find(exp.AggFunc) for item in select.expressions
    )


def _spell_groups(select: exp.Select) -> None:
    """GROUP BY places among the items, which may change, as the items themselves."""
    group = select.args.get("group")
    for one in list(group.expressions) if group else ():
        if isinstance(one, exp.Literal) and not one.is_string:
            one.replace(select.expressions[int(one.this) - 1].unalias().copy())


def _moved(outer: exp.Select, inner: exp.Select) -> exp.Select:
    named = {item.alias_or_name: item.unalias() for item in inner.expressions}
    moved = inner.copy()
    if not any(isinstance(item, exp.Star) for item in outer.expressions):
        items = [
            exp.alias_(_put(item.unalias(), named), item.alias_or_name, quoted=True)
            for item in outer.expressions
        ]
        moved.set("expressions", items)
    if outer.args.get("where"):
        moved.having(_put(outer.args["where"].this, named), copy=False)
    if outer.args.get("order"):
        moved.set(
            "order",
            exp.Order(
                expressions=[
                    _put(one, named) for one in outer.args["order"].expressions
                ]
            ),
        )
    for name in ("limit", "offset"):
        if outer.args.get(name):
            moved.set(name, outer.args[name].copy())
    return moved


def _put(node: exp.Expr, named: Mapping[str, exp.Expr]) -> exp.Expr:
    """An expression with what its columns are names of in their place."""

    def spelled(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.name not in named:
            return part
        found = named[part.name].copy()
        return (
            exp.Paren(this=found)
            if isinstance(found, exp.Binary | exp.Unary | exp.Predicate)
            else found
        )

    return node.copy().transform(spelled)
