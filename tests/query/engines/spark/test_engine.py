"""The Spark engine: sessions of their own, failures without words, and what it leaves
behind.
"""

from __future__ import annotations

import threading
import traceback

import pytest

import dither
from dither.errors import EngineFailed
from dither.privacy import Unit
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines import session as engine_session
from dither.query.engines.protocol import Engine
from dither.query.engines.spark.engine import SparkEngine
from tests.conformance.spark_asking import session
from tests.query.engines.interrupting import interrupt_a_wait
from tests.query.engines.spark.test_sessions import run

pytestmark = pytest.mark.engine("spark")
SECRET = "Mrs Miller"


@pytest.fixture(scope="module")
def engine():
    frame = session().createDataFrame([(1, SECRET), (2, "B")], "id bigint, ward string")
    table = Table(
        "visits", (Field("id", Type.INTEGER), Field("ward", Type.TEXT)), owner="id"
    )
    with SparkEngine(
        Catalogue("clinic", (table,), unit=Unit("id")), {"visits": frame}
    ) as opened:
        yield opened


@pytest.fixture
def visits(engine):
    return engine.tables["visits"].relation


def test_it_is_an_engine(engine, visits):
    found: Engine = engine
    assert found.dialect.name == "spark"
    with found.session() as opened:
        assert opened.fetch(f"SELECT d0 FROM {visits} WHERE d1 = $1", ["B"]) == [(2,)]
        assert opened.fetch("SELECT $2, $1, $2", [1, 2]) == [(2, 1, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "$1",
        ":p1",
        "'; --",
        "a\\b",
        "\\'",
        '"',
        "${env:HOME}",
        "\n\t\0",
        "\U0001f600",
        "?",
    ],
)
def test_texts_are_passed_on_as_they_are(engine, text):
    with engine.session() as opened:
        assert opened.fetch("SELECT $1, $2, length($1)", [text, "x"]) == [
            (text, "x", len(text))
        ]


def test_temporary_tables_end_with_their_session(engine):
    with engine.session() as first, engine.session() as second:
        first.create("kept", "SELECT 1 AS x")
        second.create("kept", "SELECT 2 AS x")
        assert first.fetch("SELECT x FROM kept") == [(1,)]
        assert second.fetch("SELECT x FROM kept") == [(2,)]
    with engine.session() as third, pytest.raises(EngineFailed):
        third.fetch("SELECT x FROM kept")
    engine.failures.clear()
    assert session().sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_temporary_tables_are_computed_once(engine):
    with engine.session() as opened:
        opened.create("once", "SELECT id, uuid() AS x FROM range(50)")
        opened.create(
            "numbered",
            f"SELECT id, {engine.dialect.numbered()} AS i, uuid() AS x FROM range(50)",
        )
        for name in ("once", "numbered"):
            assert opened.fetch(f"SELECT x FROM {name} ORDER BY id") == opened.fetch(
                f"SELECT x FROM {name} ORDER BY id"
            )
        assert opened.fetch(
            "SELECT min(i), max(i), count(DISTINCT i) FROM numbered"
        ) == [(0, 49, 50)]


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT CAST(d1 AS INT) FROM {visits}", []),
        ("SELECT 1 / (d0 - 2) FROM {visits}", []),
        ("SELECT raise_error(d1) FROM {visits}", []),
        ("SELECT nothing FROM nowhere", []),
        ("SELECT $1", []),
        ("SELECT $1", [object()]),
        ("SELECT * FROM", []),
    ],
)
def test_failures_say_nothing(engine, visits, capfd, sql, parameters):
    engine.failures.clear()
    with engine.session() as opened:
        with pytest.raises(EngineFailed) as caught:
            opened.fetch(sql.format(visits=visits), parameters)
        assert opened.fetch(f"SELECT count(*) FROM {visits}") == [(2,)]
    problem = caught.value
    assert (
        str(problem)
        == "the engine could not finish this question; ask the curator to look at the cause"
    )
    assert (problem.__cause__, problem.__context__) == (None, None)
    assert SECRET not in "".join(traceback.format_exception(problem))
    assert len(engine.failures) == 1
    assert "".join(capfd.readouterr()) == ""


def test_the_curator_can_look_into_failures(engine, visits):
    with engine.session() as opened, pytest.raises(EngineFailed):
        opened.fetch(f"SELECT CAST(d1 AS INT) FROM {visits} WHERE d0 = 1")
    assert SECRET in engine.failures[-1]


def test_a_cancelled_job_is_a_failure_that_is_charged():
    spark = session()
    rows = spark.range(30_000_000).selectExpr("id % 1000003 AS unit", "id % 77 AS x")
    with dither.open(
        rows, unit="unit", bounds={"x": (0, 77)}, budget=1.0, ledger=":memory:"
    ) as database:
        over = threading.Event()

        def cancel():
            while not over.wait(0.001):
                spark.sparkContext.cancelAllJobs()

        killer = threading.Thread(target=cancel)
        killer.start()
        try:
            with pytest.raises(EngineFailed, match="could not finish this question"):
                database.sql("SELECT SUM(x) FROM data", epsilon=0.5)
        finally:
            over.set()
            killer.join()
        assert database.account.spent > 0.4


def test_a_question_has_its_time():
    """Its jobs are cancelled when the time is up; the next question has a time of its
    own.
    """
    table = Table("visits", (Field("id", Type.INTEGER),), owner="id")
    catalogue = Catalogue("clinic", (table,), unit=Unit("id"), limits=Limits(seconds=3))
    with SparkEngine(
        catalogue, {"visits": session().range(9).selectExpr("id")}
    ) as engine:
        with (
            engine.session() as opened,
            pytest.raises(EngineFailed, match="could not finish"),
        ):
            opened.fetch(
                "SELECT count(DISTINCT hash(a.id, b.id)) FROM range(1000000000) a, range(1000000000) b"
            )
        assert (
            engine.failures.pop()
            == "TimeoutError: the question took longer than 3 seconds"
        )
        engine._limits = Limits()  # three seconds may be short on a busy machine
        with engine.session() as opened:
            assert opened.fetch("SELECT 1") == [(1,)]


def test_ctrl_c_ends_a_long_statement(engine, monkeypatch):
    interrupt_a_wait(monkeypatch, engine_session, 20)
    with engine.session() as opened:
        with pytest.raises(KeyboardInterrupt):
            opened.fetch(
                "SELECT count(*) FROM range(3000000) a JOIN range(3000000) b ON a.id % 2 = b.id % 3"
            )
        assert opened.fetch("SELECT 1") == [(1,)]


@pytest.mark.full
def test_a_session_that_is_stopped_in_the_middle(tmp_path):
    session()
    done = run(f"""
        import os, dither
        os.chdir({str(tmp_path)!r})
        from dither.errors import EngineFailed
        from dither.query.engines.spark.sessions import start
        spark = start("local[1]", **{{"spark.driver.memory": "600m"}})
        database = dither.open(spark.range(9), unit="id", budget=1.0, ledger=":memory:")
        database.sql("SELECT COUNT(*) FROM data", epsilon=0.25)
        spark.stop()
        try:
            database.sql("SELECT COUNT(DISTINCT id) FROM data", epsilon=0.25)
        except EngineFailed as error:
            print(error, database.account.spent > 0.4, os.listdir())
        database.close()
        database.close()
        """)
    assert (
        done.stdout
        == "the engine could not finish this question; ask the curator to look at the cause True []\n"
    )
    assert done.stderr == ""
    assert done.returncode == 0
