"""Counters for anyone who runs a collector, in the text format of Prometheus.

They are over all tasks and relays together, and counts of what arrived are rounded
down to hundreds: a counter that is read every few seconds would otherwise tell when a
single device sent something. For the same reason every outcome has its line from the
beginning, and the average time changes with every hundredth transaction only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dither.local.collector.outcome import (
    ACCEPTED,
    CODES,
    DUPLICATE,
    REFUSED,
    Outcome,
)

__all__ = ["Metrics"]

ROUND = 100
OUTCOMES = sorted((ACCEPTED, DUPLICATE, *CODES))


@dataclass
class Metrics:
    """The counters of one process since it began."""

    parcels: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    invalid: int = 0
    commits: int = 0
    seconds: float = 0.0
    average: float = 0.0
    """Of a transaction, as it was when a hundred were full."""

    def commit(self, seconds: float) -> None:
        self.commits += 1
        self.seconds += seconds
        if self.commits % ROUND == 0:
            self.average = self.seconds / self.commits

    def count(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            refused = outcome.status == REFUSED
            self.parcels[outcome.code if refused else outcome.status] += 1
            self.messages += outcome.messages
            self.invalid += outcome.invalid

    def text(self, *, ready: bool, waiting: int) -> str:
        return "".join(f"{line}\n" for line in self._lines(ready, waiting))

    def _lines(self, ready: bool, waiting: int) -> Iterator[str]:
        yield from _about("parcels_total", "counter", f"by outcome; {ROUNDED}")
        for outcome in OUTCOMES:
            count = _rounded(self.parcels[outcome])
            yield f'dither_parcels_total{{outcome="{outcome}"}} {count}'
        yield from _about("messages_total", "counter", f"counted; {ROUNDED}")
        yield f"dither_messages_total {_rounded(self.messages)}"
        yield from _about("invalid_total", "counter", f"left out; {ROUNDED}")
        yield f"dither_invalid_total {_rounded(self.invalid)}"
        yield from _about("commits_total", "counter", f"transactions; {ROUNDED}")
        yield f"dither_commits_total {_rounded(self.commits)}"
        yield from _about("commit_seconds", "gauge", "of a transaction, on average")
        yield f"dither_commit_seconds {self.average:.6f}"
        yield from _about("waiting_bytes", "gauge", "not counted yet, in whole MiB")
        yield f"dither_waiting_bytes {waiting >> 20 << 20}"
        yield from _about("ready", "gauge", "1 if the store can be written")
        yield f"dither_ready {int(ready)}"


ROUNDED = "rounded down to hundreds"


def _about(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP dither_{name} {words}", f"# TYPE dither_{name} {kind}"


def _rounded(count: int) -> int:
    return count // ROUND * ROUND
