"""What can be wrong with a file."""

import os
import pwd
import sqlite3
import tempfile
from pathlib import Path

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger, sqlite_connection, verify
from dither.privacy import PureDP
from tests.ledger.notes import noted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "book.db"


@pytest.fixture
def account(path):
    with Ledger.open(path) as book:
        yield book.account("clinic", epsilon=1)


def nothing_was_spent(account):
    """…and the account still works."""
    assert account.history() == ()
    assert account.remaining.epsilon == 1
    account.charge(PureDP(0.1))
    verify(account._ledger)


def test_commits_are_durable(account):
    connection = account._ledger.store._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_so_are_those_of_a_forked_process(account):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            account.charge(PureDP(0.1))
            code = account._ledger.store._connection.execute(
                "PRAGMA synchronous"
            ).fetchone()[0]
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2


def test_a_file_that_somebody_holds(path, account, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "PATIENCE", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with (
        Ledger.open(path) as book,
        pytest.raises(LedgerError, match="in use by another process"),
    ):
        book.account("clinic").charge(PureDP(0.1))
    holder.execute("ROLLBACK")
    holder.close()
    nothing_was_spent(account)


def test_a_file_of_something_else(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE account (name TEXT)")
    other.close()
    with pytest.raises(LedgerError, match="but not a ledger"):
        Ledger.open(path)
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("account",)]
    other.close()


def test_a_full_disk(account):
    connection = account._ledger.store._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="disk is full"):
        account.charge(PureDP(0.1), purpose="long " * 10_000)
    connection.execute("PRAGMA max_page_count = 1000000")
    nothing_was_spent(account)


class Failing:
    """A connection whose commits fail as on a disk that is full, or broken."""

    def __init__(self, connection, message):
        self._connection, self._message = connection, message

    def execute(self, sql, parameters=()):
        if sql == "COMMIT":
            raise sqlite3.OperationalError(self._message)
        return self._connection.execute(sql, parameters)

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("database or disk is full", "disk is full"),
        ("disk I/O error", "could not be used"),
    ],
)
def test_a_commit_that_fails_gives_no_receipt(account, monkeypatch, message, words):
    store = account._ledger.store
    with monkeypatch.context() as patch:
        patch.setattr(store, "_connection", Failing(store._connection, message))
        with pytest.raises(LedgerError, match=words):
            account.charge(PureDP(0.1))
        ran = []
        with pytest.raises(LedgerError, match=words), account.spending(PureDP(0.1)):
            ran.append(1)
        assert not ran
    nothing_was_spent(account)


def test_the_head_is_noted_after_the_commit(path, account, monkeypatch):
    """A note that is ahead of the book would freeze it for nothing."""
    account.charge(PureDP(0.1))
    before = noted(path)
    store = account._ledger.store
    with monkeypatch.context() as patch:
        patch.setattr(
            store, "_connection", Failing(store._connection, "disk I/O error")
        )
        with pytest.raises(LedgerError):
            account.charge(PureDP(0.1))
    assert noted(path) == before
    receipt = account.charge(PureDP(0.1))
    assert (noted(path).seq, noted(path).head) == (receipt.number, receipt.head)


def refused_as_nobody(path):
    """What a user without the rights of root is told; a fork, because that user may not
    start this Python.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(pwd.getpwnam("nobody").pw_uid)
            with Ledger.open(path) as book:
                book.account("clinic").charge(PureDP(0.1))
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    told = os.read(reader, 100_000).decode()
    os.close(reader)
    return told


@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_file_that_may_not_be_written(mode):
    # In pytest's own folder nobody could not read it either
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "book.db"
        with Ledger.open(path) as book:
            book.account("clinic", epsilon=1)
        path.chmod(0o444)
        folder.chmod(mode)
        told = refused_as_nobody(path)
        folder.chmod(0o755)
        path.chmod(0o644)
        assert told.startswith("LedgerError")
        assert "cannot be written" in told or "cannot be opened" in told
        with Ledger.open(path) as book:
            nothing_was_spent(book.account("clinic"))
