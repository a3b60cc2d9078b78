"""A census counts the same people inside every engine as in memory, whatever their
labels look like.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither.science import census
from dither.science.census.attributes import attributes_of
from dither.science.census.reading import source_of
from tests.conformance.asking import in_turn

TEXTS = ["01", "1", " 1 ", "1.0", "1.", "1e0", "+1", ".1e1", "\t1", "1\n", "001", "2"]
TEXTS += ["1_0", "0x1", "0b1", "1 2", "1.5", "-0", "nan", "inf", "-infinity", "", " "]
TEXTS += ["a", "A", "a ", "é", "true", "TRUE", " True ", "\ttrue", "false", "1\xa0"]
TEXTS += ["\xa0true", "\u2003false", "0E1", "1E2", "4503599627370496.5", "+0.9e-400"]
TEXTS += ["0" * 150 + "1", "0" * 300 + "1", "1" + "0" * 20, "x" * 300, "１", "'", '"']
LABELS = [1, 0, 10, "0E1", "a", "é", "'", '"', "2"]
LEVELS = ["state", "block"]
CROSS = {
    "sex": ["f", "m"],
    "age": census.edges([0, 18, 65.5, 110]),
    "adult": [True, False],
    "code": [1, 2, 9007199254740991],
}
WRITTEN = {"written": census.edges([0, 1, 1.5, 11])}
"""Numbers in a column of texts."""


def people() -> pd.DataFrame:
    """Every text as a state and as a block, and other columns of all kinds."""
    pairs = [(state, block) for state in [*TEXTS, None] for block in [*TEXTS, None]]
    count = len(pairs)
    ages = [0.0, 17.5, 18.0, 65.5, 110.0, 111.0, -1.0, None]
    codes = [1, 2, 3, 9007199254740991, -1]
    return pd.DataFrame(
        {
            "id": [f"p{i % (count - 99)}" for i in range(count)],
            "state": [state for state, _ in pairs],
            "block": [block for _, block in pairs],
            "sex": [("f", "m", "F", None)[i % 4] for i in range(count)],
            "age": [ages[i % 7] for i in range(count)],
            "adult": [i % 3 == 0 for i in range(count)],
            "code": [codes[i % 5] for i in range(count)],
            "written": [TEXTS[i % len(TEXTS)] for i in range(count)],
        }
    )


def of_duckdb(frame: pd.DataFrame, **about: Any) -> dither.Dataset:
    return dither.open(frame, name="people", **about)


def of_postgres(frame: pd.DataFrame, **about: Any) -> dither.Dataset:
    import psycopg

    from tests.conformance.postgres_asking import server

    address = server().database()
    columns = "id text, state text, block text, sex text, age float8, "
    columns += "adult bool, code bigint, written text"
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE people ({columns})".encode())
        with connection.cursor().copy(b"COPY people FROM STDIN") as copy:
            for row in frame.astype(object).where(frame.notna(), None).to_numpy():
                copy.write_row(row.tolist())
    return dither.open(address, table="people", ledger=":memory:", **about)


def of_spark(frame: pd.DataFrame, **about: Any) -> dither.Dataset:
    from tests.conformance.spark_asking import session

    schema = "id string, state string, block string, sex string, age double, "
    schema += "adult boolean, code bigint, written string"
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    made = session().createDataFrame(rows, schema)
    return dither.open(made, name="people", ledger=":memory:", **about)


MAKERS = {"duckdb": of_duckdb, "postgres": of_postgres, "spark": of_spark}


@pytest.fixture(scope="module", params=in_turn(["duckdb", "postgres", "spark"]))
def engine(request: pytest.FixtureRequest) -> Any:
    frame = people()
    about: dict[str, Any] = {"budget": (9.0, 1e-6)}
    return frame, lambda unit: MAKERS[request.param](frame, unit=unit, **about)


@pytest.mark.parametrize("exact", [None, 0])
@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize(
    "declared", [CROSS, WRITTEN, None], ids=["crossed", "written", "alone"]
)
def test_every_engine_counts_as_memory_does(
    engine: Any, owned: bool, exact: int | None, declared: Any
) -> None:
    frame, opened = engine
    keys = census.geography(
        [(state, block) for state in LABELS for block in LABELS],
        levels=LEVELS,
        full=False,
    )
    cross = attributes_of(declared)
    held = source_of(frame, keys, cross, owner="id" if owned else None)
    with opened("id" if owned else "row") as dataset:
        receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
        paid: Any = SimpleNamespace(receipt=receipt)
        # Nobody has more rows than that, so nothing is chosen at random.
        expected = held.counted(paid, 9, exact)
        found = source_of(dataset, keys, cross).counted(paid, 9, exact)
    assert expected.leaves.sum() > 50
    assert np.array_equal(found.leaves, expected.leaves)
    if exact is not None:
        assert expected.totals is not None
        assert found.totals is not None
        assert found.totals.tolist() == expected.totals.tolist()


def test_a_census_of_every_engine(engine: Any) -> None:
    """Released from the engine under its account; the exact totals are right."""
    frame, opened = engine
    unit = census.unit("row", ["state"])
    keys = census.geography([(1, 1), (1, "a"), ("a", "a")], levels=LEVELS, full=False)
    with opened(unit) as dataset:
        found = census.release(dataset, keys=keys, invariants=["state"], rho=0.2)
        assert dataset.account.charges == 1
    assert found.invariants["state"]["a",] == int((frame["state"] == "a").sum())
    assert found.guarantee.unit == unit
