"""Ways to look at rows, or at rows of others: what is not an aggregate over everybody
is refused, and costs nothing.
"""

from __future__ import annotations

import pytest

from dither.errors import QueryError
from tests.attacks.analyst import row, visits

BY_ID = [
    "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
    "SELECT patient_id AS p, AVG(cost) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits GROUP BY ward, patient_id",
    "SELECT DISTINCT patient_id FROM visits",
    "SELECT who, COUNT(*) FROM (SELECT patient_id AS who, cost FROM visits) GROUP BY who",
    "WITH v(w) AS (SELECT patient_id FROM visits) SELECT w, COUNT(*) FROM v GROUP BY ALL",
    "SELECT a.patient_id, COUNT(*) FROM visits a JOIN visits b USING (patient_id) GROUP BY a.patient_id",
    "SELECT patient_id, COUNT(*) FROM (SELECT patient_id, MAX(cost) FROM visits GROUP BY 1) GROUP BY patient_id",
    "SELECT patient_id, SUM(cost) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) GROUP BY patient_id",
    "SELECT MIN(patient_id) FROM visits",
    "SELECT MAX(n) FROM (SELECT patient_id, MAX(patient_id) AS n FROM visits GROUP BY patient_id)",
]


@pytest.mark.parametrize("sql", BY_ID)
def test_everybody_was_a_group_of_their_own(sql):
    with visits([row()]) as database:
        with pytest.raises(QueryError, match=r"unit's id"):
            database.sql(sql, epsilon=1.0)
        assert database.account.history() == ()


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    "key",
    [
        "patient_id || ''",
        "LOWER(patient_id)",
        "CONCAT('a', patient_id)",
        "note",
        "points",
    ],
)
def test_everybody_was_a_group_of_their_own_in_disguise(key):
    """Private keys that one person has alone are never named, even if no noise were
    added.
    """
    people = [
        row(f"p{number}", note=str(number), points=number) for number in range(50)
    ]
    with visits(people) as database:
        assert (
            database.sql(
                f"SELECT {key}, COUNT(*) FROM visits GROUP BY 1", epsilon=1.0
            ).rows
            == ()
        )


ROWS_OF_OTHERS = [
    ("SELECT * FROM visits", "rows of a private table cannot be released"),
    (
        "SELECT cost FROM visits WHERE patient_id = 'p1'",
        "rows of a private table cannot be released",
    ),
    (
        "SELECT note, cost FROM visits LIMIT 1",
        "rows of a private table cannot be released",
    ),
    ("SELECT visits FROM visits", "rows of a private table cannot be released"),
    ("SELECT COLUMNS(*) FROM visits", "cannot be released|COLUMNS"),
    ("FROM visits", "rows of a private table cannot be released"),
    ("FROM visits SELECT COUNT(*), cost", "neither in GROUP BY"),
    ("SELECT ANY_VALUE(note) FROM visits", "the aggregate ANY_VALUE is not supported"),
    ("SELECT FIRST(note) FROM visits", "the aggregate FIRST is not supported"),
    (
        "SELECT LIST(note), STRING_AGG(note, ',') FROM visits",
        "is not supported",
    ),
    ("SELECT ARG_MAX(note, cost) FROM visits", "the aggregate .* is not supported"),
    (
        "SELECT MODE(note), HISTOGRAM(cost) FROM visits",
        "the aggregate .* is not supported",
    ),
    ("SELECT MIN(note) FROM visits", "needs numbers or dates"),
    ("SELECT RANK() OVER (ORDER BY cost) FROM visits", "window function"),
    (
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (ORDER BY cost) AS n FROM visits) WHERE n = 1",
        "window function",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT LAG(cost) OVER (PARTITION BY patient_id) AS n FROM visits)",
        "window function",
    ),
    ("SELECT SUM(cost) OVER () FROM visits", "window function"),
    ("SELECT COUNT(*) FROM visits QUALIFY ROW_NUMBER() OVER () = 1", "window"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 1)", "LIMIT"),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY cost OFFSET 3)",
        "ORDER BY|OFFSET",
    ),
    (
        "WITH v AS (SELECT * FROM visits ORDER BY cost LIMIT 5) SELECT COUNT(*) FROM v",
        "LIMIT|ORDER BY",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM visits FETCH FIRST 1 ROW ONLY)",
        "LIMIT|FETCH",
    ),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ON (ward) * FROM visits)", "DISTINCT ON"),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT cost FROM visits)",
        "compare rows of different units",
    ),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT", "SAMPLE"),
    ("SELECT COUNT(*) FROM visits USING SAMPLE 5", "SAMPLE"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits TABLESAMPLE RESERVOIR(1))", "SAMPLE"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits USING SAMPLE 1 ROWS)", "SAMPLE"),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
        "other units' data",
    ),
    (
        "SELECT COUNT(*), (SELECT MAX(cost) FROM visits) FROM visits",
        "other units' data",
    ),
    (
        "SELECT SUM(cost - (SELECT MIN(cost) FROM visits)) FROM visits",
        "other units' data",
    ),
    (
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) > (SELECT SUM(cost) FROM visits)",
        "other units' data",
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.cost = 42)",
        "EXISTS",
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.cost > v.cost)",
        "EXISTS",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost IN (SELECT cost FROM visits WHERE patient_id = 'p1')",
        "only compare ids of the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE note IN (SELECT patient_id FROM visits)",
        "only compare ids of the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT note FROM visits)",
        "only compare ids of the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT LOWER(patient_id) FROM visits)",
        "only compare ids of the same unit",
    ),
    ("SELECT COUNT(*) FROM visits WHERE cost > ANY (SELECT cost FROM visits)", "ANY"),
    ("SELECT COUNT(*) FROM visits WHERE cost >= ALL (SELECT cost FROM visits)", "ALL"),
    (
        "SELECT COUNT(*) FROM visits WHERE 1 = 1 OR patient_id IN (SELECT patient_id FROM visits)",
        "IN .SELECT",
    ),
    ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.cost = b.cost", "the same unit"),
    ("SELECT COUNT(*) FROM visits a, visits b", "the same unit"),
    ("SELECT COUNT(*) FROM visits a CROSS JOIN visits b", "the same unit"),
    (
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id OR a.cost = 1",
        "the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id <> b.patient_id",
        "the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.note",
        "the same unit",
    ),
    (
        "SELECT COUNT(*) FROM visits a JOIN visits b ON LOWER(a.patient_id) = LOWER(b.patient_id)",
        "the same unit",
    ),
    ("SELECT COUNT(*) FROM visits a SEMI JOIN visits b ON a.cost = b.cost", "SEMI"),
    ("SELECT COUNT(*) FROM visits a ANTI JOIN visits b USING (patient_id)", "ANTI"),
    (
        "SELECT COUNT(*) FROM visits a ASOF JOIN visits b ON a.patient_id = b.patient_id AND a.at > b.at",
        "ASOF",
    ),
    (
        "SELECT COUNT(*) FROM visits a POSITIONAL JOIN visits b",
        "POSITIONAL|belong to the same unit",
    ),
    ("SELECT COUNT(*) FROM visits a NATURAL JOIN visits b", "NATURAL"),
    (
        "SELECT COUNT(*) FROM visits v, LATERAL (SELECT MAX(cost) FROM visits w WHERE w.cost < v.cost)",
        ".",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM visits EXCEPT SELECT * FROM visits WHERE cost = 1)",
        "EXCEPT",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM visits INTERSECT SELECT * FROM visits)",
        "INTERSECT",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT patient_id FROM visits)",
        "UNION ALL",
    ),
    (
        "SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
        "only aggregate within one unit",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT MAX(cost) AS m FROM visits) WHERE m = 42",
        "only aggregate within one unit",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost) WHERE n = 1",
        "only aggregate within one unit",
    ),
    (
        "WITH RECURSIVE r AS (SELECT * FROM visits UNION ALL SELECT * FROM r) SELECT COUNT(*) FROM r",
        "RECURSIVE",
    ),
    ("SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('A'))", "PIVOT"),
    ("SELECT COUNT(*) FROM (PIVOT visits ON ward USING SUM(cost))", "."),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (ward)", "ROLLUP"),
    (
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ())",
        "GROUPING SETS",
    ),
]


@pytest.mark.parametrize(("sql", "why"), ROWS_OF_OTHERS, ids=lambda part: part[:90])
def test_rows_of_other_units_were_looked_at(sql, why):
    with visits([row()]) as database:
        with pytest.raises(QueryError, match=why):
            database.sql(sql, epsilon=1.0)
        with pytest.raises(QueryError, match=why):
            database.preview(sql, epsilon=1.0)
        assert database.account.history() == ()
