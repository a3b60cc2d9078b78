"""From SQL to a question: names resolved, types and ranges known, every construct
understood or refused. The outermost SELECT asks the question; a SELECT inside it makes
rows that keep their owners, or one row for each owner and key.

All that is decided here depends on the text and the catalogue alone (rule R1).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.limits import COLUMNS, PARTS
from dither.query.catalogue.model import Catalogue
from dither.query.catalogue.names import nearest, same
from dither.query.operations.expressions import Expr
from dither.query.operations.reading import constant
from dither.query.sql.aggregates import Grouping, Item
from dither.query.sql.from_clause import renamed, rows_from
from dither.query.sql.grouping import described, group_keys, item_at, items_of, keyed
from dither.query.sql.parse import NESTED, Parsed, parse
from dither.query.sql.question import Distinct, Node, Output, Question, row_tables
from dither.query.sql.scope import (
    Context,
    Entry,
    Rows,
    Scope,
    aggregates_in,
    only,
    row_scalars,
)
from dither.query.sql.summaries import summarised
from dither.query.sql.text import CLAUSES, refuse, unknown
from dither.query.sql.unions import union

__all__ = ["bind"]

PUBLIC = (
    "all tables in FROM are public, so nothing needs protection; query your "
    "database directly"
)
INSIDE = (
    "with_",
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "distinct",
)
OUTERMOST = (*INSIDE, "order", "limit", "offset")
"""The clauses of a SELECT that are read."""


def bind(sql: str | Parsed, catalogue: Catalogue) -> Question:
    """The question that a SELECT asks of a catalogue, or a QueryError that says what to
    write instead.
    """
    parsed = parse(sql) if not isinstance(sql, Parsed) else sql
    context = Context(parsed.text, catalogue, _query)
    try:
        return _question(context, _outermost(context, parsed.tree))
    except RecursionError:
        raise QueryError(NESTED) from None


def _outermost(context: Context, tree: exp.Expr) -> exp.Select:
    while isinstance(tree, exp.Subquery):
        only(context.text, tree, "this")
        tree = tree.this
    if isinstance(tree, exp.Select):
        return tree
    message = (
        "the question must be one SELECT; write SELECT … FROM (… UNION ALL …), or "
        "ask each part separately"
    )
    raise context.text.problem(message, tree.args.get("expression"), tree.key.upper())


def _question(context: Context, node: exp.Select) -> Question:
    _check_tables(context, node)
    context = _with_named(context, node)
    _check_clauses(context, node)
    scope = rows_from(context, node)
    _check_private(context, scope, node)
    items = items_of(context.text, node)
    keys = _keys(context, scope, node, items)
    grouping = Grouping(context.text, scope, list(keys), items)
    outputs = _outputs(context, grouping, items)
    having = node.args.get("having")
    condition = (
        None if having is None else grouping.scalars.condition(having.this, "HAVING")
    )
    order = _order(context, grouping, outputs, node.args.get("order"))
    if not keys and not grouping.aggregates:
        message = "the question has no aggregate; select for example COUNT(*) or AVG(x)"
        raise context.text.problem(message, node)
    return Question(
        scope.rows.node,
        described(context, scope, keys, outputs),
        tuple(grouping.aggregates),
        outputs,
        condition,
        order,
        _count(context, node.args.get("limit"), "LIMIT"),
        _count(context, node.args.get("offset"), "OFFSET") or 0,
    )


def _check_clauses(context: Context, node: exp.Select) -> None:
    for name in ("qualify", "windows"):
        if node.args.get(name):
            message = (
                "window functions are not supported, because they look at the rows of "
                "other units; use GROUP BY with an aggregate, and HAVING"
            )
            raise context.text.problem(message, node, CLAUSES[name])
    if node.args.get("sample") is not None:
        message = (
            "SAMPLE is not supported, because other units' rows may decide which "
            "rows it keeps; remove it"
        )
        raise context.text.problem(message, node.args["sample"], "SAMPLE")
    only(context.text, node, *OUTERMOST)


def _check_private(context: Context, scope: Scope, node: exp.Select) -> None:
    _check_parts(context, scope.rows.node, node)
    if not scope.rows.node.private:
        raise context.text.problem(PUBLIC, node.args["from_"])


def _check_tables(context: Context, node: exp.Select) -> None:
    """A question that names public tables alone needs no other reason to be refused."""
    public = {
        table.name.casefold() for table in context.catalogue.tables if table.public
    }
    named = {table.name.casefold() for table in node.find_all(exp.Table)}
    if named and named <= public:
        raise context.text.problem(PUBLIC, node.args.get("from_") or node)


def _keys(
    context: Context, scope: Scope, node: exp.Select, items: list[Item]
) -> dict[Expr, exp.Expr]:
    """The grouping expressions; SELECT DISTINCT without aggregates groups by all its
    items.
    """
    distinct = _distinct_of(context, node)
    aggregated = (
        aggregates_in(*[item.node for item in items])
        or node.args.get("having") is not None
    )
    if distinct and (aggregated or node.args.get("group") is not None):
        message = (
            "DISTINCT is not supported together with GROUP BY, HAVING or aggregates; "
            "remove it"
        )
        raise context.text.problem(message, node.args["distinct"], "DISTINCT")
    if distinct:
        return keyed(
            row_scalars(context.text, scope, "SELECT DISTINCT"),
            [item.node for item in items],
        )
    if not aggregated and node.args.get("group") is None:
        message = (
            "rows of a private table cannot be released; select aggregates, such as "
            "COUNT(*) or AVG(x)"
        )
        odd = next(
            (
                odd
                for item in items
                if (odd := item.node.find(exp.Window) or unknown(item.node))
            ),
            None,
        )
        raise (
            context.text.problem(message, items[0].node)
            if odd is None
            else refuse(context.text, odd)
        )
    return group_keys(context.text, scope, node, items)


def _outputs(
    context: Context, grouping: Grouping, items: list[Item]
) -> tuple[Output, ...]:
    texts = context.text.items()
    names = [
        item.name or (texts[i].lower() if len(texts) == len(items) else "")
        for i, item in enumerate(items)
    ]
    named = _unique([name or f"column {i + 1}" for i, name in enumerate(names)])
    return tuple(
        Output(name, grouping.scalars.bind(item.node))
        for name, item in zip(named, items, strict=True)
    )


def _unique(names: list[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for name in names:
        new, folded = name, name.casefold()
        while new.casefold() in found:
            seen[folded] += 1
            new = f"{name}_{seen[folded] + 1}"
        found[new.casefold()] = new
    return list(found.values())


def _order(
    context: Context,
    grouping: Grouping,
    outputs: tuple[Output, ...],
    order: exp.Expr | None,
) -> tuple[tuple[Expr, bool], ...]:
    """Each expression to order by, and whether it descends. NULLs come last."""
    if order is None:
        return ()
    only(context.text, order, "expressions")
    found: list[tuple[Expr, bool]] = []
    for item in order.expressions:
        only(context.text, item, "this", "desc", "nulls_first")
        if item.args.get("nulls_first"):
            raise context.text.problem(
                "NULLs always come last; remove NULLS FIRST", item, "NULLS"
            )
        exprs = _ordered(context, grouping, outputs, item.this.unnest())
        found += [(expr, bool(item.args.get("desc"))) for expr in exprs]
    return tuple(found)


def _ordered(
    context: Context, grouping: Grouping, outputs: tuple[Output, ...], node: exp.Expr
) -> list[Expr]:
    """What an item of ORDER BY means: ALL, a place in SELECT, a name given there, or an
    expression.
    """
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return [output.expr for output in outputs]
    if isinstance(node, exp.Column):
        name = "" if node.table else node.name.casefold()
        for item, output in zip(grouping.items, outputs, strict=True):
            if name and item.alias.casefold() == name:
                return [output.expr]
        return [grouping.scalars.bind(node)]
    place = constant(node)
    if isinstance(place, int):
        item_at(context.text, node, place, grouping.items)
        return [outputs[place - 1].expr]
    return [grouping.scalars.bind(node)]


def _count(context: Context, node: exp.Expr | None, word: str) -> int | None:
    if node is None:
        return None
    value = (
        constant(node.args.get("expression"))
        if isinstance(node, exp.Limit | exp.Offset)
        else None
    )
    if (
        not isinstance(value, int)
        or value < 0
        or any(node.args[part] for part in node.args if part != "expression")
    ):
        raise context.text.problem(
            f"{word} needs a whole number of rows; write {word} 10", node, word
        )
    return value


def _query(context: Context, node: exp.Expr) -> Rows:
    """The rows of a SELECT, or of a UNION ALL, that stands in FROM, in WITH or after
    IN.
    """
    _check_inner_clauses(context, node)
    context = _with_named(context, node)
    if isinstance(node, exp.Subquery):
        only(context.text, node, "this", "with_")
        rows = _query(context, node.this)
    elif isinstance(node, exp.Select):
        rows = _select(context, node)
    elif isinstance(node, exp.SetOperation):
        rows = union(context, node)
    else:
        raise context.text.problem(
            "this part must be a query; write SELECT … FROM …", node
        )
    _check_parts(context, rows.node, node)
    return rows


def _check_parts(context: Context, rows: Node, node: exp.Expr) -> None:
    if rows.parts > PARTS:
        raise context.text.problem(
            f"the question has more than {PARTS} parts, such as tables, conditions and "
            "subqueries; use fewer, or ask several questions",
            node,
        )


def _with_named(context: Context, node: exp.Expr) -> Context:
    """The context with the queries that WITH names; each sees the ones before it."""
    found = node.args.get("with_")
    if found is None:
        return context
    if found.args.get("recursive"):
        message = (
            "WITH RECURSIVE is not supported; write each step as a query of its own"
        )
        raise context.text.problem(message, found, "RECURSIVE")
    only(context.text, found, "expressions")
    for cte in found.expressions:
        only(context.text, cte, "this", "alias", "materialized")
        only(context.text, cte.args["alias"], "this", "columns")
        rows = renamed(context, context.query(context, cte.this), cte.args["alias"])
        context = replace(context, named={**context.named, cte.alias.casefold(): rows})
    return context


def _select(context: Context, node: exp.Select) -> Rows:
    only(context.text, node, *INSIDE)
    scope = rows_from(context, node)
    items = items_of(context.text, node)
    distinct = _distinct_of(context, node)
    if node.args.get("group") is not None or aggregates_in(
        *[item.node for item in items]
    ):
        rows = summarised(context, scope, node, items)
    elif node.args.get("having") is not None:
        raise context.text.problem(
            "HAVING in a subquery needs GROUP BY; write the condition in WHERE",
            node.args["having"],
            "HAVING",
        )
    else:
        rows = _projected(context, scope, items)
    return _distinct(context, rows, node) if distinct else rows


def _check_inner_clauses(context: Context, node: exp.Expr) -> None:
    for name in ("limit", "offset", "order", "qualify", "windows", "sample"):
        clause = node.args.get(name)
        if clause:
            word = CLAUSES[name]
            way = (
                ", or move it to the end of the question"
                if name in ("limit", "offset", "order")
                else ""
            )
            message = (
                f"{word} in a subquery would make a unit's rows depend on other units; "
                f"remove it{way}"
            )
            raise context.text.problem(
                message, clause[0] if isinstance(clause, list) else clause, word
            )


def _distinct_of(context: Context, node: exp.Select) -> bool:
    """Whether SELECT DISTINCT was written."""
    found = node.args.get("distinct")
    if found is None:
        return False
    if found.args.get("on") is not None:
        message = "DISTINCT ON is not supported; use GROUP BY with MIN or MAX instead"
        raise context.text.problem(message, found, "DISTINCT")
    only(context.text, found)
    return True


def _projected(context: Context, scope: Scope, items: list[Item]) -> Rows:
    scalars = row_scalars(context.text, scope, "SELECT without GROUP BY")
    named: list[tuple[str, Expr]] = []
    for item in items:
        stars = _starred(context, scope, item.node)
        if stars is None:
            named.append((item.name, scalars.bind(item.node)))
        else:
            named += [(entry.name, scope.rows.ref(entry.index)) for entry in stars]
        if len(named) > COLUMNS:
            raise context.text.problem(
                f"a SELECT may have at most {COLUMNS:,} columns; select fewer",
                item.node,
            )
    context.made(len(named), items[0].node)
    return scope.rows.projected(named)


def _starred(context: Context, scope: Scope, node: exp.Expr) -> list[Entry] | None:
    """The columns that * or table.* stands for; None if it is neither."""
    if isinstance(node, exp.Star):
        only(context.text, node)
        return [entry for entry in scope.entries if not entry.shared]
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Star):
        return None
    only(context.text, node, "this", "table")
    only(context.text, node.this)
    found = [entry for entry in scope.entries if same(entry.table, node.table)]
    if not found:
        raise context.text.problem(
            f"there is no table or alias {node.table!r} in FROM; "
            f"{nearest(node.table, scope.tables)}",
            node,
        )
    return found


def _distinct(context: Context, rows: Rows, node: exp.Select) -> Rows:
    source = rows.node
    if source.private and row_tables(source):
        message = (
            "each row is a unit, so DISTINCT in a subquery would compare rows of "
            "different units; remove it"
        )
        raise context.text.problem(message, node.args["distinct"], "DISTINCT")
    if source.private and not any(column.owner for column in source.columns):
        message = (
            "DISTINCT in a subquery would compare rows of different units; "
            "add the unit's id to its columns, or ask it as a separate question"
        )
        raise context.text.problem(message, node.args["distinct"], "DISTINCT")
    return replace(
        rows, node=Distinct(source.columns, source.private, source.most, source)
    )
