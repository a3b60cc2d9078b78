"""`audit.command`: a program of any language, as something to audit.

The program is started with a line of standard input for each draw, all with the same
input, and prints one line for each. A line is JSON (a number, a list of numbers, true,
a text) or else a text as it stands.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from dither.errors import ArgumentError
from dither.privacy.numbers import whole

__all__ = ["Command", "CommandFailed", "TimedOut", "command"]

MOST = 1 << 26
"""Bytes that one start may print."""
STEP = 1 << 16


class TimedOut(Exception):
    """A program did not end in time."""


class CommandFailed(Exception):
    """A program ended with a code other than 0, or printed too few or too many lines."""


@dataclass(frozen=True)
class Command:
    """A shell command; calling it with an input and a size starts it once for every
    `batch` draws. What goes wrong is raised, and thus an output like any other.
    """

    line: str
    timeout: float = 10.0
    batch: int = 1000

    def __call__(self, value: Any, size: int) -> list[Any]:
        text, found = _text(value), list[Any]()
        while len(found) < size:
            found += self._start(text, min(self.batch, size - len(found)))
        return found

    def _start(self, text: str, draws: int) -> list[Any]:
        with tempfile.TemporaryFile() as given:
            given.write((text + "\n").encode() * draws)
            given.seek(0)
            printed, code = self._run(given)
        if code:
            unknown = " (command not found)" if code == 127 else ""
            raise CommandFailed(f"it ended with code {code}{unknown}")
        # A text would also be cut at signs such as U+2028, which end no line.
        lines = [one.decode("utf-8", "replace") for one in printed.splitlines()]
        if len(lines) != draws:
            raise CommandFailed(f"it printed {len(lines):,} lines instead of {draws:,}")
        return [_value(one) for one in lines]

    def _run(self, given: IO[bytes]) -> tuple[bytes, int]:
        process = subprocess.Popen(
            self.line,
            shell=True,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            printed = self._read(process)
            return printed, process.wait()
        finally:
            _end(process)

    def _read(self, process: subprocess.Popen[bytes]) -> bytes:
        """What it prints until it ends. The pipe does not block, so that a program that
        prints nothing is not waited for.
        """
        assert process.stdout is not None
        ends, found, size = time.monotonic() + self.timeout, list[bytes](), 0
        os.set_blocking(process.stdout.fileno(), False)
        while True:
            part = process.stdout.read(STEP)
            if part:
                found.append(part)
                size += len(part)
            elif part is not None:
                return self._ended(process, found, ends)
            if size > MOST:
                raise CommandFailed(f"it printed more than {MOST >> 20} MiB")
            if time.monotonic() >= ends:
                raise TimedOut(f"it did not end within {self.timeout:g} s")
            if part is None:
                _wait(process.stdout, ends)

    def _ended(
        self, process: subprocess.Popen[bytes], found: list[bytes], ends: float
    ) -> bytes:
        try:
            process.wait(max(ends - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            raise TimedOut(f"it did not end within {self.timeout:g} s") from None
        return b"".join(found)


def _wait(pipe: IO[bytes], ends: float) -> None:
    import select

    select.select([pipe], [], [], max(ends - time.monotonic(), 0.0))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and everything that it started, which may outlive it."""
    if process.stdout is not None:
        process.stdout.close()
    with suppress(OSError):  # nothing of it is left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def command(line: str, *, timeout: float = 10.0, batch: int = 1000) -> Command:
    """A shell command that `audit.mechanism` can audit.

    It is started with one line of standard input for each of up to `batch` draws, and
    prints one line for each, in order: JSON or plain text. A code other than 0, a
    missing line, and no end within `timeout` seconds are outputs too. `batch=1` starts
    it anew for every draw.
    """
    if not isinstance(line, str) or not line.strip():
        raise ArgumentError(
            "line", "must be a shell command, such as './release --epsilon 1'"
        )
    if os.name != "posix":
        raise ArgumentError(
            "line", "cannot be run on this system, which is not POSIX; pass a function"
        )
    if not 0 < timeout < float("inf"):
        raise ArgumentError(
            "timeout",
            "must be a number of seconds above 0; pass the longest run time, such as 10",
        )
    return Command(line, float(timeout), whole("batch", batch, "pass 1000 or 1"))


def _text(value: Any) -> str:
    if isinstance(value, str) and value.splitlines() in ([value], []):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise ArgumentError(
            "a",
            f"{type(value).__name__} cannot be written as a line of JSON; pass a string, "
            "numbers, or lists of them",
        ) from None


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line
