"""Puts the measured figures into the README and the page on benchmarks: `python tools/figures.py`.

Both show tables made from bench/results; a test compares them, so no figure is typed in.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/benchmarks.md")
MARKED = re.compile(r"(<!-- goals: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(names: list[str]) -> str:
    """The goals of some benchmarks, wanted and measured."""
    lines = ["| measured | wanted | got |", "|---|---|---|"]
    for name in names:
        results = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))
        lines += [f"| {goal['goal']} | {goal['want']} | {goal['got']:.3g} |" for goal in results["goals"]]
    return "\n".join(lines) + "\n"


def filled(text: str) -> str:
    return MARKED.sub(lambda found: found[1] + table(found[2].split()) + found[3], text)


def main() -> None:
    for page in PAGES:
        path = ROOT / page
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
