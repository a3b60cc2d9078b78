"""Puts the measured figures into the README and the pages on benchmarks: `python
tools/figures.py`.

They show tables made from bench/results; a test compares them, so no figure is typed
in.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script this file knows only its own folder

from bench.attacks import table as attacked  # noqa: E402
from bench.examples import page as examples  # noqa: E402
from bench.federated import page as federated  # noqa: E402
from bench.fitting import page as fitting  # noqa: E402
from bench.race import page as race  # noqa: E402
from bench.synth import page as synth  # noqa: E402
from bench.unmet import page as unmet  # noqa: E402
from bench.voting import page as voting  # noqa: E402

ENDS = (", smallest", ", largest")
SIZES = ("1 M rows", "10 M rows", "100 M rows")
PAGES = (
    "README.md",
    "docs/attacks.md",
    "docs/benchmarks.md",
    "docs/estimators.md",
    "docs/pate.md",
    "docs/hospitals.md",
    "docs/federated.md",
    "docs/race.md",
    "docs/synth.md",
    *(f"docs/training-{name}.md" for name in examples.NAMES),
)
PICTURE = ROOT / "docs" / "race.svg"
MARKED = re.compile(r"(<!-- goals: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COVERED = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)
GROWN = re.compile(r"(<!-- growth -->\n).*?(<!-- end -->)", re.DOTALL)
MADE = re.compile(r"(<!-- synth: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
TRAINED = re.compile(r"(<!-- examples: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
AVERAGED = re.compile(r"(<!-- federated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FITTED = re.compile(r"(<!-- fitted: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
VOTED = re.compile(r"(<!-- voted: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
UNMET = re.compile(r"(<!-- unmet -->\n).*?(<!-- end -->)", re.DOTALL)
CHARGED = re.compile(r"(<!-- ledger -->\n).*?(<!-- end -->)", re.DOTALL)
COMPARED = re.compile(r"(<!-- smoke -->\n).*?(<!-- end -->)", re.DOTALL)
ATTACKED = re.compile(r"(<!-- attacks -->\n).*?(<!-- end -->)", re.DOTALL)
RACED = re.compile(
    r"(<!-- race: ([\w ]+): ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL
)


def table(names: list[str]) -> str:
    """The goals of some benchmarks, wanted and measured."""
    lines = ["| measured | wanted | got |", "|---|---|---|"]
    for name in names:
        results = json.loads(
            (ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8")
        )
        lines += [
            f"| {goal['goal']} | {goal['want']} | {got(goal['got'])} |"
            for goal in results["goals"]
        ]
    return "\n".join(lines) + "\n"


def attacks() -> str:
    """How often each attack is right, without protection and about a release."""
    path = ROOT / "bench" / "results" / "attacks.json"
    return attacked(json.loads(path.read_text(encoding="utf-8"))["rows"])


def stored(name: str) -> dict[tuple[str, str, str], float | None]:
    """The values of a results file by case, system and metric."""
    path = ROOT / "bench" / "results" / f"{name}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return {(row["case"], row["system"], row["metric"]): row["value"] for row in rows}


def spread(
    values: dict[tuple[str, str, str], float | None],
    case: str,
    system: str,
    metric: str,
) -> str:
    """A median with the smallest and the largest value."""
    found = (values[case, system, metric + one] for one in ("", *ENDS))
    middle, low, high = (
        f"{value:,.0f}" if value is not None and value >= 1000 else got(value)
        for value in found
    )
    return f"{middle} ({low} to {high})"


def ledger() -> str:
    """Rates and shares of durable charges, how they were counted, and the disk."""
    values = stored("ledger")
    rate, share = "durable commits per second", "share of the bare rate"
    lines = [
        "| | charges a second | bare | share, median (smallest to largest) | counted |",
        "|---|---|---|---|---|",
    ]
    for case in dict.fromkeys(key[0] for key in values if key[2] == share):
        rates = [f"{values[case, one, rate]:,.0f}" for one in ("dither", "bare")]
        turns, processes, each = (
            f"{values[case, 'both', metric]:.0f}"
            for metric in ("turns", "processes", "commits of each process in a turn")
        )
        counted = f"{turns} turns × {processes} × {each} commits"
        shown = spread(values, case, "dither", share)
        lines.append(f"| {case} | {' | '.join(rates)} | {shown} | {counted} |")
    return "\n".join([*lines, "", *ledger_costs(values)]) + "\n"


def ledger_costs(values: dict[tuple[str, str, str], float | None]) -> Iterator[str]:
    """CPU time of a charge, and how long an fsync takes, by place."""
    cpu, fsync = "CPU-microseconds of a commit", "fsync of 4 KiB"
    yield "| microseconds | a charge, CPU time | bare, CPU time |"
    yield "|---|---|---|"
    for case in dict.fromkeys(key[0] for key in values if key[2] == cpu):
        used = [f"{values[case, one, cpu]:.0f}" for one in ("dither", "bare")]
        yield f"| {case} | {' | '.join(used)} |"
    yield ""
    yield "| microseconds | median (smallest to largest) |"
    yield "|---|---|"
    for place in [key[0] for key in values if key[1:] == (fsync, "microseconds")]:
        yield f"| {fsync}, {place} | {spread(values, place, fsync, 'microseconds')} |"


def smoke() -> str:
    """The committed ratios with their spread."""
    values = stored("smoke")
    lines = ["| CPU time of | over that of | ratio |", "|---|---|---|"]
    for case in dict.fromkeys(key[0] for key in values):
        mine, _, floor = case.partition(", over ")
        shown = spread(values, case, "dither", "ratio")
        lines.append(f"| {mine} | {floor} | {shown} |")
    return "\n".join(lines) + "\n"


def growth() -> str:
    """CPU-seconds and memory by question and size, and DuckDB's CPU-seconds."""
    rows = json.loads(
        (ROOT / "bench" / "results" / "growth.json").read_text(encoding="utf-8")
    )["rows"]
    known = {(row["case"], row["system"], row["metric"]): row["value"] for row in rows}
    lines = [
        f"| CPU-seconds (DuckDB's) / peak MB | {' | '.join(SIZES)} |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys(
        row["case"].rpartition(", ")[0] for row in rows if row["system"] == "dither"
    ):
        cells = []
        for size in SIZES:
            ours, raw = (
                known[f"{name}, {size}", system, "CPU-seconds"]
                for system in ("dither", "duckdb")
            )
            cells.append(
                f"{got(ours)} ({got(raw)}) / "
                f"{known[f'{name}, {size}', 'dither', 'peak MB']:,.0f}"
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def coverage() -> str:
    """For each aggregate, over all shapes, ε and noises: the worst and the best of what
    was seen.
    """
    rows = json.loads(
        (ROOT / "bench" / "results" / "coverage.json").read_text(encoding="utf-8")
    )["rows"]
    metrics = (
        "covers the truth",
        "open to a side",
        "width beside radius = cap",
        "RMSE beside radius = cap",
    )
    lines = [
        f"| aggregate | rows | {' | '.join(metrics)} |",
        "|---|---|" + "---|" * len(metrics),
    ]
    for name in dict.fromkeys(row["case"].split(", ")[1] for row in rows):
        for system in ("dither, rows declared", "dither, no rows declared"):
            mine = [
                row
                for row in rows
                if row["case"].split(", ")[1] == name and row["system"] == system
            ]
            cells = [
                _range([row["value"] for row in mine if row["metric"] == metric])
                for metric in metrics
            ]
            lines.append(
                f"| {name} | {system.partition(', ')[2]} | {' | '.join(cells)} |"
            )
    return "\n".join(lines) + "\n"


def _range(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    low, high = min(known), max(known)
    return f"{low:.3g}" if low == high else f"{low:.3g} … {high:.3g}"


def got(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def filled(text: str) -> str:
    goals = MARKED.sub(
        lambda found: found[1] + table(found[2].split()) + found[3], text
    )
    grown = GROWN.sub(lambda found: found[1] + growth() + found[2], goals)
    grown = COVERED.sub(lambda found: found[1] + coverage() + found[2], grown)
    grown = MADE.sub(lambda found: found[1] + synth.table(found[2]) + found[3], grown)
    grown = TRAINED.sub(
        lambda found: found[1] + examples.table(found[2]) + found[3], grown
    )
    grown = FITTED.sub(
        lambda found: found[1] + fitting.table(found[2]) + found[3], grown
    )
    grown = VOTED.sub(lambda found: found[1] + voting.table(found[2]) + found[3], grown)
    grown = AVERAGED.sub(
        lambda found: found[1] + federated.table(found[2]) + found[3], grown
    )
    grown = ATTACKED.sub(lambda found: found[1] + attacks() + found[2], grown)
    grown = UNMET.sub(
        lambda found: found[1] + unmet(ROOT / "bench" / "results") + found[2], grown
    )
    grown = CHARGED.sub(lambda found: found[1] + ledger() + found[2], grown)
    grown = COMPARED.sub(lambda found: found[1] + smoke() + found[2], grown)
    return RACED.sub(
        lambda found: found[1] + race.table(found[2], found[3]) + found[4], grown
    )


def main() -> None:
    for page in PAGES:
        path = ROOT / page
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(race.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
