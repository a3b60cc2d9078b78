"""Sessions of Spark: the one that is there, or a local one that is started quietly; and
one of our own beside it.

Our own session shares the context, its cluster and its tables, but has its own
settings: ANSI mode, UTC, and others on which the meaning of a statement depends. The
curator's session is left as it is.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from dither.errors import ArgumentError, MissingExtra

__all__ = ["hushed", "own", "quiet", "running", "shared", "start"]

OLDEST_JAVA = 17
SETTINGS = {
    # Without ANSI mode, integers that overflow wrap around instead of raising.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # A text in a statement means itself: no ${variables}, and escapes as they are usual.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
USUAL_PARTITIONS = "200"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
FORGOTTEN = (
    "spark.sql.ui.retainedExecutions",
    "spark.ui.retainedJobs",
    "spark.ui.retainedStages",
)
"""What Spark remembers for a web page that is not shown; after a thousand questions it
would fill the memory.
"""
T = TypeVar("T")
_here = threading.local()


def pyspark() -> Any:
    """The package; it warns of newer pandas versions, which are not used here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark.sql as package
    except ImportError:
        raise MissingExtra("pyspark", "spark") from None
    return package


def running() -> Any:
    """The session that is active, or one that is started here."""
    return pyspark().SparkSession.getActiveSession() or start()


def start(master: str | None = None, **settings: str) -> Any:
    """A session for this process. Without a master it is the one of Spark's own
    configuration, else all local cores.

    It writes nothing to the terminal and leaves nothing in the working directory.
    """
    package = pyspark()
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master is None or master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    folder = Path(tempfile.mkdtemp(prefix="dither-spark-"))
    atexit.register(_end, folder)
    given = _quietly(folder) | ({"spark.master": master} if master else {}) | settings
    if JAVA_OPTIONS in settings:
        given[JAVA_OPTIONS] = (
            f"{_quietly(folder)[JAVA_OPTIONS]} {settings[JAVA_OPTIONS]}"
        )
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        conf = SparkConf(loadDefaults=False).setAll(list(given.items()))
        if SparkContext._gateway is None:
            SparkContext._ensure_initialized(
                gateway=_launched(launch_gateway, conf, folder)
            )
        return (
            package.SparkSession.builder.config(conf=conf)
            .appName("dither")
            .getOrCreate()
        )


def _end(folder: Path) -> None:
    """Before this process ends, so that nothing of Spark's is left on the disk."""
    from pyspark import SparkContext

    with suppress(Exception):
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()
        gateway: Any = SparkContext._gateway
        process = gateway.proc
        gateway.shutdown()
        process.stdin.close()
        process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def _quietly(folder: Path) -> dict[str, str]:
    log = Path(__file__).with_name("log.properties").as_uri()
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        **dict.fromkeys(FORGOTTEN, "10"),
        "spark.sql.maxPlanStringLength": "1000",
        # What the parser remembers grows with every statement, until nothing is left.
        "spark.sql.parser.manageParserCaches": "true",
        "spark.sql.parser.parserDfaCacheFlushRatio": "25",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        JAVA_OPTIONS: f"-Dlog4j2.configurationFile={log} -Dderby.system.home={folder}",
    }


def _launched(launch: Any, conf: Any, folder: Path) -> Any:
    """The machine that Spark runs on. What it says at its start is kept from the
    terminal.
    """
    with (folder / "start.log").open("wb") as said:
        try:
            return launch(conf, {"stderr": said, "stdout": said})
        except Exception:
            last = (
                (folder / "start.log")
                .read_text(errors="replace")
                .strip()
                .splitlines()[-1:]
            )
    raise ArgumentError(
        "spark",
        f"Spark could not be started: {''.join(last)[:300] or 'no reason was given'}; "
        "check its settings and Java",
    )


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    wanted = (
        f"install Java {OLDEST_JAVA} or newer, and set JAVA_HOME if it is not found"
    )
    if java is None or not Path(java).exists():
        raise ArgumentError("java", f"Spark needs Java, which was not found; {wanted}")
    said = subprocess.run(
        [java, "-version"], capture_output=True, text=True, check=False
    ).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < OLDEST_JAVA:
        why = (
            f"Java {found[1]} is too old for Spark 4"
            if found
            else "the version of Java is unknown"
        )
        raise ArgumentError("java", f"{why}; {wanted}")


def own(spark: Any) -> Any:
    """A session of our own on the same cluster."""
    made = spark.newSession()
    for name, value in SETTINGS.items():
        made.conf.set(name, value)
    partitions = spark.conf.get("spark.sql.shuffle.partitions", USUAL_PARTITIONS)
    # Nobody chose it: in step with the cores, and joined where they are small
    if partitions == USUAL_PARTITIONS:
        partitions = str(4 * spark.sparkContext.defaultParallelism)
    made.conf.set("spark.sql.shuffle.partitions", partitions)
    return made


def shared(spark: Any) -> str:
    """The database of the views that all sessions of a context see."""
    return str(spark.conf.get("spark.sql.globalTempDatabase", "global_temp"))


class _Hushed(logging.Filter):
    """PySpark logs what failed, private values and all; not what fails in here."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - none of them, whatever it says
        return not getattr(_here, "hushed", False)


HUSHED = _Hushed()


@contextmanager
def quiet() -> Iterator[None]:
    """PySpark's log messages and warnings in this thread are suppressed."""
    with warnings.catch_warnings(), _hush():
        warnings.simplefilter("ignore")
        yield


def hushed(work: Callable[[], T]) -> T:
    """The result of some work, during which PySpark logs nothing in this thread.
    (Warnings are not a thread's own.)
    """
    with _hush():
        return work()


@contextmanager
def _hush() -> Iterator[None]:
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(HUSHED)
    before, _here.hushed = getattr(_here, "hushed", False), True
    try:
        yield
    finally:
        _here.hushed = before
