"""The device's file: its secret, its memos, what it has joined, reserved and sent.

One SQLite file. Every change is one transaction that nobody else writes into, and it
is on the disk before anything of it is used. There is one connection for each
transaction, so threads and forked processes need no care.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dither.errors import DeviceError, LedgerError
from dither.ledger.locks import check_filesystem
from dither.local.client.rows import TABLES, Device, Rows
from dither.noise import secret_bytes

__all__ = ["SECRET", "Store"]

APPLICATION = 0xD1DE71CE - (1 << 32)  # SQLite keeps it as a signed number
FORMAT = 1
SECRET = 32
PATIENCE = 60.0  # seconds to wait for other processes


@dataclass(frozen=True)
class Store:
    """Path of the file."""

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Store:
        place = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        lasts = isinstance(place, str) and place.strip() and place != ":memory:"
        if not lasts or "\0" in place:
            raise DeviceError(
                "a device needs a file that is kept when the app ends; pass a path "
                "such as 'device.db'"
            )
        # Once and for all: a later chdir must not lead to another device
        store = cls(Path(os.path.realpath(place)))
        try:
            check_filesystem(store.path)
        except LedgerError:
            raise DeviceError(
                f"{path} is on a network file system, whose locks cannot be "
                "trusted; keep it on a local disk"
            ) from None
        return store

    def create(self, trust: str, budget: int) -> None:
        """A new device, if there is no file yet, or an empty one."""
        # Never opened if it is there: closing it would end the locks that SQLite has
        # on it in this process. What is wrong with a path, SQLite says better.
        with suppress(OSError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with self._transaction() as file:
            if _is_new(file):
                _create(file, Device(secret_bytes(SECRET), trust, budget))

    def protect(self) -> None:
        """Let only the owner read the file: a copied one may have become readable."""
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            self.path.chmod(0o600)

    @contextmanager
    def change(self) -> Iterator[Rows]:
        """A transaction alone with the file; on the disk when it ends well, and
        undone if not.
        """
        with self._transaction() as file:
            yield Rows(file, _device(file, self.path))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as file:
                file.execute("BEGIN IMMEDIATE")
                try:
                    yield file
                except BaseException:
                    if file.in_transaction:  # a full disk has undone it already
                        file.execute("ROLLBACK")
                    raise
                file.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            raise DeviceError(_explained(problem, self.path)) from problem

    def _connect(self) -> sqlite3.Connection:
        # "rw": a file that was removed is not made anew in passing
        place = f"{self.path.as_uri()}?mode=rw"
        file = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, uri=True)
        # EXTRA: the folder is synced too, or a lost commit would let a device send
        # a second message for one period
        file.execute("PRAGMA synchronous = EXTRA")
        file.execute("PRAGMA fullfsync = ON")  # macOS: past the disk's own cache
        file.execute("PRAGMA secure_delete = ON")  # what is left behind is zeros
        return file


def _is_new(file: sqlite3.Connection) -> bool:
    tables = file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    marked = file.execute("PRAGMA application_id").fetchone()[0]
    return bool(tables == 0 and marked == 0)


def _create(file: sqlite3.Connection, device: Device) -> None:
    file.execute(f"PRAGMA application_id = {APPLICATION}")
    file.execute(f"PRAGMA user_version = {FORMAT}")
    for table in TABLES.split(";")[:-1]:
        file.execute(table)
    row = (device.secret, device.trust, device.budget)
    file.execute("INSERT INTO device VALUES (?, ?, ?)", row)


def _device(file: sqlite3.Connection, path: Path) -> Device:
    if file.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise DeviceError(f"{path} is not the file of a device; choose another one")
    if file.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
        raise DeviceError(
            f"{path} was written by another version of Dither; install that version"
        )
    rows = file.execute("SELECT secret, trust, budget FROM device").fetchall()
    if len(rows) != 1:
        raise DeviceError(f"{path} is damaged; remove it to begin as a new device")
    found = Device(*rows[0])
    if not isinstance(found.secret, bytes) or len(found.secret) != SECRET:
        raise DeviceError(
            f"{path} is damaged: its secret does not have {SECRET} bytes; remove it to "
            "begin as a new device"
        )
    return found


def _explained(problem: Exception, path: Path) -> str:
    text = str(problem)
    for sign, words in (
        ("readonly", "cannot be written; give this user write permission"),
        ("full", "could not be written: there is no room on the disk; make room"),
        ("locked", "is locked by another process; try again later"),
        ("not a database", "is not the file of a device; choose another one"),
        ("unable to open", "cannot be opened; name a file in a folder that exists"),
        ("malformed", "is damaged; restore a copy, or remove it"),
    ):
        if sign in text:
            return f"nothing was sent: {path} {words}"
    return f"nothing was sent: {path} could not be used ({text}); try again"
