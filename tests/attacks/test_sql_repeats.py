"""Attacks by asking again: averaging, differencing, rewriting, racing. Fresh noise is
never free.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import dither
from dither.errors import AccountFrozen, BudgetExceeded
from dither.query.asker import answer
from dither.query.open import dataset_of
from tests.attacks.analyst import log, row, visits

PEOPLE = [row(f"p{number}", cost=number) for number in range(40)]
COUNT = "SELECT COUNT(*) FROM visits"


def test_the_same_question_was_asked_a_thousand_times():
    """It costs once and never averages out: every answer is the first one."""
    with visits(PEOPLE, budget=1.0) as database:
        answers = {database.sql(COUNT, epsilon=0.5, radius=1).rows for _ in range(1000)}
        assert len(answers) == 1
        assert len(database.account.history()) == 1
        assert database.account.remaining.epsilon == 0.5


FORMS = [
    COUNT,
    "select count(*) from visits",
    "SELECT COUNT(1) FROM visits",
    "SELECT  COUNT ( * ) /* again */ FROM visits -- and again",
    "SELECT COUNT(*) AS n FROM visits;",
    "SELECT COUNT(*) FROM visits AS v",
    "(SELECT COUNT(*) FROM visits)",
    "FROM visits SELECT COUNT(*)",
    "SELECT COUNT(*) FROM visits WHERE TRUE",
    "SELECT COUNT(*) FROM visits WHERE 1 = 1",
    "SELECT COUNT(*) FROM visits WHERE NOT NOT (2 > 1)",
    "SELECT COUNT(*) FROM visits WHERE cost < 1000",
    "SELECT COUNT(*) FROM visits WHERE cost <= 1000",
    "SELECT COUNT(*) FROM visits WHERE patient_id <> 'nobody'",
    "SELECT COUNT(*) FROM visits WHERE cost >= 0 OR cost IS NULL",
    "SELECT COUNT(*) FROM (SELECT * FROM visits)",
    "SELECT COUNT(*) FROM (SELECT patient_id FROM visits)",
    "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v",
    "SELECT SUM(1) FROM visits",
    "SELECT COUNT(patient_id) FROM visits",
    "SELECT COUNT(*) FROM visits HAVING COUNT(*) > -100000",
    "SELECT COUNT(*) FROM visits ORDER BY 1 LIMIT 5",
    "SELECT COUNT(*) + 0 FROM visits",
    "SELECT COUNT(*) * 2 FROM visits",
    "SELECT COUNT(*), COUNT(*) FROM visits",
    "SELECT COUNT(*), AVG(cost) FROM visits",
    "SELECT COUNT(*) FILTER (WHERE TRUE) FROM visits",
    "SELECT COUNT_IF(TRUE) FROM visits",
]


def test_a_question_was_rewritten_to_average_its_noise():
    """Each form is either the same plan, which gives the same numbers again, or is
    charged: no fresh noise for free.
    """
    with visits(PEOPLE, budget=1000.0) as database:
        drawn = {}
        for sql in FORMS:
            before = len(database.account.history())
            release = database.sql(sql, epsilon=1.0, radius=1)
            charges = len(database.account.history()) - before
            assert release.replayed is (charges == 0)
            assert charges in (0, 1)
            drawn.setdefault(release.receipt.number, set()).add(
                release.rows[0][0] // (2 if "* 2" in sql else 1)
            )
        assert len(drawn) == len(database.account.history()) >= 10
        assert all(len(numbers) == 1 for numbers in drawn.values())


@pytest.mark.parametrize(
    "change", [{"epsilon": 0.5000001}, {"epsilon": 0.5, "radius": 2}, {"share": 0.25}]
)
def test_a_slightly_different_cost_drew_fresh_noise_for_free(change):
    with visits(PEOPLE, budget=2.0) as database:
        database.sql(COUNT, **{"epsilon": 0.5, "radius": 1})
        second = database.sql(COUNT, **{"radius": 1} | change)
        assert (
            not second.replayed
            or second.receipt.number == database.account.history()[0].number
        )
        assert len(database.account.history()) == 1 + (not second.replayed)


def test_two_questions_that_differ_by_one_person_were_subtracted():
    """Both are charged, whatever their conditions are; the budget bounds how well the
    difference is known.
    """
    with visits(PEOPLE, budget=1.0) as database:
        database.sql("SELECT SUM(cost) FROM visits", epsilon=0.5, radius=100)
        database.sql(
            "SELECT SUM(cost) FROM visits WHERE patient_id <> 'p17'",
            epsilon=0.5,
            radius=100,
        )
        with pytest.raises(BudgetExceeded, match=r"0 % remains.*Nothing was spent"):
            database.sql(
                "SELECT SUM(cost) FROM visits WHERE patient_id = 'p17'",
                epsilon=0.5,
                radius=100,
            )
        assert len(database.account.history()) == 2


def test_disjoint_conditions_were_taken_for_parallel_ones():
    """Separate questions about separate wards add up (rule R13): a person may be in
    both, and may choose where.
    """
    with visits(PEOPLE, budget=1.0) as database:
        for ward in "AB":
            database.sql(
                f"SELECT COUNT(*) FROM visits WHERE ward = '{ward}'",
                epsilon=0.5,
                radius=1,
            )
        assert database.account.remaining.epsilon == 0


def test_eight_threads_shared_what_one_could_afford():
    with visits(PEOPLE, budget=1.0) as database:

        def ask(number):
            try:
                database.sql(
                    f"SELECT COUNT(*) FROM visits WHERE cost > {number}",
                    epsilon=0.125,
                    radius=1,
                )
            except BudgetExceeded:
                return 0
            return 1

        with ThreadPoolExecutor(8) as threads:
            granted = sum(threads.map(ask, range(24)))
        assert granted == len(database.account.history()) == 8
        assert database.account.remaining.epsilon == 0


def test_eight_threads_asked_the_same_at_once():
    """Whoever is first is answered, and so is everyone else: one set of numbers,
    however many charges were granted.
    """
    with visits(PEOPLE, budget=1.0) as database:
        together = threading.Barrier(8)

        def ask(_):
            together.wait()
            return database.sql(COUNT, epsilon=0.125, radius=1).rows

        with ThreadPoolExecutor(8) as threads:
            answers = set(threads.map(ask, range(8)))
        assert len(answers) == 1
        assert 1 <= len(database.account.history()) <= 8
        assert {kind for kind, _ in log(database)} >= {"charge", "store", "settle"}
        assert "fail" not in {kind for kind, _ in log(database)}


class Recorder:
    """An engine that notes when it is asked for what, and how much was charged by then."""

    def __init__(self, engine, account):
        self.engine, self.account, self.order = engine, account, []
        self.dialect = engine.dialect

    def session(self):
        self.order.append(("session", len(self.account.history())))
        return self.engine.session()

    def close(self):
        self.engine.close()


@pytest.fixture
def recorded():
    plain = visits(PEOPLE, budget=1.0)
    recorder = Recorder(plain.engine, plain.account)
    yield dataset_of(plain.catalogue, recorder, plain.account), recorder.order
    plain.close()


def test_the_data_was_read_before_the_charge(recorded):
    database, order = recorded
    database.sql(COUNT, epsilon=0.25)
    database.sql("SELECT ward, AVG(cost) FROM visits GROUP BY ward", epsilon=0.25)
    assert order == [("session", 1), ("session", 2)]


def test_the_data_was_read_though_nothing_was_charged(recorded):
    """A preview, a plan, EXPLAIN, a refusal, a replay: none of them opens a session."""
    database, order = recorded
    database.sql(COUNT, epsilon=0.25)
    order.clear()
    database.sql(COUNT, epsilon=0.25)
    database.preview("SELECT AVG(cost) FROM visits", epsilon=0.25)
    database.preview("SELECT AVG(cost) FROM visits", error=50, expect=1000, radius=1)
    database.explain_plan("SELECT AVG(cost) FROM visits", epsilon=0.25)
    answer(database, "EXPLAIN SELECT MEDIAN(cost) FROM visits", epsilon=0.25)
    for sql, cost in [
        ("SELECT * FROM visits", 0.1),
        (COUNT, 2.0),
        ("SELECT SUM(points) FROM visits", 0.1),
    ]:
        with pytest.raises(dither.DitherError):
            database.sql(sql, epsilon=cost)
    assert order == []
    assert len(database.account.history()) == 1


def test_a_frozen_account_still_answered(recorded):
    """It gives nothing, not even what it gave before, until its curator has looked."""
    database, order = recorded
    before = database.sql(COUNT, epsilon=0.25).rows
    order.clear()
    database.account.freeze("the curator looks at it")
    for question in ("SELECT SUM(cost) FROM visits", COUNT):
        with pytest.raises(AccountFrozen):
            database.sql(question, epsilon=0.25)
    database.account.thaw("seen")
    assert database.sql(COUNT, epsilon=0.25).rows == before
    assert order == []


def test_two_openings_of_one_table_had_two_budgets(tmp_path):
    """A second analyst, process or copy of the catalogue is charged to the same
    account.
    """
    ledger = tmp_path / "book.db"
    with (
        visits(PEOPLE, budget=1.0, ledger=ledger) as one,
        visits(PEOPLE, budget=1.0, ledger=ledger) as other,
    ):
        first = one.sql(COUNT, epsilon=0.5, radius=1)
        assert other.sql(COUNT, epsilon=0.5, radius=1).rows == first.rows
        other.sql("SELECT SUM(cost) FROM visits", epsilon=0.5, radius=100)
        for database in (one, other):
            with pytest.raises(BudgetExceeded):
                database.sql("SELECT AVG(cost) FROM visits", epsilon=0.5)


def test_colluding_analysts_had_a_budget_each():
    with visits(PEOPLE, budget=1.0) as database:
        for analyst in ("ann", "bob", "cyd"):
            database.account.share(analyst, 0.5)
        database.sql(COUNT, epsilon=0.5, by="ann")
        with pytest.raises(BudgetExceeded, match="dan does not have a share"):
            database.sql("SELECT AVG(cost) FROM visits", epsilon=0.001, by="dan")
        database.sql("SELECT SUM(cost) FROM visits", epsilon=0.5, by="bob")
        with pytest.raises(BudgetExceeded):
            database.sql("SELECT AVG(cost) FROM visits", epsilon=0.5, by="cyd")
        assert len(database.account.history()) == 2
