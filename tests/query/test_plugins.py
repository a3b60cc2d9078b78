"""Parts that other packages bring: one tiny engine and one tiny mechanism, found by
their entry points.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

import dither
from dither.errors import ArgumentError
from dither.mechanisms import Laplace
from dither.query import plugins
from dither.query.engines.duckdb.engine import DuckDBEngine


@dataclass(frozen=True, kw_only=True)
class Careful(Laplace):
    """Laplace noise of twice the scale: a mechanism that a package could bring.

    Guarantee: epsilon-differential privacy, pure (in fact half of it).
    Why: it is Laplace noise for half of epsilon.
    Assumes: what Laplace assumes.
    """

    @property
    def scale(self) -> float:
        return 2 * super().scale


OPENED: list[str] = []


def counting_engine(catalogue: Any, sources: Any) -> DuckDBEngine:
    """DuckDB again, under another name, counting how often it was opened."""
    OPENED.append(catalogue.name)
    return DuckDBEngine.of(catalogue, sources)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package with these entry points were installed."""
    found = {
        "dither.engines": [
            EntryPoint("counting", f"{__name__}:counting_engine", "dither.engines")
        ],
        "dither.mechanisms": [
            EntryPoint("careful", f"{__name__}:Careful", "dither.mechanisms")
        ],
    }
    loaded = {"counting": counting_engine, "careful": Careful}
    monkeypatch.setattr(EntryPoint, "load", lambda point: loaded[point.name])
    monkeypatch.setattr(plugins, "entry_points", lambda group: found[group])


def database(**how: Any) -> dither.Dataset:
    import pandas as pd

    frame = pd.DataFrame({"age": [30, 40, 50]})
    return dither.open(
        frame, unit="row", bounds={"age": (0, 110)}, budget=2.0, name="people", **how
    )


def test_an_engine_by_its_name() -> None:
    OPENED.clear()
    assert (
        len(
            database(engine="counting").sql(
                "SELECT COUNT(*) AS n FROM people", epsilon=1.0
            )
        )
        == 1
    )
    assert OPENED == ["people"]


def test_a_mechanism_by_its_name() -> None:
    plain = database().sql("SELECT COUNT(*) AS n FROM people", epsilon=1.0)
    careful = database().sql(
        "SELECT COUNT(*) AS n FROM people", epsilon=1.0, mechanism="careful"
    )
    assert careful.guarantee == plain.guarantee
    low, high = plain.interval(of="noise")
    wider_low, wider_high = careful.interval(of="noise")
    assert wider_high - wider_low > 1.5 * (high - low)


def test_a_name_that_nobody_brings() -> None:
    with pytest.raises(
        ArgumentError,
        match="there is no engine 'oracle'; use one of 'counting', 'duckdb'",
    ):
        database(engine="oracle")
    with pytest.raises(
        ArgumentError,
        match="there is no mechanism 'magic'; use one of 'careful', 'geometric', 'laplace'",
    ):
        database().sql("SELECT COUNT(*) FROM people", epsilon=1.0, mechanism="magic")
