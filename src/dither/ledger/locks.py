"""A lock on an open file that waits its turn, up to a limit; and file systems on which
no lock can be trusted.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from dither.errors import LedgerError

__all__ = ["Locked", "check_filesystem", "hold", "lock", "unlock"]


class Locked(Exception):
    """Somebody else has the lock and does not let go."""


if sys.platform == "win32":
    import msvcrt
    import time

    FAR = 1 << 40  # beyond the record: Windows locks keep others from reading, too

    def _try(descriptor: int) -> bool:
        os.lseek(descriptor, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        os.lseek(descriptor, FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def lock(descriptor: int, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not _try(descriptor):
            if time.monotonic() > deadline:
                raise Locked
            time.sleep(0.002)

    def hold(descriptor: int, start: int, length: int, held: bool) -> None:
        """Nothing to do: Windows keeps locks until their own descriptor is closed."""

else:
    import fcntl
    import struct

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def hold(descriptor: int, start: int, length: int, held: bool) -> None:
        """Hold a shared lock on bytes of a file on behalf of an open descriptor, or let
        go of it (see `guards`).
        """
        command = getattr(fcntl, "F_OFD_SETLK", None)
        kind = fcntl.F_RDLCK if held else fcntl.F_UNLCK
        if command is not None:
            with suppress(OSError):
                fcntl.fcntl(
                    descriptor,
                    command,
                    struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0),
                )

    def lock(descriptor: int, seconds: float) -> None:
        """Lock the file alone, or raise `Locked`; after any error the caller closes the
        descriptor.

        The kernel wakes one waiter when the lock is free, which no polling matches; but
        it has no time limit, so a thread of its own waits, on a copy of the descriptor.
        The lock belongs to both copies: closing the one after waiting leaves it with
        the other, and if the caller has given up, closing both lets go of it.
        """
        if _try(descriptor):
            return
        copy, turn = os.dup(descriptor), threading.Event()
        _WAITING.add(copy)
        threading.Thread(target=_wait, args=(copy, turn), daemon=True).start()
        if not turn.wait(seconds):
            raise Locked

    def _wait(copy: int, turn: threading.Event) -> None:
        fcntl.flock(copy, fcntl.LOCK_EX)
        turn.set()
        _WAITING.discard(copy)
        os.close(copy)

    _WAITING: set[int] = set()

    def _close_waiting() -> None:
        while _WAITING:
            os.close(_WAITING.pop())

    # The thread that waits is not there in a child, which would keep the lock alive.
    os.register_at_fork(after_in_child=_close_waiting)


NETWORKED = (
    "nfs",
    "cifs",
    "smb",
    "afs",
    "ceph",
    "gluster",
    "lustre",
    "gpfs",
    "beegfs",
    "fuse.sshfs",
    "ocfs2",
    "davfs",
)
MOUNTS = Path("/proc/self/mountinfo")


def check_filesystem(path: Path) -> None:
    """Refuse a network file system, where locks of two machines need not meet."""
    kind = _kind(str(path))
    if kind.startswith(NETWORKED):
        raise LedgerError(
            f"{path} is on a network file system ({kind}), whose locks are not "
            "reliable; keep the ledger on a local disk, or in PostgreSQL if several "
            "machines share it"
        )


def _kind(path: str) -> str:
    """The kind of the file system that holds a path; empty where the system does not
    say.
    """
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return ""
    found = [("", "")]
    for line in lines:
        before, _, after = line.partition(" - ")
        point = before.split(" ")[4].encode().decode("unicode_escape")
        if path == point or path.startswith(point.rstrip("/") + "/"):
            found.append((point, after.split(" ")[0]))
    # The last one mounted at the same place covers the others.
    return max(enumerate(found), key=lambda pair: (len(pair[1][0]), pair[0]))[1][1]
