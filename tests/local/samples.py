"""Messages of every kind in one list: of several strata and periods, of other tasks and
versions, cut, appended, in batches, and no messages at all.
"""

from __future__ import annotations

from datetime import date
from random import Random
from typing import Any

from dither import local
from dither.local.tally import Tally
from dither.local.task import Task
from dither.local.wire import Header, Messages

__all__ = ["TASKS", "arrived", "same"]

USUAL: dict[str, Any] = {"epsilon": 1, "n": 1000, "starts": date(2027, 1, 4)}
DAILY = USUAL | {"every": "day", "for_ever": 2, "distinct": 2}
WEEKLY = USUAL | {"every": "week", "for_ever": 2}
TASKS = {
    "strata": local.task("strata", domain=5, strata=("1.0", "1.1", "2.0"), **USUAL),
    "periods": local.task("periods", domain=6, **DAILY),
    "both": local.task("both", domain=40, strata=("a", "b"), **DAILY),
    "many cells": local.task("cells", domain=1000, oracle="local hashing", **USUAL),
    "bits": local.task("bits", domain=100, oracle="optimized unary", **USUAL),
    "subsets": local.task("subsets", domain=60, oracle="subset selection", **USUAL),
    "three bytes": local.task("words", oracle="Hadamard sketch", **USUAL),
    "cohorts": local.task("cohorts", **WEEKLY),
}
HEAD = 16


def arrived(task: Task, count: int = 300, seed: int = 1) -> list[bytes | None]:
    """What a server may hold of a task, good and bad, in any order."""
    rng = Random(seed)
    sent = [one for _ in range(3) for one in _sent(task, rng, count // 3)]
    other = local.task("other", domain=5, **USUAL).randomize([1] * 5)
    version = task.changed(minimum=5).randomize(["a"] * 5, stratum=_stratum(task, rng))
    good = rng.choice(sent)
    foreign = Header(b"12345678", task.version).to_bytes() + good[HEAD:]
    late = Header(task.tag, task.version, 999, 0).to_bytes() + good[HEAD:]
    unknown = Header(task.tag, task.version, 0, 99).to_bytes() + good[HEAD:]
    impossible = good[:HEAD] + b"\xff" * task.oracle.record
    found: list[bytes | None] = [*sent, *other, *version, foreign, late]
    found += [unknown, impossible]
    found += [None, None, b"", b"junk", bytes(len(good)), good[:-1], good[:HEAD]]
    found += [good[:1] + b"\x02" + good[2:], good[: HEAD - 1] + b"\x01" + good[HEAD:]]
    found += [
        good + b"\0",
        b"\xd2" + good[1:],
        good + good,
        good + late,
        good + bytes(len(good)),
    ]
    found += [good + b"\xd2" + good[1:], *_batched(sent[:7], task)]
    rng.shuffle(found)
    return found


def _sent(task: Task, rng: Random, count: int) -> list[bytes]:
    period = rng.randrange(min(task.periods, 4))
    values = [rng.randrange(5) for _ in range(count)]
    texts = [str(value) for value in values] if task.domain is None else values
    return list(task.randomize(texts, period=period, stratum=_stratum(task, rng)))


def _stratum(task: Task, rng: Random) -> str | None:
    return rng.choice(task.strata) if task.strata else None


def _batched(sent: list[bytes], task: Task) -> list[bytes]:
    """A batch, two in a row, one that is cut, and one of another task."""
    some = task.randomize(["1"] * 4, stratum=task.strata[0] if task.strata else None)
    batch = some.to_bytes()
    other = Messages(Header(b"12345678", 1), some.records).to_bytes()
    return [batch, batch + batch, batch[:-1], other, batch + sent[0]]


def same(one: Tally, other: Tally) -> bool:
    """Whether every integer is."""
    return (
        one.counts.tolist() == other.counts.tolist()
        and one.strata.tolist() == other.strata.tolist()
        and one.periods == other.periods
        and one.rejected == other.rejected
        and one.task == other.task
    )
