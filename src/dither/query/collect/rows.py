"""Nodes of the plan as SQL: each is a SELECT of columns c0, c1, …, and of the
owner's id `u` where it is private.

Owners are compared in the one form the dialect writes (rule R10). Rows without an owner
are dropped at the scan; outer joins keep the owner of the side that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Type
from dither.query.collect.integers import unit_summary
from dither.query.engines.protocol import Dialect
from dither.query.operations.expressions import Call, ColumnType, Expr, Literal, Ref
from dither.query.sql.question import (
    Distinct,
    Filter,
    InPublic,
    Join,
    Node,
    OfOwners,
    PerUnit,
    Project,
    Scan,
    SemiJoin,
    Union,
)

__all__ = ["Writer", "render"]


def render(
    expr: Expr, dialect: Dialect, parameters: list[Any], column: Callable[[Ref], str]
) -> str:
    """The SQL of an expression over rows. Constants go to the parameters; `column`
    writes the columns below.
    """
    match expr:
        case Ref():
            return column(expr)
        case Literal():
            return dialect.literal(expr.value, expr.type, parameters)
        case Call():
            return dialect.call(
                expr, [render(arg, dialect, parameters, column) for arg in expr.args]
            )
    raise TypeError(f"{type(expr).__name__} is not an expression over rows")


class Writer:
    """Writes one statement: its dialect, and the parameters that its parts append to."""

    def __init__(self, dialect: Dialect, parent: Callable[[str], Table]) -> None:
        self.dialect, self.parent = dialect, parent
        self.parameters: list[Any] = []

    def expr(
        self, expr: Expr, column: Callable[[Ref], str] = lambda ref: f"c{ref.index}"
    ) -> str:
        return render(expr, self.dialect, self.parameters, column)

    def named(self, exprs: Mapping[str, Expr]) -> list[str]:
        """Expressions over the columns of the node below, each with its name."""
        return [f"{self.expr(expr)} AS {name}" for name, expr in exprs.items()]

    def select(self, node: Node) -> str:
        """The SELECT of a node."""
        return WRITERS[type(node)](self, node)

    def _filter(self, node: Filter) -> str:
        return (
            f"SELECT * FROM ({self.select(node.source)}) t WHERE "
            f"{self.expr(node.condition)}"
        )

    def _project(self, node: Project) -> str:
        exprs = self.named({f"c{i}": expr for i, expr in enumerate(node.exprs)})
        return f"SELECT {self._listed(node, exprs)} FROM ({self.select(node.source)}) t"

    def _distinct(self, node: Distinct) -> str:
        columns = [
            f"{_zeroed(f'c{i}', column.type)} AS c{i}"
            for i, column in enumerate(node.columns)
        ]
        return (
            f"SELECT DISTINCT {self._listed(node, columns)} FROM "
            f"({self.select(node.source)}) t"
        )

    def _union(self, node: Union) -> str:
        return " UNION ALL ".join(self._branch(source) for source in node.sources)

    def _listed(self, node: Node, exprs: list[str]) -> str:
        return ", ".join([*(["u"] if node.private else []), *exprs]) or "1 AS one"

    def _branch(self, source: Node) -> str:
        """One side of a union, its columns in order."""
        names = [f"c{i}" for i in range(len(source.columns))]
        return f"SELECT {self._listed(source, names)} FROM ({self.select(source)}) t"

    def _scan(self, scan: Scan) -> str:
        table, write = scan.table, self.dialect
        columns = [f"{x} AS c{i}" for i, x in enumerate(write.columns(table))]
        if table.public:
            return f"SELECT {', '.join(columns)} FROM {write.relation(table)}"
        if table.link is not None:
            return self._linked(table, columns)
        owned = (
            f"SELECT {write.owner(table)} AS u, {', '.join(columns)} FROM "
            f"{write.relation(table)}"
        )
        return f"SELECT * FROM ({owned}) t WHERE u IS NOT NULL"

    def _linked(self, table: Table, columns: list[str]) -> str:
        """Rows find their owner through a parent's key; a key that is there twice has
        no owner (rule R9).
        """
        assert table.link is not None
        parent = self.parent(table.link.table)
        key = self.dialect.read(parent, _unclipped(parent, table.link.key))
        keyed = (
            f"SELECT {key} AS k, {self.dialect.owner(parent)} AS u FROM "
            f"{self.dialect.relation(parent)}"
        )
        owners = (
            f"SELECT k, min(u) AS u FROM ({keyed}) t WHERE k IS NOT NULL AND "
            "u IS NOT NULL GROUP BY k"
        )
        here = self.dialect.read(table, _unclipped(table, table.link.column))
        rows = (
            f"SELECT {here} AS k, {', '.join(columns)} FROM "
            f"{self.dialect.relation(table)}"
        )
        names = ", ".join(f"r.c{i}" for i in range(len(table.fields)))
        return (
            f"SELECT p.u AS u, {names} FROM ({rows}) r JOIN ({owners} HAVING "
            "count(*) = 1) p ON r.k = p.k"
        )

    def _join(self, join: Join) -> str:
        split = len(join.left.columns)
        left, right = self.select(join.left), self.select(join.right)
        on = self._matching(join.left, join.right, join.condition)
        columns = [f"l.c{i} AS c{i}" for i in range(split)]
        columns += [f"r.c{i} AS c{split + i}" for i in range(len(join.right.columns))]
        owner = _owner_of(join)
        listed = ", ".join([*([f"{owner} AS u"] if owner else []), *columns])
        return (
            f"SELECT {listed} FROM ({left}) l {join.kind.upper()} JOIN "
            f"({right}) r ON {on}"
        )

    def _semi_join(self, node: SemiJoin) -> str:
        source, others = self.select(node.source), self.select(node.others)
        on = self._matching(node.source, node.others, node.condition)
        which = "NOT EXISTS" if node.negated else "EXISTS"
        return (
            f"SELECT * FROM ({source}) l WHERE {which} (SELECT 1 FROM "
            f"({others}) r WHERE {on})"
        )

    def _matching(self, left: Node, right: Node, condition: Expr | None) -> str:
        """Which rows l and r belong together: private ones only if they have one owner,
        whatever the condition.
        """
        split = len(left.columns)

        def place(ref: Ref) -> str:
            return f"l.c{ref.index}" if ref.index < split else f"r.c{ref.index - split}"

        conditions = ["l.u = r.u"] if left.private and right.private else []
        conditions += [self.expr(condition, place)] if condition is not None else []
        return " AND ".join(f"({one})" for one in conditions) or "TRUE"

    def _of_owners(self, node: OfOwners) -> str:
        which = "NOT IN" if node.negated else "IN"
        others = f"SELECT u FROM ({self.select(node.others)}) t"
        return (
            f"SELECT * FROM ({self.select(node.source)}) t WHERE u {which} ({others})"
        )

    def _in_public(self, node: InPublic) -> str:
        which = "NOT IN" if node.negated else "IN"
        values = f"SELECT c0 FROM ({self.select(node.values)}) t WHERE c0 IS NOT NULL"
        source = self.select(node.source)
        return (
            f"SELECT * FROM ({source}) t WHERE {self.expr(node.expr)} "
            f"{which} ({values})"
        )

    def _per_unit(self, node: PerUnit) -> str:
        keys = [
            f"{_zeroed(self.expr(key), key.type)} AS k{i}"
            for i, key in enumerate(node.keys)
        ]
        exprs = [
            (i, one.expr)
            for i, one in enumerate(node.summaries)
            if one.expr is not None
        ]
        inner = ", ".join(
            [
                "u",
                *keys,
                *(
                    f"{_zeroed(self.expr(expr), expr.type)} AS x{i}"
                    for i, expr in exprs
                ),
            ]
        )
        # An owner has one id, but tables may clip it differently: it is never what
        # tells groups apart.
        mine = [isinstance(key, Ref) and key.column.owner for key in node.keys]
        outer = [
            f"min(k{i}) AS c{i}" if owner else f"k{i} AS c{i}"
            for i, owner in enumerate(mine)
        ]
        columns = node.columns[len(keys) :]
        for i, (summary, column) in enumerate(
            zip(node.summaries, columns, strict=True)
        ):
            found = unit_summary(summary, f"x{i}", column, self.dialect)
            outer.append(f"{self._in_range(found, column)} AS c{len(keys) + i}")
        grouped = ", ".join(
            ["u", *(f"k{i}" for i, owner in enumerate(mine) if not owner)]
        )
        source = f"SELECT {inner} FROM ({self.select(node.source)}) t"
        return (
            f"SELECT {self._listed(node, outer)} FROM ({source}) t GROUP BY {grouped}"
        )

    def _in_range(self, value: str, column: ColumnType) -> str:
        """Held within the column's range, since expressions above rely on it: a unit
        may have more rows than were declared, and an average of reals, which are summed
        in steps, may end up just outside."""
        sides = zip("<>", (column.range.low, column.range.high), strict=True)
        ends = [
            (sign, self.dialect.literal(end, column.type, []))
            for sign, end in sides
            if end is not None
        ]
        if not ends or not column.type.numeric:
            return value
        cases = " ".join(f"WHEN {value} {sign} {end} THEN {end}" for sign, end in ends)
        return f"(CASE {cases} ELSE {value} END)"


WRITERS: dict[type[Node], Callable[[Writer, Any], str]] = {
    Scan: Writer._scan,
    Filter: Writer._filter,
    Project: Writer._project,
    Join: Writer._join,
    OfOwners: Writer._of_owners,
    SemiJoin: Writer._semi_join,
    InPublic: Writer._in_public,
    PerUnit: Writer._per_unit,
    Distinct: Writer._distinct,
    Union: Writer._union,
}


def _unclipped(table: Table, name: str) -> Field:
    """A key's column without its bounds: clipping would make different keys the same,
    and rows change owners.
    """
    return replace(
        next(field for field in table.fields if field.name == name), range=ANY
    )


def _owner_of(join: Join) -> str | None:
    match join.left.private, join.right.private:
        case True, True:
            return "coalesce(l.u, r.u)"
        case True, False:
            return "l.u"
        case False, True:
            return "r.u"
    return None


def _zeroed(x: str, type_: Type) -> str:
    """One zero for both: they are equal but not the same, and which one stays would
    depend on the order of the rows.
    """
    return f"({x} + 0e0)" if type_ is Type.REAL else x
