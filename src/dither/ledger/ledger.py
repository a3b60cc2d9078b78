"""The account book: one file or database for a deployment, with an append-only log of
everything that happened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dither.errors import AccountFrozen, LedgerError
from dither.ledger import clock
from dither.ledger.account import Account
from dither.ledger.entry import Entry, canonical
from dither.ledger.note import Doubt
from dither.ledger.opening import begin, remove, set_aside
from dither.ledger.policy import Policy
from dither.ledger.promise import Promise, accounting_of, caps_of, fixed, terms_of
from dither.ledger.receipt import check_text
from dither.ledger.sqlite import SQLiteStore
from dither.ledger.sqlite_file import backup_file, put_in_place
from dither.ledger.store import APPEND, LAST, Charge, Store, connect
from dither.ledger.tables import LINES, change, entries, load
from dither.ledger.terms import Terms
from dither.noise import token
from dither.privacy import ROW, ApproxDP, Unit

if TYPE_CHECKING:
    from dither.ledger.facts import AccountFacts
    from dither.ledger.state import State
    from dither.ledger.store import Run

__all__ = ["Ledger"]

PAGE = 1000
DAY = 86_400.0


class Ledger:
    """A book of accounts. `Ledger.open("book.db")` or `Ledger.open("postgresql://…")`;
    usable in a `with` statement.
    """

    def __init__(self, store: Store, *, reason: str = "") -> None:
        self.store = store
        self.opened_in = os.getpid()
        self._closed = False
        # The process, a word of its own, how many names it gave
        self._names = (
            0,
            "",
            count(),
        )
        try:
            begin(self, reason)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, place: str | Path) -> Self:
        """Open a book, or start one where there is none."""
        return cls(connect(str(place)))

    @classmethod
    def restore(cls, copy: str | Path, place: str | Path) -> Self:
        """Put a backup of a SQLite book in place. It opens frozen: charges made after
        the backup are missing in it.

        What is left of an older book in that place is set aside. For each account,
        enter the later receipts with `recover` or give up the rest with `write_off`;
        then `thaw` it.
        """
        if "://" in str(place):
            raise LedgerError(
                f"{place} is not a file; restore a PostgreSQL database with pg_restore"
            )
        if Path(place).exists():
            raise LedgerError(
                f"{place} exists already; move it away first, and keep it"
            )
        aside = f"{place}-restoring"
        remove(aside)
        try:
            backup_file(str(copy), aside)
            cls(connect(aside), reason="restored from a backup").close()
            set_aside(str(place))
            put_in_place(aside, str(place))
        except BaseException:
            remove(aside)
            raise
        return cls.open(place)

    def backup(self, target: str | Path) -> Path:
        """Copy the book to a new file while it is in use; `Ledger.restore` puts such a
        file in place.

        Never copy a book with anything else: a copy made while it changes is damaged,
        and on many systems closing the copied file drops the locks of the process that
        did it.
        """
        if not isinstance(self.store, SQLiteStore):
            raise LedgerError(
                f"{self.store.place} is a PostgreSQL database; copy it with pg_dump"
            )
        self.store.backup(str(target))
        return Path(target)

    def clear(self, reason: str) -> None:
        """The curator has made sure that no account is missing in a restored book: new
        accounts open as usual again.
        """
        check_text("reason", reason, needed=True)
        with self.changing() as run:
            self.write(run, "clear", "", {"reason": reason})

    def close(self) -> None:
        """Let go of the book. Closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def changing(self) -> Iterator[Run]:
        """A transaction that changes the book; when it is left, it is durable and noted
        outside.
        """
        try:
            with self.store.writing() as run:
                yield run
        except Doubt as doubt:
            raise self._distrust(doubt) from None
        except LedgerError as error:
            raise error.at(self.store.place) from error.__cause__

    def _distrust(self, doubt: Doubt) -> LedgerError:
        """Freeze everything: the book that is here is not the one that the note speaks
        of.
        """
        with self.store.writing(anew=True) as run:
            self.freeze_all(run, str(doubt))
        return AccountFrozen(
            f"all accounts of {self.store.place} are frozen ({doubt}); ask the curator to "
            "check the ledger and thaw them. Nothing was spent."
        )

    def freeze_all(self, run: Run, reason: str) -> None:
        """Freeze all accounts, and those opened before the mark is cleared: they may
        have been there already.
        """
        run("DELETE FROM meta WHERE name = 'verified'")
        self.write(run, "mark", "", {"reason": reason})
        for (name,) in run("SELECT name FROM account WHERE frozen = '' ORDER BY name"):
            self.write(run, "freeze", name, {"reason": reason})

    def write(
        self, run: Run, kind: str, account: str, body: Mapping[str, Any]
    ) -> Entry:
        """Carry out the next line of the log, and write it."""
        entry = _next(run, kind, account, body)
        change(run, entry)
        _append(run, entry)
        return entry

    def append(self, run: Run, kind: str, body: Mapping[str, Any]) -> None:
        """Only write the next line of the log: it is about the book itself."""
        _append(run, _next(run, kind, "", body))

    def charge(self, charge: Charge) -> tuple[Entry, tuple[State, ...]] | None:
        """Spend and write the log line in one step; None if the store leaves it to the
        ordinary way. With the states after the charge, if the store returns them.
        """
        try:
            made = self.store.charge(charge)
        except Doubt as doubt:
            raise self._distrust(doubt) from None
        if made is None:
            return None
        about = (made.number, made.time, "charge", charge.account, charge.body)
        return Entry(*about, made.hash), made.states

    def new_name(self) -> str:
        """A name for a charge that no other one has, in this process or any other."""
        if self._names[0] != os.getpid():
            self._names = (os.getpid(), token(8), count())
        return f"{self._names[1]}.{next(self._names[2])}"

    def entries(
        self,
        account: str | None = None,
        kind: str | None = None,
        *,
        after: int = 0,
        last: int | None = None,
    ) -> Iterator[Entry]:
        """The log after a line, oldest line first, read a page at a time; or only so
        many of its `last` lines.
        """
        asked = [("account = ?", account), ("kind = ?", kind)]
        where = "".join(f" AND {test}" for test, value in asked if value is not None)
        values = [value for _, value in asked if value is not None]
        if last is not None:
            after = self._before_last(where, values, after, last)
        while rows := self._page(
            f"{LINES} WHERE seq > ?{where} ORDER BY seq LIMIT {PAGE}", [after, *values]
        ):
            yield from entries(rows)
            after = rows[-1][0]

    def _page(self, sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
        with self.store.reading() as run:
            return list(run(sql, values))

    def _before_last(self, where: str, values: list[Any], after: int, last: int) -> int:
        sql = (
            f"SELECT seq FROM log WHERE seq > ?{where} ORDER BY seq DESC "
            f"LIMIT {max(0, int(last))}"
        )
        rows = self._page(sql, [after, *values])
        return rows[-1][0] - 1 if rows else 1 << 62

    @property
    def head(self) -> tuple[int, str]:
        """The last sequence number and its hash: keep them elsewhere, and a cut or
        older book is found by `verify`.
        """
        with self.store.reading() as run:
            seq, _, digest = run(LAST)[0]
        return int(seq), str(digest)

    def account(
        self,
        name: str,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        unit: Unit = ROW,
        dataset: str | None = None,
        accounting: str | None = None,
        policy: Policy | None = None,
    ) -> Account:
        """An account of the book by its name; with an `epsilon` it is opened if it is
        not there yet.

        Without `accounting` it is pure where delta is 0, and Rényi otherwise. Terms and
        policy of an account that is there cannot be changed here, but by `amend`.
        """
        check_text("name", name, needed=True)
        check_text("dataset", dataset or "")
        promise = None
        if epsilon is not None:
            terms = Terms.of(
                accounting_of(accounting, delta), ApproxDP(epsilon, delta, unit=unit)
            )
            promise = Promise(terms, dataset, policy)
        found = self._find(name)
        if found is None:
            if promise is None:
                raise LedgerError(
                    f"there is no account {name!r} in {self.store.place}; pass "
                    "epsilon= to open one"
                )
            with self.changing() as run:
                found = self.open_account(run, name, promise)
        elif promise is not None:
            promise.check(name, found, self.store.place)
        return self._known(name, found)

    def promised(self, name: str, promise: Promise) -> Account:
        """An account as declared: the one that is there, or one that its first charge
        opens.

        Until then nothing is promised, and it can be declared otherwise.
        """
        check_text("name", name, needed=True)
        found = self._find(name)
        if found is None:
            return Account(
                self, name, promise.terms, promise.policy or Policy(), promise=promise
            )
        promise.check(name, found, self.store.place)
        return self._known(name, found)

    def open_account(self, run: Run, name: str, promise: Promise) -> AccountFacts:
        """Open an account, unless another process was faster: then it must be the one
        that was declared.
        """
        facts = load(run, name)
        lines = promise.lines(name, facts.mark)
        if name in facts.accounts:
            promise.check(name, facts.accounts[name], self.store.place)
            lines = promise.missing(name, facts)
        for kind, body in lines:
            self.write(run, kind, name, body)
        return load(run, name).accounts[name]

    def _find(self, name: str) -> AccountFacts | None:
        with self.store.reading() as run:
            return load(run, name).accounts.get(name)

    def _known(self, name: str, facts: AccountFacts) -> Account:
        return Account(
            self,
            name,
            terms_of(facts),
            Policy.of(json.loads(facts.policy)),
            facts.policy,
        )

    def accounts(self) -> tuple[Account, ...]:
        """All accounts of the book."""
        with self.store.reading() as run:
            names = [name for (name,) in run("SELECT name FROM account ORDER BY name")]
            found = {name: load(run, name).accounts[name] for name in names}
        return tuple(self._known(name, facts) for name, facts in found.items())

    def amend(
        self,
        name: str,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        policy: Policy | None = None,
        reason: str,
    ) -> Account:
        """Change an account's total or its policy: a new promise, and the log keeps
        both (rule R21).

        What is left out stays. Shares keep their part. A total below what is spent is
        refused, and so is any for an account that was written off. Whether there is a δ
        is fixed: costs are counted by it, also in other processes that have the account
        open.
        """
        check_text("reason", reason, needed=True)
        with self.changing() as run:
            old = self._there(run, name)
            was = terms_of(old)
            total = ApproxDP(
                was.total.epsilon if epsilon is None else epsilon,
                was.total.delta if delta is None else delta,
                unit=was.unit,
            )
            if bool(total.delta) != bool(was.total.delta):
                raise LedgerError(f"{self.store.place}: {fixed(name, was)}")
            terms = Terms.of(was.accounting, total, was.order or None)
            body: dict[str, Any] = {
                "epsilon": repr(total.epsilon),
                "delta": repr(total.delta),
                **caps_of(terms),
            }
            if policy is not None:
                body["policy"] = policy.to_json()
            self.write(run, "amend", name, {**body, "reason": reason})
            return self._known(name, self._there(run, name))

    def renew(self, name: str, *, reason: str) -> Account:
        """Begin a new period with the whole budget, once the policy's window has
        passed: one more promise.

        A book that sees the new date for the first time only notes it, and renews when
        some time has passed (a tenth of the window, or a day): a clock that is wrong
        for a moment must not renew anything.
        """
        check_text("reason", reason, needed=True)
        with self.changing() as run:
            facts = self._there(run, name)
            wait = self._wait(run, name, facts)
            if wait is None:
                self.write(run, "renew", name, {"reason": reason})
            else:
                self.write(run, "clock", "", {})
        if wait is not None:
            raise LedgerError(
                f"{self.store.place} has not been used on this date before, so the clock may "
                f"be wrong; renew {name} after {wait}"
            )
        return self._known(name, facts)

    def _wait(self, run: Run, name: str, facts: AccountFacts) -> str | None:
        """Until when a renewal must wait though its window has passed; None if it need
        not.
        """
        days = facts.rule("renew_days")
        if days is None or facts.written_off:
            return None  # the transition refuses these, and says why
        now, latest = clock.now(), run(LAST)[0][1]
        if now < latest:
            raise LedgerError(
                f"the clock of this machine is at {now}, but {self.store.place} has lines from "
                f"{latest}; set the clock"
            )
        due = clock.after(facts.began_at, timedelta(days=days).total_seconds())
        if now < due:
            raise LedgerError(
                f"the account {name} can be renewed {days:g} days after {facts.began_at}; "
                "wait until then"
            )
        pause = min(DAY, days * DAY / 10)
        seen = run("SELECT min(time) FROM log WHERE time >= ?", (due,))[0][0]
        if seen is not None and clock.after(seen, pause) <= now:
            return None
        return clock.after(seen or now, pause)

    def _there(self, run: Run, name: str) -> AccountFacts:
        found = load(run, name).accounts.get(name)
        if found is None:
            raise LedgerError(
                f"there is no account {name!r} in {self.store.place}; check its name"
            )
        return found

    def keep(self, run: Run, account: str, seq: int, key: str, release: str) -> None:
        """Store a release under its replay key, and its hash in the log."""
        if run("SELECT 1 FROM replay WHERE account = ? AND name = ?", (account, key)):
            raise LedgerError(
                "a release is already stored under this key, and cannot be replaced"
            )
        body = {
            "charge": seq,
            "key": key,
            "sha256": hashlib.sha256(release.encode()).hexdigest(),
        }
        line = self.write(run, "store", account, body).seq
        run(
            "INSERT INTO replay VALUES (?, ?, ?, ?, ?)",
            (account, key, seq, line, release),
        )


def _next(run: Run, kind: str, account: str, body: Mapping[str, Any]) -> Entry:
    """The next line of the log. Time never runs backwards in it, whatever the clock
    does.
    """
    rows = run(LAST)
    last, latest, previous = rows[0] if rows else (0, "", "")
    seq, when = last + 1, max(clock.now(), latest)
    return Entry.after(seq, previous, when, kind, account, body)


def _append(run: Run, entry: Entry) -> None:
    run(
        APPEND,
        (
            entry.seq,
            entry.time,
            entry.kind,
            entry.account,
            canonical(entry.body),
            entry.hash,
        ),
    )
