"""The collector: it takes parcels, counts each once, and keeps only integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Self

import numpy as np

from dither.errors import ArgumentError, CollectorError
from dither.ledger.store import Noted
from dither.local.collector import clock, store
from dither.local.collector.counting import Group
from dither.local.collector.outcome import ACCEPTED, DUPLICATE, Outcome, refused
from dither.local.collector.published import (
    DIRECT,
    LIVE,
    RETIRED,
    REVOKED,
    Published,
    hashed,
)
from dither.local.collector.reading import Parcel, Refusal, Rules, closing, read
from dither.local.collector.recent import Recent
from dither.local.collector.rows import Rows
from dither.local.collector.settings import MOST, Settings, check_whole
from dither.local.collector.status import (
    PeriodStatus,
    RelayStatus,
    Status,
    TaskStatus,
)
from dither.local.tally import Tally
from dither.local.task import Task
from dither.noise import token

__all__ = ["Collector"]

UNKNOWN = ("task-unknown", "token-unknown")


class Nothing(Exception):
    """Nothing was accepted, so nothing has to be written; the argument is the outcome
    of each parcel.
    """


class Collector:
    """Takes parcels from devices and relays, and keeps tallies.

    Guarantee: a parcel that `accept` says it counted is on the disk, and is counted
    once, whoever is killed and however often it is sent again. A refused one has
    changed nothing.
    Why: the id of a parcel is kept in the transaction that adds its messages; writers
    take turns; a period that was closed, and whose ids are deleted, never opens again.
    Assumes: the disk keeps what it has confirmed, and the store is not copied back
    behind the collector's back (a copy is refused where it can be noticed).

    Kept are tasks, relays, integers, and ids until their period closes: no address, no
    message, no time finer than a day. Several collectors may share a store.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        trust: str,
        grace: int = 7,
        retention: int = 400,
        direct: int = 10_000_000,
        restored: bool = False,
    ) -> None:
        """Open the collector at `place`, a file or a postgresql:// address, or begin
        one there.

        `trust` is the public key that tasks are signed with. A period takes messages
        until `grace` days after its end, and is deleted `retention` days later.
        `direct` is how many messages of a task and period are taken without a relay's
        token; 0 means relays only. `restored` opens a copy or a backup on purpose.
        """
        settings = Settings(trust, grace, retention, direct)
        self._connect(place, lambda found: store.begin(found, restored=restored))
        with self._closed_on_failure():
            self._check_trust(trust)
            self._follow(settings)
            with self._writing() as rows:
                rows.put_settings(settings.to_json())
            self.tidy()

    @classmethod
    def look(cls, place: str | Path, *, copy: bool = False) -> Self:
        """A collector that is there, as it was opened last: to estimate, to ask for its
        status, or to change its tasks and relays. Looking begins and deletes nothing.

        `copy` is for reading only, and reads a copy or a backup too.
        """
        store.check_there(str(place))  # to connect would make an empty file
        found = cls.__new__(cls)
        found._connect(place, lambda known: store.find(known, copy=copy))
        with found._closed_on_failure():
            with found._reading() as rows:
                kept = rows.settings()
            if not kept:  # whoever began it was killed at once
                raise CollectorError(store.nothing(found.place))
            found._follow(Settings.from_json(kept))
        return found

    def _connect(self, place: str | Path, ready: Callable[[Noted], None]) -> None:
        self.place = str(place)
        with store.explained(self.place):
            self._store = store.connect(self.place)
        self.place = self._store.place  # which shows no password
        with self._closed_on_failure(), store.explained(self.place):
            ready(self._store)

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._store.close()
            raise

    def _follow(self, settings: Settings) -> None:
        self._trust, self.grace = settings.trust, settings.grace
        self.retention, self.direct = settings.retention, settings.direct
        self._rules = Rules(Published(), clock.today(), self.grace, self.direct)
        self._recent = Recent()
        self._tidied = clock.today()
        self.refresh()

    def _check_trust(self, trust: str) -> None:
        with self._reading() as rows:
            kept = rows.settings() if rows.tasks() else ""
        if kept and not Settings.from_json(kept).trusts(trust):
            raise ArgumentError(
                "trust",
                f"is not the public key of the tasks that {self.place} collects; pass "
                "that key, or begin another collector",
            )

    def close(self) -> None:
        """Let go of the store. Closing twice does nothing."""
        with store.explained(self.place):
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[Rows]:
        with store.explained(self.place), self._store.writing() as run:
            yield Rows(run)

    @contextmanager
    def _reading(self) -> Iterator[Rows]:
        with store.explained(self.place), self._store.reading() as run:
            yield Rows(run)

    # tasks and relays

    def publish(self, task: Task | str | bytes) -> Task:
        """Collect a signed task from now on; devices can fetch it. Older versions are
        collected beside it, unless this one stops them.
        """
        text = task.to_json() if isinstance(task, Task) else task
        known = Task.from_json(text, trust=self._trust)
        with self._writing() as rows:
            self._load(rows)
            if self._rules.published.check_new(known):
                self._keep_open(rows, known)
                rows.put_task(known.tag, known.name, known.version, known.to_json())
                rows.change_facts()
        self.refresh()
        return known

    def _keep_open(self, rows: Rows, task: Task) -> None:
        """Periods that take messages of a new version longer than of those before it
        close later; refused if one of them was closed.
        """
        before = self._rules.published.versions(task.name)
        for first, closed in rows.spans(task.name):
            closes = closing(task, first, self.grace)
            known = [closing(one, first, self.grace) for one in before]
            if closes <= max([clock.today(), *known]):
                continue
            if closed:
                raise ArgumentError(
                    "task",
                    f"the period from {first} is closed and cannot be opened again; "
                    "let the task start on another day, or use another name",
                )
            rows.span(task.name, first, closes)

    def retire(self, name: str) -> None:
        """Take no more messages of a task, in any version. What was counted stays."""
        with self._writing() as rows:
            self._load(rows)
            self._rules.published.latest(name)
            rows.set_task_state(name, RETIRED)
            rows.change_facts()
        self.refresh()

    def admit(self, name: str, *, quota: int) -> str:
        """A token for a relay that hands on batches: at most `quota` messages for each
        task and period. It is shown once; a relay that is admitted again gets a new
        one, and the old one ends.
        """
        check_whole("quota", quota, MOST)
        if not isinstance(name, str) or not 0 < len(name) <= 100:
            raise ArgumentError("name", "must be a string of 1 to 100 characters")
        secret = token(32)
        with self._writing() as rows:
            known = {relay.name: relay for relay in rows.relays()}.get(name)
            if known is None:
                rows.put_relay(name, hashed(secret), quota)
            else:
                changed = replace(known, hash=hashed(secret), quota=quota, state=LIVE)
                rows.change_relay(changed)
            rows.change_facts()
        self.refresh()
        return secret

    def revoke(self, name: str) -> None:
        """Take nothing more from a relay."""
        with self._writing() as rows:
            known = {relay.name: relay for relay in rows.relays()}.get(name)
            if known is None:
                raise ArgumentError(
                    "name",
                    "is not the name of a relay; look at collector.status().relays",
                )
            rows.change_relay(replace(known, hash="", state=REVOKED))
            rows.change_facts()
        self.refresh()

    def refresh(self) -> None:
        """Read again which tasks and relays there are: another process may have
        changed them. `accept` does so by itself.
        """
        with self._reading() as rows:
            self._load(rows)

    def _load(self, rows: Rows) -> Published:
        facts, today = rows.facts(), clock.today()
        if facts == self._rules.published.facts:
            return self._rules.published
        found = [
            (Task.from_json(signed, trust=self._trust), state)
            for signed, state in rows.tasks()
        ]
        retired = (task.name for task, state in found if state == RETIRED)
        tasks = [task for task, _ in found]
        published = Published.of(facts, tasks, retired, rows.relays())
        self._rules = Rules(published, today, self.grace, self.direct)
        return published

    @property
    def tasks(self) -> list[Task]:
        """Every task that is collected, or was, in all its versions."""
        return list(self._rules.published.tasks.values())

    def task(self, name: str) -> Task:
        """The newest version of a task."""
        return self._rules.published.latest(name)

    def state(self, task: Task) -> str:
        """Why messages of a task are refused, as a code; empty if they are not."""
        ends = task.expires + timedelta(days=self.grace)
        expired = "task-expired" if clock.today() >= ends else ""
        return self._rules.published.state(task) or expired

    # counting

    def accept(self, parcel: bytes, token: str | None = None) -> Outcome:
        """Count one parcel. When this returns, it is on the disk or was refused."""
        return self.accept_all([parcel], token)[0]

    def accept_all(
        self, parcels: Sequence[bytes], token: str | None = None
    ) -> list[Outcome]:
        """Count many parcels in one transaction; what becomes of each. Where one of
        them is several appended to one another, the first refusal speaks for all.
        """
        if self._tidied != clock.today():
            self.tidy()
        found: list[Outcome | None] = []
        places: list[tuple[int, int]] = []
        ready: list[Parcel] = []
        for parcel in parcels:
            several = self._read_anew(parcel, token)
            if isinstance(several, Outcome):
                found.append(several)
                continue
            places.append((len(found), len(several)))
            found.append(None)
            ready += several
        counted = iter(self.count(ready))
        for place, size in places:
            found[place] = _together([next(counted) for _ in range(size)])
        return [outcome for outcome in found if outcome is not None]

    def read(self, data: bytes, token: str | None = None) -> list[Parcel] | Outcome:
        """The parcels in some bytes, or why they are refused. Nothing is counted."""
        if self._rules.today != clock.today():
            self._turn_day()
        try:
            return read(bytes(data), token, self._rules)
        except Refusal as refusal:
            return refused(str(refusal))

    def _read_anew(self, data: bytes, token: str | None) -> list[Parcel] | Outcome:
        """The same, after a look whether another process knows the task or relay."""
        found = self.read(data, token)
        if isinstance(found, Outcome) and found.code in UNKNOWN:
            self.refresh()
            return self.read(data, token)
        return found

    def _turn_day(self) -> None:
        self._rules = replace(self._rules, today=clock.today(), places={})

    def count(self, parcels: Sequence[Parcel]) -> list[Outcome]:
        """Count parcels that were read, in one transaction that is on the disk when
        this returns. Raises `CollectorError` if the store cannot be written.
        """
        if not parcels:
            return []
        group = Group(parcels)
        try:
            with self._writing() as rows:
                number, facts = rows.step()
                published = self._rules.published
                if facts != published.facts:
                    published = self._load(rows)
                recent = self._recent
                merged = recent.catch_up(rows)
                outcomes = group.decide(rows, number, recent, published)
                accepted = any(outcome.status == ACCEPTED for outcome in outcomes)
                if not accepted and not merged:
                    raise Nothing(outcomes)
        except Nothing as nothing:
            (outcomes,) = nothing.args
        except CollectorError:
            # A server that comes back may have lost its last transactions, and have
            # given their numbers to others
            self._recent = Recent()
            raise
        return outcomes

    def tidy(self) -> None:
        """Close periods whose days are over, delete their ids, and what was kept long
        enough. It runs when a collector is opened and when a day begins.
        """
        today = clock.today()
        with self._writing() as rows:
            rows.step()
            rows.merge()
            rows.close_spans(today)
            rows.forget_tallies(today - timedelta(days=self.retention))
        deleted = 1
        while deleted:
            with self._writing() as rows:
                rows.step()
                deleted = rows.forget_ids()
        with store.explained(self.place):
            self._store.settle()
        self._tidied = today

    def check(self) -> None:
        """Write something harmless; raises `CollectorError` if that cannot be done."""
        with self._writing() as rows:
            rows.step()

    # what was counted

    def tally(
        self, task: Task | str, *, period: int | None = None, version: int | None = None
    ) -> Tally:
        """What the messages of a task add up to, over all periods or in one.

        A stratum with fewer messages than the task's `minimum` is left out.
        """
        if period is not None and type(period) is not int:
            raise ArgumentError(
                "period", "must be a whole number; use task.period(day) for a day"
            )
        found = self._version(task, version)
        strata = max(len(found.strata), 1)
        with self._reading() as rows:
            listed = [
                row
                for row in rows.tallies(found.tag)
                if period is None or row[1] == period
            ]
            shown = _shown(listed, found.minimum, strata)
            counts = np.zeros((strata, found.oracle.cells), np.int64)
            sums, periods = np.zeros(strata, np.int64), Counter[int]()
            rejected = 0
            for number, part, stratum, messages, invalid in listed:
                if not shown[stratum]:
                    continue
                counts[stratum] += rows.cells(number, found.oracle.cells)
                sums[stratum] += messages
                periods[part] += messages
                rejected += invalid
        why = {"value": rejected} if rejected else {}
        return Tally(found, counts, dict(sorted(periods.items())), sums, why)

    def _version(self, task: Task | str, version: int | None) -> Task:
        self.refresh()
        published = self._rules.published
        if isinstance(task, Task):
            if task.tag not in published.tasks:
                raise ArgumentError("task", "is not collected here; publish it first")
            return published.tasks[task.tag]
        latest = published.latest(task)
        if version is None:
            return latest
        for one in published.versions(task):
            if one.version == version:
                return one
        raise ArgumentError(
            "version", f"is not collected; pass {latest.version}, the newest one"
        )

    def status(self) -> Status:
        """What is collected, and how much of it, where that is not too little to show."""
        with self._reading() as rows:
            self._load(rows)
            published = self._rules.published
            tasks = tuple(
                self._task_status(rows, task)
                for name in published.names
                for task in published.versions(name)
            )
            used = self._used(rows)
        relays = tuple(
            RelayStatus(one.name, one.state, one.quota, used.get(one.number, {}))
            for one in published.relays
        )
        direct = RelayStatus("", LIVE, self.direct, used.get(DIRECT, {}))
        return Status(self.place, tasks, relays, direct)

    def _task_status(self, rows: Rows, task: Task) -> TaskStatus:
        state = self.state(task).removeprefix("task-") or LIVE
        sums: dict[int, list[int]] = {}
        for _, period, _, messages, invalid in rows.tallies(task.tag):
            total = sums.setdefault(period, [0, 0])
            # As in `tally`: a sum over all strata would tell the size of a small one
            if messages >= task.minimum:
                total[0] += messages
                total[1] += invalid
        periods = []
        for period, (messages, invalid) in sums.items():
            first = task.first_day(period)
            closes = closing(task, first, self.grace)
            counts = (messages, invalid) if messages else (None, None)
            is_open = clock.today() < closes and state == LIVE
            periods.append(PeriodStatus(period, first, closes, is_open, *counts))
        return TaskStatus(task.name, task.version, state, task.minimum, tuple(periods))

    def _used(self, rows: Rows) -> dict[int, dict[str, int | None]]:
        used: dict[int, dict[str, int | None]] = {}
        for task, first, _, relay, messages in rows.uses():
            least = self._rules.published.latest(task).minimum
            # Rounded down, for the same reason
            shown = messages // least * least or None
            used.setdefault(relay, {})[f"{task}, {first}"] = shown
        return used


def _shown(
    listed: Sequence[tuple[int, int, int, int, int]], least: int, strata: int
) -> list[bool]:
    sums = [0] * strata
    for _, _, stratum, messages, _ in listed:
        sums[stratum] += messages
    return [messages >= least for messages in sums]


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome for several parcels."""
    if len(outcomes) == 1:
        return outcomes[0]
    for outcome in outcomes:
        if not outcome.counted:
            return outcome
    if all(outcome.status == DUPLICATE for outcome in outcomes):
        return outcomes[0]
    messages = sum(outcome.messages for outcome in outcomes)
    invalid = sum(outcome.invalid for outcome in outcomes)
    return Outcome(ACCEPTED, messages, invalid)
