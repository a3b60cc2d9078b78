"""Names: which columns a SELECT can see, and which of them fix a row's owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from dither.query.catalogue.limits import ALL_COLUMNS
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.names import nearest, same
from dither.query.catalogue.types import Keys, Range, Type
from dither.query.operations.expressions import ColumnType, Expr, Ref
from dither.query.sql.nodes import Filter, Node, Project, Scan
from dither.query.sql.refusals import only
from dither.query.sql.text import QueryText

__all__ = ["OWNER", "Context", "Entry", "Nested", "Rows", "Scope", "scan"]

OWNER = "owner"
Ids = frozenset[str]


@dataclass(frozen=True)
class Rows:
    """A node, and for each column which ids its values are.

    A column's ids are "owner" (its value, unless NULL, is the id of the row's owner)
    or names such as "visits.visit_id" (its value, unless NULL, is that key of a row
    with the same owner). Two rows whose columns share an id and are equal therefore
    have the same owner.
    """

    node: Node
    ids: tuple[Ids, ...]

    def ref(self, index: int) -> Ref:
        return Ref.to(index, self.node.columns[index])

    def filtered(self, condition: Expr) -> Rows:
        source = self.node
        return replace(
            self,
            node=Filter(source.columns, source.private, source.most, source, condition),
        )

    def projected(self, named: list[tuple[str, Expr]]) -> Rows:
        """Expressions over rows. Only a column by itself keeps what is declared about
        it.
        """
        source = self.node
        columns = tuple(ColumnType.of(name, expr) for name, expr in named)
        exprs = tuple(expr for _, expr in named)
        if columns == source.columns and exprs == tuple(
            self.ref(index) for index in range(len(columns))
        ):
            return self
        ids = tuple(
            self.ids[expr.index] if isinstance(expr, Ref) else frozenset()
            for expr in exprs
        )
        return Rows(Project(columns, source.private, source.most, source, exprs), ids)


@dataclass(frozen=True)
class Entry:
    """A name for a column. A `shared` one is part of a USING column, and is reached as
    table.name only.
    """

    table: str
    name: str
    index: int
    shared: bool = False


@dataclass(frozen=True)
class Scope:
    """The rows of a FROM clause and the names of their columns."""

    rows: Rows
    entries: tuple[Entry, ...]

    @cached_property
    def _named(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.name.casefold(), []).append(entry)
        return found

    @property
    def tables(self) -> list[str]:
        return list(dict.fromkeys(entry.table for entry in self.entries if entry.table))

    def find(self, name: str, table: str = "") -> list[Entry]:
        named = self._named.get(name.casefold(), [])
        if table:
            return [entry for entry in named if same(entry.table, table)]
        return [entry for entry in named if not entry.shared]

    def ref(self, text: QueryText, node: exp.Column) -> Ref:
        """The column that a name means."""
        if node.args.get("db") is not None:
            raise text.problem(
                "columns have no schema and no parts here; write table.column", node
            )
        only(text, node, "this", "table")
        found = self.find(node.name, node.table)
        if len(found) > 1:
            names = {f"{entry.table}.{entry.name}" for entry in found if entry.table}
            way = (
                f"write {' or '.join(sorted(names))}"
                if len(names) == len(found)
                else "rename one of them with AS"
            )
            raise text.problem(
                f"{node.name} is the name of several columns here; {way}", node
            )
        if not found:
            raise text.problem(self._unknown(node), node)
        return self.rows.ref(found[0].index)

    def _unknown(self, node: exp.Column) -> str:
        if node.table and not any(same(node.table, table) for table in self.tables):
            return (
                f"there is no table or alias {node.table} in FROM; "
                f"{nearest(node.table, self.tables)}"
            )
        of = f" in {node.table}" if node.table else ""
        visible = [
            entry
            for entry in self.entries
            if not node.table or same(entry.table, node.table)
        ]
        quotes = (
            f" (write '{node.name}' in single quotes for a text)"
            if node.this.args.get("quoted")
            else ""
        )
        return (
            f"there is no column {node.name}{of}; "
            f"{nearest(node.name, [entry.name for entry in visible])}{quotes}"
        )


@dataclass(frozen=True)
class Nested(Scope):
    """The names of a SELECT inside WHERE: its own, and for names that it does not have
    those around it.
    """

    around: tuple[Entry, ...] = ()

    def find(self, name: str, table: str = "") -> list[Entry]:
        own = super().find(name, table)
        if own or any(same(table, known) for known in self.tables):
            return own
        return Scope(self.rows, self.around).find(name, table)


@dataclass(frozen=True)
class Context:
    """What every part of a question is bound in: its text, the catalogue, and the
    queries named by WITH.
    """

    text: QueryText
    catalogue: Catalogue
    query: Callable[[Context, exp.Expr], Rows]
    named: Mapping[str, Rows] = field(default_factory=dict)
    _columns: Counter[None] = field(default_factory=Counter)
    _scans: dict[str, Rows] = field(default_factory=dict)

    def made(self, columns: int, node: exp.Expr) -> None:
        """Count columns that a part of the question has: also of parts that nothing
        mentions, which cost time too.
        """
        self._columns[None] += columns
        if self._columns[None] > ALL_COLUMNS:
            message = (
                "all parts of the question together have more than "
                f"{ALL_COLUMNS:,} columns; name fewer"
            )
            raise self.text.problem(message, node)

    def table(self, node: exp.Table) -> Rows:
        found = self.named.get(node.name.casefold())
        if found is not None:
            return found
        for table in self.catalogue.tables:
            if same(table.name, node.name):
                self.made(len(table.fields), node)
                if table.name not in self._scans:
                    self._scans[table.name] = scan(self.catalogue, table)
                return self._scans[table.name]
        names = [*self.named, *(table.name for table in self.catalogue.tables)]
        raise self.text.problem(
            f"there is no table {node.name:.255}; {nearest(node.name[:255], names)}",
            node,
        )


def scan(catalogue: Catalogue, table: Table) -> Rows:
    """A table as declared."""
    columns = tuple(_column(table, field) for field in table.fields)
    ids = tuple(_ids(catalogue, table, field.name) for field in table.fields)
    return Rows(Scan(columns, not table.public, _most(table), table), ids)


def _column(table: Table, field: Field) -> ColumnType:
    range_ = Range(0, 1) if field.type is Type.BOOLEAN else field.range
    keys = field.keys
    assert keys is None or isinstance(keys, Keys)
    return ColumnType(
        field.name,
        field.type,
        range_,
        keys,
        owner=_is_owner(table, field.name),
        total=field.total,
    )


def _is_owner(table: Table, name: str) -> bool:
    return not table.public and table.owner is not None and same(name, table.owner)


def _ids(catalogue: Catalogue, table: Table, name: str) -> Ids:
    if table.public:
        return frozenset()
    ids = {OWNER} if _is_owner(table, name) else set()
    links = [other.link for other in catalogue.tables if other.link is not None]
    if table.link is not None and same(table.link.column, name):
        ids.add(f"{table.link.table}.{table.link.key}".casefold())
    if any(same(link.table, table.name) and same(link.key, name) for link in links):
        ids.add(f"{table.name}.{name}".casefold())
    return frozenset(ids)


def _most(table: Table) -> int | None:
    if table.public:
        return None
    return 1 if table.owner is None and table.link is None else table.rows
