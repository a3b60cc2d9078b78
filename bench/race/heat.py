"""Systems that take turns at the questions of the race."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median
from threading import Timer
from typing import Any

from bench import query
from bench.harness import Row
from bench.peers import InstallError, Worker
from bench.race.entrants import BY_HAND, CASES, ENTRANTS, LIMIT_SECONDS, Entrant
from bench.race.tables import Table

__all__ = ["Heat"]


def ask(
    worker: Worker, entrant: Entrant, case: query.Case, turn: int
) -> dict[str, Any]:
    """One answer, or why there is none."""
    ours = entrant.script in ("query_dither", "query_duckdb")
    told = {"sql": case.sql, "turn": turn} if ours else {"question": case.name}
    timer = Timer(LIMIT_SECONDS, worker.process.kill)
    timer.start()
    try:
        found: dict[str, Any] = worker.ask(task="ask", **told)
    except RuntimeError:
        return {"failed": f"it ended, or gave no answer within {LIMIT_SECONDS} seconds"}
    finally:
        timer.cancel()
    return found


class Heat:
    """Systems that take turns, and what they said."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table, self.names = table, names
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.out: set[str] = set()
        self.kept: dict[str, Worker] = {}

    def run(self, label: str) -> None:
        with ExitStack() as whole:
            for case in CASES:
                with ExitStack() as stack:
                    self.case(
                        case,
                        label,
                        {
                            name: self.worker(name, stack, whole)
                            for name in self.asked(case)
                        },
                    )

    def asked(self, case: query.Case) -> list[str]:
        here = [name for name in self.names if name not in self.out]
        return [
            name for name in here if case not in BY_HAND or name == "OpenDP, first rows"
        ]

    def worker(self, name: str, stack: ExitStack, whole: ExitStack) -> Worker | None:
        entrant = ENTRANTS[name]
        if name in self.kept:
            return self.kept[name]
        try:
            worker = (whole if entrant.together else stack).enter_context(
                Worker(entrant.peer, entrant.script)
            )
            worker.ask(**self.table.opening(entrant))
        except (InstallError, RuntimeError) as error:
            self.out.add(name)
            self.notes.append(f"{name}: could not be installed or opened here: {error}")
            return None
        if entrant.together:
            self.kept[name] = worker
        return worker

    def case(
        self, case: query.Case, label: str, workers: Mapping[str, Worker | None]
    ) -> None:
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}
        repeats = {
            name: 1 if case in BY_HAND else ENTRANTS[name].repeats for name in workers
        }
        for turn in range(max(repeats.values(), default=0)):
            for name, worker in workers.items():
                if (
                    worker is not None
                    and turn < repeats[name]
                    and not failed(found[name])
                ):
                    found[name].append(ask(worker, ENTRANTS[name], case, turn))
        truth = self.truth(case)
        for name, worker in workers.items():
            if failed(found[name]):
                self.notes.append(f"{name}: {case.name}: {found[name][-1]['failed']}")
            peak = (
                worker.ask(task="peak")
                if worker is not None and not failed(found[name])
                else None
            )
            self.rows += rows_of(
                f"{case.name}, {label}", name, found[name], peak, truth
            )

    def truth(self, case: query.Case) -> dict[Any, float]:
        """What DuckDB says, asked once more for each case: it takes no time."""
        with Worker(None, "query_duckdb") as worker:
            worker.ask(task="open", path=f"{self.table.path}.duckdb")
            return query.by_key(worker.ask(task="ask", sql=case.sql))


def failed(found: Sequence[Mapping[str, Any]]) -> bool:
    return any("failed" in one for one in found)


def rows_of(
    case: str,
    name: str,
    found: Sequence[Mapping[str, Any]],
    peak: float | None,
    truth: Mapping[Any, float],
) -> Iterator[Row]:
    """The figures of one system and question; None where it gave no answer."""
    times = [] if failed(found) else found
    asked = query.Asked(tuple(times), tuple(map(query.by_key, times)), peak)
    yield Row(case, name, "CPU-seconds", asked.of("cpu") if times else None)
    yield Row(case, name, "seconds", asked.of("wall") if times else None)
    yield Row(case, name, "peak MB", peak if times else None)
    if name not in ("DuckDB", "PostgreSQL"):
        yield Row(
            case,
            name,
            "mean relative error",
            query.relative_error(asked, truth) if times else None,
        )
    if "private keys" in case:
        yield Row(
            case, name, "keys found", median(map(len, asked.answers)) if times else None
        )
