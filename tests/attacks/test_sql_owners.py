"""Attacks on whose a row is: one person's rows that count for others, or others' rows
that count for one person.
"""

from __future__ import annotations

import duckdb
import pytest

import dither
from tests.attacks.analyst import PUBLIC, clinic, promised, row, visits

SHOWN = 1 + 1e-5
"""The plan rounds a sensitivity."""
FEW = {
    "patients": [(1, "F", 1950), (2, "M", 1960), (3, "F", 1970)],
    "stays": [(10, 1, 3), (11, 1, 4), (20, 2, 5), (30, 3, 6)],
    "tests": [(10, 1), (10, -2), (11, 5), (20, 0), (30, 4)],
}
HEAVY = {
    "patients": [(500, "F", 1990), (500, "M", 1900)],
    "stays": [(600 + number, 500, 30) for number in range(300)],
    "tests": [(600 + number, 5) for number in range(300)] * 2,
}
BOTH = {name: FEW[name] + HEAVY[name] for name in FEW}
JOINED = {
    "a table with itself": "SELECT COUNT(*) FROM stays a JOIN stays b ON a.id = b.id",
    "three times with itself": "SELECT COUNT(*) FROM stays a JOIN patients b USING (id) JOIN patients c USING (id)",
    "two tables": "SELECT COUNT(*), SUM(days) FROM patients JOIN stays USING (id)",
    "a linked table": "SELECT COUNT(*), SUM(result) FROM stays JOIN tests ON stays.stay = tests.stay",
    "a public table": "SELECT COUNT(*), SUM(born - 1900) FROM patients JOIN regions USING (sex)",
    "everything": "SELECT SUM(result) FROM patients p JOIN stays s ON p.id = s.id JOIN tests t ON s.stay = t.stay",
    "a union with itself": "SELECT COUNT(*), SUM(days) FROM (SELECT * FROM stays UNION ALL SELECT * FROM stays)",
    "a union of many": "SELECT SUM(n) FROM ("
    + " UNION ALL ".join(["SELECT id, days AS n FROM stays"] * 20)
    + ")",
    "an outer join": "SELECT COUNT(*), SUM(COALESCE(days, 30)) FROM patients FULL JOIN stays USING (id)",
    "a subquery": "SELECT COUNT(*) FROM stays WHERE id IN (SELECT id FROM patients WHERE born < 1995)",
    "a negated subquery": "SELECT COUNT(*) FROM stays WHERE id NOT IN (SELECT id FROM patients WHERE born < 1950)",
}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("how", JOINED)
@pytest.mark.parametrize(
    "cost", [{"epsilon": 1.0}, {"rho": 0.1}], ids=["laplace", "gaussian"]
)
def test_a_count_went_through_a_join_with_a_multiplicity_in_qrlew(how, cost):
    """qrlew#274: rows of one person were multiplied by a join after they had been
    bounded.
    """
    stated = cost | {"radius": 8}
    with clinic(**FEW) as one, clinic(**BOTH) as other:
        (before,), (after,) = (
            one.sql(JOINED[how], **stated).rows,
            other.sql(JOINED[how], **stated).rows,
        )
        limits = promised(one, JOINED[how], **stated)
        assert limits == promised(other, JOINED[how], **stated)
    assert len(limits) == len(before)
    assert all(
        abs(b - a) <= SHOWN * limit
        for a, b, limit in zip(before, after, limits, strict=True)
    )


@pytest.mark.usefixtures("exact")
def test_distinct_users_were_counted_by_row_in_qrlew():
    """It answered 975,310 for 124,382 users."""
    with clinic(**BOTH) as database:
        sql = "SELECT COUNT(DISTINCT a.id) FROM stays a JOIN stays b ON a.id = b.id"
        assert database.sql(sql, epsilon=1.0).rows == ((4,),)
        assert promised(database, sql, epsilon=1.0) == [1]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "rows",
    [
        "SELECT id, days FROM stays UNION ALL SELECT id, born - 1900 AS days FROM patients",
        "SELECT id, COALESCE(days, 30) AS days FROM stays FULL JOIN patients USING (id)",
        "SELECT id, MAX(d) AS days FROM (SELECT id, days AS d FROM stays UNION ALL SELECT id, 9 FROM stays) GROUP BY 1",
    ],
)
def test_an_id_was_clipped_differently_in_two_tables(rows):
    """An early draft of ours: 500 counted as 100 in one table and as 500 in another, so
    one person was two.
    """
    sql = f"SELECT COUNT(*), SUM(LEAST(most, 30)) FROM (SELECT id, MAX(days) AS most FROM ({rows}) GROUP BY id)"
    heavy = {"patients": [(500, "F", 1930)], "stays": [(600, 500, 30)], "tests": []}
    with clinic(**heavy) as database:
        assert promised(database, sql, epsilon=1.0) == [1, 30]
        assert database.sql(sql, epsilon=1.0).rows == ((1, 30),)


@pytest.mark.usefixtures("exact")
def test_a_link_was_clipped_to_another_owner():
    """An early draft of ours: the stays 1000 and 1001 were one after clipping, and
    tests changed hands.
    """
    patients, stays = [(1, "F", 1950), (2, "M", 1960)], [(1000, 1, 3), (1001, 2, 4)]
    with clinic(
        patients=patients, stays=stays, tests=[(1000, 5), (1001, 5), (1001, 5)]
    ) as database:
        joined = (
            "patients p JOIN stays s ON p.id = s.id JOIN tests t ON s.stay = t.stay"
        )
        sql = f"SELECT sex, COUNT(*) FROM {joined} GROUP BY sex"
        answer = database.sql("SELECT COUNT(*) FROM tests", epsilon=1.0, radius=100)
        assert answer.rows == ((3,),)
        assert database.sql(sql, epsilon=1.0, radius=100).rows == (("F", 1), ("M", 0))


IDS = ["a", "A", "a ", " a", "á", "a\u0301", "Å", "\u212b", "a\u200b", "ß", "ss", ""]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "collation", ["", "COLLATE NOCASE", "COLLATE NOACCENT", "COLLATE NOCASE.NOACCENT"]
)
def test_ids_that_differ_in_case_or_blanks_were_one_person(collation):
    """Each of them is a unit of its own, in every way to count or compare them (rule
    R10).
    """
    with duckdb.connect() as source:
        source.execute(
            f"CREATE TABLE visits (patient_id VARCHAR {collation}, cost BIGINT, ward VARCHAR {collation})"
        )
        source.executemany(
            "INSERT INTO visits VALUES (?, 1, 'a'), (?, 1, 'A')",
            [[name, name] for name in IDS],
        )
        declared = {
            "unit": "patient_id",
            "bounds": {"cost": (0, 100)},
            "keys": {"ward": ["a", "A"]},
        }
        with dither.open(
            source, table="visits", budget=(1e3, 1e-6), **declared
        ) as database:
            found = [database.sql(sql, epsilon=1.0, radius=1).rows for sql in COUNTED]
    assert found == [((12,),), ((12,),), ((12,),), (("a", 6), ("A", 6))]


COUNTED = [
    "SELECT COUNT(DISTINCT patient_id) FROM visits",
    "SELECT COUNT(*) FROM (SELECT patient_id, SUM(cost) AS n FROM visits GROUP BY patient_id)",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.ward = b.ward",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
]


@pytest.mark.usefixtures("exact")
def test_a_row_without_an_owner_was_counted():
    with visits([row("p1"), row(None), row(None, cost=99)]) as database:
        sql = "SELECT COUNT(*), SUM(cost), COUNT(DISTINCT patient_id) FROM visits"
        assert database.sql(sql, epsilon=1.0, radius=100).rows == ((1, 7, 1),)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    ("budget", "cost", "norm"),
    [(1e3, {"epsilon": 1.0}, 1), ((1e3, 1e-6), {"rho": 0.1}, 2)],
    ids=["laplace", "gaussian"],
)
def test_a_heavy_user_outweighed_the_noise(budget, cost, norm):
    """Twenty thousand rows of one person, in every group and at every bound, move no
    number further than stated.
    """
    few = [row("p1"), row("p2", ward="B")]
    heavy = [
        row("p17", cost=place % 101, ward="AB"[place % 2], points=place)
        for place in range(20_000)
    ]
    sql = "SELECT ward, COUNT(*), SUM(cost), COUNT(DISTINCT points), COUNT(DISTINCT patient_id) FROM visits GROUP BY ward"
    stated = cost | {"radius": {"count(*)": 4, "sum(cost)": 150}, "values": 3}
    with visits(few, budget=budget) as one, visits(few + heavy, budget=budget) as other:
        before, after = one.sql(sql, **stated).rows, other.sql(sql, **stated).rows
        assert f"at most 150 (L{norm})" in one.explain_plan(sql, **stated)
    moves = [
        [abs(b[place] - a[place]) for a, b in zip(before, after, strict=True)]
        for place in (1, 2, 3)
    ]
    # Clipped parts are finer than whole numbers, as which they are shown: each may be
    # off by half a one.
    sizes = [
        sum(max(move - 0.5, 0) ** norm for move in group) ** (1 / norm)
        for group in moves
    ]
    assert all(size <= limit for size, limit in zip(sizes, (4, 150, 3), strict=True))


def test_the_unit_was_replaced_by_another_column():
    """Who is protected is the curator's choice: nothing in a question changes it."""
    with visits([row()]) as database, pytest.raises(dither.ArgumentError, match="unit"):
        database.sql("SELECT COUNT(*) FROM visits", epsilon=1.0, unit="ward")
    assert PUBLIC["unit"] == "patient_id"
