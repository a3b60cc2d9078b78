"""How often printed intervals hold the true answer, how wide they are, and how far off
the answers are.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.redraw import Drawn, redrawn
from dither.dataset import Dataset
from dither.ledger import Ledger
from dither.privacy import Unit, gaussian_mu
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.open import dataset_of

DRAWS = 200
LARGE_DRAWS = 100
AGAIN = 20
DELTA = 1e-7
EPSILONS = (0.1, 1.0, 3.0)
KEYS = ("A", "B", "C", "D", "E", "F")
NOTES = (
    "For each shape of data and each aggregate, noise is drawn anew "
    "over integers that are collected once for each "
    "radius; the truth is what DuckDB answers to the same SQL. A cell is one shape, "
    "aggregate, noise, ε and cap, over all its groups.",
    "An interval that is open to a side is reported as open and "
    "counts in no width. 'radius = cap' is the same "
    "question with the same noise and cost, every unit counting in full.",
    "Grouped questions are asked with Laplace noise and with "
    "Gaussian noise of the same ε at δ = 1e-7.",
)


@dataclass(frozen=True)
class Shape:
    """A table with rows of units, made by SQL over u (a unit's number) and i (the
    number of a row of it).
    """

    name: str
    units: int
    rows: str
    cap: int
    heavy: bool = False
    draws: int = DRAWS
    aggregates: tuple[str, ...] | None = None

    @property
    def make(self) -> str:
        drawn = "(hash(u * 1000003 + i * 7919 + {}) / 18446744073709551615.0)"
        x, y, key, tag = (drawn.format(seed) for seed in (1, 2, 3, 4))
        owner = "(hash(u + 17) / 18446744073709551615.0)"
        return (
            "CREATE TABLE t AS SELECT u, 'ABCDEF'[1 + CAST(floor(5.999 * "
            f"pow({key}, 1.5)) AS INTEGER)] AS g, "
            f"CAST(floor(100 * {x}) AS INTEGER) AS x, CAST(floor(50 * {x} + "
            f"50 * {y}) AS INTEGER) AS y, "
            f"CAST(floor(100 * ({owner} * 0.7 + 0.3 * {y})) AS INTEGER) - 50 AS s, "
            f"CAST(floor(400 * {tag} * {tag}) AS INTEGER) AS tag, "
            f"CASE WHEN {y} < 0.502 THEN 0 ELSE 3000 + CAST(floor(7000 * {x}) "
            "AS INTEGER) END AS c "
            f"FROM (SELECT range AS u, unnest(range(CAST({self.rows} AS "
            f"BIGINT))) AS i FROM range({self.units}))"
        )


PART = "(hash(range) / 18446744073709551615.0)"
PARETO = "least({cap}, floor({low} / pow(1 - 0.9999999 * " + PART + ", {power})))"
SHAPES = (
    Shape("light", 5_000, f"1 + floor(3 * {PART})", 4),
    Shape("heavy", 5_000, PARETO.format(cap=500, low=2, power=0.8), 500, heavy=True),
    Shape(
        "one giant",
        2_000,
        f"CASE WHEN range = 7 THEN 2000 ELSE 1 + floor(5 * {PART}) END",
        2_000,
        heavy=True,
    ),
    Shape("few units", 40, "5", 10),
    Shape(
        "clinic-like",
        25_000,
        f"least(90, 1 + floor(-4 * ln(1 - 0.999999 * {PART})))",
        90,
    ),
    Shape(
        "1 M rows",
        60_000,
        PARETO.format(cap=2_000, low=5, power=0.6),
        2_000,
        heavy=True,
        draws=LARGE_DRAWS,
    ),
)
LARGE = Shape(
    "10 M rows",
    600_000,
    PARETO.format(cap=2_000, low=5, power=0.6),
    2_000,
    heavy=True,
    draws=LARGE_DRAWS,
    aggregates=("count", "sum", "mean", "units"),
)
AGGREGATES = {
    "count": "COUNT(*)",
    "sum": "SUM(x)",
    "signed sum": "SUM(s)",
    "mean": "AVG(x)",
    "variance": "VAR_POP(x)",
    "correlation": "CORR(x, y)",
    "median": "MEDIAN(x)",
    "median beside a gap": "MEDIAN(c)",
    "maximum": "MAX(x)",
    "units": "COUNT(DISTINCT u)",
    "different": "COUNT(DISTINCT tag)",
}
LIMITS = {"mean": 60, "variance": 1500, "correlation": 1.2, "median": 60, "maximum": 60}
LIMITS["median beside a gap"] = 2000
"""Widths from which on an interval hardly tells more than the bounds of the values do.
"""
UNCUT = 3.5
"""A symmetric 95 % interval is 3.92 deviations wide; one that was cut at zero, because
noise is all there is, less.
"""
NOISES = ("alone", "Laplace", "Gaussian")
"""Ungrouped (with the noise that the plan prefers), and grouped with either noise."""


@dataclass(frozen=True)
class Cell:
    """One question: what it is about, and what was seen."""

    shape: Shape
    aggregate: str
    noise: str
    epsilon: float
    cap: bool
    drawn: Drawn
    beside: Drawn | None = None

    @property
    def name(self) -> str:
        return (
            f"{self.shape.name}, {self.aggregate}, {self.noise}, ε = {self.epsilon:g}"
        )

    @property
    def system(self) -> str:
        return "dither, rows declared" if self.cap else "dither, no rows declared"

    @property
    def covered(self) -> float:
        return float(np.nanmean(self.drawn.covered))

    @property
    def least(self) -> float:
        """95 %, less four standard errors."""
        draws = self.shape.draws * self.drawn.covered.shape[0]
        return 0.95 - 4 * math.sqrt(0.95 * 0.05 / draws)

    @property
    def open(self) -> float:
        return float(np.nanmean(self.drawn.open))

    @property
    def wider(self) -> float:
        """How much wider the intervals are than with radius = cap."""
        return (
            math.nan
            if self.beside is None
            else _ratio(self.drawn.width, self.beside.width)
        )

    @property
    def told(self) -> bool:
        """Whether an interval with radius = cap tells anything: noise soon fills the
        limits of some figures.
        """
        if self.beside is None:
            return False
        width, most = (
            float(np.nanmean(self.beside.width)),
            LIMITS.get(self.aggregate, math.inf),
        )
        return width < most and (
            self.aggregate in LIMITS
            or width > UNCUT * float(np.nanmean(self.beside.rmse))
        )

    @property
    def farther(self) -> float:
        """How much larger the error is than with radius = cap."""
        return (
            math.nan
            if self.beside is None
            else _ratio(self.drawn.rmse, self.beside.rmse)
        )


def _ratio(mine: Any, other: Any) -> float:
    both = np.isfinite(mine) & np.isfinite(other) & (other > 0)
    return float(np.mean(mine[both]) / np.mean(other[both])) if both.any() else math.nan


def opened(
    shape: Shape, cap: bool
) -> Iterator[tuple[Dataset, duckdb.DuckDBPyConnection]]:
    """The shape's table under an account without an end, and as it is."""
    stored = duckdb.connect()
    stored.execute(shape.make)
    fields = (
        Field("u", Type.INTEGER),
        Field("g", Type.TEXT, ANY, KEYS),
        Field("x", Type.INTEGER, Range(0, 100)),
        Field("y", Type.INTEGER, Range(0, 100)),
        Field("s", Type.INTEGER, Range(-50, 50)),
        Field("tag", Type.INTEGER, Range(0, 400)),
        Field("c", Type.INTEGER, Range(0, 10_000)),
    )
    declared = Catalogue(
        "shapes",
        (Table("t", fields, owner="u", rows=shape.cap if cap else None),),
        unit=Unit("u"),
    )
    account = Ledger.open(":memory:").account(
        "shapes", epsilon=100.0, delta=DELTA, unit=declared.unit
    )
    database = dataset_of(
        declared, DuckDBEngine.of(declared, {"t": (stored, "t")}), account
    )
    yield database, stored
    database.close()


def cost(noise: str, epsilon: float) -> dict[str, float]:
    if noise == "Gaussian":
        return {"rho": gaussian_mu(epsilon, DELTA) ** 2 / 2}
    return {"epsilon": epsilon}


def question(aggregate: str, noise: str) -> str:
    figure = f"{AGGREGATES[aggregate]} AS a"
    return (
        f"SELECT {figure} FROM t"
        if noise == "alone"
        else f"SELECT g, {figure} FROM t GROUP BY g"
    )


def full(aggregate: str, cap: int) -> dict[str, float]:
    """The radius that is the cap, as it is stated."""
    if aggregate in ("units", "different"):
        return {}
    return {"radius": cap * {"sum": 100, "signed sum": 50}.get(aggregate, 1)}


def cells(
    shape: Shape,
    epsilons: tuple[float, ...] = EPSILONS,
    noises: tuple[str, ...] = NOISES,
) -> Iterator[Cell]:
    for cap in (True, False):
        for database, stored in opened(shape, cap):
            for aggregate in shape.aggregates or AGGREGATES:
                for noise in noises:
                    for epsilon in epsilons:
                        yield cell(
                            database, stored, shape, aggregate, noise, epsilon, cap
                        )


def cell(
    database: Dataset,
    stored: duckdb.DuckDBPyConnection,
    shape: Shape,
    aggregate: str,
    noise: str,
    epsilon: float,
    cap: bool,
) -> Cell:
    sql, paid = question(aggregate, noise), cost(noise, epsilon)
    found = Cell(
        shape,
        aggregate,
        noise,
        epsilon,
        cap,
        last(_drawn(database, stored, sql, shape.draws, paid)),
    )
    # Of a thousand cells some miss by chance: drawn again, many times more often
    if found.covered < found.least:
        shape = replace(shape, draws=AGAIN * shape.draws)
        found = replace(
            found,
            shape=shape,
            drawn=last(_drawn(database, stored, sql, shape.draws, paid)),
        )
    chosen = cap and noise == "Gaussian" and full(aggregate, shape.cap)
    beside = (
        last(_drawn(database, stored, sql, shape.draws, paid | chosen))
        if chosen
        else None
    )
    return replace(found, beside=beside)


def _drawn(
    database: Dataset,
    stored: duckdb.DuckDBPyConnection,
    sql: str,
    draws: int,
    stated: dict[str, float],
) -> Drawn:
    with redrawn(database, sql, stored, **stated) as again:
        return again.drawn(draws)


def last(drawn: Drawn) -> Drawn:
    """The figures of the last column: the aggregate, beside the key."""
    return Drawn(
        *(
            np.asarray(figure)[:, -1:]
            for figure in (drawn.covered, drawn.open, drawn.width, drawn.rmse)
        )
    )


def run() -> Report:
    found = [one for shape in (*SHAPES, LARGE) for one in cells(shape)]
    return report(found)


def report(found: list[Cell]) -> Report:
    rows = [row for one in found for row in _rows(one)]
    return Report(
        tuple(rows), tuple(_goals(found)), NOTES, versions("dither", "duckdb", "numpy")
    )


def _rows(one: Cell) -> Iterator[Row]:
    yield Row(one.name, one.system, "covers the truth", round(one.covered, 4))
    yield Row(one.name, one.system, "open to a side", round(one.open, 4))
    if one.open < 1:
        yield Row(
            one.name,
            one.system,
            "mean width",
            _rounded(float(np.nanmean(one.drawn.width))),
        )
    yield Row(one.name, one.system, "RMSE", _rounded(float(np.nanmean(one.drawn.rmse))))
    if one.beside is not None:
        yield Row(
            one.name, one.system, "width beside radius = cap", _rounded(one.wider)
        )
        yield Row(
            one.name, one.system, "RMSE beside radius = cap", _rounded(one.farther)
        )


def _rounded(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _goals(found: list[Cell]) -> Iterator[Goal]:
    worst = min(one.covered - one.least for one in found if not math.isnan(one.covered))
    yield at_least(
        "coverage of the truth in every cell, above 95 % less 4 standard errors",
        0.0,
        worst,
    )
    closed = sum(one.open == 0 for one in found if one.cap) / max(
        sum(one.cap for one in found), 1
    )
    yield at_least("cells with declared rows whose intervals are closed", 0.9, closed)
    told = [one for one in found if one.told]
    yield at_most(
        "width beside radius = cap, the worst cell that tells anything",
        1.1,
        max(one.wider for one in told),
    )
    heavy = [one.farther for one in told if one.shape.heavy]
    yield at_most(
        "RMSE beside radius = cap on heavy-tailed shapes, the worst such cell",
        0.5,
        max(heavy),
    )
    others = [one.farther for one in told if not one.shape.heavy]
    yield at_most(
        "RMSE beside radius = cap on other shapes, the worst such cell",
        1.1,
        max(others),
    )


PEER_SHAPES = ("light", "heavy", "clinic-like")
PEER_DRAWS = 60
USUAL = 20
"""Rows of one unit that a curator might truncate to who does not know the largest
number.
"""


def peers() -> Report:
    """What another library prints around the same data: `python -m bench coverage
    --peers`.
    """
    from bench.peers import InstallError, Worker

    rows: list[Row] = []
    notes = [
        "OpenDP prints the accuracy of its noise. Units are truncated to "
        "a number of rows first, and what that leaves "
        "out is in no interval: with all rows of a unit kept it holds, "
        "with fewer it does not.",
        "Tumult Analytics and PipelineDP print no interval at all.",
    ]
    try:
        with (
            Worker("opendp-polars", "coverage_opendp") as worker,
            tempfile.TemporaryDirectory() as folder,
        ):
            for shape in SHAPES:
                if shape.name in PEER_SHAPES:
                    rows += _of_opendp(worker, shape, Path(folder, "t.parquet"))
    except InstallError as error:
        notes.append(f"OpenDP does not install here: {error}")
    return Report(tuple(rows), (), tuple(notes), versions("duckdb", "numpy"))


def _of_opendp(worker: Any, shape: Shape, path: Path) -> Iterator[Row]:
    with duckdb.connect() as stored:
        stored.execute(shape.make)
        stored.execute(f"COPY t TO '{path}' (FORMAT parquet)")
        for figure, sql in (("count", "COUNT(*)"), ("sum", "SUM(x)")):
            for grouped in (False, True):
                by = "g" if grouped else "''"
                truth = dict(
                    stored.execute(
                        f"SELECT {by}, {sql} FROM t GROUP BY {by}"
                    ).fetchall()
                )
                for rows in (USUAL, shape.cap):
                    stated = {
                        "figure": figure,
                        "grouped": grouped,
                        "rows": rows,
                        "epsilon": 1.0,
                        "delta": DELTA,
                    }
                    found = worker.ask(path=str(path), times=PEER_DRAWS, **stated)
                    held = [
                        low <= truth[key] <= high
                        for one in found
                        for key, low, high in one
                    ]
                    name = (
                        f"{shape.name}, {figure}, "
                        f"{'grouped' if grouped else 'alone'}, ε = 1"
                    )
                    yield Row(
                        name,
                        f"opendp, {rows} rows of a unit",
                        "covers the truth",
                        float(np.mean(held)),
                    )
