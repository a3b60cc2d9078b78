"""Attacks on which groups an answer has: a group that is there, or is not, tells of a
person as well as a number.
"""

from __future__ import annotations

import pytest

from tests.attacks.analyst import row, seen, visits

GROUPED = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


@pytest.mark.usefixtures("exact")
def test_an_absent_public_key_was_left_out():
    """Every declared key is in every answer, with noise, whether or not anybody has it."""
    with visits([row(ward="A")], keys={"ward": ["A", "B", "C"]}) as database:
        assert database.sql(GROUPED, epsilon=1.0, radius=9).rows == (
            ("A", 1),
            ("B", 0),
            ("C", 0),
        )


@pytest.mark.usefixtures("exact")
def test_a_key_that_was_not_declared_appeared():
    rows = [row(ward="A"), *(row(f"p{number}", ward="Z") for number in range(5000))]
    with visits(rows) as database:
        assert database.sql(GROUPED, epsilon=1.0, radius=9).rows == (("A", 1), ("B", 0))


@pytest.mark.usefixtures("exact")
def test_a_null_key_appeared_where_somebody_had_none():
    with visits([row(ward=None), row()]) as database:
        assert database.sql(GROUPED, epsilon=1.0, radius=9).rows == (("A", 1), ("B", 0))
    with visits([row()], keys={"ward": ["A", None]}) as database:
        assert database.sql(GROUPED, epsilon=1.0, radius=9).rows == (
            ("A", 1),
            (None, 0),
        )


@pytest.mark.usefixtures("exact")
def test_a_private_null_key_appeared():
    """NULL is no key, however many people have it."""
    rows = [row(f"p{number}", note=None) for number in range(3000)]
    with visits(rows) as database:
        assert (
            database.sql(
                "SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=1.0
            ).rows
            == ()
        )


EVERYWHERE = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT patient_id), COUNT(DISTINCT note) FROM visits",
    "SELECT SUM(cost), AVG(cost), MIN(cost), MAX(cost), MEDIAN(cost), STDDEV(rating), CORR(cost, rating) FROM visits",
    "SELECT MIN(day), MAX(day) FROM visits",
    GROUPED,
    "SELECT ward, AVG(cost) AS a FROM visits GROUP BY ward ORDER BY ward LIMIT 1",
    "SELECT EXTRACT(year FROM day) AS y, ward, COUNT(*), MEDIAN(cost) FROM visits GROUP BY y, ward",
    "SELECT CASE WHEN cost > 50 THEN 'much' ELSE 'little' END AS c, COUNT(*) FROM visits GROUP BY c",
    "SELECT DISTINCT note FROM visits",
    "SELECT note, COUNT(*), AVG(cost) FROM visits GROUP BY note",
    "SELECT note, ward, SUM(cost) FROM visits GROUP BY note, ward",
    "SELECT AVG(n) FROM (SELECT patient_id, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY patient_id)",
    "SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.patient_id = b.patient_id AND a.cost < b.cost",
    "SELECT COUNT(*) FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 50)",
    "SELECT 1 / COUNT(*), SUM(cost) / COUNT(*), LN(COUNT(*)) FROM visits WHERE cost > 1000",
]
TABLES = {
    "no row": [],
    "one row": [row()],
    "one row without a person": [row(None)],
    "one row without a value": [
        row(ward=None, cost=None, rating=None, note=None, day=None, at=None)
    ],
    "the same row many times": [row()] * 50,
    "a constant column": [row(f"p{number}") for number in range(50)],
}


@pytest.fixture(scope="module")
def worlds():
    opened = {name: visits(rows) for name, rows in TABLES.items()}
    yield opened
    for database in opened.values():
        database.close()


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("sql", EVERYWHERE)
def test_an_empty_table_was_told_from_one_with_a_row(worlds, sql):
    """Success, messages, shape, keys, notes, cost and log are the same. (Without noise:
    with it even more so.)
    """
    found = {
        name: seen(database, sql, epsilon=1.0, radius=2)
        for name, database in worlds.items()
    }
    assert all(other == found["no row"] for other in found.values())
    assert found["no row"][-1][-3:] == ["charge", "store", "settle"]


@pytest.mark.usefixtures("exact")
def test_the_order_of_the_rows_told_their_sizes():
    """Groups come in the order of their keys, and ties of ORDER BY stay in it."""
    for big in "AB":
        rows = [
            row(f"p{number}", ward=big, note=f"{number % 2}{big}")
            for number in range(3000)
        ]
        with visits(rows) as database:
            assert [key for key, _ in database.sql(GROUPED, epsilon=1.0, radius=9)] == [
                "A",
                "B",
            ]
            private = database.sql(
                "SELECT note, COUNT(*) FROM visits GROUP BY note ORDER BY 2 * 0",
                epsilon=9.0,
            ).rows
            assert [key for key, _ in private] == [f"0{big}", f"1{big}"]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT note, COUNT(*) FROM visits GROUP BY note",
        "SELECT DISTINCT note FROM visits",
    ],
)
def test_a_key_of_few_people_was_named(sql):
    """The threshold on people, and not on rows, decides: one person's rows name
    nothing, however many.
    """
    many = [row(f"p{number}", note="common") for number in range(2000)]
    alone = [row("p17", note="rare")] * 2000
    few = [row(f"q{number}", note="few") for number in range(3)]
    with visits([*many, *alone, *few]) as database:
        assert [found[0] for found in database.sql(sql, epsilon=1.0).rows] == ["common"]


@pytest.mark.usefixtures("exact")
def test_one_person_with_all_keys_named_them():
    """A person counts for a few keys only: a thousand made-up keys move none of them
    over the threshold.
    """
    rows = [row("p17", note=str(number)) for number in range(1000)]
    with visits(rows * 3) as database:
        assert (
            database.sql(
                "SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=1.0
            ).rows
            == ()
        )
        wide = database.explain_plan(
            "SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=1.0, groups=1000
        )
    assert "each unit contributes to at most 1,000 keys" in wide


def test_an_account_without_delta_named_private_keys():
    with visits([row()], budget=1.0) as database:
        told = seen(
            database, "SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=0.5
        )
    assert told[2][0] == "ArgumentError"
    assert "releasing private keys needs δ > 0" in told[2][1]
    assert told[-1] == []
