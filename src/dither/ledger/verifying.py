"""Verify a book: follow the chain of hashes, and recompute every number from the log."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import DitherError, LedgerError
from dither.ledger.entry import Entry, canonical
from dither.ledger.facts import AccountFacts, Facts
from dither.ledger.sqlite import SQLiteStore
from dither.ledger.state import Price
from dither.ledger.tables import LINES, load_all
from dither.ledger.terms import Accounting, Terms
from dither.ledger.transitions import apply
from dither.ledger.wire import from_json, unit_of
from dither.privacy import ApproxDP

if TYPE_CHECKING:
    from dither.ledger.ledger import Ledger
    from dither.ledger.receipt import Receipt
    from dither.ledger.store import Run

__all__ = ["verify"]

RESTORE = "restore the ledger from a backup"
PAGE = 1000


def verify(
    ledger: Ledger,
    anchors: Iterable[Receipt | tuple[int, str]] = (),
    *,
    whole: bool = False,
) -> int:
    """Check the book and return how many lines its log has; raises `LedgerError` at the
    first fault.

    Lines that were verified before are not read again: the book keeps a mark of where
    it was found in order. `whole` reads all of it, which also finds what was changed
    before the mark. Anchors are receipts, or (sequence number, hash) pairs, that were
    kept outside the book: without one, a book that was cut *and* made to agree with
    itself again cannot be told from a true one.
    """
    with ledger.store.reading() as run, _only_book_errors(ledger.store.place):
        start = Mark() if whole else _mark(run)
        if not start.seq and isinstance(ledger.store, SQLiteStore):
            _check_file(run)
        end = _follow(run, start)
        _compare(end, run, start.seq)
        _check_anchors(run, anchors)
    _remember(ledger, end)
    return end.seq


class Mark:
    """The end of the part of a log that was followed, and its state there."""

    def __init__(
        self, seq: int = 0, head: str = "", time: str = "", facts: Facts | None = None
    ) -> None:
        self.seq, self.head, self.time = seq, head, time
        self.facts = Facts() if facts is None else facts

    def to_text(self) -> str:
        return canonical([self.seq, self.head, self.time, self.facts.to_json()])


def _mark(run: Run) -> Mark:
    """The end of the last verification, if that line is still there."""
    rows = run("SELECT value FROM meta WHERE name = 'verified'")
    if not rows:
        return Mark()
    seq, head, time, facts = json.loads(rows[0][0])
    if run("SELECT hash FROM log WHERE seq = ?", (seq,)) != [(head,)]:
        raise LedgerError(
            f"line {seq} was verified before, but is now missing or changed; {RESTORE}"
        )
    return Mark(seq, head, time, Facts.from_json(facts))


def _remember(ledger: Ledger, end: Mark) -> None:
    """Keep the mark. It reveals no private data, and it is not a line of the log."""
    with ledger.changing() as run:
        run("DELETE FROM meta WHERE name = 'verified'")
        run("INSERT INTO meta (name, value) VALUES ('verified', ?)", (end.to_text(),))


@contextmanager
def _only_book_errors(place: str) -> Iterator[None]:
    """A value of another type, or a line that refers to nothing, is a changed book like
    any other.
    """
    try:
        yield
    except LedgerError as error:
        raise error.at(place) from error.__cause__
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        ArithmeticError,
    ) as error:
        if isinstance(error, DitherError):
            raise
        raise LedgerError(
            f"{place} was changed: it has content that Dither does not write; {RESTORE}"
        ) from error


def _check_file(run: Run) -> None:
    """Whether the indices of a SQLite file agree with its tables: lookups read the one,
    sums the other.
    """
    if run("PRAGMA integrity_check") != [("ok",)]:
        raise LedgerError(f"the file is damaged; {RESTORE}")


def _follow(run: Run, start: Mark) -> Mark:
    """Follow the log from a mark to its end: each line ties to the one before, and is
    one that may come there.
    """
    rules = Dithers()
    seq, head, time, facts = start.seq, start.head, start.time, start.facts
    while rows := run(f"{LINES} WHERE seq > ? ORDER BY seq LIMIT {PAGE}", (seq,)):
        for row in rows:
            entry = _entry(row, seq + 1, head, time)
            try:
                apply(facts, entry, rules)
            except LedgerError as error:
                raise LedgerError(
                    f"line {entry.seq} cannot be part of this ledger: {error}"
                ) from None
            seq, head, time = entry.seq, entry.hash, entry.time
    return Mark(seq, head, time, facts)


def _entry(row: tuple[Any, ...], expected: int, previous: str, time: str) -> Entry:
    seq, when, kind, account, body, digest = row
    entry = Entry(seq, when, kind, account, _parsed(body, expected), digest)
    if (
        seq != expected
        or canonical(entry.body) != body
        or not entry.follows(previous)
        or when < time
    ):
        raise LedgerError(
            f"line {expected} of the log was changed, moved or removed; {RESTORE}"
        )
    return entry


def _parsed(body: str, seq: int) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise LedgerError(f"line {seq} of the log was changed; {RESTORE}")
    return parsed


class Dithers:
    """Dither's own computations of costs and caps (see `transitions.Rules`)."""

    def check_caps(self, account: AccountFacts) -> None:
        """The caps must follow from the total that is stated."""
        terms, state = _terms(_about(account)), account.state
        stated = (state.pure_cap, state.loss_cap, state.delta_cap)
        true = (terms.pure_cap, terms.loss_cap, terms.delta_cap)
        if any(
            not 0 <= cap <= _nearly(real)
            for cap, real in zip(stated, true, strict=True)
        ):
            raise LedgerError("the account allows more than its total")

    def check_cost(
        self, account: AccountFacts, guarantee: Mapping[str, Any], price: Price
    ) -> None:
        """A charge must cost at least what its guarantee says."""
        true = _cost_of(_about(account), canonical(guarantee))
        pairs = (
            (price.pure, true.pure),
            (price.loss, true.loss),
            (price.delta, true.delta),
        )
        cheap = any(
            stated is not None and _nearly(stated) < (real or 0)
            for stated, real in pairs
        )
        if cheap or (price.pure is None) != (true.pure is None):
            raise LedgerError("the charge costs less than its guarantee")


About = tuple[str, str, str, str, str, int]


def _about(account: AccountFacts) -> About:
    total = (account.epsilon, account.delta, account.order)
    return account.unit, account.relation, account.accounting, *total


@lru_cache(maxsize=256)
def _terms(about: About) -> Terms:
    unit, relation, accounting, epsilon, delta, order = about
    total = ApproxDP(float(epsilon), float(delta), unit=unit_of(unit, relation))
    return Terms.of(Accounting(accounting), total, order or None)


@lru_cache(maxsize=4096)
def _cost_of(about: About, guarantee: str) -> Price:
    data, terms = json.loads(guarantee), _terms(about)
    if data["kind"] == "disjoint":
        return terms.disjoint([from_json(part) for part in data["parts"]])
    return terms.cost(from_json(data))


def _nearly(units: int) -> int:
    """Room for the last digits of another platform's logarithms."""
    return units + units // 10**9 + 2


def _check_anchors(run: Run, anchors: Iterable[Receipt | tuple[int, str]]) -> None:
    for anchor in anchors:
        seq, digest = (
            anchor if isinstance(anchor, tuple) else (anchor.number, anchor.head)
        )
        if run("SELECT hash FROM log WHERE seq = ?", (seq,)) != [(digest,)]:
            raise LedgerError(
                f"line {seq} is missing or was changed: the ledger was cut, or replaced by "
                f"an older copy; {RESTORE}"
            )


def _compare(end: Mark, run: Run, after: int) -> None:
    """Every row of every table must be what the log says, and nothing else may be
    there.
    """
    said, found = end.facts, load_all(run)
    pairs: list[tuple[str, object, object]] = [
        ("account", said.accounts, found.accounts),
        ("analyst", said.analysts, found.analysts),
        ("charge without an answer", said.pending, found.pending),
        ("stored release", said.releases, _releases(run, after)),
        ("mark", said.mark, found.mark),
    ]
    for what, one, other in pairs:
        if one != other:
            raise LedgerError(
                f"the log does not match the table of each {what}: one of them was "
                f"changed; {RESTORE}"
            )
    known = ("schema", "mark", "verified", "home")
    if any(name not in known for (name,) in run("SELECT name FROM meta")):
        raise LedgerError(
            f"the ledger has content that Dither does not write; {RESTORE}"
        )


def _releases(run: Run, after: int) -> dict[tuple[str, str], tuple[int, int, str]]:
    rows = run(
        "SELECT account, name, seq, line, body FROM replay WHERE line > ?", (after,)
    )
    return {
        (account, name): (seq, line, hashlib.sha256(body.encode()).hexdigest())
        for account, name, seq, line, body in rows
    }
