"""Heat maps: how far off sums over rectangles are, beside uniform grids; how often
intervals hold the truth; how fast points are counted.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import (
    Goal,
    Report,
    Row,
    at_least,
    at_most,
    cpu_seconds,
    medians,
    versions,
)
from bench.peers import InstallError, Worker
from dither.science import maps

Reals = NDArray[np.float64]

BOX = (0.0, 0.0, 1.0, 1.0)
RECTANGLES = 400
FLOOR = 0.001
TOWN = (0.31, 0.62)
CASES = (
    ("clustered", 100_000, 0.1),
    ("clustered", 100_000, 1.0),
    ("clustered", 1_000_000, 0.1),
    ("clustered", 1_000_000, 1.0),
    ("beta", 100_000, 0.1),
    ("beta", 100_000, 1.0),
)
TREES = (
    ("clustered", 10_000, 0.1),
    ("clustered", 10_000, 1.0),
    ("clustered", 100_000, 0.1),
    ("clustered", 100_000, 1.0),
    ("beta", 10_000, 0.1),
    ("beta", 10_000, 1.0),
    ("beta", 100_000, 0.1),
    ("beta", 100_000, 1.0),
    ("town", 10_000, 0.1),
    ("town", 10_000, 1.0),
    ("town", 100_000, 0.1),
    ("town", 100_000, 1.0),
)
"""Where trees are measured beside both grids."""
ADAPTIVE, UNIFORM = "dither, adaptive", "dither, uniform"
TREE = "dither, privtree"
TREE_METRIC = "median relative error of maps"
GUIDELINE, PAPER = "uniform grid of guideline size", "adaptive grid of the paper"
PEER = "diffprivlib"
NOTES = (
    "Clustered: 60 Gaussian clusters of widths from 0.002 to 0.05 and shares of Zipf's "
    "law, and a tenth of the points anywhere. Beta: Beta(2, 5) both ways. "
    f"{RECTANGLES} rectangles with random corners; the error is relative to the truth or "
    "0.1 % of all points, whichever is more, and the mean is taken over all of them.",
    f"{GUIDELINE!r} and {PAPER!r} (Qardaji, Yang & Li 2013) are textbook code with floats, "
    "and take their size from the exact number of points, which is a leak and costs them "
    "nothing. Dither's grids pay for that number. Its rules were fitted to other data: "
    "towns with heavy tails, roads, random walks, smooth densities.",
    "Coverage is the share of intervals that hold the truth. Cells of a map share noise: "
    "standard errors are over maps.",
    "Trees are measured beside grids on the same points in maps of their own, and the "
    "median is taken over 15 maps each. Town: a Gaussian of width 0.008, a twentieth of the "
    "points anywhere, and rectangles in the square of side 0.06 around it. The share of "
    "the cost that divides trees, and the number of roots, were chosen with a look at "
    "these points too: other points may do worse.",
    "diffprivlib's histogram2d is a uniform grid, here of guideline size. Its noise is "
    "cut at zero, which biases empty cells up and sums with them.",
)


def clustered(n: int, seed: int = 1) -> Reals:
    random = np.random.default_rng(seed)
    middles, widths = random.random((60, 2)), np.geomspace(0.002, 0.05, 60)
    shares = 1 / np.arange(1, 61)
    which = random.choice(60, n - n // 10, p=shares / shares.sum())
    points = random.normal(middles[which], random.permutation(widths)[which, None])
    return _inside(np.concatenate([points, random.random((n // 10, 2))]))


def beta(n: int, seed: int = 1) -> Reals:
    return np.asarray(np.random.default_rng(seed).beta(2, 5, (n, 2)))


def town(n: int, seed: int = 1) -> Reals:
    """One town in a box that is empty but for a few points."""
    random = np.random.default_rng(seed)
    homes = random.normal(TOWN, 0.008, (n - n // 20, 2))
    return _inside(np.concatenate([homes, random.random((n // 20, 2))]))


def _inside(points: Reals) -> Reals:
    return points[((points >= 0) & (points <= 1)).all(axis=1)]


POINTS: dict[str, Callable[[int], Reals]] = {
    "clustered": clustered,
    "beta": beta,
    "town": town,
}


def rectangles(number: int = RECTANGLES, seed: int = 2) -> list[tuple[float, ...]]:
    corners = np.sort(np.random.default_rng(seed).random((number, 2, 2)), axis=1)
    return [tuple(corner.ravel().tolist()) for corner in corners]


def asked_of(name: str) -> list[tuple[float, ...]]:
    """The rectangles of a case: those of a town are small, and in it."""
    if name != "town":
        return rectangles()
    middle = np.array(TOWN * 2)
    found = [middle + 0.06 * (np.array(one) - 0.5) for one in rectangles()]
    return [tuple(one.tolist()) for one in found]


def booleans(points: Reals, asked: list[tuple[float, ...]]) -> Reals:
    return np.array(
        [
            np.sum(((points >= one[:2]) & (points < one[2:])).all(axis=1))
            for one in asked
        ],
        np.float64,
    )


@dataclass(frozen=True)
class Plain:
    """Cells and counts of textbook code."""

    borders: tuple[Reals, Reals, Reals, Reals]
    value: Reals

    def sums(self, asked: list[tuple[float, ...]]) -> Reals:
        west, south, east, north = self.borders
        return np.array(
            [
                self.value
                @ (
                    _part(west, east, one[0], one[2])
                    * _part(south, north, one[1], one[3])
                )
                for one in asked
            ]
        )


def _part(low: Reals, high: Reals, first: float, last: float) -> Reals:
    shared = np.minimum(high, last) - np.maximum(low, first)
    return np.asarray(np.clip(shared / (high - low), 0, 1))


def _squares(m: int) -> tuple[Reals, Reals, Reals, Reals]:
    row, column = np.divmod(np.arange(m * m), m)
    return column / m, row / m, (column + 1) / m, (row + 1) / m


def guideline(points: Reals, epsilon: float) -> int:
    return math.ceil(math.sqrt(len(points) * epsilon / 10))


def uniform_grid(points: Reals, epsilon: float, random: np.random.Generator) -> Plain:
    m = guideline(points, epsilon)
    x, y = points[:, 0], points[:, 1]
    counts = np.histogram2d(x, y, bins=m, range=((0, 1), (0, 1)))[0].T.ravel()
    return Plain(_squares(m), counts + random.laplace(0, 1 / epsilon, m * m))


def adaptive_grid(points: Reals, epsilon: float, random: np.random.Generator) -> Plain:
    """As in the paper, with a = ½ and its two-level constrained inference."""
    half = epsilon / 2
    m = max(10, math.ceil(guideline(points, epsilon) / 4))
    cells = np.minimum((points * m).astype(np.int64), m - 1)
    cell = cells[:, 1] * m + cells[:, 0]
    above = np.bincount(cell, minlength=m * m) + random.laplace(0, 1 / half, m * m)
    sides = np.ceil(np.sqrt(np.maximum(above, 1e-9) * half / 5)).astype(np.int64)
    begins = np.append(0, np.cumsum(sides**2))
    n = sides[cell]
    inner = np.minimum(
        ((points * m - cells) * n[:, None]).astype(np.int64), n[:, None] - 1
    )
    leaf = begins[cell] + inner[:, 1] * n + inner[:, 0]
    counts = np.bincount(leaf, minlength=begins[-1])
    noisy = counts + random.laplace(0, 1 / half, begins[-1])
    parent = np.repeat(np.arange(m * m), sides**2)
    weight = sides**2 / (1 + sides**2)
    gap = weight * (above - np.bincount(parent, noisy, m * m)) / sides**2
    place, side = np.arange(begins[-1]) - begins[parent], sides[parent]
    west = (parent % m + place % side / side) / m
    south = (parent // m + place // side / side) / m
    borders = (west, south, west + 1 / (m * side), south + 1 / (m * side))
    return Plain(borders, noisy + gap[parent])


def ours(method: str) -> Callable[[Reals, float, np.random.Generator], Any]:
    def build(points: Reals, epsilon: float, _: np.random.Generator) -> Any:
        return maps.heatmap(
            points, bounds=BOX, crs=None, epsilon=epsilon, method=method
        )

    return build


SYSTEMS: dict[str, Callable[[Reals, float, np.random.Generator], Any]] = {
    ADAPTIVE: ours("adaptive"),
    UNIFORM: ours("uniform"),
    GUIDELINE: uniform_grid,
    PAPER: adaptive_grid,
}


def sums(found: Any, asked: list[tuple[float, ...]]) -> Reals:
    if isinstance(found, Plain):
        return found.sums(asked)
    return Plain(found.partition.borders, np.asarray(found.value)).sums(asked)


def accuracy() -> Iterator[Row]:
    random = np.random.default_rng(3)
    asked = rectangles()
    for name, n, epsilon in CASES:
        points = POINTS[name](n)
        truth = booleans(points, asked)
        case = f"{name}, {n:,} points, ε = {epsilon:g}"
        for system, build in SYSTEMS.items():
            errors = [
                _relative(sums(build(points, epsilon, random), asked), truth, n)
                for _ in range(_repeats(n, epsilon))
            ]
            yield Row(
                case, system, "mean relative error", round(float(np.mean(errors)), 5)
            )


def tree_rows() -> Iterator[Row]:
    """Medians over maps, the three methods taking turns on the same points."""
    systems = {TREE: "privtree", ADAPTIVE: "adaptive", UNIFORM: "uniform"}
    for name, n, epsilon in TREES:
        points, asked = POINTS[name](n), asked_of(name)
        measures = {
            system: _measure(method, points, epsilon, asked)
            for system, method in systems.items()
        }
        case = f"{name}, {n:,} points, ε = {epsilon:g}"
        for system, value in medians(measures, 15).items():
            yield Row(case, system, TREE_METRIC, round(value, 5))


def _measure(
    method: str, points: Reals, epsilon: float, asked: list[tuple[float, ...]]
) -> Callable[[], float]:
    truth, build = booleans(points, asked), ours(method)
    random = np.random.default_rng(4)
    return lambda: _relative(
        sums(build(points, epsilon, random), asked), truth, len(points)
    )


def tree_goals(rows: list[Row]) -> Iterator[Goal]:
    """Trees are there for boxes that are empty but for a few places."""
    found = {(row.case, row.system): row.value for row in rows}
    for n, epsilon in ((10_000, 0.1), (10_000, 1.0), (100_000, 0.1)):
        case = f"town, {n:,} points, ε = {epsilon:g}"
        mine, other = found[case, TREE], found[case, ADAPTIVE]
        assert mine is not None
        assert other is not None
        goal = f"{case}: error of trees over that of the adaptive map"
        yield at_most(goal, 0.8, round(mine / other, 3))


def _repeats(n: int, epsilon: float) -> int:
    return 12 if n * epsilon <= 10_000 else 6 if n * epsilon <= 100_000 else 3


def _relative(found: Reals, truth: Reals, n: int) -> float:
    return float(np.mean(np.abs(found - truth) / np.maximum(truth, FLOOR * n)))


def peer() -> Iterator[Row]:
    """A uniform grid of diffprivlib, on 1e5 clustered points."""
    asked, n = rectangles(), 100_000
    points = clustered(n)
    truth = booleans(points, asked)
    with (
        tempfile.TemporaryDirectory() as folder,
        Worker(PEER, "maps_diffprivlib") as worker,
    ):
        path, saved = str(Path(folder) / "points.npy"), str(Path(folder) / "counts.npy")
        np.save(path, points)
        for epsilon in (0.1, 1.0):
            m, errors = guideline(points, epsilon), []
            for _ in range(3):
                worker.ask(path=path, bins=m, epsilon=epsilon, save=saved)
                found = Plain(_squares(m), np.load(saved).T.ravel())
                errors.append(_relative(found.sums(asked), truth, n))
            case = f"clustered, {n:,} points, ε = {epsilon:g}"
            yield Row(
                case, PEER, "mean relative error", round(float(np.mean(errors)), 5)
            )


@dataclass
class Covered:
    """How often intervals of one case held the truth: a share for each map."""

    cells: list[float] = field(default_factory=list)
    regions: list[float] = field(default_factory=list)

    def add(self, found: Any, points: Reals, asked: list[tuple[float, ...]]) -> None:
        low, high = found.interval()
        truth = _cells(found, points)
        self.cells.append(float(np.mean((low <= truth) & (truth <= high))))
        held = []
        for one, exact in zip(asked, booleans(points, asked), strict=True):
            first, last = found.within(one).interval()
            held.append(first <= exact <= last)
        self.regions.append(float(np.mean(held)))


def _cells(found: Any, points: Reals) -> Reals:
    """The true counts of a map's cells."""
    from dither.science.maps.counting import held
    from dither.science.maps.reading import Points

    places = held(Points(points[:, 0], points[:, 1], None), found.place, 1)
    return np.asarray(found.partition.counts(*places), np.float64)


def _populations() -> dict[str, tuple[Reals, dict[str, Any]]]:
    random = np.random.default_rng(5)
    many = clustered(5000, 9)
    one = np.array([[0.31, 0.62]])
    owners = np.arange(2000)
    herds = np.repeat(np.arange(40), 5)
    return {
        "clustered": (many, {}),
        "no points": (np.empty((0, 2)), {}),
        "one point": (one, {}),
        "all points in one cell": (np.repeat(one, 5000, axis=0), {}),
        "three points of each owner": (
            many[: len(many) // 3 * 3],
            {"owner": np.arange(len(many) // 3 * 3) // 3, "rows": 3},
        ),
        "an owner with 1,000 points among 2,000": (
            np.concatenate([np.repeat(one, 1000, axis=0), random.random((2000, 2))]),
            {"owner": np.append(np.full(1000, -7), owners), "rows": 1000},
        ),
        "more points of an owner than cells": (
            random.random((200, 2)),
            {"owner": herds, "rows": 5, "cells": 4},
        ),
    }


def coverage(maps_each: int = 400) -> Iterator[tuple[str, Covered]]:
    asked = [*rectangles(8, 6), BOX]
    costs: tuple[dict[str, Any], ...] = (
        {"epsilon": 1.0},
        {"epsilon": 0.1},
        {"rho": 0.05},
    )
    for name, (points, more) in _populations().items():
        for cost in costs:
            for method in ("adaptive", "uniform"):
                seen = Covered()
                for _ in range(maps_each):
                    found = maps.heatmap(
                        points, bounds=BOX, crs=None, method=method, **cost, **more
                    )
                    seen.add(found, points, asked)
                stated = ", ".join(f"{key} = {value:g}" for key, value in cost.items())
                yield f"{name}, {stated}, {method}", seen


def coverage_rows(seen: dict[str, Covered]) -> Iterator[Row]:
    for case, one in seen.items():
        for what, shares in (("cells", one.cells), ("rectangles", one.regions)):
            value = round(float(np.mean(shares)), 4)
            yield Row(
                case, ADAPTIVE.partition(",")[0], f"{what}: intervals hold", value
            )


def coverage_goals(seen: dict[str, Covered]) -> Iterator[Goal]:
    """At least 95 % in each case, up to four standard errors."""
    for what in ("cells", "regions"):
        worst, where, met = 1.0, "", True
        for case, one in seen.items():
            shares = np.array(getattr(one, what))
            error = float(shares.std(ddof=1)) / math.sqrt(shares.size)
            met = met and float(shares.mean()) + 4 * error >= 0.95
            if shares.mean() < worst:
                worst, where = float(shares.mean()), case
        name = f"{what}: intervals hold the truth, worst case ({where})"
        yield Goal(name, "0.95 less four standard errors", round(worst, 4), met)


def speed() -> Iterator[Row]:
    points = np.random.default_rng(7).random((10_000_000, 2))
    x, y = (np.ascontiguousarray(one) for one in points.T)
    random = np.random.default_rng(8)

    def textbook() -> None:
        counts = np.histogram2d(x, y, bins=1000, range=((0, 1), (0, 1)))[0]
        counts += random.laplace(0, 1, counts.shape)

    def dither() -> None:
        maps.heatmap(
            (x, y),
            bounds=BOX,
            crs=None,
            epsilon=1,
            method="uniform",
            cells=(1000, 1000),
        )

    def divided() -> None:
        maps.heatmap((x, y), bounds=BOX, crs=None, epsilon=1)

    case = "1e7 points, 1e6 cells"
    for _ in range(2):  # the first run finds memory that was never touched
        used = [cpu_seconds(call) for call in (dither, textbook, divided)]
    for system, value in zip((UNIFORM, "numpy, floats", ADAPTIVE), used, strict=True):
        yield Row(case, system, "CPU seconds", round(value, 3))


def accuracy_goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.case, row.system): row.value for row in rows}
    for name, n, epsilon in CASES[:4]:
        case = f"{name}, {n:,} points, ε = {epsilon:g}"
        mine, other = found[case, ADAPTIVE], found[case, GUIDELINE]
        assert mine is not None
        assert other is not None
        want = 0.7 if epsilon == 1 else 1.0
        goal = f"{case}: error of the adaptive map over that of a uniform grid"
        yield at_most(goal, want, round(mine / other, 3))


def speed_goals(rows: list[Row]) -> Iterator[Goal]:
    found = {row.system: row.value for row in rows}
    yield at_most("1e7 points to 1e6 noisy cells, CPU seconds", 3.0, found[UNIFORM])
    mine, other = found[UNIFORM], found["numpy, floats"]
    assert mine is not None
    assert other is not None
    yield at_least(
        "times as fast as numpy with float noise", 1.0, round(other / mine, 2)
    )


def run() -> Report:
    fast = list(speed())
    exact = list(accuracy())
    notes: tuple[str, ...] = NOTES
    try:
        exact += peer()
    except (InstallError, RuntimeError) as error:
        notes = (*notes, f"diffprivlib was not measured: {error}")
    seen = dict(coverage())
    divided = list(tree_rows())
    rows = (*exact, *coverage_rows(seen), *fast, *divided)
    goals = (
        *accuracy_goals(exact),
        *coverage_goals(seen),
        *speed_goals(fast),
        *tree_goals(divided),
    )
    return Report(rows, goals, notes, versions("dither", "numpy", "shapely"))
