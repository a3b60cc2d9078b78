"""Kill the process that charges, at a random moment, many times; then look whether the book still tells the truth.

Each victim is forked from a warm parent, opens the book, charges in a loop, and after every charge that returned it
"releases": it appends the receipt's number and hash to a file. It tells the parent of each answer. The parent waits for
some of them, then for a random part of the time that a charge takes here, and sends SIGKILL. So a kill hits any moment
of a charge, however slow or busy the machine is.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dither.errors import BudgetExceeded
from dither.ledger import Account, Ledger, verify
from dither.privacy import PureDP
from tests.clock import until

__all__ = ["Outcome", "campaign"]

ONE = PureDP(1)
SHARE = 0.5
MOST_ANSWERS = 5
FIRST = 0.002
"""Seconds within which a victim is killed that has not answered yet: about as long as its first charge takes."""


@dataclass(frozen=True)
class Outcome:
    """What was found after all kills."""

    kills: int
    charges: int
    releases: int

    @property
    def unreleased(self) -> int:
        """Charges whose process was killed before it released anything: the cost of being safe."""
        return self.charges - self.releases


def campaign(place: str, releases: Path, kills: int, seed: int | None = None) -> Outcome:
    """Kill so many victims; raises AssertionError if anything that must hold does not."""
    chance = random.Random(seed)
    cap = 12 * kills
    with Ledger.open(place) as book:
        account = book.account("crash", epsilon=cap)
        account.share("ana", SHARE)
    for number in range(kills):
        if number % 50 == 49:
            _check(place, releases, cap)
        _kill_one(lambda tell: _charge_for_ever(place, releases, tell), number % (MOST_ANSWERS + 1), chance.random())
    charges, shown = _check(place, releases, cap)
    _still_works(place, cap)
    return Outcome(kills, charges, shown)


def _kill_one(victim: Callable[[int], None], answers: int, part: float) -> None:
    """The victim is killed after so many answers and a part of the time that it took to the last one."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ready)
            victim(tell)
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1), "the victim could not open the book"
    took = FIRST
    for _ in range(answers):
        began = time.monotonic()
        assert os.read(ready, 1), "the victim could not charge"
        took = time.monotonic() - began
    time.sleep(part * took)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)


def _charge_for_ever(place: str, releases: Path, tell: int) -> None:
    book = Ledger.open(place)
    account = book.account("crash")
    with releases.open("a", buffering=1, encoding="ascii") as out:
        os.write(tell, b".")
        while True:
            for by in (None, "ana"):
                _release(account, by, out.write)
                os.write(tell, b".")


def _release(account: Account, by: str | None, write: Callable[[str], object]) -> None:
    try:
        receipt = account.charge(ONE, by=by)
    except BudgetExceeded:
        time.sleep(0.001)
    else:
        write(f"{receipt.number} {receipt.head}\n")


def _check(place: str, releases: Path, cap: int) -> tuple[int, int]:
    """No release without a charge, no overspending, and a log that verifies with every release as an anchor."""
    if place.startswith("postgresql:"):
        until(lambda: not _others(place), "the server has finished what the victims had sent")
    shown = _released(releases)
    with Ledger.open(place) as book:
        account = book.account("crash")
        assert account.frozen == "", f"the book opened frozen: {account.frozen}"
        charged = {(receipt.number, receipt.head) for receipt in account.history()}
        missing = [release for release in shown if release not in charged]
        assert not missing, f"released without a charge: {missing}"
        assert len(charged) <= cap
        assert sum(receipt.by == "ana" for receipt in account.history()) <= cap * SHARE
        assert account.remaining.epsilon == cap - len(charged)
        verify(book, shown)
    return len(charged), len(shown)


def _others(place: str) -> int:
    """How many other connections the database has. A killed client's lasts until its statement is done."""
    import psycopg

    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(place) as connection:
        ((count,),) = connection.execute(others).fetchall()
    return int(count)


def _released(releases: Path) -> list[tuple[int, str]]:
    """A line cut off by the kill was not released."""
    text = releases.read_text(encoding="ascii") if releases.exists() else ""
    lines = [line.split() for line in text.split("\n")[:-1]]
    return [(int(number), head) for number, head in lines]


def _still_works(place: str, cap: int) -> None:
    """What is left can be charged, to the last unit and no further."""
    with Ledger.open(place) as book:
        account = book.account("crash")
        while account.remaining.epsilon >= 1:
            account.charge(ONE)
        assert len(account.history()) == cap
        try:
            account.charge(ONE)
        except BudgetExceeded:
            return
        raise AssertionError("more was granted than the account has")
