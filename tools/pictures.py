"""Draws the pictures of the documentation from real runs: `python tools/pictures.py`
writes docs/pictures/*.svg, or only those that are named: `python tools/pictures.py house`.

Answers are noisy, so each run draws others. The house is drawn from the packages of the
source.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
import shlex
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from textwrap import wrap
from typing import Any

import networkx
from click.testing import CliRunner

import dither
from dither import local
from dither.chart import Chart
from dither.cli import main as cli
from dither.explain.picture import ACCENT, Axis, Panel, document
from dither.science import graphs

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dither"
FOLDER = ROOT / "docs" / "pictures"
INK, PAPER, PALE = "#1f2937", "#ffffff", "#ecfdf5"

FLOORS = {
    "People": {
        "explain": "what ε means",
        "audit": "tests guarantees",
        "cli": "commands for the terminal",
    },
    "Work": {
        "query": "answers for a curator's tables: SQL, data frames, arrays",
        "local": "answers of devices that trust nobody",
        "learn": "models trained with noise",
        "science": "releases for trials, censuses, maps, graphs, genomes; synthetic tables",
    },
    "Ground": {
        "privacy": "guarantees and their composition",
        "noise": "all randomness",
        "mechanisms": "noise for a guarantee",
        "ledger": "the durable budget",
    },
}
LEFT, WIDTH, HIGH, GAP = 90, 640, 100, 10
LINE, LETTER = 15, 6.4
"""The height of a line of small words, and the mean width of a letter."""
MARK, END = "<!-- house -->", "<!-- end -->"
HOUSES = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md")
"""Pages that show the table of rooms."""

WARDS = "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward"
MONTHS = (
    "SELECT extract(month FROM day) AS month, COUNT(*) AS visits "
    "FROM visits GROUP BY month"
)
QUESTIONS = (
    ("patients by ward", WARDS, 0.5),
    ("mean stay", "SELECT AVG(days) AS stay FROM visits", 0.3),
    ("visits by month", MONTHS, 0.5),
    ("patients by ward", WARDS, 0.5),  # again: it is free
    ("median cost", "SELECT MEDIAN(cost) AS cost FROM visits", 0.4),
    ("patients by sex", "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", 0.3),
)
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
DRAWS = 40
TRUTH = 1000


def on_paper(svg: str, description: str = "") -> str:
    """A picture that keeps its own colours, on light pages and on dark ones; with a
    description if it has none.
    """
    head, close, rest = svg.partition("</title>")
    told = f"<desc>{html.escape(description)}</desc>" if description else ""
    if rest.startswith("<desc>"):
        told, rest = (
            rest.partition("</desc>")[0] + "</desc>",
            rest.partition("</desc>")[2],
        )
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    coloured = head.replace("<svg ", f'<svg color="{INK}" fill="{INK}" ', 1)
    return f"{coloured}{close}{told}{paper}{rest}\n"


def words(x: float, y: float, text: str, style: str = "") -> str:
    return (
        f'<text x="{x:g}" '
        f'y="{y:g}"{f" {style}" if style else ""}>{html.escape(text)}</text>'
    )


def drawn(title: str, size: tuple[int, int], inside: str, description: str) -> str:
    width, height = size
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'font-family="sans-serif" font-size="12"'
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {box} {style}>'
    return on_paper(
        f"{opened}<title>{html.escape(title)}</title>{inside}</svg>", description
    )


def house() -> str:
    """The floors on one another, each with its rooms side by side."""
    parts = []
    for level, (floor, rooms) in enumerate(FLOORS.items()):
        top = 20 + level * (HIGH + GAP)
        parts.append(
            words(
                LEFT - 12,
                top + HIGH / 2 + 4,
                floor,
                'text-anchor="end" font-weight="bold"',
            )
        )
        width = (WIDTH - GAP * (len(rooms) - 1)) / len(rooms)
        for place, (room, says) in enumerate(rooms.items()):
            left = LEFT + place * (width + GAP)
            box = f'x="{left:g}" y="{top}" width="{width:g}" height="{HIGH}" rx="6"'
            middle = left + width / 2
            parts.append(f'<rect {box} fill="{PALE}" stroke="{ACCENT}"/>')
            parts.append(
                words(
                    middle,
                    top + 27,
                    room,
                    'text-anchor="middle" font-weight="bold" font-size="14"',
                )
            )
            parts += [
                words(middle, top + 46 + LINE * number, line, 'text-anchor="middle"')
                for number, line in enumerate(wrap(says, int(width / LETTER)))
            ]
    said = "; ".join(
        f"{floor}: {', '.join(rooms)}" for floor, rooms in reversed(FLOORS.items())
    )
    size = (LEFT + WIDTH + 20, 20 + len(FLOORS) * (HIGH + GAP) + 10)
    return drawn(
        "The house: rooms on one another", size, "".join(parts), f"From below: {said}."
    )


def rooms() -> str:
    """The house as a table, for CONTRIBUTING.md and docs/architecture.md."""
    lines = ["| floor | room | what it does |", "|---|---|---|"]
    lines += [
        f"| {floor} | `{room}` | {says} |"
        for floor, inside in FLOORS.items()
        for room, says in inside.items()
    ]
    return "\n".join(lines) + "\n"


def furnished(text: str) -> str:
    """A page with the table of rooms between its marks."""
    head, mark, rest = text.partition(f"{MARK}\n")
    return f"{head}{mark}{rooms()}{rest[rest.index(END) :]}"


def noise() -> str:
    """The same count released again and again at several ε, and the ± that was promised
    before.
    """
    ticks = tuple((value, f"{value:,}") for value in range(900, 1101, 50))
    upwards = Axis(f"released count (the true one is {TRUTH:,})", 880, 1120, ticks)
    across = Axis(
        "ε of one release",
        0.04,
        2.5,
        tuple((one, f"{one:g}") for one in EPSILONS),
        log=True,
    )
    panel = Panel(70, 40, 560, 260, across, upwards)
    errors = [
        (one, dither.Laplace(sensitivity=1, epsilon=one).error(0.95, integer=True))
        for one in EPSILONS
    ]
    panel = panel.area(
        [(one, TRUTH + wide) for one, wide in errors],
        [(one, TRUTH - wide) for one, wide in errors],
    )
    panel = panel.line([(EPSILONS[0], TRUTH), (EPSILONS[-1], TRUTH)], dashed=True)
    for one in EPSILONS:
        for number in range(DRAWS):
            beside = one * (0.94 + 0.12 * number / DRAWS)
            panel = panel.dot(
                (beside, dither.laplace(TRUTH, sensitivity=1, epsilon=one)),
                accent=False,
            )
    panel = panel.legend(
        "± at 95 %, known before anything is spent", accent=True, area=True
    )
    (few, wide), (many, narrow) = errors[0], errors[-1]
    ends = f"±{wide:g} at ε = {few:g}, ±{narrow:g} at ε = {many:g}"
    told = f"A count of {TRUTH:,}, released {DRAWS} times at each ε: {ends}."
    return on_paper(
        document("Noise against ε", told, (660, 390), [panel]).replace(
            'r="4.5"', 'r="1.6"'
        )
    )


def burn_down(clinic: Any) -> str:
    """What is left of an account after each question."""
    labels, left = ["at the start"], [100.0]
    for label, question, epsilon in QUESTIONS:
        replayed = clinic.sql(question, epsilon=epsilon).replayed
        labels.append(f"{label}, again" if replayed else f"{label}, ε {epsilon:g}")
        left.append(round(100 * clinic.account.remaining.share, 1))
    chart = Chart.of("remaining budget (%)", labels, left, [None] * len(left))
    told = ", ".join(
        f"{label}: {value:g} %" for label, value in zip(labels, left, strict=True)
    )
    return on_paper(chart.svg(), f"The remaining budget after each question. {told}.")


def answer(clinic: Any) -> str:
    """A released table with its intervals, as `.plot()` draws it."""
    found = clinic.sql(MONTHS, epsilon=1.0)
    value, (low, high) = found.rows[0][1], found.cells()[0][1]
    told = (
        "A bar with its 95 % interval for each month; for the first "
        f"{value:,} ({low:,.0f} to {high:,.0f})."
    )
    return on_paper(
        found.plot("visits").svg(),
        f"{told} Each holds the true count in 95 of 100 answers.",
    )


class Table(HTMLParser):
    """The rows of a table, and the lines below it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.below: list[str] = []
        self._small = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("small", "br"):
            self._small = True
            self.below.append("")

    def handle_data(self, data: str) -> None:
        if self._small:
            self.below[-1] += data
        else:
            self.rows[-1][-1] += data


CELLS = (
    ("%load_ext dither", "%dither clinic/clinic.toml"),
    (
        "%%dither --epsilon 0.8 wards =",
        "SELECT ward, COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS visits",
        "FROM visits",
        "GROUP BY ward",
    ),
)


def in_notebook() -> str:
    """What the last cell shows, as HTML, from a real session of IPython."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    with capture_output():
        for cell in CELLS:
            shell.run_cell("\n".join(cell)).raise_error()
    return str(shell.user_ns["wards"]._repr_html_())


def notebook() -> str:
    """Cells as a notebook shows them: what was typed, and below it the table."""
    y, parts, mono = 16.0, [], 'font-family="monospace"'
    for number, cell in enumerate(CELLS, start=1):
        tall = 16 * len(cell) + 14
        parts.append(words(8, y + 20, f"In [{number}]:", f'{mono} fill="#1d4ed8"'))
        parts.append(
            f'<rect x="70" y="{y:g}" width="640" height="{tall}" '
            'fill="#f3f4f6" stroke="#d1d5db"/>'
        )
        parts += [
            words(80, y + 20 + 16 * place, line, mono)
            for place, line in enumerate(cell)
        ]
        y += tall + 12
    shown = Table(in_notebook())
    parts.append(words(8, y + 16, f"Out[{len(CELLS)}]:", f'{mono} fill="#b91c1c"'))
    for place, row in enumerate(shown.rows):
        weight = 'font-weight="bold"' if place == 0 else ""
        if place % 2 == 0 and place:
            parts.append(
                f'<rect x="70" y="{y + 20 * place:g}" width="420" height="20" '
                'fill="#f5f5f5"/>'
            )
        for column, text in enumerate(row):
            side = 'text-anchor="end"' if column else ""
            left = 160 + 160 * column if column else 80
            parts.append(
                words(left, y + 20 * place + 14, text, f"{weight} {side}".strip())
            )
    y += 20 * len(shown.rows) + 16
    parts += [
        words(80, y + 14 * place, line, 'font-size="10"')
        for place, line in enumerate(shown.below)
    ]
    size = (730, round(y + 14 * len(shown.below)))
    told = (
        "Two cells: one chooses the clinic, one holds SQL. Below, a "
        "table with an interval beside each number."
    )
    return drawn("A notebook with a private answer", size, "".join(parts), told)


COMMANDS = (
    'dither query clinic/clinic.toml --epsilon 0.8 "'
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits "
    'GROUP BY ward"',
    "dither budget clinic/clinic.toml",
    'dither query clinic/clinic.toml --epsilon 0.8 "SELECT AVG(height) FROM visits"',
)


def terminal() -> str:
    """Commands and what they print, as a terminal shows them."""
    lines: list[tuple[str, str]] = []
    for command in COMMANDS:
        arguments = shlex.split(command)[1:]
        printed = CliRunner().invoke(cli, arguments, env={"COLUMNS": "100"}).output
        lines.append((f"$ {command}", 'fill="#1d4ed8"'))
        lines += [(line, "") for line in [*printed.rstrip("\n").splitlines(), ""]]
    mono = 'font-family="monospace" font-size="11" xml:space="preserve"'
    parts = [
        words(12, 22 + 15 * place, line, f"{mono} {style}".strip())
        for place, (line, style) in enumerate(lines)
        if line
    ]
    size = (24 + round(6.7 * max(len(line) for line, _ in lines)), 15 * len(lines) + 12)
    told = (
        "Three commands. One prints a table with an interval beside each number, its "
        "guarantee, its cost and the remaining budget; one the budget; one is refused."
    )
    return drawn("A terminal with private answers", size, "".join(parts), told)


def both() -> str:
    """The same question by a curator and by devices, at ε = 1."""
    emoji = {"😂": 24_000, "❤️": 15_000, "🎉": 12_000, "👍": 6_000, "🔥": 3_000}
    held = [key for key, count in emoji.items() for _ in range(count)]
    found = local.compare(held, domain=list(emoji), epsilon=1)
    return on_paper(
        found.plot().svg(),
        "Shares of emoji with their intervals, each by a curator and by devices",
    )


def degrees() -> str:
    """The degrees of a made-up graph of 2,000 vertices, at ε = 1."""
    made = networkx.powerlaw_cluster_graph(2000, 5, 0.6, seed=1)
    found = graphs.degrees(made, vertices=2000, epsilon=1)
    return on_paper(
        found.plot().svg(),
        "A falling line of steps on logarithmic axes, inside of a narrow grey band",
    )


def sites() -> str:
    """The map of the page about maps, from the code of that page."""
    page = (ROOT / "docs" / "maps.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[
        :4
    ]:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    svg = names["chart"].plot(overlay=names["layers"], title="Registered sites").svg()
    told = (
        "Two maps of a shire with the outlines of two corridors and of a quoll's range. "
        "Left: sites per area, hatched where a cell may be empty. Right: the width of "
        "the intervals."
    )
    return str(svg).replace("</title>", f"</title><desc>{told}</desc>", 1)


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        opened = dither.example("clinic")
        pictures = {
            "house": house,
            "noise": noise,
            "answer": lambda: answer(dither.open(opened, ledger=":memory:")),
            "burn_down": lambda: burn_down(dither.open(opened, ledger=":memory:")),
            "notebook": notebook,
            "terminal": terminal,
            "both": both,
            "degrees": degrees,
            "sites": sites,
        }
        for name in names or pictures:
            (FOLDER / f"{name}.svg").write_text(pictures[name](), encoding="utf-8")
    for page in HOUSES:
        page.write_text(furnished(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
