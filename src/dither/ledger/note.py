"""The note beside a book: which book is here, and how far it has come (rule R32).

SQLite's own locks do not suffice. POSIX drops all locks that a process has on a file as
soon as *any* of its descriptors of that file is closed, be it by code that only copied
the file; another process then tidies the book up as if nobody had it open, and the two
resume different books. So whoever changes a book first locks its note, which nobody
else has a reason to open, and looks whether the line that the note names is in the book
that it sees.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dither.errors import LedgerError
from dither.ledger.locks import Locked, lock, unlock
from dither.noise import token

__all__ = ["Doubt", "Note", "Record", "home_of", "same_home", "state_folder"]

MAGIC = "dither-note-1"
SIZE = 512  # more than any record, and far less than what one write leaves torn
PATIENCE = 60.0  # seconds to wait for other writers


class Doubt(Exception):
    """The note does not fit the book: it is missing, unreadable, or of another book."""


@dataclass(frozen=True)
class Record:
    """The content of a note: the book's id, its last line and that line's hash, and the
    book's place then.
    """

    book: str
    seq: int
    head: str
    home: str
    inode: int

    def to_bytes(self) -> bytes:
        text = (
            f"{MAGIC} {self.book} {self.seq:020d} {self.head} {self.home} "
            f"{self.inode:020d}"
        )
        return f"{text} {zlib.crc32(text.encode()):08x}\n".encode()

    @classmethod
    def of(cls, data: bytes) -> Self:
        try:
            text, _, check = data.decode("ascii").rstrip("\n").rpartition(" ")
            magic, book, seq, head, home, inode = text.split(" ")
            if magic != MAGIC or int(check, 16) != zlib.crc32(text.encode()):
                raise ValueError
            return cls(book, int(seq), head, home, int(inode))
        except ValueError:
            raise Doubt("its note cannot be read") from None


class Note:
    """A file of one record, locked while its book changes. Writing it is not forced to
    the disk after its creation: it may lag behind the book after a power cut, and is
    never ahead of it."""

    def __init__(self, path: str, place: str) -> None:
        self._path, self._place = Path(path), place
        self._descriptor: int | None = None
        self._threads = threading.RLock()
        self._held = 0
        _NOTES.add(self)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone among all threads and processes; entered again by the same thread, it
        stays locked until the end.
        """
        with self._threads:
            if not self._held:
                self._acquire()
            self._held += 1
            process = os.getpid()
            try:
                yield
            finally:
                if process == os.getpid():  # a forked child has let go of everything
                    self._held -= 1
                    if not self._held and self._descriptor is not None:
                        unlock(self._descriptor)

    def _acquire(self) -> None:
        """Lock the file that has the note's name *now*: one that was removed meanwhile
        protects nothing.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            descriptor = self._open()
            try:
                lock(descriptor, max(0.0, deadline - time.monotonic()))
                if self._is_current(descriptor):
                    return
            except Locked:
                self.close()
                raise LedgerError(
                    f"{self._place} is in use by another process that does not release it; "
                    "try again later"
                ) from None
            except BaseException:
                self.close()
                raise
            self.close()

    def _is_current(self, descriptor: int) -> bool:
        mine = os.fstat(descriptor)
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)

    def _open(self) -> int:
        if self._descriptor is None:
            flags = (
                os.O_RDWR
                | os.O_CREAT
                | getattr(os, "O_CLOEXEC", 0)
                | getattr(os, "O_BINARY", 0)
            )
            try:
                # Less what umask takes, as for the book
                self._descriptor = os.open(self._path, flags, 0o666)
            except OSError as error:
                raise LedgerError(
                    f"{self._path} cannot be written ({error.strerror}); check that its "
                    "folder exists and that you may write there"
                ) from error
        return self._descriptor

    def raw(self) -> bytes:
        """The raw content of the locked note."""
        assert self._descriptor is not None
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.read(self._descriptor, SIZE)

    def read(self) -> Record | None:
        """The content of the locked note; None if nothing was ever written into it."""
        data = self.raw()
        return Record.of(data) if data else None

    def write(self, record: Record) -> bytes:
        """Write over the last record, which is as long: a file that is emptied first is
        forced to the disk by ext4.
        """
        assert self._descriptor is not None
        data = record.to_bytes()
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, data)
        return data

    def create(self, record: Record) -> bytes:
        """Write the first record, on the disk when this returns."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        data = self.write(record)
        os.fsync(self._descriptor)
        _sync_folder(self._path.parent)
        return data

    @property
    def path(self) -> Path:
        return self._path

    def exists(self) -> bool:
        """Whether this machine has such a note."""
        return self._path.exists()

    def begin(self, record: Record) -> None:
        """Make the note with its first record, in one step, unless it is there: nobody
        ever finds it empty.
        """
        if self._path.exists():
            return
        aside = f"{self._path}.{token(8)}"
        Path(aside).write_bytes(record.to_bytes())
        with suppress(FileExistsError):
            os.link(aside, self._path)
        Path(aside).unlink()

    def discard_if_empty(self) -> None:
        """Remove a note into which nothing was ever written: no book was begun beside
        it.
        """
        if self._path.exists():
            with self.locked():
                if not self.raw():
                    self._path.unlink()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def forget(self) -> None:
        """In a forked process: let go without unlocking, which would unlock the
        parent's note too.
        """
        self._threads, self._held = threading.RLock(), 0
        self.close()


_NOTES: weakref.WeakSet[Note] = weakref.WeakSet()


def _forget_all() -> None:
    for note in list(_NOTES):
        note.forget()


if hasattr(os, "register_at_fork"):
    # A child that kept the descriptor would hold its parent's lock after the parent was
    # killed.
    os.register_at_fork(after_in_child=_forget_all)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


STATE = "DITHER_STATE"
"""The variable that names the folder in which this machine keeps its own notes of
books.
"""


def state_folder() -> Path:
    """The folder in which this machine keeps what it has seen of books."""
    default = (
        Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        / "dither"
    )
    folder = Path(os.environ.get(STATE) or default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


MACHINE = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
UNKNOWN = "0" * 16


def home_of(folder: Path) -> str:
    """Which machine this is and which volume: a container is another machine at every
    start, but has its volume.
    """
    volume = getattr(os.statvfs(folder), "f_fsid", 0) if hasattr(os, "statvfs") else 0
    return _hashed("machine", _machine()) + _hashed("volume", str(volume or ""))


def same_home(one: str, other: str) -> bool:
    """The same machine, or the same volume: a host and its containers see one book.

    Where a system tells neither, the file's own number is all there is to compare.
    """
    halves = zip((one[:16], one[16:]), (other[:16], other[16:]), strict=True)
    known = [mine == theirs for mine, theirs in halves if UNKNOWN not in (mine, theirs)]
    return any(known) or not known


def _hashed(kind: str, name: str) -> str:
    """Machine ids are not for showing around."""
    return (
        hashlib.sha256(f"dither {kind} {name}".encode()).hexdigest()[:16]
        if name
        else UNKNOWN
    )


def _machine() -> str:
    for place in MACHINE:
        try:
            return place.read_text().strip()
        except OSError:
            continue
    return ""
