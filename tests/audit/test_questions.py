"""`audit.query`: questions with and without one unit."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither import audit
from dither.audit.questions import without
from dither.errors import ArgumentError, UnitMismatch
from dither.query.answer.plan import Plan

ROWS = 60
FRAME = pd.DataFrame(
    {
        "id": [f"p{n % 20}" for n in range(ROWS)] + ["one"] * 30,
        "ward": ["A", "B"] * (ROWS // 2) + ["A"] * 30,
        "age": [n % 90 for n in range(ROWS)] + [90] * 30,
        "code": [f"c{n % 3}" for n in range(ROWS)] + ["rare"] * 30,
    }
)
COUNT = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"


def opened(frame, **more):
    declared = {"unit": "id", "bounds": {"age": (0, 110)}, "keys": {"ward": ["A", "B"]}, "budget": (3.0, 1e-2)}
    return dither.open(frame, **declared | more)


def ask(sql, draws=4000, **options):
    return audit.query(
        opened, FRAME, sql, **{"unit": "one", "epsilon": 1.0, "confidence": 1 - 1e-9} | options, draws=draws
    )


@pytest.mark.parametrize(
    ("sql", "draws", "options"),
    [
        ("SELECT COUNT(DISTINCT id) AS n FROM data", 20_000, {}),
        (COUNT, 20_000, {"radius": 5}),
        (COUNT, 300, {}),
        ("SELECT SUM(age) AS s, AVG(age) AS m FROM data", 4000, {"radius": {"s": 200, "m": 3}}),
        ("SELECT MEDIAN(age) AS m FROM data", 1000, {"radius": 2}),
        ("SELECT COUNT(DISTINCT age) AS n FROM data", 4000, {"values": 2}),
        ("SELECT code, COUNT(*) AS n FROM data GROUP BY code", 500, {"radius": 5}),
        ("SELECT code, ward, MEDIAN(age) AS m, COUNT(*) AS n FROM data GROUP BY code, ward", 300, {"radius": 2}),
    ],
)
def test_questions_keep_their_promise(sql, draws, options):
    found = ask(sql, draws, **options)
    assert not found.refuted
    assert found.draws == draws


def test_a_count_of_units_is_bounded_closely():
    assert ask("SELECT COUNT(DISTINCT id) AS n FROM data", 50_000, confidence=0.999).lower > 0.9


@pytest.mark.parametrize("sql", [COUNT, "SELECT MEDIAN(age) AS m FROM data"])
def test_too_little_noise_is_found(sql, monkeypatch):
    monkeypatch.setattr(Plan, "sensitivity", lambda self, radius: max(1, radius // 8))  # noqa: ARG005
    assert ask(sql, radius=16).refuted


def test_a_unit_that_counts_for_too_much_is_found(monkeypatch):
    """The radius is taken for larger by those who clip than by those who add noise."""
    from dither.query.answer.collect import Collector

    honest = Collector.totals
    monkeypatch.setattr(Collector, "totals", lambda self, m, radius: honest(self, m, 6 * radius))
    assert ask(COUNT, radius=4).refuted


def test_what_is_read_off_the_data_is_found():
    def careless(frame):
        return opened(frame, bounds={"age": (0, int(frame["age"].max()))})

    found = audit.query(careless, FRAME, "SELECT SUM(age) AS s FROM data", unit="one", epsilon=1.0)
    assert found.refuted
    assert math.isinf(found.lower)
    assert "read off the data" in str(found)
    assert found.to_dict()["lower"] is None


def test_replaced_units_need_both_data():
    def replacing(frame):
        return opened(frame, unit=dither.Unit("id", dither.Relation.REPLACE))

    with pytest.raises(ArgumentError, match="neighbouring data"):
        audit.query(replacing, FRAME, COUNT, unit="one", epsilon=1.0, radius=5)
    other = FRAME.assign(
        ward=["B" if who == "one" else ward for who, ward in zip(FRAME["id"], FRAME["ward"], strict=True)]
    )
    assert not audit.query(replacing, FRAME, COUNT, other=other, epsilon=1.0, radius=5, confidence=1 - 1e-9).refuted


@pytest.mark.parametrize(
    "frame", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)], ids=["pandas", "polars", "arrow"]
)
def test_a_unit_is_left_out_of_any_frame(frame):
    with opened(FRAME) as database:
        less = without(database, frame, "one")
        assert len(less) == ROWS
        assert type(less) is type(frame)
        with pytest.raises(ArgumentError, match="has no row"):
            without(database, frame, "nobody")
        with pytest.raises(ArgumentError, match="is missing"):
            without(database, frame, None)


def test_a_row_is_left_out_by_its_number():
    with opened(FRAME, unit="row") as database:
        assert len(without(database, FRAME, 0)) == ROWS + 29


def test_a_unit_without_an_id_is_kept():
    odd = pl.DataFrame({"id": ["one", None, "p1"], "ward": ["A"] * 3, "age": [1, 2, 3]})
    with opened(FRAME) as database:
        assert without(database, odd, "one")["age"].to_list() == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((3, FRAME, COUNT), {"unit": "one"}, "must be a function"),
        ((lambda frame: frame, FRAME, COUNT), {"unit": "one"}, "must return a database"),
        ((opened, FRAME, COUNT), {}, "unit: is missing"),
        ((lambda rows: opened(FRAME), [1, 2], COUNT), {"unit": "one"}, "data is no frame"),  # noqa: ARG005
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, options, words):
    with pytest.raises(ArgumentError, match=words):
        audit.query(*arguments, epsilon=1.0, **options)


def test_a_claim_about_another_unit_is_refused():
    with pytest.raises(UnitMismatch):
        ask(COUNT, radius=5, claimed=dither.PureDP(1.0))


def test_nothing_is_charged():
    databases = []

    def kept(frame):
        databases.append(opened(frame))
        return databases[-1]

    audit.query(kept, FRAME, COUNT, unit="one", epsilon=1.0, radius=5, draws=500)
    assert [database.account.spent for database in databases] == [0, 0]
    assert len(databases) == 2


def test_named_keys_stand_where_both_neighbours_have_them():
    """A key of one neighbour alone is told by its flag, in a column that the other leaves 0."""
    from dither.audit import questions

    seen = []
    honest = questions.mechanism

    def spy(f, *arguments, **options):
        seen.extend(f(side, 50) for side in (0, 1))
        return honest(f, *arguments, **options)

    questions.mechanism = spy
    try:
        ask("SELECT code, COUNT(*) AS n FROM data GROUP BY code", 300, radius=5)
    finally:
        questions.mechanism = honest
    first, second = seen
    assert first.shape == second.shape == (50, 8)
    assert not second[:, 3].any()
    assert np.isin(first[:, :4], (0, 1)).all()
