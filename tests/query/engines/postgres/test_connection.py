"""Connections to PostgreSQL that fail, in words that help and tell no secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

import dither
from dither.errors import ArgumentError
from dither.query.engines.postgres import connection as postgres_connection
from dither.query.engines.postgres.connection import place
from tests.attacks.test_sql_messages import told
from tests.clock import until
from tests.conformance.postgres_asking import server
from tests.query.engines.postgres.test_engine import DECLARED, ROWS, made, run

pytestmark = pytest.mark.engine("postgres")


@pytest.fixture(scope="module")
def address() -> str:
    return made(ROWS)


def test_a_server_that_ends_while_tables_are_looked_up(
    address: str, monkeypatch: Any
) -> None:
    def ended(connection: Any, _shown: str) -> None:
        run(address, f"SELECT pg_terminate_backend({connection.info.backend_pid})")

    monkeypatch.setattr(postgres_connection, "check_server", ended)
    with pytest.raises(
        ArgumentError, match="broke off while its tables were looked up; try again"
    ):
        dither.open(address, **DECLARED)


def test_a_user_who_may_make_no_temporary_tables() -> None:
    views = made(ROWS)
    name = views.partition("@/")[2].partition("?")[0]
    run(
        views, "CREATE ROLE strict LOGIN", f"REVOKE TEMP ON DATABASE {name} FROM PUBLIC"
    )
    with pytest.raises(
        ArgumentError,
        match="does not let this user make temporary tables; run GRANT TEMPORARY",
    ):
        dither.open(views.replace("postgres@", "strict@"), **DECLARED)


SECRET = "hunter2-never-shown"


def loaded(address: str) -> Any:
    """When the server last read its settings, as a new connection sees it."""
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT pg_conf_load_time()").fetchone()


@pytest.fixture(scope="module")
def guarded(address: str) -> str:
    """An address with a password, which the server asks this user for."""
    rules = Path(server()._folder) / "data" / "pg_hba.conf"
    before = loaded(address)
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    run(
        address,
        f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'; GRANT SELECT ON visits TO guarded",
        "SELECT pg_reload_conf()",
    )
    until(lambda: loaded(address) > before, "the server has read its rules")
    return address.replace("postgres@", f"guarded:{SECRET}@")


def test_a_right_password_is_never_shown(guarded: str) -> None:
    with dither.open(guarded, **DECLARED) as database:
        assert (
            len(
                database.sql(
                    "SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1e4
                ).rows
            )
            == 3
        )
        shown = [
            repr(database),
            repr(database.engine),
            str(database.tables),
            repr(database.account.history()),
        ]
    assert SECRET not in "".join(shown)
    assert SECRET not in place(guarded)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda text: text.replace(SECRET, SECRET + "x"),
            "does not accept this user or password",
        ),
        (
            lambda text: text.replace(":" + SECRET, ""),
            "does not accept this user or password",
        ),
        (lambda text: text.replace("port=", "port=1"), "cannot be reached"),
        (
            lambda _: f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic",
            "postgresql://127.0.0.1:1/clinic cannot be reached",
        ),
        (lambda text: text.replace("@/", "@/no"), "does not have this database"),
        (lambda _: f"postgresql://ann:{SECRET}@[bad/x", "is not a PostgreSQL address"),
        (lambda text: text + "&nonsense=1", "is not a PostgreSQL address"),
        (
            lambda _: f"postgresql://ann:{SECRET}/x@127.0.0.1:1/clinic",
            "source cannot be reached",
        ),
        (
            lambda _: f"postgresql://ann:x/{SECRET}@127.0.0.1:1/clinic",
            "source cannot be reached",
        ),
        (
            lambda _: f"postgresql://ann:x@{SECRET}@127.0.0.1:1/clinic",
            "source cannot be reached",
        ),
    ],
)
def test_connections_that_fail(guarded: str, change: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        dither.open(change(guarded), **DECLARED)
    assert words in str(refused.value)
    assert SECRET not in told(refused.value)


def test_psycopg_is_missing(address: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(dither.errors.MissingExtra, match=r"'\.\[postgres\]'"):
        dither.open(address, **DECLARED)
