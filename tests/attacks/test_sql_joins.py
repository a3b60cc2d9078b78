"""Attacks through commas, CROSS JOIN, EXISTS and IN: one person's rows that meet,
multiply, keep or hide another's.
"""

from __future__ import annotations

import pytest

from dither.errors import QueryError
from tests.attacks.analyst import clinic, promised, row, seen, visits
from tests.attacks.test_sql_owners import BOTH, FEW, SHOWN

OTHERS = [
    # cartesian products and equalities that are no ids
    "SELECT COUNT(*) FROM patients p, stays s",
    "SELECT COUNT(*) FROM patients p CROSS JOIN stays s",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.born = s.days",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id = s.stay",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id = 1 AND s.id = 2",
    "SELECT COUNT(*) FROM patients p, tests t WHERE p.id = t.stay",
    "SELECT COUNT(*) FROM stays s, tests t WHERE s.stay = t.result",
    # conditions that look like an equality of ids
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id = s.id OR p.born > 1900",
    "SELECT COUNT(*) FROM patients p, stays s WHERE (p.id = s.id) = (p.born > 1900)",
    "SELECT COUNT(*) FROM patients p, stays s WHERE (p.id = s.id) IS NOT NULL",
    "SELECT COUNT(*) FROM patients p, stays s WHERE CASE WHEN p.born > 1900 THEN TRUE ELSE p.id = s.id END",
    "SELECT COUNT(*) FROM patients p, stays s WHERE NOT p.id = s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id <> s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id - s.id = 0",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id + 0 = s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE COALESCE(p.id, 1) = s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id IS NOT DISTINCT FROM s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id IN (s.id, 7)",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id BETWEEN s.id AND s.id",
    "SELECT COUNT(*) FROM patients p, stays s WHERE p.id = p.id AND s.id = s.id",
    # a public table between two people
    "SELECT COUNT(*) FROM patients p, regions r, patients q WHERE p.sex = r.sex AND r.sex = q.sex",
    "SELECT COUNT(*) FROM regions r, patients p, patients q WHERE r.sex = p.sex AND r.sex = q.sex",
    "SELECT COUNT(*) FROM patients p, stays s, patients q WHERE p.id = s.id AND q.sex = p.sex",
    # ids that were renamed or made
    "SELECT COUNT(*) FROM patients p, (SELECT days AS id FROM stays) s WHERE p.id = s.id",
    "SELECT COUNT(*) FROM patients p, (SELECT id + 0 AS id FROM stays) s WHERE p.id = s.id",
    "SELECT COUNT(*) FROM patients p, stays AS s (id, stay, days) WHERE p.id = s.id",
    "WITH s AS (SELECT MIN(id) AS id FROM stays GROUP BY id) SELECT COUNT(*) FROM patients p, s WHERE p.id = s.id",
]


@pytest.mark.parametrize("sql", OTHERS)
def test_rows_of_two_people_met(sql):
    with clinic(**FEW) as database:
        with pytest.raises(QueryError, match=r"same unit|is the unit's id"):
            database.sql(sql, epsilon=1.0)
        assert database.account.history() == ()


EXISTS = [
    "stays s WHERE EXISTS (SELECT * FROM patients)",
    "stays s WHERE NOT EXISTS (SELECT * FROM patients WHERE id = 3)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.id = 3)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.born = s.days)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.id = s.id OR p.id = 3)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE NOT p.id = s.id)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.id <> s.id)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.id = id)",
    "stays s WHERE EXISTS (SELECT * FROM patients s WHERE s.id = s.id)",
    "stays s WHERE EXISTS (SELECT * FROM patients p WHERE s.id = 3 AND p.id = 3)",
    "stays s WHERE EXISTS (SELECT * FROM patients p, regions r WHERE r.sex = p.sex AND s.days > 3)",
    "stays s WHERE EXISTS (SELECT * FROM stays t WHERE t.stay = s.days)",
    "tests t WHERE EXISTS (SELECT * FROM patients p WHERE p.id = t.stay)",
    "tests t WHERE NOT EXISTS (SELECT * FROM tests u WHERE u.result > t.result)",
    "patients p WHERE EXISTS (SELECT COUNT(*) FROM stays s WHERE s.id = p.id)",
    "patients p WHERE EXISTS (SELECT s.id FROM stays s GROUP BY s.id HAVING COUNT(*) > 2)",
    "patients p WHERE EXISTS (SELECT 1 FROM stays s WHERE s.id = p.id LIMIT 0)",
    "patients p WHERE EXISTS (SELECT 1 FROM stays s WHERE s.id = p.id UNION ALL SELECT 1 FROM stays)",
    "patients p WHERE EXISTS (SELECT * FROM stays s WHERE s.id = p.id) OR p.born = 1950",
    "patients p WHERE EXISTS (SELECT * FROM stays s WHERE s.id = p.id) = TRUE",
    "patients p WHERE (SELECT COUNT(*) FROM stays s WHERE s.id = p.id) > 0",
    "stays s WHERE stay IN (SELECT result FROM tests)",
    "stays s WHERE days IN (SELECT stay FROM tests)",
    "stays s WHERE stay + 0 IN (SELECT stay FROM tests)",
    "stays s WHERE stay NOT IN (SELECT stay + 0 FROM tests)",
    "stays s WHERE (stay, 1) IN (SELECT stay, result FROM tests)",
]


@pytest.mark.parametrize("rows", EXISTS)
def test_a_row_was_kept_or_hidden_by_another_persons(rows):
    with clinic(**FEW) as database:
        with pytest.raises(QueryError):
            database.sql(f"SELECT COUNT(*) FROM {rows}", epsilon=1.0)
        assert database.account.history() == ()


PUBLIC_ROWS = [
    "SELECT * FROM regions r WHERE EXISTS (SELECT * FROM patients p WHERE p.sex = r.sex)",
    "SELECT * FROM regions r WHERE NOT EXISTS (SELECT * FROM patients p WHERE p.sex = r.sex)",
    "SELECT * FROM regions r WHERE EXISTS (SELECT * FROM patients)",
    "SELECT * FROM regions WHERE sex IN (SELECT sex FROM patients)",
    "SELECT * FROM regions r WHERE EXISTS (SELECT * FROM regions q WHERE EXISTS (SELECT * FROM patients))",
    "SELECT a.* FROM regions a, regions b WHERE a.sex = b.sex AND EXISTS (SELECT * FROM stays WHERE days = 3)",
]


@pytest.mark.parametrize("inner", PUBLIC_ROWS)
def test_a_public_table_carried_who_is_there(inner):
    """Rows of a public table belong to nobody: if private rows could choose them, each
    person would choose for all.
    """
    with clinic(**FEW) as database:
        for sql in (
            f"SELECT COUNT(*) FROM patients JOIN ({inner}) t USING (sex)",
            f"SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM ({inner}) t)",
            f"SELECT COUNT(*) FROM patients WHERE sex IN (SELECT sex FROM ({inner}) t)",
        ):
            with pytest.raises(
                QueryError, match=r"EXISTS|only compare ids of the same unit"
            ):
                database.sql(sql, epsilon=1.0)
        assert database.account.history() == ()


def test_rows_that_are_units_met():
    """Each row is a person of its own: nothing may compare two of them."""
    with visits([row("p1"), row("p2")], unit="row") as database:
        for sql in (
            "SELECT COUNT(*) FROM visits a, visits b WHERE a.patient_id = b.patient_id",
            "SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT * FROM visits b WHERE a.patient_id = b.patient_id)",
            "SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT * FROM visits b WHERE b.cost > a.cost)",
            "SELECT COUNT(*) FROM visits a WHERE patient_id IN (SELECT patient_id FROM visits)",
        ):
            with pytest.raises(QueryError):
                database.sql(sql, epsilon=1.0)


MULTIPLIED = {
    "a comma": "SELECT COUNT(*), SUM(days) FROM patients p, stays s WHERE s.id = p.id",
    "commas in another order": "SELECT COUNT(*), SUM(result) FROM tests t, regions r, patients p, stays s "
    "WHERE p.id = s.id AND r.sex = p.sex AND s.stay = t.stay",
    "a comma with itself": "SELECT COUNT(*), SUM(a.days - b.days) FROM stays a, stays b, stays c "
    "WHERE a.id = b.id AND c.id = b.id",
    "the same key": "SELECT COUNT(*) FROM stays a, stays b WHERE a.stay = b.stay",
    "a public table": "SELECT COUNT(*), SUM(born - 1900) FROM regions r, patients p",
    "a cross join": "SELECT COUNT(*) FROM stays s CROSS JOIN patients p WHERE p.id = s.id AND p.born > s.days",
    "partners": "SELECT COUNT(*), SUM(days) FROM stays s WHERE EXISTS (SELECT * FROM patients p WHERE p.id = s.id)",
    "no partners": "SELECT COUNT(*), SUM(days) FROM stays s WHERE NOT EXISTS "
    "(SELECT * FROM stays t WHERE t.id = s.id AND t.days > s.days)",
    "linked partners": "SELECT COUNT(*) FROM stays s WHERE EXISTS (SELECT * FROM tests t WHERE t.stay = s.stay)",
    "no linked partners": "SELECT COUNT(*) FROM tests t WHERE NOT EXISTS "
    "(SELECT * FROM stays s WHERE t.stay = s.stay AND s.days < 4)",
    "a key": "SELECT COUNT(*), SUM(days) FROM stays WHERE stay IN (SELECT stay FROM tests WHERE result > 0)",
    "no key": "SELECT COUNT(*), SUM(days) FROM stays WHERE stay NOT IN (SELECT stay FROM tests WHERE result > 0)",
}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("how", MULTIPLIED)
@pytest.mark.parametrize(
    "cost", [{"epsilon": 1.0}, {"rho": 0.1}], ids=["laplace", "gaussian"]
)
def test_one_persons_rows_were_multiplied_after_they_had_been_bounded(how, cost):
    stated = cost | {"radius": 8}
    with clinic(**FEW) as one, clinic(**BOTH) as other:
        (before,), (after,) = (
            one.sql(MULTIPLIED[how], **stated).rows,
            other.sql(MULTIPLIED[how], **stated).rows,
        )
        limits = promised(one, MULTIPLIED[how], **stated)
        assert limits == promised(other, MULTIPLIED[how], **stated)
    assert len(limits) == len(before)
    assert all(
        abs(b - a) <= SHOWN * limit
        for a, b, limit in zip(before, after, limits, strict=True)
    )


TWICE = {
    "patients": [(1, "F", 1950), (2, "M", 1960)],
    "stays": [(10, 1, 3), (10, 2, 4), (20, 2, 5), (None, 1, 6), (None, 2, 7)],
    "tests": [(10, 1), (20, 2), (None, 3), (99, 4)],
}
"""A stay that two people have, stays without a key, tests of it, of none and of an
unknown one.
"""


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT COUNT(*) FROM stays s, tests t WHERE s.stay = t.stay", 1),
        (
            "SELECT COUNT(*) FROM stays s WHERE EXISTS (SELECT * FROM tests t WHERE t.stay = s.stay)",
            1,
        ),
        (
            "SELECT COUNT(*) FROM stays s WHERE NOT EXISTS (SELECT * FROM tests t WHERE t.stay = s.stay)",
            4,
        ),
        ("SELECT COUNT(*) FROM stays WHERE stay IN (SELECT stay FROM tests)", 1),
        ("SELECT COUNT(*) FROM stays WHERE stay NOT IN (SELECT stay FROM tests)", 2),
        ("SELECT COUNT(*) FROM stays a, stays b WHERE a.stay = b.stay", 3),
        (
            "SELECT COUNT(*) FROM stays a WHERE EXISTS (SELECT * FROM stays b WHERE a.stay = b.stay AND a.id <> b.id)",
            0,
        ),
        (
            "SELECT COUNT(*) FROM stays a WHERE NOT EXISTS (SELECT * FROM stays b WHERE a.stay = b.stay)",
            2,
        ),
        (
            "SELECT COUNT(*) FROM tests t WHERE EXISTS (SELECT * FROM stays s WHERE t.stay = s.stay)",
            1,
        ),
    ],
)
def test_a_key_that_two_people_have_led_from_one_to_the_other(sql, answer):
    """Its tests belong to nobody, and a row meets only rows of its own owner, whatever
    the keys say.
    """
    with clinic(**TWICE) as database:
        assert database.sql(sql, epsilon=1.0, radius=100).rows == ((answer,),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients p, stays s WHERE p.id = s.id AND s.days > 2",
        "SELECT sex, COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM stays s WHERE s.id = p.id) GROUP BY sex",
        "SELECT COUNT(*) FROM stays s WHERE NOT EXISTS (SELECT * FROM tests t WHERE t.stay = s.stay)",
        "SELECT COUNT(*) FROM patients p, stays s WHERE p.born = s.days",
        "SELECT stay, COUNT(*) FROM tests GROUP BY stay",
    ],
)
def test_what_is_seen_besides_the_numbers_depended_on_the_rows(sql):
    """Answers, refusals, messages and costs are the same for an empty clinic, an odd
    one and a full one.
    """
    shown = []
    for rows in ({}, FEW, BOTH, TWICE):
        with clinic(**rows) as database:
            shown.append(seen(database, sql, epsilon=1.0, radius=5))
    assert all(one == shown[0] for one in shown)


@pytest.mark.parametrize("key", ["stay", "s.stay", "(s.stay)"])
def test_groups_of_one_person_each_were_asked_for_through_a_key(key):
    """Each group would be about one person: refused before it costs anything, since no
    such key is ever named.
    """
    with clinic(**FEW) as database:
        with pytest.raises(QueryError, match="identifies one unit"):
            database.sql(
                f"SELECT {key}, COUNT(*) FROM tests s GROUP BY {key}", epsilon=1.0
            )
        assert database.account.history() == ()
