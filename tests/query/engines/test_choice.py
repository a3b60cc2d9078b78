"""Which engine reads a source, and that a server's account has a place."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dither
from dither.errors import ArgumentError
from dither.query.catalogue.file import dump_catalogue
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.choice import engine_for, engine_of, maker
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.load import parse_catalogue

Session = type(
    "SparkSession", (SimpleNamespace,), {"__module__": "pyspark.sql.session"}
)


def table(name: str, source: str, **more: Any) -> Table:
    return Table(
        name, (Field("id", Type.TEXT),), source=source, **{"owner": "id", **more}
    )


@pytest.mark.parametrize(
    ("source", "engine"),
    [
        ("visits.csv", "duckdb"),
        (Path("visits.parquet"), "duckdb"),
        ("postgresql://localhost/clinic", "postgres"),
        ("postgres://localhost/clinic", "postgres"),
        (Session(), "spark"),
        (object(), "duckdb"),
    ],
)
def test_a_source_says_its_engine(source: Any, engine: str) -> None:
    assert engine_of(source) == engine


def test_a_catalogue_names_its_engine_or_its_sources_do() -> None:
    unit = dither.Unit("id")
    assert engine_for(Catalogue("c", (table("a", "a.csv"),), unit)) == "duckdb"
    assert (
        engine_for(Catalogue("c", (table("a", "postgresql://here/x"),), unit))
        == "postgres"
    )
    assert (
        engine_for(Catalogue("c", (table("a", "a.parquet"),), unit, engine="spark"))
        == "spark"
    )
    mixed = Catalogue(
        "c", (table("a", "a.csv"), table("b", "postgresql://here/x")), unit
    )
    with pytest.raises(
        ArgumentError,
        match=r"'a' \(duckdb\) and 'b' \(postgres\) are read by different engines",
    ):
        engine_for(mixed)


def test_the_engine_of_a_catalogue_file_is_kept() -> None:
    text = 'name = "c"\nunit = "id"\nengine = "spark"\n[tables.a]\ntable = "shop.a"\n[tables.a.columns]\nid = "text"\n'
    found = parse_catalogue(text)
    assert found.engine == "spark"
    assert parse_catalogue(dump_catalogue(found)) == found


def test_the_maker_of_each() -> None:
    assert maker("duckdb") == DuckDBEngine.of
    with pytest.raises(
        ArgumentError,
        match="there is no engine 'oracle'; use one of 'duckdb', 'postgres', 'spark'",
    ):
        maker("oracle")


def test_a_server_has_no_place_for_a_book() -> None:
    with pytest.raises(ArgumentError, match="ledger is missing"):
        dither.open(
            "postgresql://nowhere.invalid/clinic", table="visits", unit="id", budget=3.0
        )
