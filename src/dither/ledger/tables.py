"""The tables of a book: this module creates and migrates them, and reads and writes
them as facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from dither.errors import LedgerError
from dither.ledger.claims import ENDS, followed
from dither.ledger.entry import Entry
from dither.ledger.facts import AccountFacts, AnalystFacts, Facts, Pending, RunFacts
from dither.ledger.state import State
from dither.ledger.store import LOG, TABLES, VERSION, Run, Store
from dither.ledger.transitions import apply

__all__ = ["change", "create", "load", "load_all", "migrate", "run_of", "told"]

WHO = "dataset, unit, relation, accounting, epsilon, delta, alpha, policy"
COUNTS = "failures, own, period, began, began_at, charges, frozen, written_off"
ACCOUNT = f"name, {WHO}, {State.COLUMNS}, {COUNTS}"
ANALYST = f"account, name, part, {State.COLUMNS}, charges, failures, frozen"
PENDING = "seq, account, analyst, deadline, id"
LINES = "SELECT seq, time, kind, account, body, hash FROM log"


def create(run: Run, store: Store) -> None:
    """The tables of a new book."""
    for statement in (LOG, *TABLES, *store.extras):
        run(statement.replace("{key}", store.key))
    run("INSERT INTO meta (name, value) VALUES ('schema', ?)", (str(VERSION),))


def check_version(version: int, place: str) -> None:
    if version > VERSION:
        raise LedgerError(
            f"{place} was written by a newer version of Dither (schema {version}); "
            "upgrade Dither to open it"
        )
    if version < 1:
        raise LedgerError(
            f"{place} was changed: it has the unknown schema {version}; restore it from "
            "a backup"
        )


def migrate(run: Run, store: Store) -> None:
    """Make the tables of the first schema again from the log, which is the same in
    both.
    """
    replays = run("SELECT account, name, seq, body FROM replay")
    for table in ("account", "share", "replay"):
        run(f"DROP TABLE {table}")
    for statement in (*TABLES, *store.extras):
        run(statement.replace("{key}", store.key))
    facts = told(run)
    save(run, Facts(), facts)
    for account, name, seq, body in replays:
        line = facts.releases[account, name][1]
        run(
            "INSERT INTO replay VALUES (?, ?, ?, ?, ?)",
            (account, name, seq, line, body),
        )
    run("UPDATE meta SET value = ? WHERE name = 'schema'", (str(VERSION),))


def told(run: Run) -> Facts:
    """The content of the whole log, checked only for being readable."""
    facts = Facts()
    try:
        for entry in lines(run):
            apply(facts, entry)
    except (KeyError, TypeError, ValueError) as error:
        raise LedgerError(
            "the log has a line that Dither does not write; restore the ledger from a "
            "backup"
        ) from error
    return facts


def lines(run: Run, after: int = 0, page: int = 1000) -> Iterator[Entry]:
    """The log after a line, read a page at a time."""
    while rows := run(f"{LINES} WHERE seq > ? ORDER BY seq LIMIT ?", (after, page)):
        yield from entries(rows)
        after = rows[-1][0]


def entries(rows: Iterable[tuple[Any, ...]]) -> Iterator[Entry]:
    for seq, when, kind, account, body, digest in rows:
        yield Entry(seq, when, kind, account, json.loads(body), digest)


def load(run: Run, name: str, charge: int | None = None) -> Facts:
    """The entries of the tables about one account, its analysts, and a charge of it."""
    accounts = run(f"SELECT {ACCOUNT} FROM account WHERE name = ?", (name,))
    analysts = run(f"SELECT {ANALYST} FROM analyst WHERE account = ?", (name,))
    waiting = (
        []
        if charge is None
        else run(f"SELECT {PENDING} FROM pending WHERE seq = ?", (charge,))
    )
    return _facts(run, accounts, analysts, waiting)


def load_all(run: Run) -> Facts:
    """The content of the tables, without the releases."""
    accounts, analysts = (
        run(f"SELECT {ACCOUNT} FROM account"),
        run(f"SELECT {ANALYST} FROM analyst"),
    )
    return _facts(run, accounts, analysts, run(f"SELECT {PENDING} FROM pending"))


def _facts(run: Run, accounts: Any, analysts: Any, waiting: Any) -> Facts:
    marks = run("SELECT value FROM meta WHERE name = 'mark'")
    facts = Facts(VERSION, marks[0][0] if marks else None)
    for row in accounts:
        facts.accounts[row[0]] = _account(row[1:9], State(*row[9:16]), row[16:])
    for account, name, part, *row in analysts:
        facts.analysts[account, name] = AnalystFacts(part, State(*row[:7]), *row[7:])
    facts.pending = {seq: Pending(*rest) for seq, *rest in waiting}
    return facts


def _account(
    who: tuple[Any, ...], state: State, counts: tuple[Any, ...]
) -> AccountFacts:
    names = (field.name for field in fields(AccountFacts))
    return AccountFacts(**dict(zip(names, (*who, state, *counts), strict=True)))


def change(run: Run, entry: Entry) -> Facts:
    """Carry a line out on the tables; it must be written to the log in the same
    transaction.
    """
    before = load(run, entry.account, entry.body.get("charge"))
    if entry.kind in ("open", "task"):
        before.accounts |= load_all(run).accounts
    if entry.kind == "recover":
        before.recovered = _recovered(run, entry.account)
    if entry.kind in ("claim", "resume"):
        _load_run(run, before, entry)
    after = before.copy()
    apply(after, entry)
    save(run, before, after)
    return after


def _load_run(run: Run, facts: Facts, entry: Entry) -> None:
    number = entry.body["charge"]
    found = run_of(run, entry.account, number)
    if found is not None:
        facts.runs[number] = found
        rows = run(f"SELECT {PENDING} FROM pending WHERE seq = ?", (found.attempt,))
        facts.pending = {seq: Pending(*rest) for seq, *rest in rows}


def run_of(run: Run, account: str, number: int) -> RunFacts | None:
    """The steps of a charge, and how many are taken: recorded in the log, and in no
    table.
    """
    rows = run(
        f"{LINES} WHERE seq = ? AND account = ? AND kind = 'charge'", (number, account)
    )
    kinds = ("claim", "resume", *ENDS)
    rows += run(
        f"{LINES} WHERE account IN (?, '') AND seq > ? "
        f"AND kind IN ({', '.join('?' * len(kinds))}) ORDER BY seq",
        (account, number, *kinds),
    )
    return followed(entries(rows)) if rows and rows[0][0] == number else None


def _recovered(run: Run, account: str) -> set[str]:
    rows = run(f"{LINES} WHERE account = ? AND kind = 'recover'", (account,))
    return {entry.body["head"] for entry in entries(rows)}


def save(run: Run, before: Facts, after: Facts) -> None:
    """Write what is different."""
    for name, account in after.accounts.items():
        if before.accounts.get(name) != account:
            run("DELETE FROM account WHERE name = ?", (name,))
            _insert(run, "account", ACCOUNT, (name, *_row(account)))
    for key, analyst in after.analysts.items():
        if before.analysts.get(key) != analyst:
            run("DELETE FROM analyst WHERE account = ? AND name = ?", key)
            _insert(run, "analyst", ANALYST, (*key, *_row(analyst)))
    for seq in before.pending.keys() - after.pending.keys():
        run("DELETE FROM pending WHERE seq = ?", (seq,))
    for seq in after.pending.keys() - before.pending.keys():
        _insert(run, "pending", PENDING, (seq, *vars(after.pending[seq]).values()))
    if before.mark != after.mark:
        run("DELETE FROM meta WHERE name = 'mark'")
        if after.mark is not None:
            run("INSERT INTO meta (name, value) VALUES ('mark', ?)", (after.mark,))


def _insert(run: Run, table: str, columns: str, values: tuple[Any, ...]) -> None:
    run(
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})",
        values,
    )


def _row(facts: AccountFacts | AnalystFacts) -> list[Any]:
    row: list[Any] = []
    for value in vars(facts).values():
        row += vars(value).values() if isinstance(value, State) else [value]
    return row
