"""Processes with a book open, which do one thing at a time when they are told to."""

import os
import shutil
import traceback
from pathlib import Path
from typing import ClassVar

import dither
from dither.errors import LedgerError
from dither.ledger import Ledger, guards
from dither.privacy import PureDP

__all__ = ["Worker"]


class Worker:
    """A forked process that holds a book open."""

    ends: ClassVar[set[int]] = set()

    def __init__(self, place, *, guarded=True):
        self._place, self._guarded = place, guarded
        (child_in, self._out), (self._in, child_out) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for descriptor in (self._out, self._in, *Worker.ends):
                    # A worker that kept another's pipe open would keep it waiting
                    os.close(descriptor)
                self._serve(child_in, child_out)
            finally:
                os._exit(0)
        os.close(child_in)
        os.close(child_out)
        Worker.ends |= {self._out, self._in}

    def _serve(self, reader, writer):
        # As on a system without locks that belong to a descriptor
        if not self._guarded:
            guards.hold = lambda *_, **__: None
        book = None
        while word := os.read(reader, 100).decode():
            try:
                if word == "open":
                    book = Ledger.open(self._place)
                    answer = book.account("clinic").frozen or "open"
                else:
                    answer = str(getattr(self, f"_{word}")(book))
            except BaseException:
                answer = traceback.format_exc()
            os.write(writer, answer.encode())

    def tell(self, word):
        """What the process answers; an empty answer means that it died."""
        os.write(self._out, word.encode())
        return os.read(self._in, 100_000).decode()

    def end(self):
        Worker.ends -= {self._out, self._in}
        os.close(self._out)
        os.waitpid(self.pid, 0)
        os.close(self._in)

    def _charge(self, book):
        try:
            book.account("clinic").charge(PureDP(1))
        except (dither.BudgetExceeded, LedgerError) as refusal:
            return f"refused: {refusal}"
        return "granted"

    def _copy(self, _):
        """What any program does that copies or reads the file: POSIX then drops the
        locks of this process.
        """
        for path in Path(self._place).parent.glob("book.db*"):
            shutil.copy(path, Path(self._place).with_name(f"copied-{path.name}"))
        return "copied"

    def _look(self, _):
        """What `dither budget` does: open, look, close."""
        with Ledger.open(self._place) as other:
            return other.account("clinic").charges

    def _close(self, book):
        book.close()
        return "closed"
