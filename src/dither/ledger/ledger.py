"""The account book: one file or database for a deployment, with an append-only log of everything that happened."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dither.errors import ArgumentError, LedgerError
from dither.ledger.account import Account, check_text
from dither.ledger.policy import Policy
from dither.ledger.sqlite import copy_book, discard, put_in_place
from dither.ledger.state import State
from dither.ledger.store import APPEND, LAST, Store, connect, prepare
from dither.ledger.terms import Accounting, Terms
from dither.ledger.wire import Entry, canonical, digest
from dither.noise import token
from dither.privacy import ROW, ApproxDP, Unit

if TYPE_CHECKING:
    from dither.ledger.store import Run, Units

__all__ = ["Ledger"]

FACTS = "name, dataset, unit, relation, accounting, epsilon, delta, alpha, pure_cap, loss_cap, delta_cap, policy"


class Ledger:
    """A book of accounts. `Ledger.open("book.db")` or `Ledger.open("postgresql://…")`; usable in a `with` statement."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._closed = False
        try:
            prepare(store)
            self._begin()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, place: str | Path) -> Self:
        """Open a book, or start one where there is none."""
        return cls(connect(str(place)))

    def _begin(self) -> None:
        # The note is read before the book: a charge made in between is then in the book, and not only noted.
        anchor = self.store.anchor()
        with self.store.reading() as run:
            if run("SELECT 1 FROM log LIMIT 1") and not _is_older(run, anchor):
                return
        anchor = self.store.anchor()
        with self.store.writing() as run:
            if not run("SELECT 1 FROM log LIMIT 1"):
                if anchor is not None:
                    raise LedgerError(
                        f"a book with {anchor[0]} lines was at {self.store.place}: restore it from a copy with "
                        "Ledger.restore, or remove the note beside it if there never was one"
                    )
                self.append(run, "book", "", {"id": token(16)})
            elif _is_older(run, anchor):
                self.freeze_all(run, "the book is older than the head noted beside it")

    def freeze_all(self, run: Run, reason: str) -> None:
        """Freeze all accounts, and those opened before the mark is cleared: they may have been there already."""
        run("DELETE FROM meta WHERE name = 'mark'")
        run("INSERT INTO meta (name, value) VALUES ('mark', ?)", (reason,))
        self.append(run, "mark", "", {"reason": reason})
        for (name,) in run("SELECT name FROM account WHERE frozen = '' ORDER BY name"):
            run("UPDATE account SET frozen = ? WHERE name = ?", (reason, name))
            self.append(run, "freeze", name, {"reason": reason})

    @classmethod
    def restore(cls, copy: str | Path, place: str | Path) -> Self:
        """Put a copy of a SQLite book in place. It opens frozen: charges made after the copy are missing in it.

        For each account, enter the later receipts with `recover` or give up the rest with `write_off`; then `thaw` it.
        """
        if Path(place).exists():
            raise LedgerError(f"{place} is there already; move it away first, and keep it")
        aside = f"{place}-restoring"
        discard(aside)
        copy_book(str(copy), aside)
        with cls.open(aside) as ledger, ledger.store.writing() as run:
            ledger.freeze_all(run, "restored from a copy")
        put_in_place(aside, str(place))
        return cls.open(place)

    def clear(self, reason: str) -> None:
        """The curator has made sure that no account is missing in a restored book: new accounts open as usual again."""
        check_text("reason", reason, needed=True)
        with self.changing() as run:
            run("DELETE FROM meta WHERE name = 'mark'")
            self.append(run, "clear", "", {"reason": reason})

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
        """A transaction that changes the book; the new head is noted outside when it is durable."""
        with self.store.writing() as run:
            yield run
        self.store.note(*self.head)

    def append(self, run: Run, kind: str, account: str, body: Mapping[str, Any]) -> Entry:
        """Write the next line of the log. Time never runs backwards in it, whatever the clock does."""
        rows = run(LAST)
        last, latest, previous = rows[0] if rows else (0, "", "")
        seq, when, text = last + 1, max(_now(), latest), canonical(body)
        line = digest(previous, seq, when, kind, account, text)
        values = (seq, when, kind, account, text, line)
        run(APPEND, values)
        return Entry(seq, when, kind, account, body, line)

    def charge(self, account: str, by: str | None, units: Units, body: Mapping[str, Any]) -> Entry | None:
        """Spend and write the log line in one step; None where the store leaves it to the ordinary way."""
        found = self.store.charge(account, by, units, _now(), body)
        return None if found is None else Entry(found[0], found[1], "charge", account, body, found[2])

    def entries(self, account: str | None = None, kind: str | None = None) -> Iterator[Entry]:
        """The log, oldest line first."""
        with self.store.reading() as run:
            rows = run("SELECT seq, time, kind, account, body, hash FROM log ORDER BY seq")
        for seq, when, what, whose, body, line in rows:
            if account in (None, whose) and kind in (None, what):
                yield Entry(seq, when, what, whose, json.loads(body), line)

    @property
    def head(self) -> tuple[int, str]:
        """The last sequence number and its hash: keep them elsewhere, and a cut or older book is found by `verify`."""
        with self.store.reading() as run:
            seq, digest = run("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1")[0]
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
        """An account of the book by its name; with an `epsilon` it is opened if it is not there yet.

        Without `accounting` it is pure where delta is 0, and Rényi otherwise.
        """
        wanted = None
        if epsilon is not None:
            kind = _accounting(accounting, delta)
            wanted = Terms.of(kind, ApproxDP(epsilon, delta, unit=unit))
        check_text("name", name, needed=True)
        check_text("dataset", dataset or "")
        with self.store.reading() as run:
            found = self._find(run, name)
        if found is None and wanted is None:
            raise LedgerError(f"there is no account {name!r} in {self.store.place}; pass epsilon= to open one")
        if found is None and wanted is not None:
            with self.changing() as run:
                found = self._find(run, name) or self._create(run, name, dataset or name, wanted, policy or Policy())
        assert found is not None
        if wanted is not None:
            _same(found, wanted, dataset)
        return Account(self, name, found[1], found[2])

    def accounts(self) -> tuple[Account, ...]:
        """All accounts of the book."""
        with self.store.reading() as run:
            names = [name for (name,) in run("SELECT name FROM account ORDER BY name")]
            found = [(name, self._find(run, name)) for name in names]
        return tuple(Account(self, name, facts[1], facts[2]) for name, facts in found if facts is not None)

    def _find(self, run: Run, name: str) -> Facts | None:
        rows = run(f"SELECT {FACTS} FROM account WHERE name = ?", (name,))
        if not rows:
            return None
        _, dataset, unit, relation, accounting, epsilon, delta, alpha, *caps, policy = rows[0]
        total = ApproxDP(float(epsilon), float(delta), unit=Unit(unit, relation))
        terms = Terms(Accounting(accounting), total, alpha, *caps)
        return dataset, terms, Policy.of(json.loads(policy))

    def _create(self, run: Run, name: str, dataset: str, terms: Terms, policy: Policy) -> Facts:
        who = (dataset, terms.unit.name, str(terms.unit.relation))
        rows = run("SELECT name FROM account WHERE dataset = ? AND unit = ? AND relation = ?", who)
        if rows:
            raise LedgerError(
                f"the account {rows[0][0]!r} already holds the budget of {dataset!r} for {terms.unit}; "
                "a second one would promise twice: use that account"
            )
        caps = (terms.pure_cap, terms.loss_cap, terms.delta_cap)
        facts = (str(terms.accounting), repr(terms.total.epsilon), repr(terms.total.delta), terms.order, *caps)
        rules = canonical(policy.to_json())
        run(f"INSERT INTO account VALUES ({', '.join('?' * 19)})", (name, *who, *facts, 0, 0, 0, 0, 0, 1, "", rules))
        names = ("dataset", "unit", "relation", "accounting", "epsilon", "delta", "order", *CAPS)
        body = dict(zip(names, (*who, *facts), strict=True))
        self.append(run, "open", name, body | {"policy": policy.to_json()})
        for (reason,) in run("SELECT value FROM meta WHERE name = 'mark'"):
            run("UPDATE account SET frozen = ? WHERE name = ?", (reason, name))
            self.append(run, "freeze", name, {"reason": reason})
        return dataset, terms, policy

    def amend(self, name: str, *, epsilon: float, delta: float = 0.0, reason: str) -> Account:
        """Change an account's total: a new promise, and the log keeps both (rule R21). Shares keep their part."""
        check_text("reason", reason, needed=True)
        with self.changing() as run:
            found = self._find(run, name)
            if found is None:
                raise LedgerError(f"there is no account {name!r} in {self.store.place}")
            old = found[1]
            terms = Terms.of(old.accounting, ApproxDP(epsilon, delta, unit=old.unit), old.order or None)
            self._change_caps(run, name, terms, reason)
        return Account(self, name, terms, found[2])

    def _change_caps(self, run: Run, name: str, terms: Terms, reason: str) -> None:
        caps = (terms.pure_cap, terms.loss_cap, terms.delta_cap)
        total = {"epsilon": repr(terms.total.epsilon), "delta": repr(terms.total.delta)}
        change = "UPDATE account SET epsilon = ?, delta = ?, pure_cap = ?, loss_cap = ?, delta_cap = ? WHERE name = ?"
        run(change, (*total.values(), *caps, name))
        for analyst, part in run("SELECT analyst, part FROM share WHERE account = ?", (name,)):
            new = State(*caps).share_caps(Fraction(part))
            share = "UPDATE share SET pure_cap = ?, loss_cap = ?, delta_cap = ? WHERE account = ? AND analyst = ?"
            run(share, (*new, name, analyst))
        self.append(run, "amend", name, {**total, **dict(zip(CAPS, caps, strict=True)), "reason": reason})

    def renew(self, name: str, *, reason: str) -> Account:
        """Begin a new period with the whole budget, once the policy's window has passed: one more promise."""
        check_text("reason", reason, needed=True)
        account = self.account(name)
        if account.policy.renew_days is None:
            raise LedgerError(f"{name} has no renewal window; its total is for ever")
        window = timedelta(days=account.policy.renew_days)
        with self.changing() as run:
            since = "SELECT max(time) FROM log WHERE account = ? AND kind IN ('open', 'renew')"
            began = str(run(since, (name,))[0][0])
            if datetime.fromisoformat(max(_now(), began)) < datetime.fromisoformat(began) + window:
                raise LedgerError(f"{name} can be renewed {account.policy.renew_days:g} days after {began}")
            nothing = "pure_spent = 0, loss_spent = 0, delta_spent = 0, impure = 0"
            run(f"UPDATE account SET {nothing}, period = period + 1 WHERE name = ?", (name,))
            run(f"UPDATE share SET {nothing} WHERE account = ?", (name,))
            self.append(run, "renew", name, {"reason": reason})
        return account

    def keep(self, run: Run, account: str, seq: int, key: str, release: str) -> None:
        """Store a release under its replay key, and its hash in the log."""
        if run("SELECT 1 FROM replay WHERE account = ? AND name = ?", (account, key)):
            raise LedgerError("a release is already stored under this key; a release never changes")
        run("INSERT INTO replay VALUES (?, ?, ?, ?)", (account, key, seq, release))
        body = {"charge": seq, "key": key, "sha256": hashlib.sha256(release.encode()).hexdigest()}
        self.append(run, "store", account, body)


def _is_older(run: Run, anchor: tuple[int, str] | None) -> bool:
    """Whether the head noted beside the book is missing in it: then this is an older or another copy (rule R20)."""
    if anchor is None:
        return False
    rows = run("SELECT hash FROM log WHERE seq = ?", (anchor[0],))
    return not rows or rows[0][0] != anchor[1]


Facts = tuple[str, Terms, Policy]
CAPS = ("pure_cap", "loss_cap", "delta_cap")


def _now() -> str:
    """The time in UTC, to the microsecond, as text that sorts like the time."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{_second(seconds)}.{nanoseconds // 1000:06d}+00:00"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _accounting(named: str | None, delta: float) -> Accounting:
    if named is None:
        return Accounting.RENYI if delta else Accounting.PURE
    try:
        return Accounting(named)
    except ValueError:
        raise ArgumentError("accounting", f'{named!r} is unknown; pass "pure", "renyi" or "gdp"') from None


def _same(found: Facts, wanted: Terms, dataset: str | None) -> None:
    there, terms, _ = found
    if dataset is not None and dataset != there:
        raise LedgerError(f"this account is about {there!r}, not {dataset!r}; choose another name")
    if terms.unit != wanted.unit:
        way_out = "a guarantee for one says nothing about the other: open an account of its own"
        raise LedgerError(f"this account is for {terms.unit}, not {wanted.unit}; {way_out}")
    if (terms.total.epsilon, terms.total.delta) != (wanted.total.epsilon, wanted.total.delta):
        way_out = "leave epsilon out to use it as it is, or change it with Ledger.amend, which is a new promise"
        raise LedgerError(f"this account was opened with {terms.total}, not {wanted.total}; {way_out}")
    if terms.accounting is not wanted.accounting:
        raise LedgerError(f"this account counts by {terms.accounting}, which is fixed when it is opened; leave it out")
