"""`python -m bench NAME`, `python -m bench check`, `list`, `smoke` and `history`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.harness import OUT, RESULTS, Goal, Report, load, save
from bench.unmet import MEASURED, REASONS, reasons

FOLDER = Path(__file__).parent
NOT_BENCHMARKS = {
    *("__init__", "__main__", "harness", "history", "peers", "race", "redraw"),
    "unmet",
}
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
    ("learn_steps", "cuda"),
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


def results() -> list[str]:
    """The results files."""
    return sorted(path.stem for path in RESULTS.glob("*.json"))


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


def unmet() -> list[tuple[str, Goal]]:
    """Goals that are not met, by benchmark. One that was never run has not met any."""
    known = names()
    found: list[tuple[str, Goal]] = []
    for name in (*known, *(f"{name}_{part}" for name, part in PARTS if name in known)):
        path = RESULTS / f"{name}.json"
        goals = (
            load(path).goals
            if path.exists()
            else (Goal(MEASURED, "a results file", None, met=False),)
        )
        found += [(name, goal) for goal in goals if not goal.met]
    return found


def check() -> int:
    """Show goals that are not met, and return 1 if one of them has no reason in
    bench/unmet.json.
    """
    found = unmet()
    explained = {key: one.why for one in reasons(REASONS) for key in one.keys}
    open_ones = [one for one in found if (one[0], one[1].goal) not in explained]
    for one in reasons(REASONS):
        rest = [(name, goal) for name, goal in found if (name, goal.goal) in one.keys]
        if rest:
            show_goals(rest)
            console.print(f"why: {one.why}\n", markup=False, highlight=False)
    stale = explained.keys() - {(name, goal.goal) for name, goal in found}
    for name, goal in sorted(stale):
        console.print(
            f"{name}: {goal!r} is met or no goal; remove it from {REASONS.name}",
            markup=False,
        )
    if open_ones:
        show_goals(open_ones)
    print(f"not met: {len(found)}, of which without a reason: {len(open_ones)}")
    return 1 if open_ones else 0


def listing() -> int:
    for name in names():
        console.print(
            f"{name:12} {purpose(name)}", markup=False, highlight=False, soft_wrap=True
        )
    return 0


def draw_history(name: str = "smoke") -> int:
    from bench.history import history

    return history(name, OUT)


def compare() -> int:
    from bench import smoke

    return smoke.compare()


def commands() -> dict[str, Callable[[], int]]:
    """Everything that can be asked for, as it is written."""
    found: dict[str, Callable[[], int]] = {"check": check, "list": listing}
    found |= {name: partial(run, name) for name in names()}
    found |= {"smoke": compare, "smoke --keep": partial(run, "smoke")}
    found |= {asked(name, part): partial(run, name, part) for name, part in PARTS}
    found["history"] = draw_history
    return found | {
        f"history {name}": partial(draw_history, name) for name in results()
    }


def main(arguments: list[str]) -> int:
    known = commands()
    wanted = known.get(" ".join(arguments))
    if wanted is not None:
        return wanted()
    shown = [one for one in known if not one.startswith("history ")]
    print(f"usage: python -m bench {' | '.join(shown)} [NAME]", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
