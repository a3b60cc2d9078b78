"""Completion of a half-written word by the shell: files, and the names of tables and
columns. It reads no row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click

__all__ = [
    "accounts",
    "collected",
    "column_equals",
    "columns",
    "files",
    "in_sql",
    "tables",
]

Names = dict[str, list[str]]
"""Tables and their columns."""

WORD = re.compile(r"\w*$")
AFTER_FROM = re.compile(r"\b(?:from|join)\s+$", re.IGNORECASE)
BEFORE_DOT = re.compile(r"(\w+)\.$")


def files(
    ctx: click.Context,  # noqa: ARG001
    option: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem[Any]]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def tables(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The tables of a DuckDB database."""
    return begun(incomplete, stored_tables(first(ctx, "source")))


def columns(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The columns of the source."""
    return begun(
        incomplete, [column for listed in names(ctx).values() for column in listed]
    )


def column_equals(
    ctx: click.Context, option: click.Parameter, incomplete: str
) -> list[str]:
    """The columns of the source, each to be followed by what is declared about it."""
    return [f"{column}=" for column in columns(ctx, option, incomplete)]


def in_sql(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The SQL so far with its last word completed: a table after FROM and JOIN, a
    column after a table and a dot.
    """
    found = WORD.search(incomplete)
    begin = "" if found is None else found.group()
    head = incomplete[: len(incomplete) - len(begin)]
    return [head + name for name in begun(begin, fitting_in(head, names(ctx)))]


def fitting_in(head: str, known: Names) -> list[str]:
    """The names that may stand at the end of some SQL."""
    if AFTER_FROM.search(head):
        return list(known)
    listed = [column for columns in known.values() for column in columns]
    dot = BEFORE_DOT.search(head)
    if dot is None:
        return [*listed, *known]
    table = next((name for name in known if name.casefold() == dot[1].casefold()), None)
    return listed if table is None else known[table]


def accounts(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The accounts of a book."""
    from dither.cli.book import open_book

    try:
        with open_book(first(ctx, "book")) as ledger:
            return begun(incomplete, [one.name for one in ledger.accounts()])
    except Exception:  # a shell that waits for a name must not get a traceback
        return []


def collected(
    ctx: click.Context,
    option: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[str]:
    """The tasks of a collector."""
    from dither.local.collector import Collector

    try:
        with Collector.look(first(ctx, "store"), copy=True) as found:
            names = sorted({task.name for task in found.tasks})
        return [name for name in names if name.startswith(incomplete)]
    except Exception:  # as above
        return []


def first(ctx: click.Context, name: str) -> str:
    """The first argument. If an option still waits for its value, click has not yet
    given the arguments their names.
    """
    return str(ctx.args[0] if ctx.args else ctx.params.get(name) or "")


def begun(begin: str, listed: list[str]) -> list[str]:
    """The plain names that begin like this, each once. Others have to be written in
    quotes, which the SQL is in.
    """
    wanted = [
        name
        for name in dict.fromkeys(listed)
        if name.casefold().startswith(begin.casefold())
    ]
    return [name for name in wanted if re.fullmatch(r"\w+", name)]


def names(ctx: click.Context) -> Names:
    """The tables of the source and their columns; empty if only a server has them."""
    try:
        return known_names(first(ctx, "source"), str(ctx.params.get("table") or ""))
    except Exception:  # as above
        return {}


def known_names(source: str, stored: str) -> Names:
    if not source or "://" in source:
        return {}
    if source.endswith(".toml"):
        from dither.query.load import load_catalogue

        return {
            table.name: [one.name for one in table.fields]
            for table in load_catalogue(source).tables
        }
    from dither.query.engines.duckdb.lookup import name_of, schema_of

    return {name_of(source, stored): list(schema_of(source, stored) or ())}


def stored_tables(source: str) -> list[str]:
    try:
        from dither.query.engines.duckdb.connection import connect
        from dither.query.engines.duckdb.lookup import reader_of
        from dither.query.engines.duckdb.readers.databases import DatabaseTable

        found = reader_of(source)
        if not isinstance(found, DatabaseTable):
            return []
        with connect() as connection:
            return list(found.tables(connection))
    except Exception:  # as above
        return []
