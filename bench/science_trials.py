"""Tests of trials: false positives, power beside published private tests, coverage and
width of intervals, and Kaplan–Meier curves.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from bench.harness import Goal, Report, Row, versions

PARTS = ("ranks", "tables", "survival", "means")


def parts() -> Iterator[ModuleType]:
    for name in PARTS:
        yield import_module(f"bench.trials.{name}")


def run() -> Report:
    rows: list[Row] = []
    goals: list[Goal] = []
    notes: list[str] = []
    for part in parts():
        found = tuple(part.rows())
        rows += found
        goals += part.goals(found)
        notes += part.NOTES
    return Report(tuple(rows), tuple(goals), tuple(notes), versions("numpy", "scipy"))
