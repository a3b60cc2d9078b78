"""Synthetic tables: two-way errors beside independent columns, time, and how often
intervals hold the truth; with `--peers`, beside other libraries, and as training data.
"""

from __future__ import annotations

from bench.harness import Report, versions
from bench.synth import accuracy, coverage
from bench.synth import peers as others


def run() -> Report:
    near = [*accuracy.rows(), *accuracy.starred()]
    large = list(accuracy.large())
    seen = coverage.coverage()
    goals = (
        *accuracy.goals(near),
        *accuracy.large_goals(large),
        *coverage.goals(seen),
    )
    rows = (*near, *large, *coverage.rows(seen))
    notes = (*accuracy.NOTES, *coverage.NOTES)
    return Report(rows, goals, notes, versions("dither", "numpy"))


def peers() -> Report:
    return others.run()
