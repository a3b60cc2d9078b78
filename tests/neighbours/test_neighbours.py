"""Private SQL on neighbouring databases: exact integers move by no more than the plan
says, and nothing else moves.
"""

from __future__ import annotations

import math
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from random import Random  # allowed: it chooses test data, and its seeds are fixed

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dither.ledger import Ledger
from dither.mechanisms.additive import Gaussian, Laplace
from dither.query.open import dataset_of
from tests.conformance.asking import in_turn
from tests.neighbours.neighbour_checks import Asking, campaign, explore
from tests.neighbours.neighbour_engines import PLACES
from tests.neighbours.neighbour_place import IDS, NUMBERED, ROWS
from tests.neighbours.neighbour_questions import (
    CLINIC,
    CONDITIONS,
    NUMBERS,
    SURVEY,
    question,
)
from tests.neighbours.neighbours import world

PROCESSES = 2
QUESTIONS = 3
WORLDS = {"duckdb": (30, 9), "postgres": (10, 9), "spark": (1, 2)}
"""How many worlds each engine is asked about, and how many versions of the unit each of
them has. With 9 of them and none, 45 pairs of neighbours are compared for each
question. `bench conformance --neighbours` asks Spark about more."""
SPARK_STEP = 3
"""Spark, which takes a second for each, is asked about one expression of so many here:
their answers are compared in tests/conformance.
"""


not_on_spark = pytest.mark.only_on("duckdb", "postgres")
on_all_engines = pytest.mark.parametrize(
    "engine", in_turn(PLACES, ["duckdb"]), indirect=True
)
"""Of the others in the full run only: they take long."""


@pytest.fixture(scope="module", params=in_turn(PLACES))
def engine(request):
    """Each engine in turn."""
    return request.param


@pytest.fixture(scope="module")
def places(engine):
    made = [PLACES[engine](catalogue) for catalogue in (IDS, NUMBERED, ROWS)]
    yield made
    for place in made:
        place.close()


QUICK = {"max_examples": 4, "deadline": None, "derandomize": True, "database": None}
UNSHRUNK = {
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}
"""An example takes a second, so making a failing one smaller would take many minutes;
its question is shown.
"""


@not_on_spark  # of which the same is asked in `test_many_neighbours`
@settings(**QUICK, **UNSHRUNK)
@given(random=st.randoms(use_true_random=False), which=st.integers(0, 2))
def test_one_unit_moves_what_the_plan_says(places, random, which):
    explore(random, places[which], questions=2, versions=3)


@on_all_engines
@not_on_spark
@pytest.mark.parametrize("worlds", [1, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "which", [0, 1, 2], ids=["text ids", "numbers as ids", "rows as units"]
)
def test_every_relation(places, which, worlds):
    """Each kind of FROM clause; the many conditions of WHERE are asked together
    elsewhere. In the quick run every other one with numbers as ids, and those between
    with texts.
    """
    place, random = places[which], Random(10 * worlds + which)
    sources = [
        one
        for one in (SURVEY if place.catalogue is ROWS else CLINIC)
        if not one.name.startswith("filter")
    ]
    if worlds == 1 and place.catalogue is not ROWS:
        sources = sources[0 if place.catalogue is NUMBERED else 1 :: 2]
    plain = [
        f"SELECT COUNT(*), SUM({source.numbers[0]}) FROM {source.sql}"
        for source in sources
    ]
    asked = [Asking.at(place, sql, random) for sql in plain]
    for _ in range(worlds):
        _compared(place, list(map(_one_radius, asked)), random, versions=3, dense=True)
    mixed = [question(random, source) for source in sources[which::3]]
    _compared(
        place, [Asking.at(place, sql, random) for sql in mixed], random, versions=2
    )


@pytest.mark.parametrize(
    "which",
    [
        pytest.param(0, id="ids"),
        pytest.param(2, id="rows as units", marks=not_on_spark),
    ],
)
def test_every_expression(places, engine, which):
    """All conditions and all numbers, each as an aggregate of its own: none raises,
    each is bounded.
    """
    place, random = places[which], Random(7)
    step = SPARK_STEP if engine == "spark" else 1
    counts = [
        f"COUNT(*) FILTER (WHERE {condition})" for condition in CONDITIONS[::step]
    ]
    sums = [
        f"SUM({number}), {'AVG' if n % 2 else 'MEDIAN'}({number})"
        for n, number in enumerate(NUMBERS[::step])
    ]
    chunks = [
        items[start : start + 12]
        for items in (counts, sums)
        for start in range(0, len(items), 12)
    ]
    asked = [
        Asking.at(place, f"SELECT {', '.join(items)} FROM visits", random)
        for items in chunks
    ]
    _compared(
        place,
        list(map(_one_radius, asked)) if engine == "spark" else asked,
        random,
        versions=1,
    )


def _one_radius(asked):
    return replace(asked, radii={m: sizes[:1] for m, sizes in asked.radii.items()})


def _compared(place, asked, random, versions, *, dense=False):
    """How many pairs of databases were compared."""
    scene = world(random, place.catalogue, versions, dense=dense)
    place.hold(scene.others)
    found = [[] for _ in asked]
    for rows in ({}, *scene.versions):
        place.version(rows)
        for one, results in zip(asked, found, strict=True):
            results.append(one.collected(place, results[0] if results else None))
    return sum(one.check(results) for one, results in zip(asked, found, strict=True))


def no_noise(_self, _scale, size):
    return 0 if size is None else np.zeros(size, np.int64)


@on_all_engines
@pytest.mark.parametrize(
    "seed",
    [
        0,
        *(pytest.param(n, marks=not_on_spark) for n in range(1, 4)),
        *(pytest.param(n, marks=[not_on_spark, pytest.mark.full]) for n in range(4, 8)),
    ],
)
def test_nothing_else_can_be_observed(places, monkeypatch, seed):
    """Success, columns, public keys, their order, cost and notes are the same with and
    without a unit (rule R1).
    """
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "_draw", no_noise)
    random = Random(seed)
    place = places[seed % 3]
    sources = SURVEY if place.catalogue is ROWS else CLINIC
    asked = [question(random, random.choice(sources)) for _ in range(3)]
    scene = world(random, place.catalogue, 2)
    place.hold({})
    seen = [[_observed(place, sql)] for sql in asked]
    place.hold(scene.others)
    for rows in ({}, *scene.versions):
        place.version(rows)
        for sql, before in zip(asked, seen, strict=True):
            before.append(_observed(place, sql))
    for sql, observed in zip(asked, seen, strict=True):
        assert all(one == observed[0] for one in observed), sql


def _observed(place, sql):
    """What an analyst sees of an answer besides what is noisy; private keys are."""
    account = Ledger.open(":memory:").account(
        "test", epsilon=100.0, delta=1e-6, unit=place.catalogue.unit
    )
    release = dataset_of(place.catalogue, place.engine, account).sql(sql, epsilon=1.0)
    private = any("keys are private" in note for note in release.notes)
    names = [release.is_key(column) for column in range(len(release.columns))]
    keys = [
        tuple(value for value, key in zip(row, names, strict=True) if key)
        for row in release.rows
    ]
    notes = [
        re.sub(r"[\d.,e+-]+|\(chosen privately.*", "#", note) for note in release.notes
    ]
    assert str(release)
    return (
        release.columns,
        None if private else keys,
        str(release.guarantee),
        account.spent,
        notes,
    )


@pytest.mark.full
@pytest.mark.parametrize("engine", in_turn(PLACES))
def test_many_neighbours(engine):
    """A pair is two neighbouring databases and one question."""
    worlds, versions = WORLDS[engine]
    asked = partial(campaign, engine=engine, questions=QUESTIONS, versions=versions)
    assert _spread(asked, worlds, engine) == worlds * QUESTIONS * math.comb(
        versions + 1, 2
    )


def _spread(asked, worlds, engine):
    """Half of the worlds in each process; but Spark has threads of its own, and a
    session of its own here.
    """
    if engine == "spark":
        return asked(range(worlds))
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        return sum(
            pool.map(
                asked, [range(part, worlds, PROCESSES) for part in range(PROCESSES)]
            )
        )
