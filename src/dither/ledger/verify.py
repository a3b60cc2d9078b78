"""Whether a book tells the truth about itself: the chain of hashes, and every number recomputed from the log."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import LedgerError
from dither.ledger.sqlite import SQLiteStore
from dither.ledger.state import State
from dither.ledger.terms import Accounting, Cost, Terms
from dither.ledger.wire import Entry, canonical, from_json
from dither.privacy import ApproxDP, Relation, Unit

if TYPE_CHECKING:
    from dither.ledger.account import Receipt
    from dither.ledger.ledger import Ledger
    from dither.ledger.store import Run

__all__ = ["verify"]


def verify(ledger: Ledger, anchors: Iterable[Receipt | tuple[int, str]] = ()) -> int:
    """Check the whole book and return how many lines its log has; raises `LedgerError` at the first fault.

    Anchors are receipts, or (sequence number, hash) pairs, that were kept outside the book: without one, a book that
    was cut *and* made to agree with itself again cannot be told from a true one.
    """
    with ledger.store.reading() as run, _only_book_errors():
        if isinstance(ledger.store, SQLiteStore):
            _whole(run)
        entries = _chain(run("SELECT seq, time, kind, account, body, hash FROM log ORDER BY seq"))
        _compare(_fold(entries), run)
    hashes = {entry.seq: entry.hash for entry in entries}
    for anchor in anchors:
        seq, digest = anchor if isinstance(anchor, tuple) else (anchor.number, anchor.head)
        if hashes.get(seq) != digest:
            raise LedgerError(f"line {seq} is missing or was changed: the book was cut, or replaced by an older copy")
    return len(entries)


@contextmanager
def _only_book_errors() -> Iterator[None]:
    """A value of another type, or a line that refers to nothing, is a changed book like any other."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise LedgerError("the book was changed: it holds something that no charge writes") from error


def _whole(run: Run) -> None:
    """Whether the indices of a SQLite file agree with its tables: lookups read the one, sums the other."""
    if run("PRAGMA integrity_check") != [("ok",)]:
        raise LedgerError("the file is damaged; restore it from a copy with `Ledger.restore`")


def _chain(rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
    entries: list[Entry] = []
    previous, time = "", ""
    for expected, (seq, when, kind, account, body, digest) in enumerate(rows, 1):
        entry = Entry(seq, when, kind, account, _parsed(body, seq), digest)
        if seq != expected or canonical(entry.body) != body or not entry.follows(previous) or when < time:
            raise LedgerError(f"line {expected} of the log was changed, moved or removed")
        entries.append(entry)
        previous, time = digest, when
    return entries


def _parsed(body: str, seq: int) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise LedgerError(f"line {seq} of the log was changed")
    return parsed


@dataclass(frozen=True)
class Facts:
    """What the log says about an account."""

    opened: tuple[str, ...]
    order: int
    state: State
    policy: str
    failures: int = 0
    period: int = 1
    frozen: str = ""


@dataclass
class Told:
    """What the whole log says: accounts, analysts' shares, and the hashes of stored releases."""

    accounts: dict[str, Facts]
    shares: dict[tuple[str, str], tuple[str, State]]
    releases: dict[tuple[str, str], tuple[int, str]]
    mark: dict[str, str]


def _fold(entries: Iterable[Entry]) -> Told:
    told = Told({}, {}, {}, {})
    for entry in entries:
        if entry.kind == "mark":
            told.mark = {"mark": entry.body["reason"]}
        elif entry.kind == "clear":
            told.mark = {}
        elif entry.kind != "book":
            _apply(told, entry)
    return told


def _apply(told: Told, entry: Entry) -> None:
    name, body = entry.account, entry.body
    if entry.kind == "open":
        told.accounts[name] = _opened(body)
        _check_caps(told.accounts[name], entry.seq)
        return
    facts = told.accounts[name]
    match entry.kind:
        case "charge":
            cost = Cost(*body["cost"])
            _check_cost(facts, body["guarantee"], cost, entry.seq)
            share = told.shares.get((name, body["by"]))
            if not facts.state.fits(cost) or facts.frozen or (share is not None and not share[1].fits(cost)):
                raise LedgerError(f"line {entry.seq} spends more than {name} had left")
            facts = replace(facts, state=facts.state.plus(cost))
            _apply_share(told, name, body["by"], cost)
        case "recover":
            facts = replace(facts, state=facts.state.plus(Cost(*body["cost"])))
            _apply_share(told, name, body["by"], Cost(*body["cost"]))
        case "write off":
            s = facts.state
            spent = (max(s.pure_cap, s.pure_spent), max(s.loss_cap, s.loss_spent), max(s.delta_cap, s.delta_spent))
            facts = replace(facts, state=State(s.pure_cap, s.loss_cap, s.delta_cap, *spent, s.impure + 1))
        case "share":
            old = told.shares.get((name, body["analyst"]), ("", State(0, 0, 0)))[1]
            told.shares[name, body["analyst"]] = (body["part"], _with_caps(old, body["caps"]))
        case "amend":
            facts = _amended(facts, body)
            _check_caps(facts, entry.seq)
            told.shares |= {k: _rescaled(p, s, facts.state) for k, (p, s) in told.shares.items() if k[0] == name}
        case "renew":
            facts = replace(facts, state=_emptied(facts.state), period=facts.period + 1)
            told.shares |= {k: (p, _emptied(s)) for k, (p, s) in told.shares.items() if k[0] == name}
        case "fail":
            facts = replace(facts, failures=facts.failures + 1)
        case "freeze":
            facts = replace(facts, frozen=body["reason"])
        case "thaw":
            facts = replace(facts, frozen="", failures=0)
        case "store":
            told.releases[name, body["key"]] = (body["charge"], body["sha256"])
    told.accounts[name] = facts


def _opened(body: Mapping[str, Any]) -> Facts:
    names = ("dataset", "unit", "relation", "accounting", "epsilon", "delta")
    state = State(body["pure_cap"], body["loss_cap"], body["delta_cap"])
    return Facts(tuple(str(body[name]) for name in names), body["order"], state, canonical(body["policy"]))


def _terms(facts: Facts) -> Terms:
    _, unit, relation, accounting, epsilon, delta = facts.opened
    total = ApproxDP(float(epsilon), float(delta), unit=Unit(unit, Relation(relation)))
    return Terms.of(Accounting(accounting), total, facts.order or None)


def _check_caps(facts: Facts, seq: int) -> None:
    """The caps must follow from the total that is stated."""
    terms = _terms(facts)
    stated = (facts.state.pure_cap, facts.state.loss_cap, facts.state.delta_cap)
    if any(
        cap > _nearly(true) for cap, true in zip(stated, (terms.pure_cap, terms.loss_cap, terms.delta_cap), strict=True)
    ):
        raise LedgerError(f"line {seq} allows more than the total that it states")


def _check_cost(facts: Facts, guarantee: Mapping[str, Any], cost: Cost, seq: int) -> None:
    """A charge must cost at least what its guarantee says."""
    true = _cost_of(_terms(facts), canonical(guarantee))
    pairs = ((cost.pure, true.pure), (cost.loss, true.loss), (cost.delta, true.delta))
    cheap = any(stated is not None and (stated < 0 or _nearly(stated) < (real or 0)) for stated, real in pairs)
    if cheap or (cost.pure is None) != (true.pure is None):
        raise LedgerError(f"line {seq} costs less than its guarantee")


@lru_cache(maxsize=4096)
def _cost_of(terms: Terms, guarantee: str) -> Cost:
    data = json.loads(guarantee)
    if data["kind"] == "disjoint":
        return terms.disjoint([from_json(part) for part in data["parts"]])
    return terms.cost(from_json(data))


def _nearly(units: int) -> int:
    """Room for the last digits of another platform's logarithms."""
    return units + units // 10**9 + 2


def _apply_share(told: Told, name: str, by: str | None, cost: Cost) -> None:
    if by is not None and (name, by) in told.shares:
        part, state = told.shares[name, by]
        told.shares[name, by] = (part, state.plus(cost))


def _with_caps(state: State, caps: Iterable[int]) -> State:
    pure, loss, delta = caps
    return replace(state, pure_cap=pure, loss_cap=loss, delta_cap=delta)


def _rescaled(part: str, share: State, account: State) -> tuple[str, State]:
    return part, _with_caps(share, account.share_caps(Fraction(part)))


def _emptied(state: State) -> State:
    return State(state.pure_cap, state.loss_cap, state.delta_cap)


def _amended(facts: Facts, body: Mapping[str, Any]) -> Facts:
    opened = (*facts.opened[:4], body["epsilon"], body["delta"])
    caps = (body["pure_cap"], body["loss_cap"], body["delta_cap"])
    return replace(facts, opened=opened, state=_with_caps(facts.state, caps))


def _compare(told: Told, run: Run) -> None:
    """Every row of every table must be what the log says, and nothing else may be there."""
    who = "name, dataset, unit, relation, accounting, epsilon, delta, alpha, policy, failures, period, frozen"
    accounts = {}
    for name, *rest in run(f"SELECT {who}, {State.COLUMNS} FROM account"):
        opened, (order, policy, failures, period, frozen) = tuple(rest[:6]), rest[6:11]
        accounts[name] = Facts(opened, order, State(*rest[11:]), policy, failures, period, frozen)
    shares = {
        (account, analyst): (part, State(*rest))
        for account, analyst, part, *rest in run(f"SELECT account, analyst, part, {State.COLUMNS} FROM share")
    }
    releases = {
        (account, name): (seq, hashlib.sha256(body.encode()).hexdigest())
        for account, name, seq, body in run("SELECT account, name, seq, body FROM replay")
    }
    for what, said, found in (
        ("account", told.accounts, accounts),
        ("share", told.shares, shares),
        ("stored release", told.releases, releases),
        ("mark", told.mark, dict(run("SELECT name, value FROM meta WHERE name <> 'schema'"))),
    ):
        if said != found:
            raise LedgerError(f"the log and the table of each {what} do not agree: one of them was changed")
