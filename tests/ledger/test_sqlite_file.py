"""The files of a book: backups, what lies beside it, and what its faults mean."""

import sqlite3

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger, verify
from dither.ledger.sqlite_file import backup_file, explain, leftovers
from dither.privacy import PureDP


def test_a_backup_is_one_file_that_verifies(tmp_path):
    book, copy = tmp_path / "book.db", tmp_path / "copy.db"
    with Ledger.open(book) as ledger:
        ledger.account("clinic", epsilon=1).charge(PureDP(0.5))
    backup_file(str(book), str(copy))
    assert leftovers(str(copy)) == [copy]
    with Ledger.restore(copy, tmp_path / "again.db") as ledger:
        assert verify(ledger)


def test_what_is_no_book_is_not_backed_up(tmp_path):
    other = tmp_path / "other.db"
    with pytest.raises(LedgerError, match="does not exist"):
        backup_file(str(other), str(tmp_path / "copy.db"))
    other.touch()
    with pytest.raises(LedgerError, match="is not a ledger"):
        backup_file(str(other), str(tmp_path / "copy.db"))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("database is locked", "in use by another process"),
        ("attempt to write a readonly database", "cannot be written"),
        ("database or disk is full", "the disk is full"),
        ("database disk image is malformed", "restore it from a backup"),
        ("something new", "(something new), and nothing was spent"),
    ],
)
def test_faults_are_explained(fault, words):
    assert words in explain(sqlite3.OperationalError(fault), "book.db")
