"""Tallies on a Spark cluster: one for each partition, added up as a tree.

A tally of a partition is the result of a task of Spark's, so that one that is tried
again, or runs twice, counts once. Executors get the task's document and give tallies as
bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.local import arrow
from dither.local.task import Task

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["is_frame", "tally"]

TOGETHER = 8  # tallies that one machine adds up, here too
NOTHING = b""
ABSENT = "No module named 'dither"


def is_frame(messages: Any) -> bool:
    """Whether it is a data frame of Spark's; found out without loading PySpark."""
    package = type(messages).__module__.partition(".")[0]
    return package == "pyspark" and hasattr(messages, "mapInArrow")


def tally(task: Task, frame: Any, period: int | None, *, batches: bool) -> Tally:
    """The tally of a frame with one binary column."""
    _check(frame)
    count = partial(_count, task.document, period, batches)
    tallies = frame.mapInArrow(count, "tally binary").rdd.map(_only)
    depth = _depth(tallies.getNumPartitions())
    add = partial(_add, task.document)
    try:
        data = tallies.treeAggregate(NOTHING, add, add, depth)
    except Exception as failure:
        if ABSENT not in str(failure):
            raise
        raise ArgumentError(
            "messages",
            "cannot be counted: Dither is not installed on Spark's executors, or is "
            "older there; install there what is installed here",
        ) from None
    return task.read_tally(data) if data else task.tally([])


def _check(frame: Any) -> None:
    if ".connect." in type(frame).__module__:
        raise ArgumentError(
            "messages",
            "is a frame of Spark Connect, where tallies cannot be added up on the "
            "cluster; pass one of a session that was made on the driver",
        )
    if frame.isStreaming:
        raise ArgumentError(
            "messages", "is a stream, which does not end; pass what it has written"
        )
    columns = frame.schema.fields
    if [one.dataType.typeName() for one in columns] != ["binary"]:
        named = ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in columns)
        raise ArgumentError(
            "messages",
            f"must be a frame with one binary column, and this one has {named:.200}; "
            'select it, as in frame.select("message")',
        )


def _depth(partitions: int) -> int:
    """How often tallies are added up before the last few come here."""
    return max(2, math.ceil(math.log(max(partitions, 1), TOGETHER)))


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
    yield pa.RecordBatch.from_pydict({"tally": [counted.to_bytes()]})


def _only(row: Any) -> bytes:
    return bytes(row[0])


def _add(document: bytes, left: bytes, right: bytes) -> bytes:
    if not left or not right:
        return left or right
    task = _task(document)
    return (task.read_tally(left) + task.read_tally(right)).to_bytes()
