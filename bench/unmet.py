"""Goals that are not met and results that do not exist, each with its reason:
`bench/unmet.json`, as `bench check` and the page on benchmarks show it.

A results file is written anew by every run. The reasons stand beside it, so they stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MEASURED", "REASONS", "Reason", "page", "reasons"]

REASONS = Path(__file__).parent / "unmet.json"
MEASURED = "measured"
"""The goal of a benchmark without a results file."""


@dataclass(frozen=True)
class Reason:
    """Why some goals of one benchmark are not met."""

    benchmark: str
    goals: tuple[str, ...]
    why: str

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [(self.benchmark, goal) for goal in self.goals]


def reasons(path: Path = REASONS) -> tuple[Reason, ...]:
    """What the file says; nothing if there is none."""
    if not path.exists():
        return ()
    return tuple(
        Reason(one["benchmark"], tuple(one["goals"]), one["why"])
        for one in json.loads(path.read_text(encoding="utf-8"))
    )


def page(results: Path, path: Path = REASONS) -> str:
    """All reasons as Markdown, each with what was wanted and measured."""
    return "\n".join(_section(one, results) for one in reasons(path))


def _section(one: Reason, results: Path) -> str:
    file = results / f"{one.benchmark}.json"
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    lines = [f"**`{one.benchmark}`.** {one.why}", ""]
    if content is not None:
        known = {goal["goal"]: goal for goal in content["goals"]}
        lines += ["| not met | wanted | got |", "|---|---|---|"]
        lines += [_line(known[goal]) for goal in one.goals] + [""]
    return "\n".join(lines)


def _line(goal: Mapping[str, object]) -> str:
    got = goal["got"]
    shown = f"{got:.3g}" if isinstance(got, int | float) else "–"
    return f"| {goal['goal']} | {goal['want']} | {shown} |"
