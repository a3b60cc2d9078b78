"""Data frames that may give other rows each time are refused; others keep their rows'
ids.
"""

from __future__ import annotations

import pytest

import dither
from dither.errors import ArgumentError
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.spark.engine import SparkEngine
from dither.query.engines.spark.sessions import quiet
from tests.conformance.spark_asking import session

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def spark():
    return session()


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT id, rand() AS x FROM range(9)", "rand"),
        ("SELECT id, uuid() AS x FROM range(9)", "uuid"),
        (
            "SELECT id, monotonically_increasing_id() AS x FROM range(9)",
            "monotonically_increasing_id",
        ),
        (
            "SELECT id FROM range(9) WHERE timestamp_micros(id) < current_timestamp()",
            "current_timestamp",
        ),
        (
            "SELECT id FROM range(9) WHERE id IN (SELECT CAST(9 * rand() AS INT))",
            "rand",
        ),
        ("SELECT id FROM (SELECT id FROM range(9) LIMIT 3)", "LIMIT"),
        ("SELECT id FROM (SELECT id FROM range(9)) TABLESAMPLE (3 ROWS)", "LIMIT"),
        (
            "SELECT id FROM (SELECT id FROM range(9)) TABLESAMPLE (30 PERCENT)",
            "TABLESAMPLE",
        ),
        ("SELECT id % 3 AS id, first(id) AS x FROM range(9) GROUP BY 1", "first"),
    ],
)
def test_a_view_that_hides_a_volatile_function(spark, sql, why):
    spark.sql(sql).createOrReplaceTempView("moving")
    try:
        with pytest.raises(
            ArgumentError,
            match=f"may differ each time they are read, because of .*{why}.*write its rows to a",
        ):
            dither.open(spark, table="moving", unit="id", budget=1.0, ledger=":memory:")
    finally:
        spark.catalog.dropTempView("moving")


def test_functions_of_your_own_are_refused(spark):
    from pyspark.sql.functions import udf

    with quiet():  # of pandas versions
        frame = spark.range(3).select(udf(lambda x: x, "bigint")("id").alias("id"))
    with pytest.raises(ArgumentError, match="a user-defined function"):
        dither.open(frame, unit="id", budget=1.0, ledger=":memory:")


def test_rows_as_units_keep_their_ids(spark, tmp_path):
    """In files by their places, and else in a copy: a question that reads them twice
    finds the same.
    """
    made = spark.range(40).selectExpr("id % 7 AS x")
    made.write.parquet(str(tmp_path / "rows"))
    for frame in (
        spark.read.parquet(str(tmp_path / "rows")),
        made,
        made.groupBy("x").count(),
    ):
        table = Table("data", (Field("x", Type.INTEGER, Range(0, 9)),))
        with (
            SparkEngine(Catalogue("test", (table,)), {"data": frame}) as engine,
            engine.session() as opened,
        ):
            ids = f"SELECT {engine.dialect.owner(table)} AS u FROM {engine.dialect.relation(table)}"
            joined = f"SELECT count(*), count(DISTINCT a.u) FROM ({ids}) a JOIN ({ids}) b ON a.u = b.u"
            assert opened.fetch(joined) == [(frame.count(),) * 2]
