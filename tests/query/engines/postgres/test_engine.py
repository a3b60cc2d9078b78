"""The engine on a PostgreSQL server: one snapshot, nothing written, nothing told when
it fails.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

import dither
from dither.errors import ArgumentError, EngineFailed
from dither.privacy import Unit
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.postgres.engine import PostgresEngine, PostgresSession
from tests.attacks.analyst import log
from tests.attacks.test_sql_messages import FAILED, told
from tests.conformance.postgres_asking import server

pytestmark = pytest.mark.engine("postgres")
ROWS = "CREATE TABLE visits (id text, ward text, cost int); "
ROWS += "INSERT INTO visits SELECT 'p' || n % 40, chr(65 + n % 3), n % 50 FROM generate_series(1, 200) n"
DECLARED: dict[str, Any] = {
    "table": "visits",
    "unit": "id",
    "bounds": {"cost": (0, 100)},
    "keys": {"ward": ["A", "B", "C"]},
    "budget": (1e9, 1e-6),
    "ledger": ":memory:",
}


def made(*statements: str) -> str:
    """The address of a database in which these statements were run."""
    address = server().database()
    run(address, *statements)
    return address


def run(address: str, *statements: str) -> list[Any]:
    import psycopg

    found: list[Any] = []
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
            found = cursor.fetchall() if cursor.description else []
    return found


@pytest.fixture(scope="module")
def address() -> str:
    return made(ROWS)


@pytest.fixture
def database(address: str) -> Any:
    with dither.open(address, **DECLARED) as opened:
        yield opened


TABLE = Table(
    "visits",
    (Field("id", Type.TEXT), Field("cost", Type.INTEGER, Range(0, 100))),
    owner="id",
)
CATALOGUE = Catalogue("visits", (TABLE,), unit=Unit("id"))


@pytest.fixture
def engine(address: str) -> PostgresEngine:
    return PostgresEngine.of(CATALOGUE, {"visits": (address, "visits")})


def test_a_table_by_its_address(database: Any) -> None:
    release = database.sql(
        "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward",
        epsilon=1e4,
        radius=1000,
    )
    assert [row[0] for row in release.rows] == ["A", "B", "C"]
    assert sum(row[1] for row in release.rows) == pytest.approx(200, abs=2000)


def test_a_catalogue_names_the_engine_by_its_sources(
    address: str, tmp_path: Any
) -> None:
    run(
        address,
        "CREATE TABLE IF NOT EXISTS wards (ward text)",
        "INSERT INTO wards VALUES ('B'), ('A'), (NULL), ('A')",
    )
    text = f"""
name = "clinic"
unit = "id"
budget = {{ epsilon = 1000.0 }}
[tables.visits]
source = "{address}"
[tables.visits.columns]
id = "text"
cost = {{ type = "integer", low = 0, high = 100 }}
ward = {{ type = "text", keys_from = "wards.ward" }}
[tables.wards]
source = "{address}"
table = "wards"
public = true
columns = {{ ward = "text" }}
"""
    path = tmp_path / "clinic.toml"
    path.write_text(text)
    with dither.open(path) as database:
        assert database.catalogue.table("visits").field("ward").keys == ("A", "B")
        assert (
            len(
                database.sql(
                    "SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1.0
                ).rows
            )
            == 2
        )


def test_all_statements_see_one_snapshot(engine: PostgresEngine, address: str) -> None:
    with engine.session() as session:
        before = session.fetch("SELECT count(*) FROM public.visits")
        run(address, "INSERT INTO visits VALUES ('late', 'A', 1)")
        session.create("copied", "SELECT * FROM public.visits")
        assert (
            session.fetch("SELECT count(*) FROM copied")
            == session.fetch("SELECT count(*) FROM public.visits")
            == before
        )
    with engine.session() as session:
        assert session.fetch("SELECT count(*) FROM public.visits") == [
            (before[0][0] + 1,)
        ]
    run(address, "DELETE FROM visits WHERE id = 'late'")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM public.visits RETURNING 1",
        "INSERT INTO public.visits VALUES ('x', 'A', 1) RETURNING 1",
        "CREATE TABLE public.copied AS SELECT 1",
        "SELECT nextval('public.numbers')",
        "SELECT public.written()",
        "COPY public.visits TO '/tmp/dither-never'; DROP TABLE public.visits",
    ],
)
def test_nothing_can_be_written(
    engine: PostgresEngine, address: str, statement: str
) -> None:
    """Not even by a function: the server refuses it."""
    run(
        address,
        "CREATE SEQUENCE IF NOT EXISTS numbers",
        "CREATE OR REPLACE FUNCTION written() RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN EXECUTE 'INSERT INTO public.visits VALUES (''x'', ''A'', 1)'; RETURN 1; END $$",
    )
    before = run(address, "SELECT count(*) FROM visits")
    with engine.session() as session, pytest.raises(EngineFailed, match=FAILED):
        session.fetch(statement)
    with engine.session() as session, pytest.raises(EngineFailed, match=FAILED):
        session.create("filled", statement)
    assert run(address, "SELECT count(*) FROM visits") == before


def test_temporary_tables_are_nobody_elses_and_end(
    engine: PostgresEngine, address: str
) -> None:
    with engine.session() as one, engine.session() as two:
        one.create("dither_1", "SELECT $1::text AS x", ["a"])
        two.create("dither_1", "SELECT $1::text AS x", ["b"])
        assert (
            one.fetch("SELECT x FROM dither_1"),
            two.fetch("SELECT x FROM dither_1"),
        ) == ([("a",)], [("b",)])
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'dither%' UNION ALL "
    left += "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dither' AND state <> 'idle'"
    assert run(address, left) == [(0,), (0,)]


def test_settings_of_the_role_change_nothing(address: str) -> None:
    """A search path, a time zone, a date style and a read-only default that would be
    fatal to a careless engine.
    """
    run(
        address,
        "CREATE SCHEMA odd",
        "CREATE FUNCTION odd.abs(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 666'",
        "CREATE ROLE odd LOGIN",
        "GRANT USAGE ON SCHEMA odd TO odd",
        "GRANT SELECT ON visits TO odd",
        "ALTER ROLE odd SET search_path = odd, pg_catalog, public",
        "ALTER ROLE odd SET TimeZone = 'Asia/Tokyo'",
        "ALTER ROLE odd SET DateStyle = 'German, DMY'",
        "ALTER ROLE odd SET default_transaction_read_only = on",
        "ALTER ROLE odd SET extra_float_digits = -10",
        "ALTER ROLE odd SET standard_conforming_strings = off",
    )
    with dither.open(address.replace("postgres@", "odd@"), **DECLARED) as database:
        sql = "SELECT SUM(ABS(cost)) FROM visits WHERE CAST(DATE '2020-02-03' AS VARCHAR) || id LIKE '2020-02-03%'"
        assert database.sql(sql, rho=1e7, radius=300).value == pytest.approx(
            200 * 24.5, abs=1
        )


def test_a_server_that_is_gone_in_the_middle_of_a_question(
    database: Any, address: str, monkeypatch: Any
) -> None:
    """The charge stays, the failure is in the log, and nothing is told; the next
    question is answered.
    """
    working = PostgresSession.create

    def ended(
        self: PostgresSession, name: str, select: str, parameters: Any = ()
    ) -> None:
        working(self, name, select, parameters)
        run(
            address, f"SELECT pg_terminate_backend({self._connection.info.backend_pid})"
        )

    monkeypatch.setattr(PostgresSession, "create", ended)
    with pytest.raises(EngineFailed) as failed:
        database.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1e4)
    assert str(failed.value) == FAILED
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert "terminat" not in told(failed.value)
    assert [kind for kind, _ in log(database)][-2:] == ["charge", "fail"]
    assert any(
        "AdminShutdown" in words or "terminat" in words
        for words in database.engine.failures
    )
    monkeypatch.setattr(PostgresSession, "create", working)
    assert (
        len(
            database.sql(
                "SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=2e4
            ).rows
        )
        == 3
    )


def test_a_server_that_is_gone_before_a_question(
    database: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        database.engine, "_address", "postgresql://analyst:hunter2@127.0.0.1:1/nowhere"
    )
    with pytest.raises(EngineFailed) as failed:
        database.sql("SELECT COUNT(*) FROM visits", epsilon=1e4)
    assert str(failed.value) == FAILED
    assert "hunter2" not in told(failed.value) + repr(database.engine) + str(
        database.failure
    )
    assert [kind for kind, _ in log(database)][-2:] == ["charge", "fail"]


def test_questions_at_the_same_time(database: Any) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        found.append(
            len(
                database.sql(
                    f"SELECT ward, COUNT(*) AS n{number} FROM visits GROUP BY ward",
                    rho=1e4 + number,
                ).rows
            )
        )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 4


def test_a_question_has_its_time_and_memory(
    address: str, engine: PostgresEngine
) -> None:
    """The server itself ends a statement when the time of all statements is up."""
    catalogue = replace(CATALOGUE, limits=Limits(seconds=0.5, memory=640))
    with PostgresEngine.of(catalogue, {"visits": (address, "visits")}) as limited:
        with limited.session() as session:
            assert session.fetch("SELECT current_setting('work_mem')") == [("10MB",)]
            with pytest.raises(EngineFailed, match="could not finish"):
                session.fetch("SELECT pg_sleep(600)")
        with (
            limited.session() as session,
            pytest.raises(EngineFailed, match="could not finish"),
        ):
            session.create("stuck", "SELECT 1 AS x FROM pg_sleep(600)")
        assert all("statement timeout" in words for words in limited.failures)
        with limited.session() as session:
            assert session.fetch("SELECT 1") == [(1,)]
    with engine.session() as session:
        assert session.fetch("SELECT current_setting('work_mem')") == [("62MB",)]


def test_a_closed_engine(engine: PostgresEngine) -> None:
    with engine:
        pass
    with pytest.raises(EngineFailed, match="closed"), engine.session():
        pass


def test_tables_of_two_databases(address: str) -> None:
    other = Table("wards", (Field("ward", Type.TEXT),), public=True)
    catalogue = Catalogue("c", (TABLE, other), unit=Unit("id"))
    with pytest.raises(ArgumentError, match="different databases"):
        PostgresEngine.of(
            catalogue,
            {"visits": address, "wards": made("CREATE TABLE wards (ward text)")},
        )
    with pytest.raises(ArgumentError, match="'wards' has no source"):
        PostgresEngine.of(catalogue, {"visits": address})


ALIKE = ["Ann", "ann", "Ann ", " Ann", "ANN", "\uff21nn", "\u00e9", "e\u0301", ""]
LOOSE = "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"


@pytest.mark.parametrize("stored", ["text", "varchar(20)", "text COLLATE loose"])
def test_ids_are_compared_byte_by_byte(stored: str) -> None:
    """Rule R10: whatever the column's collation takes for the same."""
    values = ", ".join(f"('{one}', 'A', 1)" for one in ALIKE)
    address = made(
        LOOSE,
        f"CREATE TABLE visits (id {stored}, ward text, cost int)",
        f"INSERT INTO visits VALUES {values}",
    )
    with dither.open(address, **DECLARED) as database:
        found = database.sql("SELECT COUNT(DISTINCT id) FROM visits", rho=1e7)
    assert found.value == len(ALIKE)


def test_blanks_that_char_pads_with_are_no_part_of_an_id() -> None:
    address = made(
        "CREATE TABLE visits (id char(5), ward text, cost int); INSERT INTO visits VALUES ('a', 'A', 1), ('a ', 'B', 1)"
    )
    with dither.open(address, **DECLARED) as database:
        assert database.sql(
            "SELECT COUNT(DISTINCT id) FROM visits", rho=1e7
        ).value == pytest.approx(1, abs=0.1)


def test_rows_of_partitions_are_units_of_their_own() -> None:
    """Rows of two partitions may lie at the same place."""
    address = made(
        "CREATE TABLE visits (ward text, cost int) PARTITION BY LIST (ward)",
        "CREATE TABLE a PARTITION OF visits FOR VALUES IN ('A')",
        "CREATE TABLE b PARTITION OF visits FOR VALUES IN ('B')",
        "INSERT INTO visits VALUES ('A', 1), ('B', 1), ('B', 3)",
    )
    declared = DECLARED | {"unit": "row"}
    with dither.open(address, **declared) as database:
        assert database.sql(
            "SELECT COUNT(*) FROM visits", rho=1e7
        ).value == pytest.approx(3, abs=0.1)
        joined = "SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) v"
        # Two rows of one place would be four rows of one unit, which may have two
        assert database.sql(joined, epsilon=1e4, radius=1).value == pytest.approx(
            6, abs=0.1
        )
