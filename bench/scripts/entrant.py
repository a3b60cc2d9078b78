"""Answer the questions of the race and say what each took. Runs inside a peer's
environment: standard library only.

A peer's script says how it opens the table and how it asks each question. What it
prints goes to standard error, so that only answers reach the other side.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["AMOUNTS", "CATEGORIES", "GROUPS", "PER_GROUP", "ROWS", "CannotAsk", "race"]

CATEGORIES = [f"category {i}" for i in range(50)]
AMOUNTS = (0, 500)
ROWS = 50
"""A user's rows in an answer without groups, for systems that want to be told."""
GROUPS, PER_GROUP = 15, 5
"""A user's groups, and rows in each, for systems that want to be told."""

TICK = os.sysconf("SC_CLK_TCK")
Rows = list[list[Any]]
Questions = Mapping[str, Callable[[], Rows]]


class CannotAsk(Exception):
    """The system does not offer this; the message says what is missing."""


def parents() -> dict[int, tuple[int, float]]:
    """Of each process its parent and its CPU-seconds, those of children that ended
    included.
    """
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            fields = path.read_text().rpartition(")")[2].split()
            found[int(path.parent.name)] = (
                int(fields[1]),
                sum(map(int, fields[11:15])) / TICK,
            )
    return found


def descendants(root: int) -> dict[int, float]:
    """CPU-seconds of the processes below this one that live."""
    known = parents()
    found: dict[int, float] = {}
    new = {root}
    while new:
        new = {pid for pid, (parent, _) in known.items() if parent in new}
        found |= {pid: known[pid][1] for pid in new}
    return found


def cpu(server: int | None) -> float:
    """CPU-seconds of this process, of what it started, and of the database server where
    there is one.
    """
    ended = os.times()
    seconds = time.process_time() + ended.children_user + ended.children_system
    seconds += sum(descendants(os.getpid()).values())
    if server is not None:
        seconds += parents()[server][1] + sum(descendants(server).values())
    return seconds


def peak(pids: list[int]) -> float:
    """The most memory of each of these processes so far, added up, in MB."""
    lines = [
        line
        for pid in pids
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    ]
    return (
        sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        * 1024
        / 1_000_000
    )


def measured(question: Callable[[], Rows], server: int | None) -> dict[str, Any]:
    """The answer with its CPU-seconds and seconds; a failure in one line."""
    wall, used = time.perf_counter(), cpu(server)
    try:
        rows = question()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a Rust library is no Exception
        said = " ".join(str(error).split())
        return {
            "failed": said
            if isinstance(error, CannotAsk)
            else f"{type(error).__name__}: {said}"[:300]
        }
    return {"cpu": cpu(server) - used, "wall": time.perf_counter() - wall, "rows": rows}


def race(begin: Callable[..., Questions]) -> None:
    """Serve requests until the other side ends. `begin` gets the path without its
    ending, ε, δ, and the database.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    questions: Questions = {}
    server: int | None = None
    backends: list[int] = []
    for line in sys.stdin:
        request = json.loads(line)
        task = request.pop("task")
        said: Any = None
        if task == "open":
            server = request.pop("server", None)
            before = set(descendants(server)) if server else set()
            questions = begin(**request)
            backends = (
                [pid for pid in descendants(server) if pid not in before]
                if server
                else []
            )
        elif task == "ask":
            said = measured(questions[request["question"]], server)
        else:
            said = peak([os.getpid(), *descendants(os.getpid()), *backends])
        print(json.dumps(said), file=answers, flush=True)
