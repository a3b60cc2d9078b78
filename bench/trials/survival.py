"""Survival curves and the log-rank test."""

from __future__ import annotations

import json
from pathlib import Path

from bench.peers import Worker

FIXTURE = Path("tests/fixtures/trials/survival.json")
EDGES = {
    "rossi": [float(week) for week in range(0, 53, 4)],
    "waltons": [float(day) for day in range(0, 73, 6)],
}


def fixture() -> None:
    """Write what lifelines finds on binned times, for the tests to compare with."""
    with Worker("lifelines", "survival_lifelines") as worker:
        found = {
            name: worker.ask(name=name, edges=ends) for name, ends in EDGES.items()
        }
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    fixture()
