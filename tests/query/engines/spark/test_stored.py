"""How Spark's columns are read as what they were declared, ids among them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

import dither
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.spark.engine import SparkEngine
from dither.query.engines.spark.lookup import schema_of
from tests.conformance.spark_asking import session

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def spark():
    return session()


def read(frame, *, owner=None, **types):
    """The rows of a frame as its declared types, in the order of the first column."""
    fields = tuple(
        Field(name, *(type_ if isinstance(type_, tuple) else (type_,)))
        for name, type_ in types.items()
    )
    table = Table("data", fields, public=owner is None, owner=owner)
    if owner is None:
        catalogue = Catalogue(
            "test", (table, Table("others", (Field("x", Type.INTEGER),)))
        )
        sources = {"data": frame, "others": frame.sparkSession.range(1).toDF("x")}
    else:
        catalogue, sources = (
            Catalogue("test", (table,), unit=Unit(owner)),
            {"data": frame},
        )
    with SparkEngine(catalogue, sources) as engine, engine.session() as opened:
        listed = ", ".join(engine.dialect.read(table, field) for field in fields)
        return opened.fetch(
            f"SELECT {listed} FROM {engine.dialect.relation(table)} ORDER BY 1"
        )


def test_types(spark):
    frame = spark.sql(
        "SELECT 1Y a, 2S b, 3 c, 4L d, 1.5F e, 2.5D f, 1.25BD g, 7BD h, 'x' i, TRUE j, DATE '2024-02-29' k,"
        " TIMESTAMP_NTZ '2024-02-29 12:00:00' l, TIMESTAMP '2024-02-29 12:00:00 Europe/Rome' m, NULL n"
    )
    found = schema_of(frame)
    kinds = (
        (Type.INTEGER,) * 4
        + (Type.REAL,) * 3
        + (Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE)
    )
    assert tuple(found.values()) == (*kinds, Type.TIMESTAMP, Type.TIMESTAMP, Type.TEXT)
    noon, eleven = datetime(2024, 2, 29, 12), datetime(2024, 2, 29, 11)
    row = (
        1,
        2,
        3,
        4,
        1.5,
        2.5,
        1.25,
        7,
        "x",
        True,
        date(2024, 2, 29),
        noon,
        eleven,
        None,
    )
    assert read(frame, **found) == [row]


def test_types_that_cannot_be_asked_about_are_left_out(spark):
    frame = spark.sql(
        "SELECT 1 a, array(1) b, map('k', 1) c, struct(1) d, X'00' e, INTERVAL '1' DAY f, parse_json('1') g"
    )
    assert schema_of(frame) == {"a": Type.INTEGER}
    for name, stored in (
        ("b", "array"),
        ("c", "map"),
        ("d", "struct"),
        ("e", "binary"),
        ("f", "interval"),
        ("g", "variant"),
    ):
        with pytest.raises(
            ArgumentError,
            match=f"the column '{name}' of .* is stored as {stored}.*cast it in a view",
        ):
            read(frame, **{name: Type.TEXT})


def test_numbers_are_read_within_their_bounds(spark):
    frame = spark.createDataFrame(
        [(0, "nan"), (1, "inf"), (2, "-inf"), (3, "7"), (4, None), (5, "-9")],
        "n int, text string",
    ).selectExpr("n", "CAST(text AS DOUBLE) AS x")
    bounded = read(frame, n=Type.INTEGER, x=(Type.REAL, Range(-1.0, 5.0)))
    assert [x for _, x in bounded] == [None, 5.0, -1.0, 5.0, None, -1.0]
    assert [x for _, x in read(frame, n=Type.INTEGER, x=Type.REAL)] == [
        None,
        None,
        None,
        7.0,
        None,
        -9.0,
    ]
    half = read(frame, n=Type.INTEGER, x=(Type.REAL, Range(-1.0, None)))
    assert [x for _, x in half] == [None, None, -1.0, 7.0, None, -1.0]


def test_dates_stay_within_the_years_1_to_9999(spark):
    frame = spark.sql(
        "SELECT 1 n, DATE '9999-12-31' + 1 d UNION ALL SELECT 2, DATE '0001-01-01' - 1"
    )
    assert read(frame, n=Type.INTEGER, d=Type.DATE) == [(1, date.max), (2, date.min)]


def test_wide_and_broken_numbers_as_ids(spark):
    ids = [
        Decimal("9007199254740993"),
        Decimal("9007199254740992"),
        Decimal("1.5"),
        Decimal("1e19"),
        None,
    ]
    frame = spark.createDataFrame([(one,) for one in ids], "id decimal(38,2)")
    found = read(frame, owner="id", id=Type.INTEGER)
    assert sorted(id_ or 0 for (id_,) in found) == [
        0,
        0,
        0,
        9007199254740992,
        9007199254740993,
    ]
    texts = spark.createDataFrame(
        [("7",), (" 7",), ("7.4",), ("x",), ("9223372036854775807",)], "id string"
    )
    found = read(texts, owner="id", id=Type.INTEGER)
    assert sorted(id_ or 0 for (id_,) in found) == [0, 0, 7, 7, 2**63 - 1]


def owners(spark, stored, type_, *values):
    """Whose rows are with ids that are stored like this."""
    rows = spark.createDataFrame(list(enumerate(values)), "n int, text string")
    frame = rows.selectExpr("n", f"CAST(text AS {stored}) AS id")
    return [id_ for _, id_ in read(frame, owner="id", n=Type.INTEGER, id=type_)]


def test_near_ids_are_different_owners(spark):
    near = [
        "9007199254740992",
        "9007199254740993",
        "9007199254740992.6",
        "5.0000000000000000000000001",
        "5e0",
        "5.0",
    ]
    assert owners(spark, "STRING", Type.INTEGER, *near) == [
        2**53,
        2**53 + 1,
        None,
        None,
        None,
        5,
    ]
    assert owners(spark, "DECIMAL(38,10)", Type.INTEGER, *near[:3], "0") == [
        2**53,
        2**53 + 1,
        None,
        0,
    ]
    assert owners(spark, "DECIMAL(38,10)", Type.TEXT, *near[:3], "100", "0") == [
        *near[:3],
        "100",
        "0",
    ]
    assert owners(spark, "DECIMAL(5,0)", Type.TEXT, "100") == ["100"]
    assert owners(spark, "DOUBLE", Type.INTEGER, "5.0", "5.5", "NaN") == [5, None, None]
    days = ["2024-01-01", "2024-01-01 10:00:00", "2024-01-02"]
    for stored in ("STRING", "TIMESTAMP_NTZ", "TIMESTAMP"):
        assert owners(spark, stored, Type.DATE, *days) == [
            date(2024, 1, 1),
            None,
            date(2024, 1, 2),
        ]
    fine = ["2024-01-01 00:00:00.123456", "2024-01-01 00:00:00.1234567"]
    assert owners(spark, "STRING", Type.TIMESTAMP, *fine)[1] is None
    with pytest.raises(ArgumentError, match="holds real numbers, which cannot be ids"):
        owners(spark, "DOUBLE", Type.TEXT, "5.0")


def test_texts_are_compared_byte_by_byte(spark):
    """Rule R10: a collation must not make two owners one, nor padding make one owner
    two.
    """
    frame = spark.sql(
        "SELECT * FROM VALUES ('Ann', 1), ('ANN', 2), ('ann ', 3) AS t(id, n)"
    )
    collated = frame.selectExpr("id COLLATE UNICODE_CI_RTRIM AS id", "n")
    with dither.open(
        collated, unit="id", budget=(1e9, 1e-6), ledger=":memory:"
    ) as database:
        assert database.sql(
            "SELECT COUNT(DISTINCT id) FROM data", epsilon=1e6
        ).rows == ((3,),)
    spark.sql("CREATE TABLE padded (id CHAR(5), name VARCHAR(5)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'a '), ('b    ', 'b')")
        assert read(spark.table("padded"), id=Type.TEXT, name=Type.TEXT) == [
            ("a", "a "),
            ("b", "b"),
        ]
    finally:
        spark.sql("DROP TABLE padded")


def test_odd_names_of_columns(spark):
    frame = spark.createDataFrame(
        [(1, 2, 3, 4)], "`a.b` int, `c``d` int, `${x}` int, `Größe $1` int"
    )
    names = dict.fromkeys(("a.b", "c`d", "${x}", "größe $1"), Type.INTEGER)
    assert read(frame, **names) == [(1, 2, 3, 4)]
    with pytest.raises(ArgumentError, match="two columns named 'A'"):
        schema_of(spark.sql("SELECT 1 a, 2 A"))
