"""What can be opened on a PostgreSQL server, and what is refused, in words that help
and tell no secret.
"""

from __future__ import annotations

from datetime import date

import pytest

import dither
from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.postgres.lookup import name_of, public_values, schema_of
from tests.query.engines.postgres.test_engine import DECLARED, ROWS, made, run

pytestmark = pytest.mark.engine("postgres")


KINDS = (
    "CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE DOMAIN age AS smallint CHECK (VALUE > 0); "
    "CREATE TABLE kinds (a int2, b bigint, c numeric, d numeric(10,0), e numeric(30,0), f real, g text, "
    "h varchar(9), i char(3), j boolean, k date, l timestamp, m timestamptz, n uuid, o jsonb, p mood, q age, "
    "r int[], s bytea, t interval, u time, v inet, w point)"
)


@pytest.fixture(scope="module")
def address() -> str:
    return made(
        ROWS,
        "CREATE SCHEMA other; CREATE TABLE other.things (x int)",
        KINDS,
    )


def test_types_come_from_the_server(address: str) -> None:
    whole, real, text = Type.INTEGER, Type.REAL, Type.TEXT
    assert schema_of(address, "kinds") == {
        "a": whole, "b": whole, "c": real, "d": whole, "e": real, "f": real, "g": text, "h": text, "i": text,
        "j": Type.BOOLEAN, "k": Type.DATE, "l": Type.TIMESTAMP, "m": Type.TIMESTAMP, "n": text, "o": text, "p": text,
        "q": whole,
    }  # fmt: skip


def test_names(address: str) -> None:
    assert schema_of(address, "other.things") == {"x": Type.INTEGER}
    assert list(schema_of(address, "public.VISITS")) == ["id", "ward", "cost"]
    assert (name_of(address, "other.things"), name_of("postgresql://a:b@c/clinic")) == (
        "things",
        "clinic",
    )
    with pytest.raises(
        ArgumentError, match="has no table 'visit'; did you mean visits"
    ):
        dither.open(address, **DECLARED | {"table": "visit"})
    with pytest.raises(ArgumentError, match="needs the name of one of its tables"):
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
    with pytest.raises(ArgumentError, match="ledger is missing"):
        dither.open(both, unit="id", budget=3.0)


def test_public_values(address: str) -> None:
    run(
        address,
        "CREATE TABLE days (day date, name text)",
        "INSERT INTO days VALUES ('2020-01-02', 'b'), (NULL, 'B'), (NULL, 'a')",
    )
    assert public_values(address, "days", "day", Type.DATE) == [date(2020, 1, 2)]
    assert public_values(address, "days", "name", Type.TEXT) == ["B", "a", "b"]
