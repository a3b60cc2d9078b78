"""Attacks on the machine: a question that takes long, or much memory, only if
somebody's row is there (rule R31).
"""

from __future__ import annotations

import numpy as np
import pytest

import dither
from dither.errors import EngineFailed, QueryError
from dither.query.engines.duckdb.engine import DuckDBSession
from dither.query.examples import example
from dither.query.plan import plan
from tests.attacks.analyst import clinic, log, row, visits

CROSSED = " ".join(f"CROSS JOIN regions r{n}" for n in range(8))


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    with dither.open(
        example(tmp_path_factory.mktemp("clinic")), ledger=":memory:"
    ) as database:
        yield database


@pytest.fixture
def statements(monkeypatch):
    """All statements that engines run, with how many rows came back."""
    seen = []
    execute = DuckDBSession._execute

    def watched(self, sql, parameters):
        rows = execute(self, sql, parameters)
        seen.append((sql, len(rows)))
        return rows

    monkeypatch.setattr(DuckDBSession, "_execute", watched)
    return seen


@pytest.mark.parametrize("patient", ["P0327", "nobody"])
def test_a_patient_was_told_by_how_long_it_took(bundled, statements, patient):
    """42 seconds if the row was there, a tenth of one if not. Refused for all alike,
    and nothing private is read.
    """
    inner = (
        f"(SELECT patient_id FROM patients WHERE patient_id = '{patient}' AND age > 0)"
    )
    for ask in (bundled.preview, bundled.sql):
        with pytest.raises(
            QueryError,
            match="429,981,696 rows from one row, and the limit is 10,000; join fewer tables",
        ):
            ask(f"SELECT COUNT(*) FROM {inner} p {CROSSED}", epsilon=0.01)
    assert bundled.account.history() == ()
    assert all("patients" not in sql for sql, _ in statements)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits a"
        + "".join(
            f" JOIN visits v{n} ON v{n}.patient_id = a.patient_id" for n in range(9)
        ),
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT * FROM regions a, regions b, regions c, regions d, regions e "
        "WHERE a.beds + b.beds + c.beds + d.beds + e.beds = visits.age)",
        f"SELECT COUNT(*) FROM patients WHERE age NOT IN (SELECT r0.beds FROM regions r {CROSSED})",
        f"SELECT COUNT(*) FROM visits v JOIN (SELECT r.beds FROM regions r {CROSSED}) q ON q.beds = v.age",
        f"SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT r.beds FROM regions r {CROSSED}) q ON q.beds < v.age",
    ],
)
def test_other_ways_to_multiply_rows(bundled, sql):
    with pytest.raises(QueryError, match=r"the limit is .*; join fewer tables"):
        bundled.sql(sql, epsilon=0.01)
    assert bundled.account.history() == ()


def test_ordinary_joins_are_answered(bundled):
    joined = "visits v JOIN patients p ON p.patient_id = v.patient_id JOIN diagnoses d ON d.visit_id = v.visit_id"
    regions = " ".join(f"JOIN regions r{n} ON r{n}.region = p.region" for n in range(6))
    assert bundled.preview(
        f"SELECT COUNT(*) FROM {joined} {regions}", epsilon=0.1
    ).affordable
    assert bundled.preview(
        f"SELECT COUNT(*) FROM patients p {CROSSED[:66]}", epsilon=0.1
    ).affordable


UNITS, NOTES = 60, 150


def test_millions_of_candidate_keys_were_brought_here(statements):
    """Each person has keys that nobody else has, by putting columns together: they stay
    in the engine.
    """
    rows = [
        row(f"p{unit}", points=note) for unit in range(UNITS) for note in range(NOTES)
    ]
    with visits(rows) as database:
        found = database.sql(
            "SELECT patient_id || points::TEXT AS k, COUNT(*) FROM visits GROUP BY k",
            epsilon=1.0,
        )
    assert found.rows == ()
    assert max(count for _, count in statements) < UNITS


def test_keys_of_few_units_stay_in_the_engine(statements):
    """At most so many rows come here as units keep keys, divided by what a candidate
    needs.
    """
    rows = [
        row(f"p{unit}", points=note // 3)
        for unit in range(UNITS)
        for note in range(NOTES)
    ]
    with visits(rows) as database:
        most = 4
        preview = database.explain_plan(
            "SELECT points, COUNT(*) FROM visits GROUP BY points",
            epsilon=1.0,
            groups=most,
        )
        least = int(preview.partition("and at least ")[2].partition(" units")[0])
        database.sql(
            "SELECT points, COUNT(*) FROM visits GROUP BY points",
            epsilon=1.0,
            groups=most,
        )
    assert least >= 2
    assert max(count for _, count in statements) <= UNITS * most // least


@pytest.mark.usefixtures("exact")
def test_a_key_was_a_megabyte_long():
    """A text of more than 1,000 characters is no key, as NULL is none."""
    rows = [
        row(f"p{unit}", note=note * 1000)
        for unit in range(300)
        for note in ("a", "ä", "bc")
    ]
    with visits(rows) as database:
        found = database.sql(
            "SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=100.0
        )
        assert [key for key, _ in found.rows] == ["a" * 1000, "ä" * 1000]
        other = "SELECT CASE WHEN ward = 'A' THEN note END AS n, cost % 3 AS c, COUNT(*) FROM visits GROUP BY n, c"
        assert {len(one[0]) for one in database.sql(other, epsilon=100.0).rows} == {
            1000
        }


@pytest.mark.usefixtures("exact")
def test_more_keys_were_named_than_an_answer_can_hold(monkeypatch):
    """Of the named keys those with the largest noisy counts stay: that looks at what is
    released alone.
    """
    monkeypatch.setattr(plan, "MOST_GROUPS", 3)
    sizes = {"e": 500, "a": 200, "c": 400, "b": 300, "d": 100}
    rows = [
        row(f"{note}{unit}", note=note)
        for note, size in sizes.items()
        for unit in range(size)
    ]
    with visits(rows) as database:
        found = database.sql(
            "SELECT note, COUNT(*) FROM visits GROUP BY note",
            epsilon=10.0,
            groups=1,
            radius=1,
        )
        assert [key for key, _ in found.rows] == ["b", "c", "e"]
        assert (
            "at most 3 keys are released at a time: those with the most units"
            in found.notes
        )
        assert database.sql(
            "SELECT note, COUNT(*) FROM visits GROUP BY note",
            epsilon=10.0,
            groups=1,
            radius=1,
        ).replayed


def test_a_question_that_runs_out_of_time_is_charged_and_says_nothing():
    rows = [row(f"p{unit}") for unit in range(20)]
    with visits(rows, limits={"seconds": 1e-9}, budget=(10.0, 1e-6)) as database:
        with pytest.raises(EngineFailed) as failed:
            database.sql(
                "SELECT ward, MEDIAN(cost) FROM visits GROUP BY ward", epsilon=0.5
            )
        assert (
            str(failed.value)
            == "the engine could not finish this question; ask the curator to look at the cause"
        )
        assert (failed.value.__cause__, failed.value.__context__) == (None, None)
        assert [kind for kind, _ in log(database)][-3:] == ["open", "charge", "fail"]
        assert "longer than 1e-09 seconds" in database.engine.failures[-1]


def test_public_tables_are_counted_once_and_private_ones_never(statements):
    with clinic() as database:
        sql = "SELECT COUNT(*) FROM patients p CROSS JOIN regions r"
        for _ in range(3):
            database.preview(sql, epsilon=1.0, radius=1)
        assert [count for _, count in statements] == [1]
        assert all("patients" not in sql for sql, _ in statements)


def test_candidates_come_in_blocks(monkeypatch):
    """However many there are, each is counted once."""
    from dither.query.collect import runner as collect

    monkeypatch.setattr(collect, "BLOCK", 7)
    rows = [row(f"p{unit}", points=unit % 21) for unit in range(2100)]
    with visits(rows) as database:
        sql = "SELECT points, COUNT(*) FROM visits GROUP BY points"
        plan = database.plan(sql, epsilon=1.0)
        engine, table = database.engine, database.catalogue.table
        with collect.running(plan, engine, table, "s") as runner:
            counts = runner.candidates()
            assert np.array_equal(counts, np.full(21, 100))
            found = runner.every_key()
            assert sorted(found) == [(point,) for point in range(21)]
            assert runner.keys_of([5, 2]) == [found[5], found[2]]
