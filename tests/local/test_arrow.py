"""A column of messages counts like the list of its values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dither.local import arrow
from dither.local.tally import Tally
from dither.local.task import Task
from tests.local.samples import TASKS, arrived, same

KINDS = {"binary": pa.binary(), "large": pa.large_binary()}


def counted(task: Task, column: Any, **options: Any) -> Tally:
    batches = options.get("batches", False)
    found = arrow.messages(column, task.oracle.record, batches=batches)
    return task.tally(found, **options)


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("name", TASKS)
def test_a_column_is_a_list(name: str, batches: bool) -> None:
    task = TASKS[name]
    for seed in range(4):
        values = arrived(task, seed=seed)
        whole = task.tally(values, batches=batches)
        assert whole.messages >= 300
        assert {"format", "task", "version", "length"} <= set(whole.rejected)
        for kind in KINDS.values():
            column = pa.array(values, kind)
            assert same(counted(task, column, batches=batches), whole)


def test_a_column_of_one_period() -> None:
    task = TASKS["both"]
    values = arrived(task)
    for period in range(4):
        whole = task.tally(values, period=period)
        assert same(counted(task, pa.array(values), period=period), whole)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", [False, True])
def test_a_part_of_a_column(kind: str, null: bool) -> None:
    """Arrow cuts a column without moving its bytes."""
    task = TASKS["strata"]
    values = [one for one in arrived(task) if null or one is not None]
    column = pa.array(values, KINDS[kind])
    for place in (0, 1, 7, 300):
        part = column.slice(place, 50)
        whole = task.tally(values[place : place + 50], batches=True)
        assert same(counted(task, part, batches=True), whole)


@pytest.mark.parametrize("values", [[], [None] * 3, [b""] * 3])
def test_a_column_without_messages(values: list[bytes | None]) -> None:
    found = counted(TASKS["bits"], pa.array(values, pa.binary()))
    assert same(found, TASKS["bits"].tally(values))


def test_a_column_is_not_kept_as_objects() -> None:
    """Messages that follow each other in equal headers are one table of bytes."""
    task = TASKS["many cells"]
    column = pa.array(task.randomize([1] * 1000), pa.binary())
    (found,) = arrow.messages(column, task.oracle.record, batches=False)
    assert len(found) == 1000
