"""A declared cap beside none, and beside radius = cap: how far off answers are, how wide
their intervals are, and how often these hold the true answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.coverage import (
    LIMITS,
    PARETO,
    PART,
    Shape,
    _drawn,
    cost,
    full,
    last,
    opened,
    question,
)
from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.redraw import Drawn

__all__ = ["run"]

DRAWS, AGAIN = 150, 10
EPSILONS = (0.1, 1.0)
NOISES = ("alone", "Laplace", "Gaussian")
AGGREGATES = (
    "count",
    "sum",
    "signed sum",
    "mean",
    "variance",
    "median",
)
SHAPES = (
    Shape("light", 5_000, f"1 + floor(3 * {PART})", 4),
    Shape("light, far cap", 5_000, f"1 + floor(3 * {PART})", 600),
    Shape("few units", 300, "1", 600),
    Shape("heavy", 5_000, PARETO.format(cap=500, low=2, power=0.8), 500),
    Shape("zipf", 2_000, "greatest(1, floor(600 / (1 + range)))", 600),
    Shape("planes", 4_000, f"least(600, 1 + floor(-80 * ln(1 - 0.999 * {PART})))", 600),
    Shape(
        "one giant",
        2_000,
        f"CASE WHEN range = 7 THEN 2000 ELSE 1 + floor(5 * {PART}) END",
        2_000,
    ),
)
UNCUT = {True: 3.7, False: 4.05}
"""A 95 % interval is 3.92 deviations of Gaussian noise wide, and 4.24 of Laplace noise;
one that was cut at zero less.
"""
NOTES = (
    f"Each cell is one shape, aggregate, noise and ε, with {DRAWS} draws of noise over "
    "integers that are collected once for each radius; a cell whose error is more than "
    f"1.25 times that without a cap, or that covers too little, is drawn {AGAIN} times "
    "as often. Errors and widths are root mean squares and means over all groups.",
    "'No cap' is the same question about the same rows, at the same cost, with `rows` "
    "undeclared; 'radius = cap' has the same noise. A cell tells something if its "
    "interval at radius = cap is narrower than the range of what is possible; widths "
    "are compared in these cells.",
    "Sums of both signs, means and quantiles have what is cut off on both sides of "
    "their intervals: docs/proofs/intervals.md says which widths and errors no split of "
    "ε reaches together.",
)


@dataclass(frozen=True)
class Cell:
    """One question with a cap, without, and at radius = cap."""

    shape: Shape
    aggregate: str
    noise: str
    epsilon: float
    draws: int
    capped: Drawn
    free: Drawn
    whole: Drawn | None

    @property
    def name(self) -> str:
        return (
            f"{self.shape.name}, {self.aggregate}, {self.noise}, ε = {self.epsilon:g}"
        )

    @property
    def worse(self) -> float:
        """The error, as a multiple of the one without a cap."""
        return _root(self.capped.rmse) / max(_root(self.free.rmse), 1e-12)

    @property
    def farther(self) -> float:
        """The error, as a multiple of the one at radius = cap."""
        if self.whole is None:
            return math.nan
        return _root(self.capped.rmse) / max(_root(self.whole.rmse), 1e-12)

    @property
    def wider(self) -> float:
        """The width, as a multiple of the one at radius = cap."""
        if self.whole is None:
            return math.nan
        return float(np.nanmean(self.capped.width) / np.nanmean(self.whole.width))

    @property
    def told(self) -> bool:
        """Whether an interval at radius = cap tells anything."""
        if self.whole is None:
            return False
        width = float(np.nanmean(self.whole.width))
        return width < LIMITS.get(self.aggregate, math.inf) and (
            self.aggregate in LIMITS
            or width > UNCUT[self.gaussian] * _root(self.whole.rmse)
        )

    @property
    def spare(self) -> float:
        """Coverage above 95 % less four standard errors."""
        covered = self.capped.covered
        answers = self.draws * covered.shape[0]
        return float(np.nanmean(covered)) - 0.95 + 4 * math.sqrt(0.0475 / answers)

    @property
    def gaussian(self) -> bool:
        return self.noise == "Gaussian"


def _root(errors: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.asarray(errors, float) ** 2)))


def cells(shape: Shape) -> Iterator[Cell]:
    found: dict[tuple[str, str, float], Drawn] = {}
    asked = [
        (aggregate, noise, epsilon)
        for aggregate in AGGREGATES
        for noise in NOISES
        for epsilon in EPSILONS
    ]
    for database, stored in opened(shape, cap=False):
        for aggregate, noise, epsilon in asked:
            sql, paid = question(aggregate, noise), cost(noise, epsilon)
            drawn = _drawn(database, stored, sql, DRAWS, paid)
            found[aggregate, noise, epsilon] = last(drawn)
    again = []
    for database, stored in opened(shape, cap=True):
        for one in asked:
            aggregate, noise, epsilon = one
            sql, paid = question(aggregate, noise), cost(noise, epsilon)
            whole = full(aggregate, shape.cap)
            cell = Cell(
                shape,
                *one,
                DRAWS,
                last(_drawn(database, stored, sql, DRAWS, paid)),
                found[one],
                last(_drawn(database, stored, sql, DRAWS, paid | whole))
                if whole
                else None,
            )
            if cell.worse <= 1.25 and cell.spare >= 0:
                yield cell
            else:
                drawn = last(_drawn(database, stored, sql, AGAIN * DRAWS, paid))
                again.append((cell, drawn))
    for database, stored in opened(shape, cap=False):
        for cell, drawn in again:
            sql = question(cell.aggregate, cell.noise)
            paid = cost(cell.noise, cell.epsilon)
            free = last(_drawn(database, stored, sql, AGAIN * DRAWS, paid))
            named = cell.aggregate, cell.noise, cell.epsilon
            yield Cell(shape, *named, AGAIN * DRAWS, drawn, free, cell.whole)


def run() -> Report:
    found = [cell for shape in SHAPES for cell in cells(shape)]
    rows = [row for cell in found for row in _rows(cell)]
    return Report(
        tuple(rows), tuple(_goals(found)), NOTES, versions("dither", "duckdb", "numpy")
    )


def _rows(cell: Cell) -> Iterator[Row]:
    figures = [
        ("covers the truth", float(np.nanmean(cell.capped.covered))),
        ("RMSE", _root(cell.capped.rmse)),
        ("RMSE × no cap", cell.worse),
    ]
    if cell.whole is not None:
        figures.append(("RMSE × radius = cap", cell.farther))
        if cell.told:
            figures.append(("width × radius = cap", cell.wider))
    for metric, value in figures:
        shown = float(f"{value:.4g}") if math.isfinite(value) else None
        yield Row(cell.name, "dither, rows declared", metric, shown)


WIDTHS = (
    ("Laplace, counts and sums of one sign", False, ("count", "sum"), 3.0),
    ("Laplace, means", False, ("mean",), 3.0),
    ("Laplace, signed sums", False, ("signed sum",), 3.0),
    ("Gaussian, counts and sums of one sign", True, ("count", "sum"), 1.1),
    ("Gaussian, means", True, ("mean",), 1.6),
    ("Gaussian, signed sums", True, ("signed sum",), 1.9),
)


def _goals(found: list[Cell]) -> Iterator[Goal]:
    yield at_least(
        "coverage of the true answer in every cell, above 95 % less 4 standard errors",
        0.0,
        min(cell.spare for cell in found),
    )
    for words, gaussian in (("Laplace, or alone", False), ("Gaussian", True)):
        yield at_most(
            f"RMSE × no cap, the worst cell ({words})",
            1.25,
            max(cell.worse for cell in found if cell.gaussian == gaussian),
        )
    for words, gaussian, aggregates, most in WIDTHS:
        wide = [
            cell.wider
            for cell in found
            if cell.told and cell.gaussian == gaussian and cell.aggregate in aggregates
        ]
        yield at_most(
            f"width × radius = cap, the worst cell that tells anything ({words})",
            most,
            max(wide, default=math.nan),
        )
