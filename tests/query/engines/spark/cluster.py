"""A standalone Spark cluster of two workers on this machine, for as long as a test
needs it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.clock import PATIENCE, until

__all__ = ["cluster"]

WORKERS = 2
MEMORY = "700m"
LOG = """
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %m%n
"""


@contextmanager
def cluster() -> Iterator[str]:
    """The address of its master. Everything it started ends with it, and its folder is
    removed.
    """
    from pyspark.find_spark_home import _find_spark_home

    folder, started = (
        Path(tempfile.mkdtemp(prefix="dither-cluster-")),
        list[subprocess.Popen[bytes]](),
    )
    starter = Path(_find_spark_home()) / "bin" / "spark-class"
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    try:
        master = [
            starter,
            "org.apache.spark.deploy.master.Master",
            *here,
            "--port",
            str(port),
        ]
        started.append(_started(master, folder, "master"))
        _wait(folder / "master.log", "New state: ALIVE", 1)
        for number in range(WORKERS):
            size = ["-c", "1", "-m", MEMORY, "-d", str(folder / f"work{number}")]
            worker = [
                starter,
                "org.apache.spark.deploy.worker.Worker",
                *here,
                *size,
                address,
            ]
            started.append(_started(worker, folder, f"worker{number}"))
        _wait(folder / "master.log", "Registering worker", WORKERS)
        yield address
    finally:
        for process in reversed(started):
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _started(
    command: Sequence[object], folder: Path, name: str
) -> subprocess.Popen[bytes]:
    (folder / "log4j2.properties").write_text(LOG)
    options = f"-Dlog4j2.configurationFile={(folder / 'log4j2.properties').as_uri()} -XX:TieredStopAtLevel=1"
    given = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": options,
    }
    with (folder / f"{name}.log").open("wb") as said:
        return subprocess.Popen(
            list(map(str, command)), cwd=folder, stdout=said, stderr=said, env={**os.environ, **given},
            start_new_session=True,
        )  # fmt: skip


def _wait(log: Path, words: str, times: int) -> None:
    until(
        lambda: log.read_text(errors="replace").count(words) >= times,
        f"{words!r} is in {log}",
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """A process and its executors, which are in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
