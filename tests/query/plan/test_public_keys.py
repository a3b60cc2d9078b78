"""Keys from a public table: which are public by the declared keys that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import dither

CATALOGUE = """
name = "air"
unit = "row"

[budget]
epsilon = 100.0

[tables.flights]
source = "flights.parquet"

[tables.flights.columns]
carrier = { type = "text", keys = ["AA", "UA", "DL"] }
tail = "text"
n = { type = "integer", low = 0, high = 9 }

[tables.airlines]
source = "airlines.parquet"
public = true

[tables.airlines.columns]
code = "text"
name = "text"
land = "text"
n = "integer"

[tables.lands]
source = "lands.parquet"
public = true

[tables.lands.columns]
land = "text"
continent = "text"
"""
FLIGHTS = pd.DataFrame(
    {"carrier": ["AA", "UA", "ZZ", None], "tail": ["a", "b", "c", "d"], "n": 1}
)
AIRLINES = pd.DataFrame(
    {
        "code": ["AA", "UA", "DL", "DL", "ZZ", None],
        "name": ["American", "United", "Delta", None, "Other", "None"],
        "land": ["US", "US", "US", "US", "AU", "FR"],
        "n": [1, 2, 3, 4, 5, 6],
    }
)
LANDS = pd.DataFrame({"land": ["US", "AU"], "continent": ["America", "Oceania"]})
JOINED = "flights f JOIN airlines a ON f.carrier = a.code"


@pytest.fixture(scope="module")
def air(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dither.Dataset]:
    folder: Path = tmp_path_factory.mktemp("air")
    for name, frame in (
        ("flights", FLIGHTS),
        ("airlines", AIRLINES),
        ("lands", LANDS),
    ):
        frame.to_parquet(folder / f"{name}.parquet")
    (folder / "air.toml").write_text(CATALOGUE, encoding="utf-8")
    with dither.open(folder / "air.toml", ledger=":memory:") as found:
        yield found


PUBLIC = {
    f"SELECT a.name, COUNT(*) FROM {JOINED} GROUP BY a.name": [
        ("American", "Delta", "United")
    ],
    "SELECT name, COUNT(*) FROM flights f LEFT JOIN airlines a ON f.carrier = a.code GROUP BY 1": [
        ("American", "Delta", "United")
    ],
    "SELECT name, COUNT(*) FROM flights, airlines WHERE carrier = code GROUP BY name": [
        ("American", "Delta", "United")
    ],
    f"SELECT UPPER(a.name) AS u, a.land, COUNT(*) FROM {JOINED} GROUP BY u, a.land": [
        ("AMERICAN", "DELTA", "UNITED"),
        ("US",),
    ],
    "SELECT name, COUNT(*) FROM flights JOIN (SELECT * FROM airlines WHERE n < 3) a ON carrier = code GROUP BY 1": [
        ("American", "United")
    ],
    f"SELECT l.continent, COUNT(*) FROM {JOINED} JOIN lands l USING (land) GROUP BY 1": [
        ("America",)
    ],
    "SELECT name, COUNT(*) FROM (SELECT name FROM flights JOIN airlines ON carrier = code) t GROUP BY name": [
        ("American", "Delta", "United")
    ],
    "SELECT a.code, COUNT(*) FROM flights f JOIN airlines a ON f.n = a.n GROUP BY 1": [
        ("AA", "DL", "UA", "ZZ")
    ],
}


@pytest.mark.parametrize("sql", PUBLIC)
def test_values_beside_declared_keys_are_public_keys(
    air: dither.Dataset, sql: str
) -> None:
    """NULL is not a key, and neither is what stands beside an undeclared key."""
    plan = air.plan(sql, epsilon=1.0)
    assert [key.values for key in plan.question.keys] == PUBLIC[sql]
    assert plan.keys is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.name, COUNT(*) FROM flights f JOIN airlines a ON f.tail = a.code GROUP BY a.name",
        "SELECT a.name, COUNT(*) FROM flights f CROSS JOIN airlines a GROUP BY a.name",
        f"SELECT f.tail, COUNT(*) FROM {JOINED} GROUP BY f.tail",
        f"SELECT f.tail || a.name AS both, COUNT(*) FROM {JOINED} GROUP BY both",
        "SELECT a.name, COUNT(*) FROM flights f JOIN airlines a ON f.carrier < a.code GROUP BY a.name",
    ],
)
def test_other_keys_stay_private(air: dither.Dataset, sql: str) -> None:
    with pytest.raises(dither.ArgumentError, match="not declared"):
        air.plan(sql, epsilon=1.0)


def test_all_of_them_are_answered_whether_or_not_a_row_has_them(
    air: dither.Dataset,
) -> None:
    found = air.sql(
        f"SELECT a.name, COUNT(*) FROM {JOINED} GROUP BY a.name", epsilon=9.0
    )
    assert [row[0] for row in found.rows] == ["American", "Delta", "United"]
    explained = air.explain_plan(f"SELECT a.name, COUNT(*) FROM {JOINED} GROUP BY 1")
    assert "3 public ('American', 'Delta', 'United')" in explained
