"""Units of a dataset are told apart by every field as the dataset does: "7" and "007"
are two people, and neither decides what counts of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import Budget, PureDP, Unit
from dither.question import Question
from dither.science.census.bins import bins_of
from dither.science.census.values import Values
from dither.science.genomes.clusters import Roster
from dither.science.genomes.panel import Panel
from dither.science.genomes.stored import Stored
from dither.science.maps.reading import source_of as points_of
from dither.science.owners import StoredIds, codes_of
from dither.science.synth import Domain
from dither.science.synth.keeping import kept
from dither.science.synth.reading import source_of
from dither.science.trials.stored import People
from tests.query.engines.postgres.test_engine import made

IDS = ["7", "007", " 7", "+7", "7.0"]
ROWS = [(name, place) for place, name in enumerate(IDS)]
DOMAIN = Domain({"x": [0, 1, 2, 3, 4]})


def by_duckdb() -> dict[str, Any]:
    return {"source": pd.DataFrame(ROWS, columns=["who", "x"])}


def by_postgres() -> dict[str, Any]:
    lines = ", ".join(f"('{name}', {place})" for name, place in ROWS)
    table = "CREATE TABLE people (who text, x integer)"
    source = made(table, f"INSERT INTO people VALUES {lines}")
    return {"source": source, "table": "people"}


@pytest.fixture(
    params=[
        by_duckdb,
        pytest.param(by_postgres, marks=pytest.mark.engine("postgres")),
    ]
)
def people(request: pytest.FixtureRequest) -> Iterator[Any]:
    stored = request.param()
    with dither.open(
        stored.pop("source"),
        unit="who",
        name="people",
        bounds={"x": (-1, 5)},
        rows=1,
        budget=Budget(9.0, unit=Unit("who")),
        **stored,
    ) as dataset:
        yield dataset


def paid(dataset: Any) -> Any:
    return dataset.account.charge(PureDP(0.1, unit=dataset.unit))


def test_all_units_count(people: Any) -> None:
    codes = source_of(people, DOMAIN).read(paid(people))
    assert sorted(codes[:, 0].tolist()) == [0, 1, 2, 3, 4]
    points = points_of(people, None, x="x", y="x").read(paid(people))
    assert len(set(codes_of(points.owners).tolist())) == len(IDS)
    values = Values.of(people, "x", None)
    counts = values.counts(bins_of(None, range(5)), 1, paid(people))
    assert counts.tolist() == [1] * 5


def test_all_units_are_people_of_a_trial(people: Any) -> None:
    trial = People(people, ("x",), None, "one")
    with Question.of("test", {"epsilon": 0.1}, dataset=people).paying() as paid_for:
        found = trial.column("x").read(paid_for)
    assert sorted(found.tolist()) == [0, 1, 2, 3, 4]


def test_a_roster_names_one_of_them(people: Any) -> None:
    """Who counts as "007" is the same, whoever else is there."""
    for name, place in ROWS[:3]:
        roster = Roster.of(None, [name])
        found = Stored(people, paid(people)).count(Panel.of(["x"]), roster)
        copies = [found.none, found.one, found.two]
        assert [int(one[0, 0]) for one in copies] == [place == at for at in range(3)]


def test_what_others_keep_does_not_depend_on_a_unit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dither.science.synth.keeping.secret_bytes", bytes)
    codes = np.arange(6, dtype=np.int32)[:, None]
    owners = np.array(["7", "007", "7", "007", b"7", b"7"], object)
    everything = kept(codes, np.arange(6), StoredIds(owners), 1, (6,))
    for one in ("7", "007", b"7"):
        others = np.flatnonzero([owner != one for owner in owners])
        held = StoredIds(owners[others])
        left = kept(codes[others], np.arange(4), held, 1, (6,))
        assert set(left[:, 0]) < set(everything[:, 0])
        assert len(everything) == len(left) + 1 == 3
