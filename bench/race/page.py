"""The tables and the picture of the race, made from bench/results/query_peers.json."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results" / "query_peers.json"
QUESTIONS = (
    "count",
    "distinct users",
    "sum",
    "mean",
    "grouped count",
    "grouped sum",
    "private keys",
    "median",
)
HANDMADE = ("grouped count, by hand", "private keys, by hand")
COLOURS = {
    "dither": "#0f766e",
    "OpenDP": "#b45309",
    "OpenDP, first rows": "#f59e0b",
    "Tumult": "#be123c",
    "PipelineDP": "#7c3aed",
    "SmartNoise, pandas": "#2563eb",
    "SmartNoise, PostgreSQL": "#0891b2",
    "Qrlew, PostgreSQL": "#4d7c0f",
    "DuckDB": "#9ca3af",
    "PostgreSQL": "#4b5563",
}
"""Every system of the table, in its order. Those without privacy are grey."""

Figures = dict[tuple[str, str, str], float | None]


def figures() -> Figures:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    return {(row["case"], row["system"], row["metric"]): row["value"] for row in rows}


def shown(value: float | None, metric: str) -> str:
    if value is None:
        return "–"
    if metric == "mean relative error":
        return f"{100 * value:.2g} %" if value < 1 else f"{100 * value:.0f} %"
    return (
        f"{value:,.0f}"
        if value >= 100 or metric in ("peak MB", "keys found")
        else f"{value:.2g}"
    )


def table(size: str, metric: str) -> str:
    """Questions down, systems across."""
    found = figures()
    cases = [
        case
        for case in (*QUESTIONS, *HANDMADE)
        if any(key[::2] == (f"{case}, {size}", metric) for key in found)
    ]
    systems = [
        name
        for name in COLOURS
        if any((f"{case}, {size}", name, metric) in found for case in cases)
    ]
    lines = [f"| {metric} | {' | '.join(systems)} |", "|---|" + "---:|" * len(systems)]
    for case in cases:
        cells = (
            shown(found.get((f"{case}, {size}", name, metric)), metric)
            for name in systems
        )
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


LEFT, WIDTH, BAND, TOP, LOW, HIGH = 130, 560, 36, 98, -3, 2


def across(seconds: float) -> float:
    return LEFT + WIDTH * (math.log10(min(max(seconds, 10**LOW), 10**HIGH)) - LOW) / (
        HIGH - LOW
    )


def dot(x: float, y: float, name: str, told: str) -> str:
    radius = 7 if name == "dither" else 5
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" '
        f'fill="{COLOURS[name]}"><title>{told}</title></circle>'
    )


def legend() -> Iterator[str]:
    for number, name in enumerate(COLOURS):
        x, y = LEFT + 10 + 190 * (number % 3), 34 + 16 * (number // 3)
        yield (
            f"{dot(x, y - 4, name, name)}<text x='{x + 12}' "
            f"y='{y}'>{html.escape(name)}</text>"
        ).replace("'", '"')


def axis(height: int) -> Iterator[str]:
    for power in range(LOW, HIGH + 1):
        x = across(10**power)
        yield f'<path d="M{x:.1f} {TOP}V{height - 24}" stroke="#d1d5db"/>'
        yield (
            f'<text x="{x:.1f}" y="{height - 8}" '
            f'text-anchor="middle">{10**power:g} s</text>'
        )


def svg(size: str = "1 M rows") -> str:
    """CPU-seconds of every system at every question, on a scale of powers of ten."""
    found = figures()
    height = TOP + BAND * len(QUESTIONS) + 30
    title = f"CPU-seconds of one answer, {size}"
    parts = [
        f'<rect width="710" height="{height}" fill="#ffffff"/><title>{title}</title>'
    ]
    parts += [
        f'<text x="{LEFT}" y="16" font-weight="bold">{title}</text>',
        *legend(),
        *axis(height),
    ]
    for number, case in enumerate(QUESTIONS):
        y = TOP + BAND * number + BAND / 2
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{case}</text>'
        )
        parts.append(f'<path d="M{LEFT} {y}H{LEFT + WIDTH}" stroke="#e5e7eb"/>')
        for name in reversed(COLOURS):
            value = found.get((f"{case}, {size}", name, "CPU-seconds"))
            if value is not None:
                parts.append(
                    dot(across(value), y, name, f"{html.escape(name)}: {value:.3g} s")
                )
    font = 'font-family="sans-serif" font-size="12" fill="#1f2937"'
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 '
        f'710 {height}" width="710" {font}>'
    )
    return f"{head}{''.join(parts)}</svg>\n"
