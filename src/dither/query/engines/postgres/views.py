"""What views are made of. One that gives other rows each time it is read, or that does
something, is refused.

The server lists what a view depends on, but leaves its own functions out (`random`
among them); so the view's stored tree is searched for all functions, operators and
tables. Labels of functions (IMMUTABLE, STABLE) are believed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.query.engines.postgres.connection import Connection

__all__ = ["check_rows", "check_view"]

FUNCTIONS = re.compile(r":(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)")
OPERATORS = re.compile(r":opno (\d+)")
RELATIONS = re.compile(r":relid (\d+)")
SAMPLED = "TABLESAMPLECLAUSE"
KIND = "SELECT relkind::text, relrowsecurity FROM pg_class WHERE oid = $1"
RULES = "SELECT ev_action::text FROM pg_rewrite WHERE ev_class = $1 AND ev_type = '1'"
PARTS = "SELECT inhrelid::bigint FROM pg_inherits WHERE inhparent = $1"
VOLATILE = """
    WITH functions AS (
        SELECT unnest($1::oid[]) AS id UNION SELECT oprcode FROM pg_operator WHERE oid = ANY ($2::oid[])
    ), inner_ones (id) AS (
        SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[])
        FROM pg_aggregate WHERE aggfnoid IN (SELECT id FROM functions)
    )
    SELECT proname FROM pg_proc WHERE provolatile = 'v'
        AND oid IN (SELECT id FROM functions UNION SELECT id FROM inner_ones) ORDER BY proname LIMIT 1
"""


def check_view(connection: Connection, oid: int, named: str) -> None:
    """Refuses what is not sure to be the same rows for all statements of a question."""
    waiting, seen = [oid], set[int]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += _below(connection, one, named)


def _below(connection: Connection, oid: int, named: str) -> list[int]:
    """The tables and views that a relation is made of."""
    ((kind, _),) = connection.execute(KIND.encode(), [oid]).fetchall() or (
        ("r", False),
    )
    if kind == "f":
        way = "connect to that server, or make a materialized view"
        raise ArgumentError(
            named,
            f"{named!r} reads a foreign table, whose rows are on another server; {way}",
        )
    rules = (
        [tree for (tree,) in connection.execute(RULES.encode(), [oid]).fetchall()]
        if kind == "v"
        else []
    )
    found = [
        int(part) for (part,) in connection.execute(PARTS.encode(), [oid]).fetchall()
    ]
    for tree in rules:
        _check_tree(connection, tree, named)
        found += [int(relation) for relation in RELATIONS.findall(tree)]
    return [relation for relation in found if relation]


def _check_tree(connection: Connection, tree: str, named: str) -> None:
    way = "take it out of the view, or make a materialized view"
    if SAMPLED in tree:
        raise ArgumentError(
            named, f"{named!r} is a view of a random sample (TABLESAMPLE); {way}"
        )
    functions, operators = (
        list(map(int, one.findall(tree))) for one in (FUNCTIONS, OPERATORS)
    )
    volatile = connection.execute(VOLATILE.encode(), [functions, operators]).fetchall()
    for (name,) in volatile:
        raise ArgumentError(
            named,
            f"{named!r} is a view that calls {name}(), which is volatile: its rows may "
            f"differ each time; {way}",
        )


def check_rows(connection: Connection, oid: int, named: str) -> None:
    """Refuses a table that a policy hides rows of: which ones may depend on other rows."""
    ((active,),) = connection.execute(
        b"SELECT row_security_active($1::oid)", [oid]
    ).fetchall()
    if active:
        way = "connect as a user to whom it does not apply (BYPASSRLS)"
        raise ArgumentError(
            named, f"{named!r} hides rows from this user by row-level security; {way}"
        )
