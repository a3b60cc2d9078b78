"""What Spark can open, how its types are read, and what is refused before a question
can be asked.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

import dither
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.spark.engine import SparkEngine
from dither.query.engines.spark.lookup import name_of, public_values, schema_of
from dither.query.engines.spark.sessions import quiet
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
            match=f"{name} is stored as {stored}.*cast it to one in a view",
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
    with pytest.raises(ArgumentError, match="id holds reals, which are no ids"):
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


def test_names(spark):
    assert name_of(spark, "lake.clinic.visits") == "visits"
    assert name_of("", "delta.`/lake/visits.parquet`") == "visits"
    assert name_of("/lake/visits.parquet") == "visits"
    assert name_of(spark.range(1)) == "data"


def test_odd_names_of_columns(spark):
    frame = spark.createDataFrame(
        [(1, 2, 3, 4)], "`a.b` int, `c``d` int, `${x}` int, `Größe $1` int"
    )
    names = dict.fromkeys(("a.b", "c`d", "${x}", "größe $1"), Type.INTEGER)
    assert read(frame, **names) == [(1, 2, 3, 4)]
    with pytest.raises(ArgumentError, match="two columns named A"):
        schema_of(spark.sql("SELECT 1 a, 2 A"))


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
            match=f"others each time they are read, because of .*{why}.*write its rows to a",
        ):
            dither.open(spark, table="moving", unit="id", budget=1.0, ledger=":memory:")
    finally:
        spark.catalog.dropTempView("moving")


def test_functions_of_your_own_are_refused(spark):
    from pyspark.sql.functions import udf

    with quiet():  # of pandas versions
        frame = spark.range(3).select(udf(lambda x: x, "bigint")("id").alias("id"))
    with pytest.raises(ArgumentError, match="a function of your own"):
        dither.open(frame, unit="id", budget=1.0, ledger=":memory:")


def test_what_is_not_there(spark, tmp_path):
    with pytest.raises(ArgumentError, match="the session has no table visit "):
        dither.open(spark, table="visit", unit="id", budget=1.0, ledger=":memory:")
    with pytest.raises(ArgumentError, match="which table of the session is not said"):
        dither.open(spark, unit="id", budget=1.0, ledger=":memory:")
    with pytest.raises(ArgumentError, match="cannot be read as Parquet; name a file"):
        dither.open(
            str(tmp_path / "no.parquet"),
            engine="spark",
            unit="id",
            budget=1.0,
            ledger=":memory:",
        )
    with pytest.raises(
        ArgumentError, match="a list cannot be opened; pass a Spark session"
    ):
        schema_of([1])
    with pytest.raises(ArgumentError, match="its source has no column x; there is id"):
        read(spark.range(1), x=Type.INTEGER)
    with pytest.raises(ArgumentError, match="holds a integer, not a date"):
        read(spark.range(1), id=Type.DATE)


def test_public_values(spark, tmp_path):
    frame = spark.sql("SELECT * FROM VALUES ('b'), ('a'), (NULL), ('b') AS t(k)")
    frame.write.parquet(str(tmp_path / "keys"))
    assert public_values(str(tmp_path / "keys"), "", "k", Type.TEXT) == ["a", "b"]
    with pytest.raises(ArgumentError, match="has no column j"):
        public_values(frame, "", "j", Type.TEXT)


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


def test_the_curators_session_is_left_as_it_is(spark):
    before = {
        name: spark.conf.get(name, None)
        for name in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")
    }
    with dither.open(spark.range(5), unit="id", budget=1.0, ledger=":memory:"):
        assert [
            one.name
            for one in spark.catalog.listTables("global_temp")
            if one.name.startswith("dither")
        ]
    assert {name: spark.conf.get(name, None) for name in before} == before
    assert not spark.catalog.listTables()
    assert not [
        one.name
        for one in spark.catalog.listTables("global_temp")
        if one.name.startswith("dither")
    ]
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_times_do_not_depend_on_the_zone_of_the_session(spark):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        frame = spark.createDataFrame(
            [(datetime(2024, 1, 1, 23, tzinfo=UTC),)], "at timestamp"
        )
        assert read(frame, at=Type.TIMESTAMP) == [(datetime(2024, 1, 1, 23),)]
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
