"""Tallies on a Spark cluster: one for each partition, added up as a tree.

A tally of a partition is the result of a task of Spark's, so that one that is tried
again, or runs twice, counts once. Executors get the task's document and give tallies as
bytes.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from dither import frames
from dither.errors import ArgumentError
from dither.local import arrow
from dither.local.task import Task

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["is_frame", "tally"]

TOGETHER = 8  # tallies that are added up in one place, of which this is the last
NOTHING = b""
ABSENT = re.compile(r"No module named '(\w+)")


def is_frame(messages: Any) -> bool:
    """Whether it is a data frame of Spark's; found out without loading PySpark."""
    package = type(messages).__module__.partition(".")[0]
    return package == "pyspark" and hasattr(messages, "mapInArrow")


def tally(task: Task, frame: Any, period: int | None, *, batches: bool) -> Tally:
    """The tally of a frame with one binary column."""
    _check(frame)
    tallies = _counted(frame, partial(_count, task.document, period, batches))
    add = partial(_add, task.document)
    depth = _depth(tallies.getNumPartitions())
    try:
        data = tallies.treeAggregate(NOTHING, add, add, depth)
    except Exception as failure:
        absent = ABSENT.search(str(failure))
        if absent is None:
            raise
        raise ArgumentError(
            "spark",
            f"the Spark executors do not have the package {absent[1]!r}; install "
            "Dither and pyarrow there, in the versions that are installed here",
        ) from None
    return task.read_tally(data) if data else task.tally([])


def _counted(frame: Any, count: Any) -> Any:
    """One tally for each partition, as bytes."""
    for name in ("pandas", "pyarrow"):  # PySpark asks for both, and we use one
        frames.package(name)
    with warnings.catch_warnings():  # about versions of pandas, which is not used
        warnings.simplefilter("ignore")
        return frame.mapInArrow(count, "tally binary").rdd.map(_only)


def _check(frame: Any) -> None:
    if ".connect." in type(frame).__module__:
        raise ArgumentError(
            "messages",
            "must not be a frame of Spark Connect, which cannot add up tallies on the "
            "cluster; pass a frame of a session that was made on the driver",
        )
    if frame.isStreaming:
        raise ArgumentError(
            "messages",
            "must not be a stream, which does not end; pass a frame of what it has "
            "written",
        )
    if [kind for _, kind in frame.dtypes] != ["binary"]:
        columns = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
        shown = columns[:200] or "none"
        raise ArgumentError(
            "messages",
            f"must be a frame with one binary column, but this one has {shown}; "
            'select it, as in frame.select("message")',
        )


def _depth(partitions: int) -> int:
    """Number of levels of the tree that adds up the tallies of this number of
    partitions.
    """
    return max(1, math.ceil(math.log(max(partitions, 1), TOGETHER)))


# on the executors


@lru_cache(maxsize=4)
def _task(document: bytes) -> Task:
    """Read once in a process: a worker counts many partitions."""
    return Task.from_document(document)


def _count(
    document: bytes, period: int | None, batches: bool, parts: Iterator[Any]
) -> Iterator[Any]:
    """The tally of a partition. Only one part of it is in memory at a time."""
    import pyarrow as pa

    task = _task(document)
    messages = (
        one
        for part in parts
        for one in arrow.messages(part.column(0), task.oracle.record, batches=batches)
    )
    counted = task.tally(messages, period=period, batches=batches)
    column = arrow.column_of(counted.to_bytes())
    yield pa.RecordBatch.from_arrays([column], ["tally"])


def _only(row: Any) -> bytes:
    return bytes(row[0])


def _add(document: bytes, left: bytes, right: bytes) -> bytes:
    if not left or not right:
        return left or right
    task = _task(document)
    return (task.read_tally(left) + task.read_tally(right)).to_bytes()
