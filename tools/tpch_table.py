"""Puts the measured figures into the page on TPC-H: `python tools/tpch_table.py`.

The page shows tables made from bench/results/tpch.json; a test compares them, so no
figure is typed in.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tpch.md"
RESULTS = ROOT / "bench" / "results" / "tpch.json"
MARKED = re.compile(r"(<!-- tpch: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
ERROR, TIMES = "relative error: ", "times DuckDB's CPU-seconds"
SAID = re.compile(r"(Q\d+) is refused: (.*)\.")


def percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def answered(results: dict[str, Any]) -> str:
    """Each answered question with its errors and times."""
    heads = (
        "question | median relative error | groups found | CPU-seconds | "
        "DuckDB's | ratio"
    )
    lines = [f"| {heads} |", "|---|---|---|---|---|---|"]
    figures: dict[str, dict[tuple[str, str], float]] = {}
    for row in results["rows"]:
        figures.setdefault(row["case"], {})[row["system"], row["metric"]] = row["value"]
    for name, found in figures.items():
        if ("dither", TIMES) not in found:
            continue
        errors = {
            metric.removeprefix(ERROR): value
            for (_, metric), value in found.items()
            if metric.startswith(ERROR)
        }
        shown = (
            ", ".join(
                f"`{column}` {percent(value)}" for column, value in errors.items()
            )
            or "–"
        )
        groups = (
            f"{found['dither', 'groups found']:.0f} of {found['duckdb', 'groups']:.0f}"
        )
        times = [found[system, "CPU-seconds"] for system in ("dither", "duckdb")]
        lines.append(
            f"| {name} | {shown} | {groups} | {times[0]:.2f} | {times[1]:.2f} "
            f"| {found['dither', TIMES]:.1f} × |"
        )
    return "\n".join(lines) + "\n"


def refused(results: dict[str, Any]) -> str:
    """Each refused question with what was said."""
    said = [
        found for found in map(SAID.fullmatch, results["notes"]) if found is not None
    ]
    return (
        "\n".join(
            [
                "| question | what it says |",
                "|---|---|",
                *(f"| {one[1]} | {one[2]} |" for one in said),
            ]
        )
        + "\n"
    )


def data(results: dict[str, Any]) -> str:
    rows = [row for row in results["rows"] if row["case"] == "data"]
    return (
        "\n".join(
            [
                "| | |",
                "|---|---|",
                *(f"| {row['metric']} | {row['value']:,.0f} |" for row in rows),
            ]
        )
        + "\n"
    )


TABLES = {"answered": answered, "refused": refused, "data": data}


def filled(text: str) -> str:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return MARKED.sub(
        lambda found: found[1] + TABLES[found[2]](results) + found[3], text
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
