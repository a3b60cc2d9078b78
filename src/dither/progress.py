"""A bar for work that takes long: the time that has passed, and steps of a number that
is public.

It never shows what depends on private rows, such as how many were read (rule R2).
Without a terminal on standard error nothing is shown, and neither is work that is done
at once.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Tell", "working"]

Tell = Callable[[int, int], None]
"""Called with how many steps are done, and how many there are."""

AT_ONCE = 1.0
"""Seconds of work that need no bar."""
TICK = 0.2
IDLE = 10.0
"""Seconds without work after which the thread that watches ends."""


@contextmanager
def working(words: str) -> Iterator[Tell]:
    """Show that work is in progress, if it takes long. Work inside of other work is
    part of that.
    """
    if not _terminal() or not _busy.acquire(blocking=False):
        yield _silent
        return
    bar = _Bar(words)
    _watcher.watch(bar)
    try:
        yield bar.tell
    finally:
        _watcher.bar = None
        bar.end()
        _busy.release()


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _silent(done: int, total: int) -> None:
    """Nobody looks."""


class _Bar:
    """A bar that is drawn once it is due."""

    def __init__(self, words: str) -> None:
        self._words, self._began, self._over = words, time.monotonic(), False
        self._steps: tuple[int, int] | None = None
        self._drawn: tuple[Progress, TaskID] | None = None
        self._lock = threading.Lock()

    def tell(self, done: int, total: int) -> None:
        with self._lock:
            self._steps = done, total
            self._update()

    def look(self) -> None:
        """Draw it, if the work still continues and has taken long."""
        with self._lock, suppress(Exception):  # an odd terminal must not stop the work
            if (
                self._drawn is None
                and not self._over
                and time.monotonic() >= self._began + AT_ONCE
            ):
                self._draw()
                self._update()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[steps]}"),
        )
        progress = Progress(
            *columns,
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=time.monotonic,
        )
        self._drawn = progress, progress.add_task(self._words, total=None, steps="")
        progress.tasks[
            0
        ].start_time = self._began  # the time before it was drawn counts too
        progress.start()

    def _update(self) -> None:
        if self._drawn is not None and self._steps is not None:
            progress, task = self._drawn
            done, total = self._steps
            progress.update(
                task, completed=done, total=total, steps=f"{done:,} of {total:,}"
            )

    def end(self) -> None:
        with self._lock:
            self._over = True
            if self._drawn is not None:
                self._drawn[0].stop()


class _Watcher:
    """Draws the bar of work that lasts. One thread does so for all: one for each would
    take longer than a short question itself."""

    def __init__(self) -> None:
        self.bar: _Bar | None = None
        self._thread: threading.Thread | None = None

    def watch(self, bar: _Bar) -> None:
        self.bar = bar
        # Also in a forked child, which has no such thread
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._run, name="dither-progress", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        idle = 0.0
        while idle < IDLE:
            time.sleep(TICK)
            bar = self.bar
            idle = idle + TICK if bar is None else 0.0
            if bar is not None:
                bar.look()


_busy = threading.Lock()
_watcher = _Watcher()
