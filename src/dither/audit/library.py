"""`audit.everything`: audits whatever this library releases, room by room."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from dither.audit.catalogue import cases
from dither.audit.drawing import Progress
from dither.audit.finding import Finding
from dither.audit.learn_catalogue import learn
from dither.audit.outcomes import Raised
from dither.audit.science_catalogue import Asked, science
from dither.audit.sql_catalogue import QUESTIONS
from dither.audit.workers import Crew, Job
from dither.errors import ArgumentError, MissingExtra
from dither.privacy.numbers import confidence_level, whole
from dither.progress import working

__all__ = ["everything", "left_out", "listed"]

ROOMS: dict[str, Callable[[], list[Any]]] = {
    "mechanisms, arrays and devices": cases,
    "questions in SQL": lambda: list(QUESTIONS),
    "science": lambda: _with("scipy", science),
    "learn": lambda: _with("torch", learn),
}


def _with(package: str, asked: Callable[[], Iterator[Asked]]) -> list[Any]:
    """Cases that need a package, which some import only when they are asked."""
    try:
        there = importlib.util.find_spec(package) is not None
    except ValueError:
        there = False
    return [one.case for one in asked()] if there else []


def listed(only: str = "") -> list[Any]:
    """Everything to audit whose name holds the words; rooms that are not installed are
    left out.
    """
    found = [case for load in ROOMS.values() for case in _loaded(load)]
    return [case for case in found if only.lower() in case.name.lower()]


def left_out() -> list[str]:
    """Rooms that are not audited, because what they need is not installed."""
    return [name for name, load in ROOMS.items() if not _loaded(load)]


def _loaded(load: Callable[[], list[Any]]) -> list[Any]:
    try:
        return load()
    except (MissingExtra, ModuleNotFoundError):
        return []


def everything(
    draws: int = 100_000,
    confidence: float = 0.999,
    progress: Progress | None = None,
    *,
    only: str = "",
    workers: int = 0,
) -> Iterator[tuple[str, Finding]]:
    """Audits every mechanism, array function, message of a device, scientific release
    and trainer, and questions in SQL of every shape; names and findings in turn.

    They share the alarm rate. What draws slowly gets fewer draws. `only` picks those
    whose name holds the words; `workers` are processes that audit at once. `progress` is
    called with how many audits are done and how many there are.
    """
    made = whole("draws", draws, "pass how many to make of each input, such as 100_000")
    sure = confidence_level("confidence", confidence)
    chosen = listed(only)
    if not chosen:
        raise ArgumentError(
            "only", f"no name contains {only!r:.40}; pass a part of a name"
        )
    each = float(1 - (1 - sure) / len(chosen))

    def audited(number: int) -> Finding:
        found: Finding = chosen[number].audit(made, each)
        return found

    crew: Any = nullcontext()
    if workers:
        crew = Crew(
            audited, False, range(len(chosen)), whole("workers", workers, "pass 2")
        )
    with working("auditing") as tell, crew as held:
        for number, found in enumerate(_findings(audited, held, len(chosen)), 1):
            yield chosen[number - 1].name, found
            (progress or tell)(number, len(chosen))


def _findings(
    audited: Callable[[int], Finding], crew: Crew | None, many: int
) -> Iterator[Finding]:
    """In the order of the list, whoever is ready first."""
    if crew is None:
        yield from map(audited, range(many))
        return
    jobs = [Job(number, 1, alone=True) for number in range(many)]
    for job in crew.finished(jobs):
        (found,) = job.found
        if isinstance(found, Raised):
            raise ArgumentError(
                "workers",
                f"a worker raised {found.name}: {found.message}; try workers=0",
            )
        yield found


def names(cases_: Sequence[Any]) -> set[str]:
    """The full names of what cases audit."""
    return {name for case in cases_ for name in getattr(case, "covers", ())}
