"""The process in which teachers learn: a fresh child of it for each teacher.

It never learns itself, nor reads a record: a child reads those of its teacher. So
children share only the model and the public inputs, in no corner of memory. Whatever a
child does (fail, hang, crash, print, answer something else), the reply for its teacher
has the same length; a teacher without votes abstains (rules R1, R27).
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from dither.learn.encoding import Keyed, keyed
from dither.learn.silence import silently

__all__ = ["Job", "Setup", "main", "receive", "send", "teach"]

HEAD = struct.Struct("<Q")
NEXT, READ = b"n", b"r"
"""A job follows; a job was read."""
ABSTAINS = -1
PATIENCE = 4
"""A child that waits instead of computing is ended after so many times its seconds, for
each process that shares its processor.
"""
FORKS = hasattr(os, "fork")
_running: list[int] = []


@dataclass(frozen=True)
class Setup:
    """The inputs that all teachers share. All of them are public."""

    model: Any
    queries: NDArray[Any]
    classes: tuple[Any, ...]
    seconds: int
    turns: int = 1
    """Number of processes that share a processor."""

    @property
    def patience(self) -> float:
        """Seconds after which a child that waits is ended: many more than one that
        computes among others needs, so that these do not decide who abstains.
        """
        return float(PATIENCE * self.turns * self.seconds)


@dataclass(frozen=True)
class Job:
    """One teacher: its records, and a seed of its own."""

    seed: int
    inputs: NDArray[Any]
    targets: NDArray[np.int64]


def send(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(HEAD.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def receive(pipe: BinaryIO) -> bytes | None:
    """The next message; None at the end."""
    head = _exactly(pipe, HEAD.size)
    return None if head is None else _exactly(pipe, *HEAD.unpack(head))


def _exactly(pipe: BinaryIO, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = pipe.read(min(size - len(found), 1 << 20))
        if not part:
            return None
        found += part
    return bytes(found)


def main() -> None:
    """Serve jobs from standard input until it ends."""
    # Nothing is read ahead, so that children can read on from here.
    inbox = cast("BinaryIO", os.fdopen(os.dup(0), "rb", buffering=0))
    outbox = os.fdopen(os.dup(1), "wb")
    # What a teacher prints may tell about its records.
    quiet = os.open(os.devnull, os.O_RDWR)
    for place in range(3):
        os.dup2(quiet, place)
    if FORKS:
        signal.signal(signal.SIGTERM, _stop)
    held = receive(inbox)
    if held is None:
        return
    try:
        setup = cast("Setup", pickle.loads(held))
    except Exception as error:  # public: the model as it was passed
        send(outbox, f"{type(error).__name__}: {error}".encode()[:300])
        return
    send(outbox, b"")
    while inbox.read(1) == NEXT:
        found = _votes(setup, inbox)
        if found is None:
            return
        send(outbox, found)


def _votes(setup: Setup, inbox: BinaryIO) -> bytes | None:
    """The teacher's votes, as bytes; empty if it has no votes, None if its job was not
    read to the end.
    """
    if FORKS:
        return _in_child(setup, inbox)
    job = receive(inbox)
    return None if job is None else _safely(setup, job)


def _in_child(setup: Setup, inbox: BinaryIO) -> bytes | None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _run_child(setup, inbox, writing)
    _running.append(child)
    os.close(writing)
    size = len(READ) + 2 * len(setup.queries)
    try:
        found = _read(reading, size, time.monotonic() + setup.patience)
    finally:
        os.close(reading)
        _end(child)
        _running.remove(child)
    if not found:
        return None
    return found[len(READ) :] if len(found) == size else b""


def _run_child(setup: Setup, inbox: BinaryIO, writing: int) -> None:
    """Learn, write votes, and end, whatever happens."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()  # so that processes of its own end with it
        _limit(setup.seconds)
        job = receive(inbox)
        if job is not None:
            os.write(writing, READ)
            held = memoryview(_safely(setup, job))
            while held:
                held = held[os.write(writing, held) :]
    finally:
        os._exit(0)


def _stop(number: int, frame: object) -> None:  # noqa: ARG001
    """The process that asked is gone: no teacher continues alone."""
    for child in _running:
        _end(child)
    os._exit(0)


def _limit(seconds: int) -> None:
    """CPU time of its own: how busy other teachers are must not decide who abstains. And
    no file of its memory where it is ended, which has its records.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _read(pipe: int, size: int, deadline: float) -> bytes:
    found = bytearray()
    while len(found) < size and (left := deadline - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        found += part
    return bytes(found)


def _end(child: int) -> None:
    """End a child, and all that it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        # It is gone, or has no group yet.
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _safely(setup: Setup, held: bytes) -> bytes:
    try:
        with silently(), np.errstate(all="ignore"):
            job = cast("Job", pickle.loads(held))
            _seed(job.seed)
            return teach(setup, job).tobytes()
    except BaseException:  # of a model: what it raises would tell (rule R1)
        return b""


def _seed(seed: int) -> None:
    """A start of its own for models that draw from a global generator."""
    import random  # allowed: seeds what models draw; no privacy rests on it

    random.seed(seed)
    np.random.seed(seed)  # allowed: seeds what models draw; no privacy rests on it
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def teach(setup: Setup, job: Job) -> NDArray[np.int16]:
    """The number of the class that a new model names for each query; -1 for none."""
    classes = keyed("classes", setup.classes)
    model = made(setup.model, setup.classes)
    model.fit(job.inputs, labels_of(classes, job.targets))
    named = classes.numbers(flat(model.predict(setup.queries), len(setup.queries)))
    return named.astype(np.int16)


def flat(predicted: Any, count: int) -> NDArray[Any]:
    found = predicted if isinstance(predicted, np.ndarray) else np.asarray(predicted)
    if found.shape != (count,):
        raise ValueError("a model must name one class for each input")
    return found


def made(model: Any, classes: tuple[Any, ...]) -> Any:
    """A model to fit: what was passed, or what a factory makes."""
    factory = isinstance(model, type) or not hasattr(model, "fit")
    found = model() if factory else model
    if hasattr(found, "for_classes"):
        found = found.for_classes(classes)
    return found


def labels_of(classes: Keyed, numbers: NDArray[Any]) -> NDArray[Any]:
    """Labels as they were declared."""
    found: NDArray[Any] = np.asarray(classes.keys)[numbers]
    return found
