"""What the engines write alike."""

from __future__ import annotations

from typing import Any

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.dialect import Dialect
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.engines.postgres.dialect import PostgresDialect
from dither.query.engines.postgres.stored import StoredColumn, StoredTable
from dither.query.engines.spark.dialect import SparkDialect
from dither.query.engines.spark.stored import StoredTable as SparkTable

FIELDS = (Field("id", Type.TEXT), Field("n", Type.REAL), Field("i", Type.INTEGER))
COLUMNS = {
    "id": StoredColumn("id", "text", "text", Type.TEXT),
    "n": StoredColumn("n", "float8", "double precision", Type.REAL),
    "i": StoredColumn("i", "int8", "bigint", Type.INTEGER),
}
DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDBDialect(),
    "postgres": PostgresDialect({"t": StoredTable("public", "t", COLUMNS, "ctid")}),
    "spark": SparkDialect({"t": SparkTable("v.t", {"id": "d0", "n": "d1", "i": "d2"})}),
}
each = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


@each
def test_each_type_has_a_name(dialect: Dialect) -> None:
    assert set(dialect.types) == set(Type)
    for type_ in Type:
        null = dialect.literal(None, type_, [])
        assert null == f"CAST(NULL AS {dialect.types[type_]})"


@each
def test_texts_are_parameters_and_numbers_are_not(dialect: Dialect) -> None:
    parameters: list[Any] = ["before"]
    assert "$2" in dialect.literal("it's", Type.TEXT, parameters)
    assert parameters == ["before", "it's"]
    assert "7" in dialect.literal(7, Type.INTEGER, parameters)
    assert dialect.literal(True, Type.BOOLEAN, parameters) == "TRUE"
    assert len(parameters) == 2


@each
def test_the_owner_must_be_declared_as_an_id(dialect: Dialect) -> None:
    table = Table("t", FIELDS)
    object.__setattr__(table, "owner", "nobody")  # which a Table itself would refuse
    with pytest.raises(ArgumentError, match="the table 't' has no column 'nobody'"):
        dialect.owner(table)
    object.__setattr__(table, "owner", "n")
    with pytest.raises(
        ArgumentError, match="the column 'n' is REAL, which ids cannot be"
    ):
        dialect.owner(table)
    assert dialect.owner(Table("t", FIELDS, owner="id"))


@each
def test_only_what_has_bounds_is_clipped(dialect: Dialect) -> None:
    table = Table("t", FIELDS)
    assert "CASE" not in dialect.read(table, FIELDS[0])
    assert "CASE" not in dialect.read(table, FIELDS[2])
    clipped = dialect.read(table, Field("i", Type.INTEGER, Range(-3, 8)))
    assert clipped.startswith("(CASE ")
    assert dialect.bound(-3, Type.INTEGER) in clipped
    assert dialect.bound(8, Type.INTEGER) in clipped


@each
def test_dates_stay_in_the_calendar(dialect: Dialect) -> None:
    first, last = dialect.ends(Type.DATE, ANY)
    assert dialect.bound(first or 0, Type.DATE) == "DATE '0001-01-01'"
    assert dialect.bound(last or 0, Type.DATE) == "DATE '9999-12-31'"
    assert dialect.ends(Type.DATE, Range(0, None)) == (0, last)
    assert dialect.ends(Type.REAL, ANY) == (None, None)


@each
def test_the_salt_is_a_parameter(dialect: Dialect) -> None:
    parameters: list[Any] = []
    kept = dialect.kept("SELECT u, k0 FROM rows", ["k0"], 3, "secret", parameters)
    assert parameters == ["secret"]
    assert "secret" not in kept
    assert "HAVING count(*) > 3" in kept
    hashed = dialect.keyed(["u", "k0"], f"CAST($1 AS {dialect.types[Type.TEXT]})")
    assert dialect.lowest(hashed, 4) in kept
