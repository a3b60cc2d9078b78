"""Attacks on what a system believes of a value's range: noise for the wrong range hides
nobody.

Each row is a unit here, so nothing is clipped per unit: if a range were wrong, one row
would move the sum by more than the plan states.
"""

from __future__ import annotations

import math

import pytest

from dither.errors import QueryError
from tests.attacks.analyst import promised, row, visits

SHOWN = 1 + 1e-5
"""The plan shows six digits of a sensitivity."""
FEW = [
    row(),
    row(cost=3, rating=0.25),
    row(note=None, rating=None, weight=None, cost=None),
]
EXTREMES = [
    row("p17", cost=cost, points=points, rating=rating, weight=weight, note=note)
    for cost, points, rating, weight, note in [
        (10**15, 2**63 - 1, math.inf, math.inf, "1e400"),
        (-(10**15), -(2**63), -math.inf, -math.inf, "-inf"),
        (100, 10**9, math.nan, math.nan, "nan"),
        (0, 0, 1e308, 1e308, "9" * 300),
        (None, None, None, None, None),
    ]
]


@pytest.fixture(scope="module")
def worlds():
    """A few rows, and the same with each of the extreme ones."""
    opened = [
        visits(rows, unit="row")
        for rows in (FEW, *([*FEW, extra] for extra in EXTREMES))
    ]
    yield opened
    for database in opened:
        database.close()


def check(worlds, sql):
    """One row more moves no number of the answer further than the plan says."""
    limits = promised(worlds[0], sql, epsilon=1.0)
    (before,), *others = [world.sql(sql, epsilon=1.0).rows for world in worlds]
    assert len(before) == len(limits)
    for (after,) in others:
        moves = [abs(b - a) for a, b in zip(before, after, strict=True)]
        assert all(
            math.isfinite(move) and move <= SHOWN * limit
            for move, limit in zip(moves, limits, strict=True)
        )


REDEFINED = {
    "in a subquery": "SELECT SUM(cost) FROM (SELECT cost * 1000 AS cost FROM visits)",
    "in a query of its own": "WITH visits AS (SELECT cost * cost * 9 AS cost FROM visits) SELECT SUM(cost) FROM visits",
    "by a list of names": "SELECT SUM(cost) FROM (SELECT rating, cost * -1e9 FROM visits) AS v(rating, cost)",
    "by swapping": "SELECT SUM(rating) FROM (SELECT cost AS rating, rating AS cost FROM visits)",
    "by a union": "SELECT SUM(cost) FROM (SELECT cost FROM visits UNION ALL SELECT cost * 500 FROM visits)",
    "by a case": "SELECT SUM(cost) FROM (SELECT CASE WHEN ward = 'A' THEN cost ELSE 50000 END AS cost FROM visits)",
    "by a cast": "SELECT SUM(cost) FROM (SELECT CAST(rating * 1e6 AS INTEGER) AS cost FROM visits)",
    "twice": "WITH a AS (SELECT cost * 7 AS c FROM visits), b AS (SELECT c * c AS cost FROM a) SELECT SUM(cost) FROM b",
    "outside its bounds": "SELECT SUM(cost) FROM (SELECT cost + 5000 AS cost FROM visits)",
}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("how", REDEFINED)
def test_bounds_survived_a_redefined_column_in_opendp_and_smartnoise(worlds, how):
    """opendp#2936, smartnoise-core#356: a sum of the new column was noised for the old
    column's bounds.
    """
    check(worlds, REDEFINED[how])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(cost) FROM (SELECT points AS cost FROM visits)",
        "SELECT SUM(cost) FROM (SELECT cost + points AS cost FROM visits)",
        "SELECT SUM(cost) FROM (SELECT LENGTH(note) AS cost FROM visits)",
        "SELECT SUM(cost) FROM (SELECT CAST(note AS INTEGER) AS cost FROM visits)",
        "SELECT SUM(cost) FROM (SELECT COALESCE(cost, points) AS cost FROM visits)",
        "SELECT SUM(cost) FROM (SELECT cost FROM visits UNION ALL SELECT points FROM visits)",
        "SELECT AVG(rating) FROM (SELECT rating / weight AS rating FROM visits)",
        "SELECT AVG(rating) FROM (SELECT CASE WHEN ward = 'A' THEN rating ELSE weight END AS rating FROM visits)",
        "SELECT MAX(rating) FROM (SELECT 1 / rating AS rating FROM visits)",
        "SELECT SUM(CASE WHEN cost > 0 THEN points END) FROM visits",
        "SELECT SUM(EXP(weight)) FROM visits",
        # LEAST leaves a NULL out: then nothing caps it
        "SELECT SUM(LEAST(GREATEST(points, 0), cost)) FROM visits",
        "SELECT SUM(GREATEST(LEAST(points, 9), cost - 100)) FROM visits",
    ],
)
def test_a_column_lost_its_bounds_and_was_summed_all_the_same(sql):
    with visits(FEW, unit="row") as database:
        with pytest.raises(QueryError, match=r"bound.*declare .*, or clamp the values"):
            database.sql(sql, epsilon=1.0)
        assert database.account.history() == ()


NOT_NUMBERS = [
    "rating",
    "LEAST(GREATEST(COALESCE(rating, CAST('nan' AS DOUBLE)), 0), 1)",
    "LEAST(GREATEST(COALESCE(rating, CAST('inf' AS DOUBLE)), 0), 1)",
    "COALESCE(rating, 0.0 / 0.0)",
    "COALESCE(rating, LN(-1))",
    "COALESCE(rating, POWER(-8, 0.5))",
    "COALESCE(rating, EXP(1000) - EXP(1000))",
    "LEAST(GREATEST(weight, 0), 1)",
    "LEAST(GREATEST(weight * weight - weight * weight, 0), 1)",
    "LEAST(GREATEST(COALESCE(weight, CAST(note AS DOUBLE)), 0), 1)",
    "LEAST(GREATEST(LN(weight), 0), 1)",
    "LEAST(GREATEST(1 / (weight - 0.5), -1), 1)",
    "CASE WHEN weight > 0 THEN 1 ELSE 0 END",
    "CASE WHEN weight = weight THEN rating ELSE 1 - rating END",
]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_a_null_was_filled_with_nan_and_then_clipped_in_opendp(worlds, value):
    """opendp#2939: clamping leaves NaN as it is, and one NaN makes the whole sum NaN."""
    check(worlds, f"SELECT SUM({value}), COUNT(*) FROM visits")


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "value",
    [
        "CASE WHEN patient_id = 'p17' THEN 1e6 * rating END",
        "CASE WHEN patient_id = 'p17' THEN 1e6 * cost ELSE 0 END",
        "CASE patient_id WHEN 'p17' THEN POWER(cost, 6) ELSE rating END",
        "CAST(patient_id = 'p17' AS INTEGER) * 1000000 * cost",
        "IF(patient_id LIKE 'p17', cost, 0) * 1000000",
        "LENGTH(LEFT(patient_id, 3)) * 0 + 1000000 * cost",
    ],
)
def test_one_person_was_made_to_stick_out_by_a_case(worlds, value):
    """SUM(CASE WHEN id = 17 THEN 1e6 * x END): the million is in the noise as well."""
    sql = f"SELECT SUM(LEAST(GREATEST({value}, -1e12), 1e12)) FROM visits"
    assert promised(worlds[0], sql, epsilon=1.0)[0] >= 1e6
    check(worlds, sql)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "value",
    [
        "LEAST(GREATEST(points, 0), 10) * 100000",
        "EXP(LEAST(GREATEST(weight, 0), 10))",
        "POWER(LEAST(GREATEST(points, 1), 10), 9)",
        "LEAST(GREATEST(points, 0), 10) / LEAST(GREATEST(weight, 0.001), 1)",
        "LEAST(GREATEST(points, 0), 10) - 1e9 * LEAST(GREATEST(points, 0), 10)",
        "CASE WHEN LEAST(points, 10) = 10 THEN 123456789 ELSE 0 END",
    ],
)
def test_the_column_was_clamped_but_not_the_expression(worlds, value):
    check(worlds, f"SELECT SUM({value}) FROM visits")


@pytest.mark.parametrize(
    "value",
    [
        "points",
        "weight",
        "LEAST(points, 10)",
        "GREATEST(points, 0)",
        "LEAST(rating, weight)",
    ],
)
def test_a_column_without_a_bound_was_summed(value):
    with (
        visits(FEW, unit="row") as database,
        pytest.raises(QueryError, match=r"bound") as refused,
    ):
        database.sql(f"SELECT SUM({value}) FROM visits", epsilon=1.0)
    assert (
        "(with bounds= or in the catalogue), or clamp the values in the SQL: LEAST(GREATEST("
        in str(refused.value)
    )
