"""Which teacher a unit has, and how teachers learn: each in a process of its own."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.ids import codes_of, hashed
from dither.learn.pate.models import packed
from dither.learn.pate.worker import FORKS, NEXT, Job, Setup, receive, send
from dither.noise import random_words, secret_bytes
from dither.progress import Tell

__all__ = ["Crew", "assigned"]

Integers = NDArray[np.int64]
Codes = NDArray[np.int16]
START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from dither.learn.pate.worker import main; main()"
)
ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Else joblib passes records on through files, which stay where a teacher is ended.
    "JOBLIB_MULTIPROCESSING": "0",
}
SPARE = 60.0
"""Seconds beyond a teacher's own after which its process is given up."""
GRACE = 5.0
"""Seconds in which a process ends its teacher and itself."""
REHEARSED = 100
"""Rows of public inputs on which a model is tried before anything is charged."""


def assigned(owners: Any, count: int, teachers: int) -> Integers:
    """The teacher of each of `count` rows; -1 for a row that has no owner.

    A unit's teacher depends on a fresh secret key and on its id alone (rule R8). If
    each row is a unit of its own, each draws its teacher by itself.
    """
    if owners is None:
        words = random_words(2 * count).view(np.uint64)
        return (words % np.uint64(teachers)).astype(np.int64)
    there = np.flatnonzero(codes_of(owners) >= 0)
    found: Integers = np.full(count, -1, np.int64)
    words = hashed(owners, there, secret_bytes(32))
    found[there] = (words % np.uint64(teachers)).astype(np.int64)
    return found


@dataclass
class Crew:
    """Processes in which teachers learn, as many at a time as there are `processes`.

    They start before anything is charged: that a model cannot be loaded there is no
    secret.
    """

    setup: Setup
    processes: int
    workers: list[Worker] = field(default_factory=list)

    def __enter__(self) -> Self:
        held = packed(self.setup)
        # Processes must be alike: which one a teacher has is nothing it should notice.
        hashing = str(random_words(1)[0])
        try:
            for _ in range(self.processes):
                self.workers.append(Worker(held, self.setup, hashing))
            self._rehearse()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        for one in self.workers:
            one.close()

    def _rehearse(self) -> None:
        """A model that cannot learn at all is refused, on public inputs and made-up
        labels, before all teachers abstain at a price.
        """
        queries, width = self.setup.queries, len(self.setup.classes)
        places = np.arange(max(REHEARSED, width))  # few queries are seen repeatedly
        job = Job(0, queries[places % len(queries)], places % width)
        if self.workers[0].vote(job) is None:
            raise ArgumentError(
                "model",
                "does not learn: on public inputs and made-up labels it failed, took "
                "longer than seconds=, or did not predict one class for each input; "
                "try model.fit(queries, labels).predict(queries) by hand",
            )

    def votes(
        self,
        inputs: NDArray[Any],
        targets: Integers,
        of: Integers,
        count: int,
        tell: Tell,
    ) -> Codes:
        """A line for each teacher, -1 where it abstains. `of` is each row's teacher."""
        seeds = random_words(count)
        found: Codes = np.full((count, len(self.setup.queries)), -1, np.int16)
        done = Done(count, tell)

        def work(place: int) -> None:
            # Who is taught where is fixed, and does not go by who is done first.
            for number in range(place, count, len(self.workers)):
                mine = of == number
                job = Job(int(seeds[number]), inputs[mine], targets[mine])
                votes = self.workers[place].vote(job)
                if votes is not None:
                    found[number] = votes
                done.another()

        _together(work, len(self.workers))
        return found


@dataclass
class Done:
    """Number of teachers that have finished, the only value of the progress bar."""

    count: int
    tell: Tell
    seen: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def another(self) -> None:
        with self.lock:
            self.seen += 1
            self.tell(self.seen, self.count)


def _together(work: Callable[[int], None], count: int) -> None:
    threads = [
        threading.Thread(target=work, args=(place,), daemon=True)
        for place in range(count)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


class Worker:
    """One process, started again if it has ended."""

    def __init__(self, held: bytes, setup: Setup, hashing: str) -> None:
        self._held, self._setup, self._closed = held, setup, False
        self._hashing = hashing
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        process = _popen(self._hashing)
        send(cast("BinaryIO", process.stdin), self._held)
        words = receive(cast("BinaryIO", process.stdout))
        if words == b"":
            return process
        _ended(process)
        said = "" if words is None else f" ({words.decode('utf-8', 'replace')})"
        raise ArgumentError(
            "model",
            f"cannot be loaded in another process{said}; pass a function that makes it "
            "there",
        )

    def vote(self, job: Job) -> Codes | None:
        """The vote of a teacher; None if it abstains."""
        limit = self._setup.patience + SPARE
        timer = threading.Timer(limit, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            inbox, held = cast("BinaryIO", self._process.stdin), pickle.dumps(job)
            inbox.write(NEXT)
            send(inbox, held)
            reply = receive(cast("BinaryIO", self._process.stdout))
        except (OSError, ValueError, MemoryError):  # it has ended, or was closed
            reply = None
        finally:
            timer.cancel()
        if (reply is None or not FORKS) and not self._closed:
            _ended(self._process)
            with suppress(ArgumentError, OSError):  # then the next teacher tries again
                self._process = self._started()
        if not reply or len(reply) != 2 * len(self._setup.queries):
            return None
        return np.frombuffer(reply, np.int16)

    def close(self) -> None:
        self._closed = True
        _ended(self._process)


def _popen(hashing: str) -> subprocess.Popen[bytes]:
    # One thread each: processes are what runs side by side.
    environment = os.environ | ALONE
    environment["PYTHONHASHSEED"] = hashing
    return subprocess.Popen(
        [sys.executable, "-c", START, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent is not wanted any more
                pipe.close()
