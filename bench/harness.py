"""Rows, goals, CPU time and the results file that every benchmark shares."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median

__all__ = [
    "OUT",
    "RESULTS",
    "Goal",
    "Report",
    "Row",
    "at_least",
    "at_most",
    "cpu_seconds",
    "load",
    "machine",
    "machine_of",
    "medians",
    "save",
    "versions",
]

RESULTS = Path(__file__).parent / "results"
OUT = Path(os.environ.get("OUT") or Path(__file__).parent / "out")
"""Where results go that are not committed, such as those of a run in CI."""


@dataclass(frozen=True)
class Row:
    """One measured figure. The value is None where it could not be measured; a note of
    the report says why.
    """

    case: str
    system: str
    metric: str
    value: float | None


@dataclass(frozen=True)
class Goal:
    """One figure that was promised, what was measured, and whether that keeps the
    promise.
    """

    goal: str
    want: str
    got: float | None
    met: bool


@dataclass(frozen=True)
class Report:
    """What a benchmark returns."""

    rows: tuple[Row, ...]
    goals: tuple[Goal, ...]
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


def at_least(goal: str, want: float, got: float | None) -> Goal:
    return Goal(
        goal,
        f"at least {want:g}",
        finite(got),
        finite(got) is not None and got is not None and got >= want,
    )


def at_most(goal: str, want: float, got: float | None) -> Goal:
    return Goal(
        goal,
        f"at most {want:g}",
        finite(got),
        finite(got) is not None and got is not None and got <= want,
    )


def finite(value: float | None) -> float | None:
    """What was not measured cannot meet a goal, and JSON knows no NaN."""
    return value if value is not None and math.isfinite(value) else None


def cpu_seconds(call: Callable[[], object]) -> float:
    """CPU seconds of one call in this process, all threads together."""
    began = time.process_time()
    call()
    return time.process_time() - began


def medians(
    systems: Mapping[str, Callable[[], float]], repeats: int
) -> dict[str, float]:
    """The median of what each system measures, taking turns so that a busy moment of
    the machine hits them all.
    """
    seen: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(repeats):
        for name, measure in systems.items():
            seen[name].append(measure())
    return {name: median(values) for name, values in seen.items()}


def machine() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": processor(),
        "cores": os.cpu_count(),
    }


def machine_of(path: Path) -> dict[str, object]:
    """The machine that a results file was measured on."""
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))["machine"]
    return found


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [
        line.partition(":")[2].strip()
        for line in text.splitlines()
        if line.startswith("model name")
    ]
    return names[0] if names else platform.machine()


def versions(*distributions: str) -> dict[str, str]:
    return {name: metadata.version(name) for name in distributions}


def save(name: str, report: Report, folder: Path = RESULTS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    content = {
        "rows": [asdict(row) for row in report.rows],
        "goals": [asdict(goal) for goal in report.goals],
        "notes": list(report.notes),
        "versions": dict(report.versions),
        "machine": machine(),
    }
    path.write_text(
        json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        encoding="utf-8",
    )
    return path


def load(path: Path) -> Report:
    content = json.loads(path.read_text(encoding="utf-8"))
    return Report(
        tuple(Row(**row) for row in content["rows"]),
        tuple(Goal(**goal) for goal in content["goals"]),
        tuple(content.get("notes", ())),
        content.get("versions", {}),
    )
