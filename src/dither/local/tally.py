"""The integers that messages add up to. Tallies of parts add up to the tally of the
whole, wherever the parts were counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.wire import BATCH, FORMAT, HEADER, SINGLE, Header, Messages

if TYPE_CHECKING:
    from dither.local.task import Task

__all__ = ["Tally", "tally"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

TOGETHER = 1 << 17
MAGIC = b"\xd3\x01"  # a tally, in format 1
REASONS = ("format", "task", "version", "length", "period", "stratum", "value")


@dataclass(frozen=True, eq=False)
class Tally:
    """What the messages of a task say together: integers, a row for each stratum.

    `periods` counts the messages of each period, `rejected` what was not counted, and
    why. Nothing in here belongs to one device.
    """

    task: Task
    counts: Whole
    periods: Mapping[int, int] = field(default_factory=dict)
    strata: Whole = field(default_factory=lambda: np.zeros(1, np.int64))
    rejected: Mapping[str, int] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        """How many messages are in it."""
        return int(self.strata.sum())

    def __len__(self) -> int:
        return self.messages

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.task.document != self.task.document:
            raise ArgumentError(
                "tally",
                "is of another task, or of another version of this task; add only "
                "tallies of one version",
            )
        return Tally(
            self.task,
            self.counts + other.counts,
            _added(self.periods, other.periods),
            self.strata + other.strata,
            _added(self.rejected, other.rejected),
        )

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # so that sum() works

    def of(self, stratum: str) -> Tally:
        """The messages of one declared stratum. Their periods are those of all."""
        if not self.task.strata:
            raise ArgumentError(
                "stratum", "the task declares no strata; use the tally as it is"
            )
        chosen = np.zeros(len(self.strata), np.int64)
        chosen[self.task.stratum(stratum)] = 1
        return replace(
            self, counts=self.counts * chosen[:, None], strata=self.strata * chosen
        )

    def estimate(
        self,
        candidates: Any = None,
        *,
        false_discoveries: float = 0.05,
    ) -> Any:
        """What the task asks for, unbiased, with intervals: how frequent each value is
        (`Frequencies`), or the mean, variance or distribution of numbers.

        Where the vocabulary is open, `candidates` are the values to look for; of
        several attributes, it is the name of one, or the names of a pair.
        `false_discoveries` is the share of false ones among the values that are
        marked as found.
        """
        from dither.local.estimating import estimate

        return estimate(self, candidates, false_discoveries)

    def to_bytes(self) -> bytes:
        """The tally for another server: `task.read_tally` reads it again."""
        about = {
            "task": self.task.tag.hex(),
            "version": self.task.version,
            "periods": [[period, count] for period, count in self.periods.items()],
            "strata": self.strata.tolist(),
            "rejected": dict(self.rejected),
        }
        head = json.dumps(about, sort_keys=True).encode()
        sizes = MAGIC + len(head).to_bytes(4, "little")
        return sizes + head + self.counts.astype("<i8", copy=False).tobytes()

    @property
    def left_out(self) -> str:
        """How many messages were rejected, and why; empty if none was."""
        reasons = ", ".join(f"{why} {count:,}" for why, count in self.rejected.items())
        out = sum(self.rejected.values())
        return f"{out:,} rejected ({reasons})" if out else ""

    def __str__(self) -> str:
        more = f"; {self.left_out}" if self.rejected else ""
        return f"{self.task.name}: {self.messages:,} messages{more}"


def read(task: Task, data: bytes) -> Tally:
    """A tally as `Tally.to_bytes` wrote it."""
    try:
        head, counts = _split(data)
        if (head["task"], head["version"]) != (task.tag.hex(), task.version):
            raise ArgumentError(
                "data",
                "is a tally of another task or version; read it with the task that it "
                "belongs to",
            )
        strata = np.array(head["strata"], np.int64)
        table = counts.reshape(max(len(task.strata), 1), task.oracle.cells)
        periods = {int(period): int(count) for period, count in head["periods"]}
        rejected = {why: int(head["rejected"].get(why, 0)) for why in REASONS}
    except ArgumentError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ArgumentError(
            "data", "is not a tally; pass what tally.to_bytes() returned"
        ) from None
    if len(strata) != len(table) or strata.sum() != sum(periods.values()):
        raise ArgumentError(
            "data",
            "is not consistent, so it was changed or cut off; pass what "
            "tally.to_bytes() returned",
        )
    kept = {why: count for why, count in rejected.items() if count}
    return Tally(task, table.astype(np.int64), periods, strata, kept)


def _split(data: bytes) -> tuple[Any, Whole]:
    start = len(MAGIC) + 4
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("not a tally")
    size = int.from_bytes(data[len(MAGIC) : start], "little")
    head = json.loads(data[start : start + size])
    return head, np.frombuffer(data, "<i8", offset=start + size)


def _added(left: Mapping[Any, int], right: Mapping[Any, int]) -> dict[Any, int]:
    return dict(sorted((Counter(left) + Counter(right)).items()))


def tally(
    task: Task, messages: Any, period: int | None, *, batches: bool = False
) -> Tally:
    """Count what is a message of this task, and of this period if one is given."""
    strata = max(len(task.strata), 1)
    counts = np.zeros((strata, task.oracle.cells), np.int64)
    sums, periods = np.zeros(strata, np.int64), Counter[int]()
    rejected = Counter[str]()
    for header, records in _batches(task, messages, rejected, batches):
        reason = _mistake(task, header, records, period)
        if reason:
            rejected[reason] += len(records)
            continue
        for part in _parts(records, task.oracle.cells):
            good = task.oracle.valid(part)
            accepted = int(np.count_nonzero(good))
            rejected["value"] += len(part) - accepted
            if accepted:
                kept = part if accepted == len(part) else part[good]
                counts[header.stratum] += task.oracle.tally(kept)
                sums[header.stratum] += accepted
                periods[header.period] += accepted
    out = {why: rejected[why] for why in REASONS if rejected[why]}
    return Tally(task, counts, dict(sorted(periods.items())), sums, out)


def _parts(records: Packed, cells: int) -> Iterator[Packed]:
    """Records that are counted together: few enough for the cache, and so many that
    adding up the cells hardly counts.
    """
    step = max(TOGETHER, 2 * cells)
    for start in range(0, len(records), step):
        yield records[start : start + step]


def _mistake(
    task: Task, header: Header, records: Packed, period: int | None
) -> str | None:
    """Why messages do not belong to the task; None if they do."""
    if header.version != task.version:
        return "version"
    if header.tag != task.tag:
        return "task"
    if records.shape[1] != task.oracle.record:
        return "length"
    wanted = header.period if period is None else period
    if header.period != wanted or header.period >= task.periods:
        return "period"
    if header.stratum >= max(len(task.strata), 1):
        return "stratum"
    return None


def _batches(
    task: Task, messages: Any, rejected: Counter[str], batches: bool
) -> Iterator[tuple[Header, Packed]]:
    """Messages with equal headers together."""
    singles: dict[bytes, list[bytes]] = {}
    size = HEADER + task.oracle.record
    several = batches or isinstance(messages, bytes | bytearray | memoryview)
    for one in _listed(messages):
        if isinstance(one, Messages):
            yield one.header, one.records
            continue
        data = bytes(one) if isinstance(one, bytes | bytearray | memoryview) else b""
        if several and data[:1] == bytes([BATCH]):
            yield from _batch(task, data, rejected)
        elif data[:1] != bytes([SINGLE]) or len(data) <= HEADER:
            rejected["format"] += 1
        elif len(data) % size if several else len(data) != size:
            rejected["length"] += 1
        else:
            _sort(data, size, singles, rejected)
    for head, records in singles.items():
        body = np.frombuffer(b"".join(records), np.uint8)
        yield Header.from_bytes(head), body.reshape(len(records), -1)


def _sort(
    data: bytes, size: int, singles: dict[bytes, list[bytes]], rejected: Counter[str]
) -> None:
    """One message, or several that were appended to one another."""
    for start in range(0, len(data), size):
        head = data[start : start + HEADER]
        if head[0] != SINGLE or head[1] != FORMAT or head[-1]:
            rejected["format"] += 1
            continue
        singles.setdefault(head, []).append(data[start + HEADER : start + size])


def _batch(
    task: Task, data: bytes, rejected: Counter[str]
) -> Iterator[tuple[Header, Packed]]:
    """One batch, or several that were appended to one another."""
    size = Messages.size(data, task.oracle.record)
    ours = data[4:12] == task.tag
    first, rest = (data[:size], data[size:]) if ours and size else (data, b"")
    try:
        batch = Messages.from_bytes(first)
    except ArgumentError:
        rejected["format"] += 1
        return
    yield batch.header, batch.records
    if rest[:1] == bytes([BATCH]):
        yield from _batch(task, rest, rejected)
    elif rest:
        rejected["format"] += 1


def _listed(messages: Any) -> Iterable[Any]:
    if isinstance(messages, Messages | bytes | bytearray | memoryview):
        return (messages,)
    if isinstance(messages, str) or not isinstance(messages, Iterable):
        raise ArgumentError("messages", "must be bytes, or a list of bytes")
    return messages
