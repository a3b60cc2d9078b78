"""Which files a book opens, and what it says of those it does not."""

import gc
import os
import sqlite3

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger, sqlite, sqlite_connection
from dither.privacy import PureDP


@pytest.fixture
def path(tmp_path):
    return tmp_path / "book.db"


def test_a_file_that_somebody_holds_from_the_beginning(path, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "PATIENCE", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="in use by another process"):
        Ledger.open(path)
    holder.close()
    Ledger.open(path).close()


def test_a_file_that_is_no_database(path):
    path.write_bytes(b"name,age\n" * 1000)
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == b"name,age\n" * 1000


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(LedgerError, match="check that its folder exists"):
        Ledger.open(tmp_path / "missing" / "book.db")


def test_a_folder_instead_of_a_file(tmp_path):
    with pytest.raises(LedgerError, match="is a folder; name a file"):
        Ledger.open(tmp_path)


def test_a_budget_that_is_dropped_is_closed():
    """A book in memory needs no closing. One in a file does: only there somebody else
    may wait for it.
    """
    store = sqlite.SQLiteStore(":memory:")
    connection = store._connection
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_a_book_with_two_names_is_refused(path, tmp_path):
    Ledger.open(path).close()
    os.link(path, tmp_path / "other.db")
    with pytest.raises(LedgerError, match="several names"):
        Ledger.open(tmp_path / "other.db")


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with Ledger.open("book.db") as ledger:
        account = ledger.account("clinic", epsilon=1)
        monkeypatch.chdir(tmp_path / "two")
        account.charge(PureDP(0.5))
        child = os.fork()
        if child == 0:
            try:
                account.charge(PureDP(0.5))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert account.remaining.epsilon == 0
    assert list((tmp_path / "two").iterdir()) == []
    assert (tmp_path / "one" / "book.db-note").exists()


@pytest.mark.parametrize("place", ["", "  "])
def test_a_blank_path_is_refused(place):
    with pytest.raises(LedgerError, match="empty"):
        Ledger.open(place)


def test_a_book_removed_while_open_grants_nothing(tmp_path):
    with Ledger.open(tmp_path / "book.db") as ledger:
        account = ledger.account("clinic", epsilon=1)
        (tmp_path / "book.db").unlink()
        with pytest.raises(LedgerError, match="moved, removed"):
            account.charge(PureDP(1))
