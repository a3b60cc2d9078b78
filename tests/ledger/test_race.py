"""Eight processes, one cap: exactly what is there is granted. And a proof that this
test can fail.
"""

import multiprocessing
import os
import sqlite3
import traceback

import pytest

import dither
from dither.ledger import Ledger, verify
from dither.ledger.promise import Promise
from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP, PureDP

PROCESSES, EACH, CAP = 8, 200, 1000


def race(work):
    """How much each process was granted, all starting at once."""
    gate, start = os.pipe()
    pipes, children = [], []
    for _ in range(PROCESSES):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(start)
                os.read(gate, 1)
                os.write(writer, str(work()).encode())
            except BaseException:
                os.write(writer, traceback.format_exc().encode())
            finally:
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
        children.append(child)
    os.close(start)
    for child in children:
        os.waitpid(child, 0)
    os.close(gate)
    granted = []
    for reader in pipes:
        granted.append(os.read(reader, 100_000).decode())
        os.close(reader)
    assert all(answer.isdigit() for answer in granted), "\n".join(granted)
    return [int(number) for number in granted]


def charge_all(place):
    granted = 0
    with Ledger.open(place) as book:
        account = book.account("clinic")
        for _ in range(EACH):
            try:
                account.charge(PureDP(1))
                granted += 1
            except dither.BudgetExceeded:
                pass
    return granted


def test_exactly_the_cap_is_granted(place):
    with Ledger.open(place) as book:
        book.account("clinic", epsilon=CAP)
    granted = race(lambda: charge_all(place))
    assert sum(granted) == CAP
    with Ledger.open(place) as book:
        account = book.account("clinic")
        assert len(account.history()) == CAP
        assert account.remaining.epsilon == 0
        verify(book)


class Naive:
    """Read, check, write: what a budget must not do."""

    def __init__(self, place):
        if place.startswith("postgresql:"):
            import psycopg

            self._connection, self._mark = psycopg.connect(place, autocommit=True), "%s"
        else:
            self._connection, self._mark = (
                sqlite3.connect(place, timeout=60, isolation_level=None),
                "?",
            )

    def create(self, cap):
        self._connection.execute("CREATE TABLE naive (spent BIGINT, cap BIGINT)")
        self._connection.execute(f"INSERT INTO naive VALUES (0, {cap})")

    def charge(self, meanwhile=lambda: None):
        spent, cap = self._connection.execute("SELECT spent, cap FROM naive").fetchone()
        meanwhile()
        if spent >= cap:
            return False
        self._connection.execute(f"UPDATE naive SET spent = {self._mark}", (spent + 1,))
        return True

    def close(self):
        self._connection.close()


def test_the_naive_way_overspends(place):
    """Each process has read before the first one writes: so eight are granted what one
    was.
    """
    together = multiprocessing.Barrier(PROCESSES)
    book = Naive(place)
    book.create(CAP)
    book.close()

    def work():
        mine = Naive(place)
        granted = mine.charge(together.wait) + sum(
            mine.charge() for _ in range(EACH - 1)
        )
        mine.close()
        return granted

    assert sum(race(work)) > CAP


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_shares_are_not_overspent_either(place, share):
    with Ledger.open(place) as book:
        account = book.account("clinic", epsilon=100)
        account.share("ana", share)

    def work():
        granted = 0
        with Ledger.open(place) as mine:
            for _ in range(30):
                try:
                    mine.account("clinic").charge(PureDP(1), by="ana")
                    granted += 1
                except dither.BudgetExceeded:
                    pass
        return granted

    assert sum(race(work)) == 100 * share
    with Ledger.open(place) as book:
        verify(book)


def test_one_first_charge_opens_the_account_and_decides_what_it_promises(place):
    """Half of the processes declare another total: whoever comes first wins, and the
    others are granted nothing.
    """
    together = multiprocessing.Barrier(PROCESSES)
    number = multiprocessing.Value("i", 0)

    def work():
        with number.get_lock():
            number.value += 1
            total = 10.0 if number.value % 2 else 20.0
        promise = Promise(Terms.of(Accounting.PURE, ApproxDP(total, 0.0)))
        with Ledger.open(place) as mine:
            account = mine.promised("clinic", promise)
            together.wait()
            return sum(charged(account) for _ in range(8))

    Ledger.open(place).close()
    granted = race(work)
    with Ledger.open(place) as book:
        account = book.account("clinic")
        assert sum(granted) == account.epsilon == len(account.history())
        assert sum(number > 0 for number in granted) <= PROCESSES // 2
        assert sum(entry.kind == "open" for entry in book.entries()) == 1
        verify(book)


def charged(account):
    try:
        account.charge(PureDP(1))
    except (dither.BudgetExceeded, dither.LedgerError):
        return 0
    return 1
