"""Columns as PostgreSQL stores them, and declarations that do not fit them."""

from __future__ import annotations

import pytest

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.postgres.engine import PostgresEngine
from tests.query.engines.postgres.test_engine import made
from tests.query.engines.postgres.test_lookup import KINDS

pytestmark = pytest.mark.engine("postgres")


@pytest.fixture(scope="module")
def address() -> str:
    return made(KINDS)


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
        f"the column '{column}' of 'kinds' has the type {shown}, which is not supported; leave it out, or make a view"
        in str(refused.value)
    )


def test_a_type_that_is_another(address: str) -> None:
    table = Table("kinds", (Field("b", Type.INTEGER), Field("k", Type.REAL)), owner="b")
    with pytest.raises(
        ArgumentError,
        match=r"the column 'k' of '.*' holds values of type date, not real",
    ):
        PostgresEngine.of(Catalogue("c", (table,), unit=Unit("b")), {"kinds": address})
    table = Table("kinds", (Field("bb", Type.INTEGER),), owner="bb")
    with pytest.raises(ArgumentError, match="has no column 'bb'; did you mean b"):
        PostgresEngine.of(Catalogue("c", (table,), unit=Unit("bb")), {"kinds": address})
