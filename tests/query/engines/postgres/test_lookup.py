"""What can be opened on a PostgreSQL server, and what is refused, in words that help
and tell no secret.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dither
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.postgres import connection as postgres_connection
from dither.query.engines.postgres.connection import place
from dither.query.engines.postgres.engine import PostgresEngine
from dither.query.engines.postgres.lookup import name_of, public_values, schema_of
from tests.attacks.test_sql_messages import told
from tests.clock import until
from tests.conformance.postgres_asking import server
from tests.query.engines.postgres.test_engine import DECLARED, ROWS, made, run


@pytest.fixture(scope="module")
def address() -> str:
    return made(
        ROWS,
        "CREATE SCHEMA other; CREATE TABLE other.things (x int)",
        "CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE DOMAIN age AS smallint CHECK (VALUE > 0)",
        "CREATE TABLE kinds (a int2, b bigint, c numeric, d numeric(10,0), e numeric(30,0), f real, g text, "
        "h varchar(9), i char(3), j boolean, k date, l timestamp, m timestamptz, n uuid, o jsonb, p mood, q age, "
        "r int[], s bytea, t interval, u time, v inet, w point)",
    )


def test_types_come_from_the_server(address: str) -> None:
    whole, real, text = Type.INTEGER, Type.REAL, Type.TEXT
    assert schema_of(address, "kinds") == {
        "a": whole, "b": whole, "c": real, "d": whole, "e": real, "f": real, "g": text, "h": text, "i": text,
        "j": Type.BOOLEAN, "k": Type.DATE, "l": Type.TIMESTAMP, "m": Type.TIMESTAMP, "n": text, "o": text, "p": text,
        "q": whole,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("column", "shown"),
    [("r", "integer[]"), ("s", "bytea"), ("t", "interval"), ("w", "point")],
)
def test_a_type_that_the_catalogue_does_not_know(
    address: str, column: str, shown: str
) -> None:
    table = Table(
        "kinds", (Field("b", Type.INTEGER), Field(column, Type.TEXT)), owner="b"
    )
    with pytest.raises(ArgumentError) as refused:
        PostgresEngine.of(Catalogue("c", (table,), unit=Unit("b")), {"kinds": address})
    assert (
        f"kinds: {column} is of type {shown}, which cannot be asked about; leave it out, or make a view"
        in str(refused.value)
    )


def test_a_type_that_is_another(address: str) -> None:
    table = Table("kinds", (Field("b", Type.INTEGER), Field("k", Type.REAL)), owner="b")
    with pytest.raises(ArgumentError, match="k holds a date, not a real"):
        PostgresEngine.of(Catalogue("c", (table,), unit=Unit("b")), {"kinds": address})
    table = Table("kinds", (Field("bb", Type.INTEGER),), owner="bb")
    with pytest.raises(ArgumentError, match="has no column bb; did you mean b"):
        PostgresEngine.of(Catalogue("c", (table,), unit=Unit("bb")), {"kinds": address})


def test_names(address: str) -> None:
    assert schema_of(address, "other.things") == {"x": Type.INTEGER}
    assert list(schema_of(address, "public.VISITS")) == ["id", "ward", "cost"]
    assert (name_of(address, "other.things"), name_of("postgresql://a:b@c/clinic")) == (
        "things",
        "clinic",
    )
    with pytest.raises(ArgumentError, match="has no table visit; did you mean visits"):
        dither.open(address, **DECLARED | {"table": "visit"})
    with pytest.raises(ArgumentError, match="say which one"):
        schema_of(address)
    with pytest.raises(ArgumentError, match="must be an address"):
        schema_of(5)


def test_the_only_table_needs_no_name() -> None:
    with dither.open(
        made(ROWS), **DECLARED | {"table": "", "name": "everyone"}
    ) as database:
        assert (
            len(
                database.sql(
                    "SELECT ward, COUNT(*) FROM everyone GROUP BY ward", epsilon=1e4
                ).rows
            )
            == 3
        )


def test_several_tables_of_a_database(address: str) -> None:
    both = {"visits": address, "again": (address, "visits")}
    with dither.open(
        both, unit="id", budget=(1e6, 1e-6), ledger=":memory:"
    ) as database:
        once, joined = (
            f"SELECT COUNT(*) FROM visits{more}"
            for more in ("", " JOIN again USING (id)")
        )
        assert [
            database.sql(sql, epsilon=1e4, radius=50).rows for sql in (once, joined)
        ]
    with pytest.raises(ArgumentError, match="ledger: is missing"):
        dither.open(both, unit="id", budget=3.0)


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


def test_public_values(address: str) -> None:
    run(
        address,
        "CREATE TABLE days (day date, name text)",
        "INSERT INTO days VALUES ('2020-01-02', 'b'), (NULL, 'B'), (NULL, 'a')",
    )
    assert public_values(address, "days", "day", Type.DATE) == [date(2020, 1, 2)]
    assert public_values(address, "days", "name", Type.TEXT) == ["B", "a", "b"]


VOLATILE = {
    "random": "SELECT id, ward, cost + (random() * 9)::int AS cost FROM visits",
    "random in WHERE": "SELECT * FROM visits WHERE random() < 0.5",
    "clock_timestamp": "SELECT id, ward, cost, clock_timestamp() AS at FROM visits",
    "nextval": "SELECT id, ward, cost, nextval('numbers') AS n FROM visits",
    "a function of one's own": "SELECT id, ward, told(cost) AS cost FROM visits",
    "an operator of one's own": "SELECT id, ward, cost <%> 1 AS cost FROM visits",
    "an aggregate of one's own": "SELECT id, ward, gathered(cost) AS cost FROM visits GROUP BY id, ward",
    "in a subquery": "SELECT * FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.id = v.id AND random() < 0.5)",
    "in a WITH": "WITH a AS (SELECT *, random() AS r FROM visits) SELECT id, ward, cost FROM a WHERE r < 0.5",
    "in a window": "SELECT id, ward, cost, rank() OVER (ORDER BY random()) AS r FROM visits",
    "a sample": "SELECT * FROM visits TABLESAMPLE BERNOULLI (50)",
    "in a view below": "SELECT * FROM below WHERE cost > 3",
    "in a view far below": "SELECT * FROM (SELECT * FROM visits UNION ALL SELECT * FROM further) v",
}


@pytest.fixture(scope="module")
def views() -> str:
    return made(
        ROWS,
        "CREATE SEQUENCE numbers",
        "CREATE FUNCTION told(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END'",
        "CREATE FUNCTION first_of(int, int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END'",
        "CREATE OPERATOR <%> (LEFTARG = int, RIGHTARG = int, FUNCTION = first_of)",
        "CREATE AGGREGATE gathered (int) (SFUNC = first_of, STYPE = int)",
        "CREATE VIEW below AS SELECT * FROM visits WHERE random() < 0.5; CREATE VIEW further AS SELECT * FROM below",
        "CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER there FOREIGN DATA WRAPPER nowhere",
        "CREATE FOREIGN TABLE afar (id text, ward text, cost int) SERVER there",
        "CREATE VIEW of_afar AS SELECT * FROM afar",
    )


@pytest.mark.parametrize("name", VOLATILE)
def test_a_view_that_hides_a_volatile_function(views: str, name: str) -> None:
    run(views, "DROP VIEW IF EXISTS tried", f"CREATE VIEW tried AS {VOLATILE[name]}")
    with pytest.raises(
        ArgumentError,
        match=r"tried: is a view (that calls .*volatile|of a random sample)",
    ):
        dither.open(views, **DECLARED | {"table": "tried"})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, ward, abs(cost) + 1 AS cost FROM visits WHERE ward LIKE 'A%'",
        "SELECT id, upper(ward) AS ward, max(cost) AS cost FROM visits GROUP BY id, ward",
        "SELECT id, ward, cost, now() AS at, CURRENT_DATE AS today FROM visits",
    ],
)
def test_a_view_that_is_always_the_same(views: str, sql: str) -> None:
    run(views, "DROP VIEW IF EXISTS tried", f"CREATE VIEW tried AS {sql}")
    with dither.open(views, **DECLARED | {"table": "tried"}) as database:
        assert (
            len(
                database.sql(
                    "SELECT ward, COUNT(*) FROM tried GROUP BY ward", epsilon=1e4
                ).rows
            )
            == 3
        )


def test_a_materialized_view_of_random_rows_is_a_table(views: str) -> None:
    run(
        views,
        "CREATE MATERIALIZED VIEW fixed AS SELECT * FROM visits WHERE random() < 2",
    )
    with dither.open(views, **DECLARED | {"table": "fixed", "unit": "row"}) as database:
        assert database.sql(
            "SELECT COUNT(*) FROM fixed", rho=1e7
        ).value == pytest.approx(200, abs=0.1)


@pytest.mark.parametrize("table", ["afar", "of_afar"])
def test_a_foreign_table(views: str, table: str) -> None:
    with pytest.raises(ArgumentError, match="reads a foreign table"):
        dither.open(views, **DECLARED | {"table": table})


def test_rows_of_a_view_are_no_units(views: str) -> None:
    run(views, "DROP VIEW IF EXISTS tried; CREATE VIEW tried AS SELECT * FROM visits")
    with pytest.raises(
        ArgumentError, match="is a view, whose rows have no ids of their own"
    ):
        dither.open(views, **DECLARED | {"table": "tried", "unit": "row"})


def test_row_level_security_and_missing_rights(views: str) -> None:
    run(
        views,
        "CREATE ROLE guest LOGIN; CREATE TABLE hidden (id text, ward text, cost int)",
        "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; GRANT SELECT ON hidden TO guest",
        "CREATE VIEW over_hidden WITH (security_invoker = true) AS SELECT * FROM hidden",
        "GRANT SELECT ON over_hidden TO guest",
        "CREATE TABLE partly (id text, ward text, cost int, secret text)",
        "GRANT SELECT (id, ward, cost) ON partly TO guest",
    )
    guest = views.replace("postgres@", "guest@")
    with pytest.raises(
        ArgumentError, match="hidden: hides rows from this user by row-level security"
    ):
        dither.open(guest, **DECLARED | {"table": "hidden"})
    for table in ("visits", "over_hidden"):
        with pytest.raises(
            ArgumentError, match=f"{table}: cannot be read by this user; GRANT SELECT"
        ):
            dither.open(guest, **DECLARED | {"table": table})
    assert list(schema_of(guest, "partly")) == ["id", "ward", "cost"]


def test_a_user_who_may_make_no_temporary_tables(views: str) -> None:
    name = views.partition("@/")[2].partition("?")[0]
    run(
        views, "CREATE ROLE strict LOGIN", f"REVOKE TEMP ON DATABASE {name} FROM PUBLIC"
    )
    with pytest.raises(
        ArgumentError, match="make no temporary tables; GRANT TEMPORARY"
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
            repr(database._engine),
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
            "refuses this user or password",
        ),
        (lambda text: text.replace(":" + SECRET, ""), "refuses this user or password"),
        (lambda text: text.replace("port=", "port=1"), "cannot be reached"),
        (
            lambda _: f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic",
            "postgresql://127.0.0.1:1/clinic: cannot be reached",
        ),
        (lambda text: text.replace("@/", "@/no"), "has no such database"),
        (lambda _: f"postgresql://ann:{SECRET}@[bad/x", "is no address of PostgreSQL"),
        (lambda text: text + "&nonsense=1", "is no address of PostgreSQL"),
        (
            lambda _: f"postgresql://ann:{SECRET}/x@127.0.0.1:1/clinic",
            "source: cannot be reached",
        ),
        (
            lambda _: f"postgresql://ann:x/{SECRET}@127.0.0.1:1/clinic",
            "source: cannot be reached",
        ),
        (
            lambda _: f"postgresql://ann:x@{SECRET}@127.0.0.1:1/clinic",
            "source: cannot be reached",
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
    with pytest.raises(dither.errors.MissingExtra, match=r"dither\[postgres\]"):
        dither.open(address, **DECLARED)
