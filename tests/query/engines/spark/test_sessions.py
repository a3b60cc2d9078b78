"""Sessions of Spark: how one starts, and how ours differs from the curator's, which is
left as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime

import pytest

import dither
from dither.query.catalogue.types import Type
from dither.query.engines.spark import sessions as spark_sessions
from tests.conformance.spark_asking import session
from tests.query.engines.spark.test_stored import read

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def spark():
    return session()


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


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True, text=True, env=given, timeout=300, check=False,
    )  # fmt: skip


OPEN = """
    import dither
    try:
        dither.open("x.parquet", engine="spark", unit="id", budget=1.0, ledger=":memory:")
    except dither.errors.DitherError as error:
        print(error)
    """


def test_missing_java(tmp_path):
    session()
    done = run(OPEN, PATH=str(tmp_path), JAVA_HOME="")
    assert done.stdout == (
        "Spark needs Java, which was not found; install Java 17 or newer, and set JAVA_HOME if it is not found\n"
    )
    done = run(OPEN, JAVA_HOME=str(tmp_path))
    assert "Spark needs Java, which was not found" in done.stdout


def test_old_java(tmp_path):
    session()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    done = run(OPEN, JAVA_HOME=str(tmp_path))
    assert done.stdout == (
        "Java 11 is too old for Spark 4; "
        "install Java 17 or newer, and set JAVA_HOME if it is not found\n"
    )


def test_our_own_settings():
    found = spark_sessions.own(session())
    assert {
        name: found.conf.get(name) for name in spark_sessions.SETTINGS
    } == spark_sessions.SETTINGS
    assert found.conf.get("spark.sql.shuffle.partitions") == session().conf.get(
        "spark.sql.shuffle.partitions"
    )
