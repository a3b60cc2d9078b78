"""A frame of messages is counted on the cluster, with the integers of one process."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dither.errors import ArgumentError
from dither.local import spark as module
from tests.conformance.spark_asking import session
from tests.local.samples import TASKS, arrived, same
from tests.query.engines.spark.cluster import cluster
from tests.test_docs import ROOT, blocks

pytestmark = pytest.mark.engine("spark")

SCHEMA = "message binary"


@pytest.fixture(scope="module")
def spark() -> Any:
    return session()


def framed(spark: Any, values: list[bytes | None], parts: int) -> Any:
    """A frame with so many partitions, some of which may be empty."""
    rows = spark.sparkContext.parallelize([(value,) for value in values], parts)
    return spark.createDataFrame(rows, SCHEMA)


ONE_IN_TWO = [
    pytest.param(seed, marks=[pytest.mark.full] if seed % 2 else [])
    for seed in range(4)
]
"""Each seed asks a quarter of the tasks. Half of them wait for the full run."""


@pytest.mark.parametrize("seed", ONE_IN_TWO)
def test_a_frame_counts_like_a_list(spark: Any, seed: int) -> None:
    """Tasks, partitions, periods and batches vary."""
    rng = Random(seed)
    for name in list(TASKS)[seed::4]:
        task, parts = TASKS[name], rng.choice([1, 2, 3, 5])
        values = arrived(task, seed=seed)
        options: dict[str, Any] = {
            "period": rng.choice([None, 0]),
            "batches": rng.random() < 0.5,
        }
        found = task.tally(framed(spark, values, parts), **options)
        whole = task.tally(values, **options)
        assert whole.messages
        assert same(found, whole), (name, parts, options)
        assert str(found) == str(whole)


def test_more_partitions_than_one_machine_adds_up(spark: Any) -> None:
    """A tree of several levels; some of its partitions are empty."""
    task, parts = TASKS["many cells"], module.TOGETHER + 2
    values = arrived(task, 30)
    few = framed(spark, values, parts).where("length(message) % 5 > 0")
    kept = [one for one in values if one is not None and len(one) % 5]
    assert module._depth(parts) > 1
    assert same(task.tally(few), task.tally(kept))


def test_parquet_files(spark: Any, tmp_path: Path) -> None:
    task = TASKS["strata"]
    parts = [arrived(task, seed=seed) for seed in range(3)]
    for place, values in enumerate(parts):
        table = pa.table({"day": [place] * len(values), "message": values})
        pq.write_table(table, tmp_path / f"{place}.parquet")
    inbox = spark.read.parquet(str(tmp_path))
    whole = task.tally([value for values in parts for value in values])
    assert same(task.tally(inbox.select("message")), whole)
    one = task.tally(inbox.where("day = 1").select("message"))
    assert same(one, task.tally(parts[1]))


def test_a_frame_without_rows(spark: Any) -> None:
    task = TASKS["strata"]
    nothing = spark.createDataFrame([], SCHEMA)
    for frame in (nothing, nothing.limit(0)):  # empty partitions; none at all
        assert same(task.tally(frame), task.tally([]))


def test_a_frame_that_is_no_column_of_messages(spark: Any) -> None:
    frame = spark.sql("SELECT X'D101' AS message, 'text' AS word, 5 AS day")
    for wrong, shown in (
        (frame, "message binary, word string, day int"),
        (frame.select("word"), "word string"),
        (frame.select(), "none"),
    ):
        with pytest.raises(ArgumentError, match=f"this one has {shown}"):
            TASKS["bits"].tally(wrong)
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ArgumentError, match="must not be a stream"):
        TASKS["bits"].tally(stream)


def test_a_frame_of_spark_connect() -> None:
    kind = type("DataFrame", (SimpleNamespace,), {"mapInArrow": None})
    kind.__module__ = "pyspark.sql.connect.dataframe"
    with pytest.raises(ArgumentError, match="Spark Connect"):
        TASKS["bits"].tally(kind())


def test_what_is_no_period_is_refused_before_anything_runs(spark: Any) -> None:
    with pytest.raises(ArgumentError, match="period"):
        TASKS["bits"].tally(framed(spark, [b""], 1), period=9)


def broken(parts: Any) -> Any:
    """Fails where a message says so."""
    for part in parts:
        if b"fail" in part.column(0).to_pylist():
            raise ValueError("a disk is gone")
        yield part


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_partition_that_fails_leaves_no_tally(spark: Any) -> None:
    """Neither half a tally nor an empty one; and the next is counted as ever."""
    values = [*TASKS["strata"].randomize([1] * 20, stratum="1.0"), b"fail"]
    frame = framed(spark, list(values), 2)
    with pytest.raises(Exception, match="a disk is gone"):
        TASKS["strata"].tally(frame.mapInArrow(broken, SCHEMA))
    assert TASKS["strata"].tally(frame).rejected == {"format": 1}


@pytest.mark.full
@pytest.mark.usefixtures("spark")  # or a skipped test
def test_an_executor_that_dies_on_a_cluster(tmp_path: Path) -> None:
    """With tallies that it had added up: they are counted again, and once."""
    with cluster() as master:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", DYING, master, str(tmp_path)],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        )  # fmt: skip
    assert done.stdout == "True\n", done.stderr[-3000:]
    assert (tmp_path / "dead").exists()


DYING = """if True:
    import os, signal, sys
    from pathlib import Path
    from dither.query.engines.spark.sessions import start
    from tests.local.samples import TASKS, arrived, same

    own = {"spark.driver.memory": "700m", "spark.executor.memory": "500m"}
    here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    both = {"spark.scheduler.minRegisteredResourcesRatio": "1.0"}
    spark = start(sys.argv[1], **own, **here, **both)
    folder = sys.argv[2]

    def dying(parts):
        from pyspark import TaskContext

        dead = Path(folder) / "dead"
        if TaskContext.get().partitionId() == 9 and not dead.exists():
            dead.touch()
            daemon = Path(f"/proc/{os.getppid()}/status").read_text()
            executor = daemon.partition("PPid:")[2].split()[0]
            os.kill(int(executor), signal.SIGKILL)
        yield from parts

    task = TASKS["both"]
    values = arrived(task, 3000)
    rows = spark.sparkContext.parallelize([(value,) for value in values], 12)
    frame = spark.createDataFrame(rows, "message binary")
    found = task.tally(frame.mapInArrow(dying, "message binary"))
    print(same(found, task.tally(values)))
"""


def test_executors_without_dither(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another package of that name stands in for none."""
    (tmp_path / "dither").mkdir()
    (tmp_path / "dither" / "__init__.py").touch()
    context = spark.sparkContext
    monkeypatch.setitem(context.environment, "PYTHONPATH", str(tmp_path))
    with pytest.raises(ArgumentError, match="package 'dither'; install Dither"):
        TASKS["strata"].tally(framed(spark, [b""], 1))


def test_an_executor_needs_few_packages() -> None:
    task = TASKS["many cells"]
    code = f"""if True:
        import sys
        for name in ("duckdb", "sqlglot", "rich", "click", "scipy", "pyspark", "pandas"):
            sys.modules[name] = None
        import pyarrow
        from dither.local.arrow import column_of
        from dither.local.spark import _add, _count
        rows = pyarrow.RecordBatch.from_arrays([column_of(b"junk")], ["message"])
        (found,) = _count({task.document!r}, None, False, iter([rows]))
        (tally,) = found.column(0).to_pylist()
        print(len(_add({task.document!r}, tally, tally)) >= len(tally))
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_what_executors_hold() -> None:
    """A few tallies and a part of a partition, however many messages there are: the
    terms of the formula in docs/local-spark.md.
    """
    task = TASKS["many cells"]
    one = 8 * task.oracle.cells
    sent = pa.array(task.randomize(np.arange(10_000) % 1000), pa.binary())
    part = pa.RecordBatch.from_arrays([sent], ["message"])

    def count(parts: int) -> bytes:
        same_part = iter([part] * parts)
        (found,) = module._count(task.document, None, False, same_part)
        return bytes(found.column(0)[0].as_buffer())

    few, many = peak(lambda: count(5)), peak(lambda: count(50))
    assert many < 1.1 * few
    assert many < 3.2 * one + 4 * part.nbytes
    data = count(1)
    assert peak(lambda: module._add(task.document, data, data)) < 3.2 * one


def peak(work: Callable[[], object]) -> int:
    """The most bytes at a time that some work takes, its result included."""
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        found = work()
        assert found
        return tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before
    finally:
        tracemalloc.stop()


def test_the_page(spark: Any, tmp_path: Path, capsys: Any) -> None:
    page = (ROOT / "docs" / "local-spark.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"spark": spark.newSession()}  # it sets something
    found = [block.code for block in blocks(page) if block.language == "py"]
    assert found
    for code in found:
        # Spark was started elsewhere: what it calls here is another folder
        placed = code.replace('"inbox"', repr(str(tmp_path / "inbox")))
        exec(compile(placed, "docs/local-spark.md", "exec"), names)
    assert capsys.readouterr().out.splitlines()[0] in page
    assert (tmp_path / "inbox").is_dir()
