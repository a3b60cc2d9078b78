"""One descriptor guards a file for all books of a process, until the last is closed."""

import os

from dither.ledger import guards
from dither.ledger.guards import Guard


def book(tmp_path):
    path = tmp_path / "book.db"
    for name in ("", "-shm"):
        (tmp_path / f"book.db{name}").touch()
    return path


def test_books_share_a_descriptor_until_the_last_is_closed(tmp_path):
    path = book(tmp_path)
    found = path.stat()
    key = (found.st_dev, found.st_ino)
    first, second = Guard(path), Guard(path)
    descriptor, users = guards._HELD[key]
    assert users == 2
    first.close()
    first.close()
    assert os.fstat(descriptor).st_ino == found.st_ino
    second.release()
    second.close()
    assert key not in guards._HELD
