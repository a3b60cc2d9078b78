"""The DuckDB engine: sessions of their own, failures without words, and a connection
that can do nothing else.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from dither.errors import ArgumentError, EngineFailed
from dither.privacy import Unit
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import Type
from dither.query.engines import session as engine_session
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.protocol import Engine
from tests.query.engines.interrupting import interrupt_a_wait

SECRET = "Mrs Miller"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    (tmp_path / "visits.csv").write_text(
        f"id,ward\n1,{SECRET}\n2,B\n", encoding="utf-8"
    )
    fields = (Field("id", Type.INTEGER), Field("ward", Type.TEXT))
    table = Table("visits", fields, owner="id", source=str(tmp_path / "visits.csv"))
    with DuckDBEngine.of(Catalogue("clinic", (table,), unit=Unit("id"))) as opened:
        yield opened


def test_it_is_an_engine(engine: DuckDBEngine) -> None:
    found: Engine = engine
    assert found.dialect.name == "duckdb"
    with found.session() as session:
        assert session.fetch("SELECT id FROM visits WHERE ward = $1", ["B"]) == [(2,)]
        assert session.fetch(
            "SELECT $2::INTEGER, $1::INTEGER, $2::INTEGER", [1, 2]
        ) == [(2, 1, 2)]


def test_temporary_tables_end_with_their_session(engine: DuckDBEngine) -> None:
    with engine.session() as first, engine.session() as second:
        first.create("kept", "SELECT 1 AS x")
        second.create("kept", "SELECT 2 AS x")
        assert first.fetch("SELECT x FROM kept") == [(1,)]
        assert second.fetch("SELECT x FROM kept") == [(2,)]
    with engine.session() as third, pytest.raises(EngineFailed):
        third.fetch("SELECT x FROM kept")


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT CAST(ward AS INTEGER) FROM visits", []),
        ("SELECT error(ward) FROM visits", []),
        ("SELECT nothing FROM nowhere", []),
        ("SELECT $1", []),
        ("SELECT 1", [object()]),
        ("SELECT * FROM", []),
    ],
)
def test_failures_say_nothing(
    engine: DuckDBEngine, sql: str, parameters: list[Any]
) -> None:
    with engine.session() as session:
        with pytest.raises(EngineFailed) as caught:
            session.fetch(sql, parameters)
        assert session.fetch("SELECT count(*) FROM visits") == [(2,)]
    problem = caught.value
    assert (
        str(problem)
        == "the engine could not finish this question; ask the curator to look at the cause"
    )
    assert problem.__cause__ is None
    assert problem.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(problem))
    assert len(engine.failures) == 1


def test_the_curator_can_look_into_failures(engine: DuckDBEngine) -> None:
    with engine.session() as session:
        for _ in range(30):
            with pytest.raises(EngineFailed):
                session.fetch("SELECT CAST(ward AS INTEGER) FROM visits")
    assert SECRET in engine.failures[-1]
    assert len(engine.failures) == 20


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{here}/visits.csv')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '{here}/visits.csv'",
        "COPY visits TO '{here}/out.csv'",
        "ATTACH '{here}/out.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 1",
        "SELECT * FROM outside",
        "SELECT getenv('HOME')",
    ],
)
def test_nothing_else_is_within_reach(
    engine: DuckDBEngine, tmp_path: Path, sql: str
) -> None:
    outside = pd.DataFrame({"x": [1]})
    with engine.session() as session, pytest.raises(EngineFailed):
        session.fetch(sql.format(here=tmp_path))
    assert len(outside) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv"]


def test_only_the_parquet_files_that_were_opened(tmp_path: Path) -> None:
    for name in ("a", "b"):
        duckdb.connect().execute(
            f"COPY (SELECT range AS x FROM range(3)) TO '{tmp_path}/{name}.parquet'"
        )
    table = Table("data", (Field("x", Type.INTEGER),), source=f"{tmp_path}/a.parquet")
    with (
        DuckDBEngine.of(Catalogue("c", (table,))) as engine,
        engine.session() as session,
    ):
        assert session.fetch("SELECT sum(x), count(DISTINCT rowid) FROM data") == [
            (3, 3)
        ]
        with pytest.raises(EngineFailed):
            session.fetch(f"SELECT * FROM read_parquet('{tmp_path}/b.parquet')")


def test_the_session_is_in_utc(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    with engine.session() as session:
        assert session.fetch("SELECT current_setting('TimeZone')") == [("UTC",)]


def test_many_at_once(engine: DuckDBEngine) -> None:
    found, together = [], threading.Barrier(8)

    def ask(number: int) -> None:
        with engine.session() as session:
            session.create("mine", f"SELECT {number} AS x FROM visits")
            together.wait()
            found.append(session.fetch("SELECT sum(x) FROM mine")[0][0])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [2 * number for number in range(8)]


# Most of it runs in one long task, which DuckDB's own handling of signals does not
# interrupt.
LONG = "SELECT count(*) FROM (SELECT range % 10000019 AS a, count(*) FROM range(1000000000000) GROUP BY a)"
"""It takes hours."""


def test_ctrl_c_ends_a_long_question(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_a_wait(monkeypatch, engine_session, 6)
    with engine.session() as session:
        with pytest.raises(KeyboardInterrupt):
            session.fetch(LONG)
        assert session.fetch("SELECT 1") == [(1,)]
    assert not engine.failures


def limited(**limits: float) -> DuckDBEngine:
    table = Table("data", (Field("x", Type.INTEGER),))
    catalogue = Catalogue("c", (table,), limits=Limits(**limits))
    return DuckDBEngine.of(catalogue, {"data": pd.DataFrame({"x": range(1000)})})


def test_a_question_has_its_time() -> None:
    """It would take for ever; the engine is interrupted, and the next question has a
    time of its own.
    """
    with limited(seconds=0.3) as engine:
        for _ in range(2):
            with (
                engine.session() as session,
                pytest.raises(EngineFailed, match="could not finish"),
            ):
                session.fetch(
                    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range <> b.range"
                )
        assert [words.partition(":")[0] for words in engine.failures] == [
            "TimeoutError"
        ] * 2
        with engine.session() as session:
            assert session.fetch("SELECT count(*) FROM data") == [(1000,)]


def test_a_question_has_its_memory_and_disk() -> None:
    with limited(memory=50, disk=50) as engine:
        with (
            engine.session() as session,
            pytest.raises(EngineFailed, match="could not finish"),
        ):
            session.create(
                "large", "SELECT md5(range::VARCHAR) AS x FROM range(10000000)"
            )
        assert "OutOfMemoryException" in engine.failures[0]
        with engine.session() as session:
            assert session.fetch("SELECT sum(x) FROM data") == [(499500,)]


def test_loaded_tables_do_not_count_as_a_questions_memory() -> None:
    frame = pd.DataFrame({"x": range(8_000_000)})
    catalogue = Catalogue(
        "c", (Table("data", (Field("x", Type.INTEGER),)),), limits=Limits(memory=40)
    )
    with (
        DuckDBEngine.of(catalogue, {"data": frame}) as engine,
        engine.session() as session,
    ):
        assert session.fetch("SELECT count(DISTINCT x % 1000) FROM data") == [(1000,)]


def test_a_limit_above_what_the_machine_has_changes_nothing() -> None:
    with (
        limited() as engine,
        limited(memory=10**11) as large,
        engine.session() as one,
        large.session() as other,
    ):
        asked = "SELECT current_setting('memory_limit')"
        assert one.fetch(asked) != other.fetch(asked)
        assert duckdb.connect().execute(asked).fetchall() == other.fetch(asked)


def test_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frame = pd.DataFrame({"x": [1]})
    catalogue = Catalogue("c", (Table("data", (Field("x", Type.INTEGER),)),))
    engine = DuckDBEngine.of(catalogue, {"data": frame})
    assert len(list(tmp_path.iterdir())) == 1
    engine.close()
    engine.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ArgumentError):
        DuckDBEngine.of(catalogue, {"data": tmp_path / "gone.csv"})
    assert list(tmp_path.iterdir()) == []


def test_several_tables(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "c.duckdb") as made:
        made.execute(
            "CREATE TABLE visits AS SELECT 1 AS id, 7 AS visit; CREATE TABLE codes AS SELECT 7 AS visit, 'x' AS code"
        )
    number = Field("visit", Type.INTEGER)
    tables = (
        Table(
            "Visits",
            (Field("id", Type.INTEGER), number),
            owner="id",
            source=f"{tmp_path}/c.duckdb",
            stored="visits",
        ),
        Table(
            "codes",
            (number, Field("code", Type.TEXT)),
            link=Link("visit", "visits", "visit"),
        ),
        Table('odd "name"', (Field("region", Type.TEXT),), public=True),
    )
    catalogue = Catalogue("c", tables, unit=Unit("id"))
    sources = {
        "CODES": (tmp_path / "c.duckdb", "codes"),
        'odd "name"': pd.DataFrame({"region": ["n", "s"]}),
    }
    with DuckDBEngine.of(catalogue, sources) as engine, engine.session() as session:
        assert session.fetch("SELECT code FROM visits JOIN codes USING (visit)") == [
            ("x",)
        ]
        assert session.fetch(
            f"SELECT count(*) FROM {engine.dialect.relation(tables[2])}"
        ) == [(2,)]


def test_a_table_without_a_source() -> None:
    catalogue = Catalogue("c", (Table("data", (Field("x", Type.INTEGER),)),))
    with pytest.raises(
        ArgumentError, match="has no source; name the file or address of its rows"
    ):
        DuckDBEngine.of(catalogue)
    with pytest.raises(ArgumentError, match="the table 'dta' does not exist"):
        DuckDBEngine.of(catalogue, {"dta": pd.DataFrame()})


def test_a_table_of_which_only_the_rows_count(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    catalogue = Catalogue("c", (Table("data", (), source=str(tmp_path / "t.csv")),))
    with DuckDBEngine.of(catalogue) as engine, engine.session() as session:
        assert session.fetch("SELECT count(*), count(DISTINCT rowid) FROM data") == [
            (2, 2)
        ]


def test_keys_that_owners_are_found_by_are_not_rounded():
    """A key of 1.4 would become 1, and the rows of both would lose their owner (or find
    another's).
    """
    visits = Table(
        "visits", (Field("id", Type.TEXT), Field("visit", Type.INTEGER)), owner="id"
    )
    codes = Table(
        "codes", (Field("visit", Type.INTEGER),), link=Link("visit", "visits", "visit")
    )
    catalogue = Catalogue("c", (visits, codes), unit=Unit("id"))
    assert catalogue.table("visits").linked == {"visit"}
    frames = {
        "visits": pd.DataFrame({"id": ["a", "b"], "visit": [1.0, 1.4]}),
        "codes": pd.DataFrame({"visit": [1]}),
    }
    with DuckDBEngine.of(catalogue, frames) as engine, engine.session() as session:
        assert session.fetch("SELECT visit FROM visits ORDER BY id") == [(1,), (None,)]
