"""A Spark session for all tests of the engine, and the tables of `world.stored` as
Parquet files for it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dither.errors import ArgumentError, MissingExtra
from dither.query.catalogue.model import Catalogue
from dither.query.engines.protocol import Engine
from dither.query.engines.spark.engine import SparkEngine
from dither.query.engines.spark.sessions import start
from tests.conformance.world import CATALOGUES, stored

__all__ = ["ENGINES", "session", "spark_engine"]

SMALL = {
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
}
"""Questions about a few rows: what takes time is to compile and to plan them. Memory goes to
the parser, which remembers what it has read: 0.5 GB after all tests."""


def session() -> Any:
    """The one session of this process, started when it is first needed and ended with
    the process; else a skipped test."""
    found = _started()
    if not isinstance(found, Exception):
        return found
    if os.environ.get("CI"):
        pytest.fail(f"CI must test Spark too: {found}", pytrace=False)
    pytest.skip(f"Spark is not tested: {found}")


@cache
def _started() -> Any:
    try:
        return start("local[2]", **SMALL)
    except (ArgumentError, MissingExtra) as error:
        return error


@cache
def folder() -> Path:
    """A Parquet file for each table of the conformance suite."""
    made = Path(tempfile.mkdtemp(prefix="dither-tables-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for name in {
        table.name for catalogue in CATALOGUES.values() for table in catalogue.tables
    }:
        stored().execute(f"COPY stored.{name} TO '{made}/{name}.parquet'")
    return made


def spark_engine(catalogue: Catalogue) -> Engine:
    session()
    return SparkEngine.of(
        catalogue,
        {table.name: f"{folder()}/{table.name}.parquet" for table in catalogue.tables},
    )


ENGINES = {"spark": spark_engine}
