"""`python -m bench NAME`, `python -m bench check`, `python -m bench list`."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.harness import RESULTS, Goal, Report, load, save

FOLDER = Path(__file__).parent
NOT_BENCHMARKS = {"__init__", "__main__", "harness", "peers", "race", "redraw"}
PARTS = (
    ("ledger", "crash"),
    ("collect", "crash"),
    ("ledger", "growth"),
    ("query", "peers"),
    ("coverage", "peers"),
    ("growth", "spark"),
    ("science_synth", "peers"),
    ("conformance", "neighbours"),
    ("learn_accuracy", "choose"),
    ("learn", "cuda"),
)
"""What only runs when asked for: `python -m bench ledger --crash`."""
console = Console(width=None if sys.stdout.isatty() else 120)


def asked(name: str, part: str) -> str:
    """How a part is asked for."""
    return f"{name} --device {part}" if part == "cuda" else f"{name} --{part}"


def names() -> list[str]:
    """Every other module here is a benchmark with a `run()`."""
    return sorted(
        path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_BENCHMARKS
    )


def purpose(name: str) -> str:
    text = (
        ast.get_docstring(
            ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        )
        or ""
    )
    return text.partition("\n")[0]


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def show(name: str, report: Report) -> None:
    table = Table(title=name, title_justify="left")
    for heading in ("case", "system", "metric"):
        table.add_column(heading)
    table.add_column("value", justify="right")
    for row in report.rows:
        table.add_row(
            escape(row.case), escape(row.system), escape(row.metric), number(row.value)
        )
    console.print(table)
    show_goals([(name, goal) for goal in report.goals])
    for note in report.notes:
        console.print(f"note: {note}", markup=False, highlight=False)


def show_goals(goals: list[tuple[str, Goal]]) -> None:
    table = Table(title="goals", title_justify="left")
    for heading in ("benchmark", "goal", "want", "got", "met"):
        table.add_column(heading)
    for name, goal in goals:
        met = "[green]yes[/green]" if goal.met else "[red]no[/red]"
        table.add_row(name, escape(goal.goal), escape(goal.want), number(goal.got), met)
    console.print(table)


def run(name: str, part: str = "run") -> int:
    report: Report = getattr(import_module(f"bench.{name}"), part)()
    results = name if part == "run" else f"{name}_{part}"
    save(results, report)
    show(results, report)
    return 0


def check() -> int:
    """Goals not met. A benchmark that was never run has met none."""
    unmet: list[tuple[str, Goal]] = []
    known = names()
    for name in (*known, *(f"{name}_{part}" for name, part in PARTS if name in known)):
        path = RESULTS / f"{name}.json"
        found = (
            load(path).goals
            if path.exists()
            else (Goal("measured", "a results file", None, met=False),)
        )
        unmet += [(name, goal) for goal in found if not goal.met]
    if not unmet:
        console.print("every goal is met")
        return 0
    show_goals(unmet)
    return 1


def listing() -> int:
    for name in names():
        console.print(
            f"{name:12} {purpose(name)}", markup=False, highlight=False, soft_wrap=True
        )
    return 0


def main(arguments: list[str]) -> int:
    if arguments == ["check"]:
        return check()
    if arguments == ["list"]:
        return listing()
    if len(arguments) == 1 and arguments[0] in names():
        return run(arguments[0])
    for name, part in PARTS:
        if " ".join(arguments) == asked(name, part):
            return run(name, part)
    parts = [asked(name, part) for name, part in PARTS]
    print(
        f"usage: python -m bench check | list | {' | '.join([*names(), *parts])}",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
