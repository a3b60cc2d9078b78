"""Kill the process that charges, at a random moment, many times; then look whether the
book still tells the truth.

Each victim is forked from a warm parent, opens the book, charges in a loop, and after
every charge that returned it "releases": it appends the receipt's number and hash to a
file. The parent waits until the victim has released something, then sends SIGKILL after
a random short delay. Where files are handled too, victims copy the files of the book
that they have open, other processes look and make backups beside them, and now and then
the book is lost and a backup restored.
"""

from __future__ import annotations

import os
import random  # allowed: when to kill, not what to spend
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dither.errors import BudgetExceeded, LedgerError
from dither.ledger import Account, Ledger, Receipt, verify
from dither.privacy import PureDP
from tests.clock import until

__all__ = ["Outcome", "campaign"]

ONE = PureDP(1)
SHARE = 0.5


@dataclass(frozen=True)
class Outcome:
    """What was found after all kills."""

    kills: int
    charges: int
    releases: int
    restores: int = 0

    @property
    def unreleased(self) -> int:
        """Charges whose process was killed before it released anything: the cost of
        being safe.
        """
        return self.charges - self.releases


class Campaign:
    """One book, and everything that is done to it."""

    def __init__(
        self,
        place: str,
        releases: Path,
        kills: int,
        *,
        files: bool,
        longest: float,
        seed: int | None,
    ):
        self.place, self.releases, self.kills, self.files = (
            place,
            releases,
            kills,
            files,
        )
        self.longest, self.chance = longest, random.Random(seed)
        self.cap, self.restores = 12 * kills, 0

    def run(self) -> Outcome:
        with Ledger.open(self.place) as book:
            account = book.account("crash", epsilon=self.cap)
            account.share("ana", SHARE)
        for number in range(self.kills):
            if number % 50 == 49:
                self.check()
            if self.files and number % 10 == 9:
                self.lose_and_restore()
            self.kill_one(beside=self.files and self.chance.random() < 0.5)
        charges, shown = self.check()
        self.still_works()
        return Outcome(self.kills, charges, shown, self.restores)

    def kill_one(self, *, beside: bool) -> None:
        """One victim, and sometimes another process that looks, copies and makes
        backups beside it.
        """
        other = self.fork(self.look_for_ever) if beside else None
        self.wait_and_kill(self.fork(self.charge_for_ever))
        if other is not None:
            self.wait_and_kill(other)

    def fork(self, act: Callable[[Callable[[], object]], None]) -> tuple[int, int]:
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(ready)
                act(lambda: os.write(tell, b"."))
            finally:
                os._exit(1)
        os.close(tell)
        return child, ready

    def wait_and_kill(self, victim: tuple[int, int]) -> None:
        """The delay begins when the victim has done something, however long that takes
        on a busy machine.
        """
        child, ready = victim
        assert os.read(ready, 1), "the victim ended before it had done anything"
        time.sleep(self.chance.uniform(0, self.longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)

    def charge_for_ever(self, tell: Callable[[], object]) -> None:
        chance = random.Random(os.getpid())
        with self.releases.open("a", buffering=1, encoding="ascii") as out:
            account = Ledger.open(self.place).account("crash")
            while True:
                for by in (None, "ana"):
                    _release(account, by, out.write)
                    tell()
                    if self.files and chance.random() < 0.2:
                        self.copy()

    def look_for_ever(self, tell: Callable[[], object]) -> None:
        number = 0
        while True:
            with Ledger.open(self.place) as book:
                book.account("crash").remaining  # noqa: B018
                book.backup(f"{self.place}.backup{os.getpid()}-{number}")
            self.copy()
            number += 1
            tell()

    def copy(self) -> None:
        """What any program does that copies files: it drops the locks that this process
        has on them.
        """
        for path in Path(self.place).parent.glob(f"{Path(self.place).name}*"):
            if path.suffix == ".db" or path.name.endswith(("-wal", "-shm", "-note")):
                try:
                    shutil.copy(path, f"{self.place}.copied{os.getpid()}")
                except FileNotFoundError:
                    continue

    def lose_and_restore(self) -> None:
        """The file is lost, what lies beside it stays; a backup comes into its place,
        and receipts are entered.
        """
        before = self.receipts()
        Path(self.place).rename(f"{self.place}.lost{self.restores}")
        backups = sorted(
            Path(self.place).parent.glob(f"{Path(self.place).name}.backup*")
        )
        usable = next((path for path in backups if _is_whole(path)), None)
        self.restores += 1
        with Ledger.restore(
            usable or f"{self.place}.lost{self.restores - 1}", self.place
        ) as book:
            account = book.account("crash")
            assert account.frozen, "a restored book opened as if nothing had happened"
            account.recover(before)
            account.thaw("all receipts are entered")
            assert account.remaining.epsilon == self.cap - len(before)
            verify(book, whole=True)
        for path in Path(self.place).parent.glob(f"{Path(self.place).name}.[bc]*"):
            path.unlink()
        self.known = before

    known: list[Receipt] = []  # noqa: RUF012

    def receipts(self) -> list[Receipt]:
        """All charges ever made: the book's own, and those that were entered after a
        restoring.
        """
        with Ledger.open(self.place) as book:
            made = book.account("crash").history()
        heads = {receipt.head for receipt in made}
        return [
            *made,
            *(receipt for receipt in self.known if receipt.head not in heads),
        ]

    def check(self) -> tuple[int, int]:
        """No release without a charge, no overspending, and a log that verifies."""
        if self.place.startswith("postgresql:"):
            until(
                lambda: not _others(self.place),
                "the server has finished what the victims had sent",
            )
        shown = _released(self.releases)
        with Ledger.open(self.place) as book:
            account = book.account("crash")
            assert account.frozen == "", f"the book opened frozen: {account.frozen}"
        made = self.receipts()
        charged = {(receipt.number, receipt.head) for receipt in made}
        missing = [release for release in shown if release not in charged]
        assert not missing, f"released without a charge: {missing}"
        assert len(charged) <= self.cap
        assert sum(receipt.by == "ana" for receipt in made) <= self.cap * SHARE
        with Ledger.open(self.place) as book:
            assert book.account("crash").remaining.epsilon == self.cap - len(charged)
            verify(book, [] if self.files else shown, whole=True)
        return len(charged), len(shown)

    def still_works(self) -> None:
        """What is left can be charged, to the last unit and no further."""
        with Ledger.open(self.place) as book:
            account = book.account("crash")
            while account.remaining.epsilon >= 1:
                account.charge(ONE)
            assert account.remaining.epsilon == 0
            try:
                account.charge(ONE)
            except BudgetExceeded:
                return
            raise AssertionError("more was granted than the account has")


def campaign(
    place: str,
    releases: Path,
    kills: int,
    *,
    files: bool = False,
    longest: float = 0.006,
    seed: int | None = None,
) -> Outcome:
    """Kill so many victims; raises AssertionError if anything that must hold does not."""
    return Campaign(
        place, releases, kills, files=files, longest=longest, seed=seed
    ).run()


def _others(place: str) -> int:
    """How many other connections the database has. A killed client's lasts until its
    statement is done.
    """
    import psycopg

    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(place) as connection:
        ((count,),) = connection.execute(others).fetchall()
    return int(count)


def _is_whole(path: Path) -> bool:
    """Whether a backup was finished before its maker was killed."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("SELECT count(*) FROM log").fetchone()[0])
    except sqlite3.Error:
        return False


def _release(account: Account, by: str | None, write: Callable[[str], object]) -> None:
    try:
        receipt = account.charge(ONE, by=by)
    except BudgetExceeded:
        time.sleep(0.001)
    except LedgerError as error:
        if "end this process" not in str(error):
            raise
        os._exit(1)
    else:
        write(f"{receipt.number} {receipt.head}\n")


def _released(releases: Path) -> list[tuple[int, str]]:
    """A line cut off by the kill was not released."""
    text = releases.read_text(encoding="ascii") if releases.exists() else ""
    lines = [line.split() for line in text.split("\n")[:-1]]
    return [(int(number), head) for number, head in lines]
