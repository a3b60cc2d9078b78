"""What Spark can open, how its types are read, and what is refused before a question
can be asked.
"""

from __future__ import annotations

import pytest

import dither
from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.spark.lookup import name_of, public_values, schema_of
from tests.conformance.spark_asking import session
from tests.query.engines.spark.test_stored import read

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def spark():
    return session()


def test_names(spark):
    assert name_of(spark, "lake.clinic.visits") == "visits"
    assert name_of("", "delta.`/lake/visits.parquet`") == "visits"
    assert name_of("/lake/visits.parquet") == "visits"
    assert name_of(spark.range(1)) == "data"


def test_a_view_of_the_curators_session(spark):
    spark.range(20).selectExpr("id % 5 AS unit", "id AS x").createOrReplaceTempView(
        "mine"
    )
    try:
        with dither.open(
            spark,
            table="mine",
            unit="unit",
            bounds={"x": (0, 20)},
            budget=1e9,
            ledger=":memory:",
        ) as opened:
            assert opened.sql(
                "SELECT COUNT(*) FROM mine", epsilon=1e6, radius=100
            ).rows == ((20,),)
    finally:
        spark.catalog.dropTempView("mine")


def test_what_is_not_there(spark, tmp_path):
    with pytest.raises(ArgumentError, match="the session has no table 'visit' "):
        dither.open(spark, table="visit", unit="id", budget=1.0, ledger=":memory:")
    with pytest.raises(ArgumentError, match="pass the name of a table of the session"):
        dither.open(spark, unit="id", budget=1.0, ledger=":memory:")
    with pytest.raises(
        ArgumentError, match="cannot be read as Parquet; name a Parquet file"
    ):
        dither.open(
            str(tmp_path / "no.parquet"),
            engine="spark",
            unit="id",
            budget=1.0,
            ledger=":memory:",
        )
    with pytest.raises(
        ArgumentError,
        match="a source of type list cannot be opened; pass a Spark session",
    ):
        schema_of([1])
    with pytest.raises(ArgumentError, match="has no column 'x'; use id"):
        read(spark.range(1), x=Type.INTEGER)
    with pytest.raises(ArgumentError, match="holds values of type integer, not date"):
        read(spark.range(1), id=Type.DATE)


def test_public_values(spark, tmp_path):
    frame = spark.sql("SELECT * FROM VALUES ('b'), ('a'), (NULL), ('b') AS t(k)")
    frame.write.parquet(str(tmp_path / "keys"))
    assert public_values(str(tmp_path / "keys"), "", "k", Type.TEXT) == ["a", "b"]
    with pytest.raises(ArgumentError, match="has no column 'j'"):
        public_values(frame, "", "j", Type.TEXT)


def test_spark_connect_is_refused():
    Remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    with pytest.raises(
        dither.errors.ArgumentError,
        match="Spark Connect, whose plans cannot be inspected",
    ):
        dither.open(Remote(), table="visits", unit="id", budget=1.0, ledger=":memory:")
