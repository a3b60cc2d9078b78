"""One descriptor guards a file for all books of a process, until the last is closed."""

import os
import threading
from pathlib import Path

from dither.ledger import guards
from dither.ledger.guards import Guard
from tests.clock import PATIENCE


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


def test_a_forgotten_book_is_collected_while_another_one_opens(tmp_path, monkeypatch):
    """Python collects garbage in the middle of anything: here, under the lock."""
    path = book(tmp_path)
    forgotten, opened = [Guard(path)], []
    stat = Path.stat

    def collecting(self, **how):
        forgotten.clear()
        return stat(self, **how)

    monkeypatch.setattr(Path, "stat", collecting)
    opening = threading.Thread(target=lambda: opened.append(Guard(path)), daemon=True)
    opening.start()
    opening.join(PATIENCE)
    assert opened, "it waits for its own lock"
    assert sorted(guards._HELD[key][1] for key in opened[0]._keys) == [1, 1]
    opened[0].close()
    assert not guards._LEFT
