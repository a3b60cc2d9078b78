"""A condition that fails for one row only: whether that row is there must not be seen.

In other engines these raise, and some print the value: DuckDB says which product
overflowed, PostgreSQL which text was no number. An analyst who may ask `WHERE 1 / (cost
- 42) > 0` learns from the error that somebody paid 42.
"""

from __future__ import annotations

from datetime import date, datetime

import pytest

from tests.attacks.analyst import row, seen, visits

OTHERS = [
    row("p1"),
    row("p1", cost=9),
    row("p2", ward="B"),
    row("p3", note=None, weight=None, points=None),
]
LAST, FIRST = date(9999, 12, 31), date(1, 1, 1)
EDGES = {"day": LAST, "at": datetime(9999, 12, 31, 23, 59, 59)}
EARLY = {"day": FIRST, "at": datetime(1, 1, 1)}
BIG, SMALL = (
    {"points": 2**63 - 1, "weight": 1e308},
    {"points": -(2**63), "weight": 5e-324},
)
SEVENTEEN = {"points": 17, "weight": 17.0, "note": "17"}
ZERO = {"points": 0, "weight": 0.0, "note": "0"}
CASES = [
    ("1 / (points - 17)", SEVENTEEN),
    ("1 // (points - 17)", SEVENTEEN),
    ("1 % (points - 17)", SEVENTEEN),
    ("points % (points - 17)", SEVENTEEN),
    ("1 / (weight - 17)", SEVENTEEN),
    ("weight % (weight - 17)", SEVENTEEN),
    ("1 / NULLIF(points, 17)", SEVENTEEN),
    ("LN(points)", ZERO),
    ("LN(weight)", ZERO),
    ("LOG2(points) + LOG10(weight) + LOG(weight)", ZERO),
    ("LN(-points)", SEVENTEEN),
    ("SQRT(16 - points)", SEVENTEEN),
    ("SQRT(-weight)", SEVENTEEN),
    ("points * points", BIG),
    ("points * 4611686018427387904", BIG),
    ("points + points", BIG),
    ("points - 9223372036854775807", SMALL),
    ("-points", SMALL),
    ("ABS(points)", SMALL),
    ("points // -1", SMALL),
    ("points % -1", SMALL),
    ("CAST(points * 2.0 AS INTEGER)", BIG),
    ("CAST(weight AS INTEGER)", BIG),
    ("CAST(ROUND(weight, -3) AS INTEGER)", BIG),
    ("FLOOR(weight) + CEIL(weight)", BIG),
    ("ROUND(points, -15)", BIG),
    ("EXP(points)", BIG),
    ("EXP(weight)", BIG),
    ("POWER(points, 1000)", BIG),
    ("POWER(weight, -1000)", SMALL),
    ("POWER(-points, 0.5)", SEVENTEEN),
    ("POWER(0, -weight)", SEVENTEEN),
    ("weight * 1e308", BIG),
    ("1 / weight", SMALL),
    ("weight * weight - weight * weight", BIG),
    ("CAST(note AS INTEGER)", {"note": "seventeen"}),
    ("CAST(note AS INTEGER)", {"note": "99999999999999999999"}),
    ("CAST(note AS INTEGER)", {"note": "1e999999999"}),
    ("CAST(note AS DOUBLE)", {"note": "1e400"}),
    ("CAST(note AS DOUBLE)", {"note": "nan"}),
    ("CAST(note AS BOOLEAN) IS NULL", {"note": "perhaps"}),
    ("CAST(note AS DATE)", {"note": "2022-02-30"}),
    ("CAST(note AS DATE)", {"note": "infinity"}),
    ("CAST(note AS TIMESTAMP)", {"note": "294247-01-10 04:00:54.775806"}),
    ("CAST(note AS TIMESTAMP)", {"note": "2022-02-02 25:61:61 Nowhere/Town"}),
    ("CAST(CAST(points AS TEXT) || '9' AS INTEGER)", BIG),
    ("day + INTERVAL 1 DAY", EDGES),
    ("day + 3000000", EDGES),
    ("at + INTERVAL 7000 YEAR", EDGES),
    ("day - INTERVAL 1 MONTH", EARLY),
    ("at - INTERVAL 3000000 DAY", EARLY),
    ("DATE_DIFF('second', at, TIMESTAMP '0001-01-01 00:00:00')", EDGES),
    ("DATE_TRUNC('week', day)", EARLY),
    ("EXTRACT(epoch FROM at)", EARLY),
    ("CAST(at AS DATE) - day", EDGES | {"day": FIRST}),
    ("SUBSTRING(note, 3)", {"note": ""}),
    ("SUBSTRING(note, -99999999999, 99999999999)", {"note": "x"}),
    ("LEFT(note, 9999999999)", {"note": ""}),
    ("note LIKE '%\\%'", {"note": "\\"}),
    ("note LIKE '\\'", {"note": "\\"}),
    ("note LIKE '!%%' ESCAPE '!'", {"note": "%!"}),
    ("note ILIKE '%İ_ß%'", {"note": "i̇xss"}),
    ("CONTAINS(note, '') AND STARTS_WITH(note, note)", {"note": ""}),
    ("LENGTH(note || note || note)", {"note": "🙂" * 30_000}),
    ("UPPER(note) || LOWER(note)", {"note": "ǅﬃ\u0301\x01"}),
    ("TRIM(note)", {"note": " \t\n\u00a0"}),
]


HIDDEN = [row(f"h{number}", **special) for number, (_, special) in enumerate(CASES)]


@pytest.fixture(scope="module")
def worlds():
    """The same table without the rows for which something fails, with them, and empty."""
    opened = [visits(rows) for rows in (OTHERS, [*OTHERS, *HIDDEN], [])]
    yield opened
    for database in opened:
        database.close()


def check(worlds, sql):
    first, *others = (seen(world, sql, epsilon=1.0, radius=2) for world in worlds)
    assert first[-1][-3:] == ["charge", "store", "settle"]
    assert all(other == first for other in others)


@pytest.mark.parametrize("value", sorted({value for value, _ in CASES}))
def test_a_filter_raised_for_one_row_only(worlds, value):
    check(
        worlds,
        f"SELECT ward, COUNT(*), COUNT({value}) FROM visits WHERE ({value}) IS NOT NULL GROUP BY ward",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(LEAST(GREATEST(1 / (points - 17), -1), 1)), AVG(LEAST(GREATEST(LN(weight), 0), 9)) FROM visits",
        "SELECT MAX(LEAST(GREATEST(EXP(points), 0), 9)), MEDIAN(LEAST(GREATEST(CAST(note AS REAL), 0), 9)) FROM visits",
        "SELECT COUNT(DISTINCT 1 // (points - 17)), COUNT(DISTINCT CAST(note AS DATE)) FROM visits",
        "SELECT FLOOR(10 / (cost - 7)) AS k, COUNT(*) FROM visits GROUP BY k",
        "SELECT COUNT(*) FILTER (WHERE 1 / (points - 17) > 0), STDDEV(LEAST(GREATEST(points, 0), 9)) FROM visits",
        "SELECT AVG(LEAST(x, 9)) FROM (SELECT patient_id, COUNT(1 % (points - 17)) AS x FROM visits GROUP BY 1)",
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND 1 / (a.points - b.points) > 0",
        "SELECT CORR(LEAST(GREATEST(weight, 0), 1), LEAST(GREATEST(1 / weight, 0), 1)) FROM visits",
        "SELECT SUM(LEAST(s, 9)) FROM (SELECT patient_id, SUM(LEAST(ABS(points), 9)) AS s FROM visits GROUP BY 1)",
    ],
)
def test_an_aggregate_raised_for_one_row_only(worlds, sql):
    check(worlds, sql)
