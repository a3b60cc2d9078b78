"""What the race promised, and whether the figures keep it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench import query
from bench.harness import Goal, Row, at_least, at_most

__all__ = ["goals"]

LARGE, SMALL = "10 M rows", "1 M rows"
GROUPED = ("grouped count", "grouped sum", "private keys")
NOT_PEERS = ("dither", "DuckDB", "PostgreSQL")


class Figures:
    """The rows of the race by case, system and metric."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.found = {(row.case, row.system, row.metric): row.value for row in rows}

    def ours(self, case: str, metric: str) -> float | None:
        return self.found.get((case, "dither", metric))

    def theirs(self, case: str, metric: str, peer: str | None = None) -> list[float]:
        """Of one peer or of all, where they gave an answer."""
        peers = [
            key
            for key in self.found
            if key[0] == case and key[2] == metric and key[1] not in NOT_PEERS
        ]
        return [
            value
            for key in peers
            if peer in (None, key[1]) and (value := self.found[key]) is not None
        ]


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def goals(rows: Sequence[Row]) -> tuple[Goal, ...]:
    figures = Figures(rows)
    return (*at_large(figures), *at_small(figures), *errors(figures), *keys(figures))


def at_large(figures: Figures) -> Iterator[Goal]:
    """Against OpenDP as it comes and as fast as it goes: CPU time and memory."""
    for peer in ("OpenDP", "OpenDP, first rows"):
        for case in query.CASES:
            where = f"{case.name}, {LARGE}"
            cpu = min(figures.theirs(where, "CPU-seconds", peer), default=None)
            times = ratio(cpu, figures.ours(where, "CPU-seconds"))
            yield at_least(
                f"{where}: CPU-seconds of {peer} over ours",
                8 if case.name in GROUPED else 6,
                times,
            )
        for case in query.CASES:
            where = f"{case.name}, {LARGE}"
            peak = min(figures.theirs(where, "peak MB", peer), default=None)
            share = ratio(figures.ours(where, "peak MB"), peak)
            yield at_most(
                f"{where}: our memory over that of {peer}", round(1 / 3, 4), share
            )


def at_small(figures: Figures) -> Iterator[Goal]:
    """Against the fastest of all peers."""
    for case in query.CASES:
        where = f"{case.name}, {SMALL}"
        best = min(figures.theirs(where, "CPU-seconds"), default=None)
        goal = f"{where}: CPU-seconds of the fastest peer over ours"
        yield at_least(goal, 1, ratio(best, figures.ours(where, "CPU-seconds")))


def errors(figures: Figures) -> Iterator[Goal]:
    for size in (LARGE, SMALL):
        where = f"grouped count, {size}"
        yield at_most(
            f"{where}: mean relative error",
            0.02,
            figures.ours(where, "mean relative error"),
        )


def keys(figures: Figures) -> Iterator[Goal]:
    """More than any peer, so one more than the best at least; then the same beside what
    OpenDP finds by hand.
    """
    for size in (LARGE, SMALL):
        ours = figures.ours(f"private keys, {size}", "keys found")
        for how in ("private keys", "private keys, by hand"):
            best = max(figures.theirs(f"{how}, {size}", "keys found"), default=None)
            beside = "OpenDP by hand" if how.endswith("hand") else "the best peer"
            yield at_least(
                f"private keys, {size}: found, beside {beside}", (best or 0) + 1, ours
            )
