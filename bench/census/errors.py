"""How far off each level of a census is, and what its counts are biased by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.census.country import CASE, NAMES, RHO, Country, released
from bench.harness import Goal, Row, at_most
from dither.mechanisms import Gaussian
from dither.science.census.whole import whole

__all__ = [
    "ERROR",
    "FITTED",
    "REPEATS",
    "WHOLE",
    "error_goals",
    "error_rows",
    "errors",
    "stated_rows",
]

REPEATS = 12
WANTED = {"county": 2.2, "tract": 2.1, "block": 2.2}
"""Root mean squared errors of a prototype with two passes."""
ALONE, FITTED = "each level alone", "dither, fitted"
WHOLE, BLOCKS = "dither, whole counts", "blocks alone, added up"
EXACT, EXACT_WHOLE = "dither, exact states", "dither, exact states, whole counts"
ERROR, BIAS = "root mean squared error", "mean error"


@dataclass
class Seen:
    """Errors of all releases of one system, level by level."""

    squares: dict[str, list[float]] = field(default_factory=dict)
    biases: dict[str, list[float]] = field(default_factory=dict)

    def add(self, found: list[Any], country: Country) -> None:
        for name, one, truth in zip(NAMES, found, country.levels, strict=True):
            self.squares.setdefault(name, []).append(float(np.mean((one - truth) ** 2)))
        off, truth = found[-1] - country.levels[-1], country.levels[-1]
        parts = {"empty blocks": truth == 0, "blocks above 100": truth > 100}
        for name, part in parts.items():
            self.biases.setdefault(name, []).append(float(off[part].mean()))
        self.biases.setdefault("share of blocks below zero", []).append(
            float((found[-1] < 0).mean())
        )


def errors(country: Country) -> dict[str, Seen]:
    names = (ALONE, FITTED, WHOLE, BLOCKS, EXACT, EXACT_WHOLE)
    seen = {name: Seen() for name in names}
    flat = Gaussian(sensitivity=1, rho=RHO)
    for _ in range(REPEATS):
        found, measured, _none = released(country, states=False)
        seen[ALONE].add(measured, country)
        seen[FITTED].add(list(found.cells), country)
        seen[WHOLE].add(list(whole(found)), country)
        blocks = flat.release(country.levels[-1])
        seen[BLOCKS].add(list(country.tree.counts_up(blocks)), country)
        found, _, exact = released(country, states=True)
        seen[EXACT].add(list(found.cells), country)
        seen[EXACT_WHOLE].add(list(whole(found, exact)), country)
    return seen


def error_rows(seen: dict[str, Seen]) -> Iterator[Row]:
    for system, one in seen.items():
        for name, squares in one.squares.items():
            value = round(math.sqrt(float(np.mean(squares))), 3)
            yield Row(CASE, system, f"{ERROR}, {name}", value)
        for name, means in one.biases.items():
            metric = name if name.startswith("share") else f"{BIAS}, {name}"
            yield Row(CASE, system, metric, round(float(np.mean(means)), 4))


def stated_rows(country: Country) -> Iterator[Row]:
    found, _, _ = released(country, states=False)
    for level, name in enumerate(NAMES):
        value = math.sqrt(float(found.variance(level).mean()))
        yield Row(CASE, FITTED, f"deviation that is stated, {name}", round(value, 3))


def error_goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.system, row.metric): row.value for row in rows}
    for name, want in WANTED.items():
        got = found[FITTED, f"{ERROR}, {name}"]
        assert got is not None
        goal = f"{ERROR} of fitted counts, {name}, to one decimal"
        yield at_most(goal, want, round(got, 1))
    for name in NAMES[:2]:
        stated = found[FITTED, f"deviation that is stated, {name}"]
        yield at_most(f"deviation of the {name}, alone 2.25", 2.2, stated)
        yield at_most(
            f"{ERROR} with exact states, {name}",
            0,
            found[EXACT_WHOLE, f"{ERROR}, {name}"],
        )
    bias = found[FITTED, f"{BIAS}, empty blocks"]
    assert bias is not None
    yield at_most("mean error of fitted counts in empty blocks", 0.05, abs(bias))
