"""A PostgreSQL server for all tests of the engine, and the tables of `world.stored` in
it.
"""

from __future__ import annotations

import atexit
import os
from functools import cache

import pytest

from dither.query.catalogue.model import Catalogue
from dither.query.catalogue.types import Type
from dither.query.engines.postgres.engine import PostgresEngine
from dither.query.engines.protocol import Engine
from tests.conformance.world import CATALOGUES, stored
from tests.ledger.server import NoServer, Server, serving

__all__ = ["ENGINES", "QUICK", "TYPES", "postgres_engine", "server"]

TYPES = {
    Type.INTEGER: "bigint",
    Type.REAL: "double precision",
    Type.TEXT: "text",
    Type.BOOLEAN: "boolean",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
}


def server() -> Server:
    """The server of this process, started when it is first needed and ended with the
    process; else a skipped test.
    """
    found = _started()
    if isinstance(found, Server):
        return found
    if os.environ.get("CI"):
        pytest.fail(f"CI must test PostgreSQL too: {found}", pytrace=False)
    pytest.skip(f"PostgreSQL is not tested: {found}")


@cache
def _started() -> Server | NoServer:
    try:
        running = serving("fsync=off")
        found = running.__enter__()
    except NoServer as error:
        return error
    atexit.register(running.__exit__, None, None, None)
    return found


@cache
def _filled() -> str:
    """The address of a database with all tables of the conformance suite."""
    import psycopg

    address = server().database()
    tables = {
        table.name: table
        for catalogue in CATALOGUES.values()
        for table in catalogue.tables
    }
    with psycopg.connect(address) as connection:
        for name, table in tables.items():
            columns = ", ".join(f"{one.name} {TYPES[one.type]}" for one in table.fields)
            connection.execute(f"CREATE TABLE {name} ({columns})".encode())
            names = ", ".join(one.name for one in table.fields)
            rows = (
                stored()
                .cursor()
                .execute(f"SELECT {names} FROM stored.{name}")
                .fetchall()
            )
            with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
    return address


def postgres_engine(catalogue: Catalogue) -> Engine:
    return PostgresEngine.of(
        catalogue, {table.name: (_filled(), table.name) for table in catalogue.tables}
    )


ENGINES = {"postgres": postgres_engine}
QUICK = {"postgres"}
