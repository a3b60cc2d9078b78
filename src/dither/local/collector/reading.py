"""Parcels as they arrive: bytes that anybody may have sent. Everything is checked here
that public facts can tell, before anything is opened or counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

from dither.local.collector.published import DIRECT, Published, Relay, hashed
from dither.local.parcels import PARCEL, START
from dither.local.task import Task
from dither.local.wire import BATCH, COUNT, FORMAT, HEADER, LAYOUT, SINGLE

__all__ = ["Parcel", "Place", "Refusal", "Rules", "closing", "read"]

EARLY = timedelta(days=1)
"""Largest lead of a device's clock over the collector's."""
TOGETHER = 1_000
"""Parcels of one body: each takes time to read, during which nobody is answered."""
START_OF_PARCEL = bytes([PARCEL, FORMAT])


def closing(task: Task, first: date, grace: int) -> date:
    """The first day on which a period takes no more messages. It is the earliest that
    there is if no period of the task begins on that day.
    """
    days = (first - task.starts).days
    begins = days % task.every == 0 if task.every else days == 0
    if not begins or not task.starts <= first < task.expires:
        return date.min
    ends = first + timedelta(days=task.every) if task.every else task.expires
    return min(ends, task.expires) + timedelta(days=grace)


class Refusal(Exception):
    """A parcel is refused; the argument is the code."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The key of a tally: a task, a period of it and a stratum."""

    task: Task
    period: int
    stratum: int
    first: date
    closes: date
    """The first day on which the period takes no more messages."""
    facts: int
    """Number of changes of tasks and relays when this was found open."""

    @property
    def key(self) -> tuple[bytes, int, int]:
        return self.task.tag, self.period, self.stratum


@dataclass(frozen=True, slots=True)
class Parcel:
    """One parcel that can be counted, if its id is new and there is room."""

    id: bytes
    place: Place
    count: int
    records: memoryview
    relay: Relay
    """The sender, as known when it was read."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Public facts that decide together with the bytes; and the places that are open
    under them, by their headers.
    """

    published: Published
    today: date
    grace: int
    direct: int
    places: dict[bytes, Place] = field(default_factory=dict)
    nobody: Relay = field(init=False)
    """Stands for all who send without a token."""

    def __post_init__(self) -> None:
        nobody = Relay(DIRECT, "", "", self.direct)
        object.__setattr__(self, "nobody", nobody)

    def place(self, header: bytes) -> Place:
        """The place of a message; `header` begins with its format."""
        known = self.places.get(header)
        if known is None:
            known = self.places[header] = self._look(header)
        return known

    def _look(self, header: bytes) -> Place:
        _, form, version, tag, period, stratum, rest = LAYOUT.unpack(b"\0" + header)
        if form != FORMAT or rest:
            raise Refusal("malformed")
        task = self.published.tasks.get(tag)
        if task is None:
            raise Refusal("task-unknown")
        if task.version != version:
            raise Refusal("malformed")
        state = self.published.state(task)
        if state:
            raise Refusal(state)
        if stratum >= max(len(task.strata), 1):
            raise Refusal("stratum-unknown")
        if period >= task.periods:
            raise Refusal("period-unknown")
        return self._open(task, period, stratum)

    def _open(self, task: Task, period: int, stratum: int) -> Place:
        first = task.first_day(period)
        if first > self.today + EARLY:
            raise Refusal("period-early")
        if self.today >= task.expires + timedelta(days=self.grace):
            raise Refusal("task-expired")
        closes = closing(task, first, self.grace)
        if self.today >= closes:
            raise Refusal("period-closed")
        return Place(task, period, stratum, first, closes, self.published.facts)

    def relay(self, token: str | None) -> Relay | None:
        if token is None:
            return None
        relay = self.published.tokens.get(hashed(token))
        if relay is None:
            raise Refusal("token-unknown")
        return relay


def read(data: bytes, token: str | None, rules: Rules) -> list[Parcel]:
    """The parcels of a body: one, or several that were appended to one another.

    Raises `Refusal` where any of them cannot be counted: then none is.
    """
    relay = rules.relay(token)
    end, parcel = _next(data, 0, relay, rules)
    parcels = [parcel]
    while end < len(data):
        end, parcel = _next(data, end, relay, rules)
        parcels.append(parcel)
        if len(parcels) > TOGETHER:
            raise Refusal("too-large")
    return parcels


def _next(
    data: bytes, start: int, relay: Relay | None, rules: Rules
) -> tuple[int, Parcel]:
    """The parcel that begins at a place, and where the next one would."""
    body = start + START
    if data[start : start + 2] != START_OF_PARCEL:
        raise Refusal("malformed")
    if len(data) < body + HEADER:
        raise Refusal("truncated")
    magic = data[body]
    if magic not in (SINGLE, BATCH):
        raise Refusal("malformed")
    place = rules.place(data[body + 1 : body + HEADER])
    first, count = _counted(data, body + HEADER, magic)
    if magic == BATCH and relay is None:
        raise Refusal("token-missing")
    end = first + count * place.task.oracle.record
    # What follows must begin like a parcel, or this one had another length
    if end > len(data) or (end < len(data) and data[end] != PARCEL):
        raise Refusal("truncated")
    known, records = data[start + 2 : body], memoryview(data)[first:end]
    return end, Parcel(known, place, count, records, relay or rules.nobody)


def _counted(data: bytes, start: int, magic: int) -> tuple[int, int]:
    """The place where the records begin, and their number."""
    if magic == SINGLE:
        return start, 1
    if len(data) < start + COUNT.size:
        raise Refusal("truncated")
    (count,) = COUNT.unpack_from(data, start)
    if not count:
        raise Refusal("malformed")
    return start + COUNT.size, count
