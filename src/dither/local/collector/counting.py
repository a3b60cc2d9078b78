"""How a group of parcels is counted: summed up in memory first, then decided and
written in one transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dither.local.collector.outcome import ACCEPTED, DUPLICATE, Outcome, refused
from dither.local.collector.published import DIRECT, Published
from dither.local.collector.reading import Parcel, Place
from dither.local.collector.recent import Recent
from dither.local.collector.rows import Rows
from dither.local.task import Task

__all__ = ["Group", "Sum"]

Whole = NDArray[np.int64]
Packed = NDArray[np.uint8]

STEP = 1 << 17  # records that are tallied together, so that they stay in the cache
AHEAD = 1 << 23  # cells that are added up before a transaction begins, of all places


@dataclass(frozen=True)
class Sum:
    """The sums of the parcels of one place, and the number of valid records of each."""

    counts: Whole | None
    """None if they are added up later, one place after the other."""
    valid: list[int]

    @classmethod
    def of(cls, task: Task, parcels: Sequence[Parcel], *, ahead: bool) -> Sum:
        records, good = _records(task, parcels)
        if good.all():
            counts = _tallied(task, records) if ahead else None
            return cls(counts, [parcel.count for parcel in parcels])
        ends = np.cumsum([parcel.count for parcel in parcels])
        passed = np.cumsum(good)[ends - 1]
        valid = np.diff(passed, prepend=0).tolist()
        return cls(_tallied(task, records[good]) if ahead else None, valid)


def _records(task: Task, parcels: Sequence[Parcel]) -> tuple[Packed, NDArray[np.bool_]]:
    """All records of parcels, and which of them are valid."""
    body = b"".join([parcel.records for parcel in parcels])
    records = np.frombuffer(body, np.uint8).reshape(-1, task.oracle.record)
    return records, task.oracle.valid(records)


def _counts(task: Task, parcels: Sequence[Parcel]) -> Whole:
    records, good = _records(task, parcels)
    return _tallied(task, records[good])


def _ended(parcel: Parcel, published: Published) -> str:
    """Why a parcel is refused that could be read, as a code; empty if it is not."""
    relay = parcel.relay
    if relay.number != DIRECT and relay.hash not in published.tokens:
        return "token-unknown"
    return published.state(parcel.place.task)


def _tallied(task: Task, records: Packed) -> Whole:
    counts = np.zeros(task.oracle.cells, np.int64)
    step = max(STEP, 2 * task.oracle.cells)
    for start in range(0, len(records), step):
        counts += task.oracle.tally(records[start : start + step])
    return counts


@dataclass
class Group:
    """Parcels that are counted in one transaction. They are added up before it begins,
    as if every one were new, for nearly all are: nobody else waits meanwhile. But
    messages for many places with large tallies would fill the memory, so some places
    wait until they are written.

    A parcel is counted whole or not at all, except for records that no device could
    have sent: those are left out, and their number is told. To refuse the others with
    them would let one broken device silence all that share its relay's batch.
    """

    parcels: Sequence[Parcel]
    outcomes: list[Outcome | None] = field(init=False)
    sums: dict[Place, Sum] = field(init=False)

    def __post_init__(self) -> None:
        self.outcomes = [None] * len(self.parcels)
        self.numbers: dict[Place, list[int]] = defaultdict(list)
        for number, parcel in enumerate(self.parcels):
            self.numbers[parcel.place].append(number)
        self.sums = {}
        cells = 0
        for place, numbers in self.numbers.items():
            cells += place.task.oracle.cells
            ahead = cells <= AHEAD or not self.sums
            parcels = [self.parcels[one] for one in numbers]
            self.sums[place] = Sum.of(place.task, parcels, ahead=ahead)

    def decide(
        self, rows: Rows, number: int, recent: Recent, published: Published
    ) -> list[Outcome]:
        """Outcome of each parcel, written to the tables by the transaction of this
        number.
        """
        for one, parcel in enumerate(self.parcels):
            # A task or a relay may have ended since the parcel was read
            if parcel.place.facts != published.facts:
                ended = _ended(parcel, published)
                self.outcomes[one] = refused(ended) if ended else None
        spans: dict[Place, int] = {}
        for place in self.sums:
            self._find_span(rows, place, spans)
        together: dict[int, list[int]] = defaultdict(list)
        for place, span in spans.items():
            together[span] += self._undecided(place)
        for span, numbers in together.items():
            self._decide(rows, recent, span, sorted(numbers))
            new = [self.parcels[one].id for one in numbers if self._is_accepted(one)]
            if new:
                rows.keep(number, span, new)
        for place, span in spans.items():
            self._add(rows, place, span)
        return [outcome or refused("failed") for outcome in self.outcomes]

    def _is_accepted(self, one: int) -> bool:
        outcome = self.outcomes[one]
        return outcome is not None and outcome.status == ACCEPTED

    def _undecided(self, place: Place) -> Iterator[int]:
        return (one for one in self.numbers[place] if self.outcomes[one] is None)

    def _find_span(self, rows: Rows, place: Place, spans: dict[Place, int]) -> None:
        """Refuse what is not valid, and everything if the period was closed."""
        for number, valid in self._valid(place):
            if not valid and self.outcomes[number] is None:
                self.outcomes[number] = refused("invalid")
        if next(self._undecided(place), None) is None:
            return
        span = rows.span(place.task.name, place.first, place.closes)
        if not span.closed:
            spans[place] = span.number
            return
        for number in self._undecided(place):
            self.outcomes[number] = refused("period-closed")

    def _valid(self, place: Place) -> Iterator[tuple[int, int]]:
        return zip(self.numbers[place], self.sums[place].valid, strict=True)

    def _decide(
        self, rows: Rows, recent: Recent, span: int, numbers: list[int]
    ) -> None:
        """Tell new parcels from duplicates, and those that fit a quota from others."""
        first = {self.parcels[one].id: one for one in reversed(numbers)}
        known = recent.known(rows, span, list(first))
        valid = {one: n for place in self.sums for one, n in self._valid(place)}
        quotas = Quotas(rows, span)
        for one in numbers:
            parcel = self.parcels[one]
            if parcel.id in known:
                self.outcomes[one] = Outcome(DUPLICATE)
            elif first[parcel.id] != one:
                self.outcomes[one] = self._repeated(first[parcel.id])
            elif quotas.fits(parcel):
                quotas.used[parcel.relay.number] += valid[one]
                left_out = parcel.count - valid[one]
                self.outcomes[one] = Outcome(ACCEPTED, valid[one], left_out)
            else:
                self.outcomes[one] = refused("quota-used")
        quotas.write()

    def _repeated(self, first: int) -> Outcome | None:
        """The same id twice in a group: as if the other had come before."""
        before = self.outcomes[first]
        counted = before is not None and before.counted
        return Outcome(DUPLICATE) if counted else before

    def _add(self, rows: Rows, place: Place, span: int) -> None:
        """Add what was accepted: the sum, less what was counted before or refused."""
        numbers = self.numbers[place]
        said = [self.outcomes[one] or refused("failed") for one in numbers]
        out = [self.parcels[one] for one in numbers if not self._is_accepted(one)]
        if len(out) == len(numbers):
            return
        counts = self.sums[place].counts
        if counts is None:
            new = [self.parcels[one] for one in numbers if self._is_accepted(one)]
            counts = _counts(place.task, new)
        elif out:
            counts = counts - _counts(place.task, out)
        messages = sum(outcome.messages for outcome in said)
        invalid = sum(outcome.invalid for outcome in said)
        rows.add(place.key, span, counts, messages, invalid)


@dataclass
class Quotas:
    """Number of messages that each relay has brought to a span, and brings now."""

    rows: Rows
    span: int
    before: dict[int, int] = field(default_factory=dict)
    used: Counter[int] = field(default_factory=Counter)

    def fits(self, parcel: Parcel) -> bool:
        relay = parcel.relay.number
        if relay not in self.before:
            self.before[relay] = self.rows.used(self.span, relay)
        brought = self.before[relay] + self.used[relay]
        return brought + parcel.count <= parcel.relay.quota

    def write(self) -> None:
        for relay, messages in self.used.items():
            self.rows.use(self.span, relay, messages)
