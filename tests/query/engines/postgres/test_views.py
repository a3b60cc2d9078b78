"""Views and tables on a PostgreSQL server that are refused, because their rows may differ
each time they are read.
"""

from __future__ import annotations

import pytest

import dither
from dither.errors import ArgumentError
from dither.query.engines.postgres.lookup import schema_of
from tests.query.engines.postgres.test_engine import DECLARED, ROWS, made, run

pytestmark = pytest.mark.engine("postgres")


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
        match=r"'tried' is a view (that calls .*volatile|of a random sample)",
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
        ArgumentError, match="is a view, whose rows do not have ids of their own"
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
        ArgumentError, match="'hidden' hides rows from this user by row-level security"
    ):
        dither.open(guest, **DECLARED | {"table": "hidden"})
    for table in ("visits", "over_hidden"):
        with pytest.raises(
            ArgumentError,
            match=f"the table '{table}' cannot be read by this user; run GRANT SELECT ON {table}",
        ):
            dither.open(guest, **DECLARED | {"table": table})
    assert list(schema_of(guest, "partly")) == ["id", "ward", "cost"]
