"""Columns and tables as DuckDB stores them."""

from __future__ import annotations

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.stored import (
    StoredColumn,
    StoredTable,
    columns_of,
    plain,
    type_of,
)


@pytest.mark.parametrize(
    ("stored", "type_"),
    [
        ("UHUGEINT", Type.INTEGER),
        ("DECIMAL(18,0)", Type.INTEGER),
        ("DECIMAL(19,0)", Type.REAL),
        ("DECIMAL(4,2)", Type.REAL),
        ("ENUM('a', 'b\n')", Type.TEXT),
        ("TIMESTAMP WITH TIME ZONE", Type.TIMESTAMP),
        ("BLOB", None),
        ("INTEGER[]", None),
        ("TIME", None),
    ],
)
def test_types_by_their_names(stored: str, type_: Type | None) -> None:
    assert type_of(stored) is type_


def test_columns_that_can_be_asked_about() -> None:
    found = {"a": "BIGINT", "b": "BLOB", "c": '"NULL"', "": "BIGINT"}
    assert plain(found) == {"a": Type.INTEGER, "c": Type.TEXT}
    assert columns_of(found) == {
        "a": StoredColumn('"a"', "BIGINT"),
        "c": StoredColumn("NULL", '"NULL"'),
    }


def test_what_is_stored_is_more_than_what_is_read() -> None:
    assert StoredColumn("x", "VARCHAR").there == "x"
    assert StoredColumn("TRY(x)", "VARCHAR", "x").there == "x"


def test_rows_are_read_as_declared() -> None:
    columns = {"N": StoredColumn("n", "VARCHAR")}
    stored = StoredTable("(VALUES ('1'), ('x')) t(n)", columns, row="7")
    table = Table("t", (Field("n", Type.INTEGER),))
    with connect() as connection:
        found = connection.execute(stored.read(table))
        assert [column[0] for column in found.description or ()] == ["n", "rowid"]
        assert found.fetchall() == [(1, 7), (None, 7)]
        only_rows = stored.read(Table("t", (), public=True))
        assert len(connection.execute(only_rows).fetchall()) == 2


def test_declarations_that_do_not_fit() -> None:
    stored = StoredTable("t", {"d": StoredColumn("d", "DATE")})
    for field, words in (
        (
            Field("d", Type.REAL),
            "the column 'd' of 't' holds values of type date, not real",
        ),
        (Field("e", Type.REAL), "has no column 'e'"),
    ):
        with pytest.raises(ArgumentError, match=words):
            stored.field(Table("t", (field,)), field)
