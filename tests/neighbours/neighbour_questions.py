"""Questions to ask of neighbouring databases: every kind of relation, condition, key
and aggregate, mixed at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import (
    Random,
)  # allowed: it chooses what to ask in a test, and its seeds are fixed

__all__ = ["CLINIC", "CONDITIONS", "NUMBERS", "SURVEY", "Source", "question"]


@dataclass(frozen=True)
class Source:
    """A FROM clause, and what can be asked of its rows: numbers with bounds, dates with
    bounds, anything that can be counted, public and private keys, and the unit's id."""

    name: str
    sql: str
    numbers: tuple[str, ...]
    dates: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    id: str = ""


WRITTEN = r"""
cost + 2 * big > 7; cost - big < score; -big > 3; cost / big > 0.1; big / score > 1; big // cost > 2
big % cost = 1; raw % score > 0; ABS(big) > 5; SIGN(raw) = -1; ROUND(raw) > 0; ROUND(score, 2) > 1.1
ROUND(big, -3) > 0; FLOOR(raw) = 0; CEIL(score) = 2; FLOOR(SQRT(score + 2.5)) >= 0; SQRT(raw) > 1; LN(raw) > 0
LOG10(cost) < 2; LOG2(raw) > 0; LOG(big) > 1; EXP(raw) > 1; EXP(score) < 100; POWER(score, 2) > 1
POWER(raw, cost) > 1; POWER(score, 0.5) > 1; LEAST(big, cost, 5) > 2; GREATEST(raw, score) > 0; cost = 7
note <> 'x'; score <= raw; day >= DATE '2020-02-01'; at < TIMESTAMP '2020-06-01 00:00:00'; note > 'm'
raw IS DISTINCT FROM score; big IS NOT DISTINCT FROM cost; raw IS NULL; note IS NOT NULL; ok IS TRUE
ok IS NOT FALSE; ok; NOT ok; cost IN (1, 7, NULL); note NOT IN ('x', 'y'); cost BETWEEN 0 AND big
day NOT BETWEEN DATE '2020-01-15' AND DATE '2020-02-15'; cost > 0 AND (ok OR note = 'x')
CASE WHEN cost > 5 THEN ok WHEN raw = 0 THEN NULL ELSE note = 'y' END; COALESCE(raw, score, 0) > 0
NULLIF(cost, 7) IS NULL; LOWER(note) = 'x'; UPPER(note) = 'SS'; LENGTH(note) > 1; TRIM(note) = 'x'
LTRIM(note) < RTRIM(note); note || note LIKE 'xx%'; CONCAT(note, ward) = 'xA'; SUBSTRING(note, 2, 3) = ''
LEFT(note, 1) = 'x'; note LIKE '%\_%'; note LIKE 'a!%%' ESCAPE '!'; note ILIKE 'É%'; STARTS_WITH(note, 'x')
CONTAINS(note, ward); CAST(note AS INTEGER) > 3; CAST(note AS DOUBLE) > 1; CAST(note AS DATE) > DATE '2000-01-01'
CAST(note AS TIMESTAMP) IS NULL; CAST(note AS BOOLEAN); CAST(raw AS INTEGER) > 0; CAST(big AS DOUBLE) > raw
CAST(raw AS VARCHAR) = '-0.0'; CAST(big AS VARCHAR) LIKE '9%'; CAST(day AS VARCHAR) LIKE '2020%'
CAST(at AS DATE) = day; CAST(ok AS INTEGER) = 1; CAST(cost AS BOOLEAN); EXTRACT(year FROM at) = 2020
EXTRACT(month FROM day) = 2; EXTRACT(dow FROM at) = 6; EXTRACT(doy FROM day) > 40; EXTRACT(epoch FROM at) > 0
EXTRACT(week FROM at) = 9; EXTRACT(quarter FROM at) = 1; EXTRACT(hour FROM at) > 5; EXTRACT(second FROM at) = 59
EXTRACT(minute FROM at) < 30; DATE_TRUNC('week', day) = DATE '2019-12-30'
DATE_TRUNC('year', at) < TIMESTAMP '2021-01-01 00:00:00'; DATE_TRUNC('hour', at) = at
DATE_DIFF('day', day, at) > 3; DATE_DIFF('month', at, day) < 3
DATE_DIFF('second', at, TIMESTAMP '2020-01-01 00:00:00') > 0; day - DATE '2020-02-01' > 3
at + INTERVAL 40 DAY > at; day + INTERVAL 1 MONTH > DATE '2020-03-01'; at - INTERVAL 9000 YEAR IS NULL
at + INTERVAL 7000 YEAR IS NULL; day + 3 > DATE '2020-02-01'
"""
CONDITIONS = tuple(
    one.strip() for line in WRITTEN.strip().splitlines() for one in line.split("; ")
)
NUMBERS = (
    "cost",
    "score",
    "cost * 3 - 7",
    "score * cost",
    "cost / 7",
    "LEAST(GREATEST(big, -5), 9)",
    "LEAST(GREATEST(raw, -1.5), 2.5)",
    "LEAST(GREATEST(big, -9223372036854775808), 9223372036854775807)",
    "COALESCE(cost, 1)",
    "COALESCE(score, -0.3)",
    "CASE WHEN ok THEN score WHEN cost > 3 THEN 2 END",
    "CASE WHEN note = 'x' THEN 1000000 ELSE 0 END",
    "EXTRACT(month FROM day)",
    "day - DATE '2020-02-01'",
    "FLOOR(score * 1.7)",
    "SQRT(score + 2.5)",
    "score * 1e-310",
    "cost * 30000000000000000",
    "EXP(score)",
    "ABS(cost) // 3",
    "LENGTH(LEFT(note, 5)) % 3",
    "0.3",
)
DATES = (
    "day",
    "LEAST(GREATEST(at, TIMESTAMP '2019-01-01 00:00:00'), TIMESTAMP '2022-01-01 00:00:00')",
    "DATE_TRUNC('week', day)",
)
OTHERS = (
    "note",
    "big",
    "raw",
    "at",
    "NULLIF(cost, 7)",
    "CASE WHEN ok THEN note END",
    "CAST(raw AS VARCHAR)",
    "day",
    "ok",
)
PUBLIC = (
    "ward",
    "LOWER(ward)",
    "ok",
    "cost // 40",
    "FLOOR(score)",
    "DATE_TRUNC('month', day)",
    "EXTRACT(month FROM day)",
    "CASE WHEN cost > 5 THEN 'high' WHEN raw > 0 THEN 'odd' ELSE 'low' END",
    "EXTRACT(dow FROM at)",
    "COALESCE(ward, 'none')",
)
PRIVATE = (
    "note",
    "big",
    "LOWER(note)",
    "LEFT(note, 1)",
    "CAST(at AS DATE)",
    "at",
    "DATE_TRUNC('month', at)",
    "CAST(raw AS VARCHAR)",
)

ROW = Source("row", "visits", NUMBERS, DATES, OTHERS, PUBLIC, PRIVATE)
UNIT = Source("scan", "visits", NUMBERS, DATES, OTHERS, PUBLIC, PRIVATE, "id")


def _like(source: Source, name: str, sql: str) -> Source:
    return Source(
        name,
        sql,
        source.numbers,
        source.dates,
        source.others,
        source.public,
        source.private,
        source.id,
    )


def _filtered(source: Source) -> list[Source]:
    return [_like(source, f"filter {one}", f"visits WHERE {one}") for one in CONDITIONS]


def _of_visits(sql: str, name: str, *, id: bool = True) -> Source:
    """Visits under the alias v, beside or within something else."""
    numbers, public = (
        ("v.cost", "v.score", "v.cost * 3 - v.score"),
        ("v.ward", "v.ok", "v.cost // 40"),
    )
    private = ("v.note", "v.big", "v.note || v.ward")
    return Source(
        name,
        sql,
        numbers,
        ("v.day",),
        ("v.note", "v.raw"),
        public,
        private,
        "v.id" if id else "",
    )


PUBLIC_JOINS = {
    "join public": "visits v JOIN wards w ON v.ward = w.ward",
    "left join public": "visits v LEFT JOIN wards w ON v.ward = w.ward AND v.cost < w.beds",
    "right join public": "wards w RIGHT JOIN visits v ON w.beds > v.big",
    "cross join public": "visits v CROSS JOIN wards w",
    "join public on a range": "visits v JOIN wards w ON v.cost BETWEEN 0 AND w.beds OR v.ward IS NULL",
    "in public": "visits v WHERE v.ward IN (SELECT ward FROM wards WHERE beds > 5)",
    "not in public": "visits v WHERE v.ward NOT IN (SELECT ward FROM wards)",
    "partners in public": "visits v WHERE EXISTS (SELECT * FROM wards w WHERE w.ward = v.ward AND w.beds > v.big)",
    "no partners in public": "visits v WHERE NOT EXISTS (SELECT * FROM wards w WHERE w.beds > v.cost)",
    "public with a comma": "wards w, visits v WHERE v.cost > w.beds AND w.ward = v.ward",
    "in public number": "visits v WHERE v.cost * 10 IN (SELECT beds FROM wards) AND v.ok",
}
UNIONS = {
    "union all": "(SELECT {id}ward, cost, score, note, raw, day, ok, big FROM visits UNION ALL "
    "SELECT {id}ward, -cost, score / 3, ward, score, day, NOT ok, cost FROM visits WHERE cost > 0) v",
    "union all with itself": "(SELECT * FROM visits UNION ALL SELECT * FROM visits UNION ALL SELECT * FROM visits) v",
    "project": "(SELECT {id}ward, -cost AS cost, score * 2 AS score, note, raw, day, cost > 3 AS ok, big "
    "FROM visits) v",
    "with": "(WITH a AS (SELECT * FROM visits WHERE ok), b AS (SELECT * FROM a UNION ALL SELECT * FROM visits) "
    "SELECT * FROM b WHERE raw > 0 OR cost > 0) v",
}
BOTH = Source(
    "",
    "",
    ("v.cost", "p.weight", "v.cost * p.weight", "COALESCE(v.score, p.weight)"),
    ("v.day",),
    ("p.city", "v.raw", "p.sex", "v.id", "p.id"),
    ("v.ward", "p.sex", "v.ok"),
    ("p.city", "v.note", "COALESCE(p.city, v.note)"),
    "v.id",
)
OWNED = {
    "inner join": "visits v JOIN people p ON v.id = p.id",
    "left join": "visits v LEFT JOIN people p ON v.id = p.id AND p.weight > 0.2",
    "right join": "visits v RIGHT JOIN people p ON v.id = p.id AND v.cost > 3",
    "full join": "visits v FULL JOIN people p ON v.id = p.id AND v.ok",
    "self join": "visits v JOIN (SELECT id, note AS city, score / 10 AS weight, ward AS sex FROM visits) p "
    "ON v.id = p.id AND v.ward = p.sex",
    "join of a summary": "visits v LEFT JOIN (SELECT id, sex, city, COUNT(*) AS n, MIN(weight) AS weight "
    "FROM people GROUP BY id, sex, city) p ON v.id = p.id AND p.n < v.cost",
    "join on other columns too": "people p JOIN visits v ON p.city <> v.note AND p.id = v.id",
    "comma": "visits v, people p WHERE p.id = v.id AND (p.weight < v.score OR v.ok)",
    "commas in another order": "codes c, wards w, people p, visits v "
    "WHERE p.id = v.id AND w.ward = v.ward AND c.visit = v.visit AND v.cost = c.grade",
    "comma after a left join": "wards w, visits v LEFT JOIN people p ON v.id = p.id WHERE w.ward = v.ward",
    "three joins": "people p JOIN visits v ON p.id = v.id LEFT JOIN people q ON q.id = p.id "
    "JOIN wards w ON w.ward = v.ward",
}
MEMBERS = {
    "of owners": "visits v WHERE v.id IN (SELECT id FROM people WHERE sex = 'F')",
    "not of owners": "visits v WHERE v.id NOT IN (SELECT id FROM people)",
    "of owners, nested": "visits v WHERE v.cost > 0 AND v.id NOT IN (SELECT id FROM visits WHERE raw > 0 AND "
    "id IN (SELECT id FROM people))",
    "of summaries": "visits v WHERE v.id IN (SELECT id FROM visits GROUP BY id HAVING COUNT(*) > 2 AND SUM(cost) > 10)",
    "partners": "visits v WHERE EXISTS (SELECT * FROM people p WHERE p.id = v.id AND p.weight < v.score)",
    "no partners": "visits v WHERE NOT EXISTS (SELECT * FROM visits w WHERE w.id = v.id AND w.cost > v.cost)",
    "linked partners": "visits v WHERE EXISTS (SELECT * FROM codes c WHERE c.visit = v.visit AND c.grade > 2)",
    "no linked partners": "visits v WHERE NOT EXISTS (SELECT 1 FROM codes c, wards w WHERE c.visit = v.visit AND "
    "w.ward = v.ward) AND v.visit IS NOT NULL",
    "partners of a key": "visits v WHERE v.visit IN (SELECT visit FROM visits WHERE cost > 3 OR ok)",
    "no partners of a key": "visits v WHERE v.visit NOT IN (SELECT visit FROM codes WHERE grade = 1)",
    "partners with partners": "visits v WHERE EXISTS (SELECT * FROM people p WHERE p.id = v.id AND NOT EXISTS "
    "(SELECT * FROM visits w WHERE w.id = p.id AND w.ok))",
    "linked join": "visits v JOIN codes c ON c.visit = v.visit",
    "linked left join": "visits v LEFT JOIN codes c ON c.visit = v.visit AND c.grade > 2",
    "distinct rows": "(SELECT DISTINCT * FROM visits) v",
}
LINKED = Source(
    "linked",
    "codes",
    ("grade", "grade * grade"),
    (),
    ("code",),
    ("grade", "grade > 2"),
    ("code", "LOWER(code)", "visit // 2"),
)
SUMMARY = (
    "COUNT(*) AS n, COUNT(raw) AS m, COUNT(DISTINCT note) AS k, SUM(cost) AS c, SUM(score) AS t, AVG(score) AS s, "
    "AVG(cost) AS a, MIN(raw) AS r, MAX(score) AS x, MAX(LENGTH(note)) AS note, MIN(day) AS day, SUM(big) AS g"
)
SUMMED = (
    "LEAST(n, 5)",
    "LEAST(GREATEST(c, -50), 90)",
    "LEAST(GREATEST(t, -3.3), 4.4)",
    "s",
    "a",
    "x",
    "LEAST(GREATEST(r, -1), 1)",
    "LEAST(GREATEST(g, -9), 9)",
    "FLOOR(SQRT(7.3 - s) * 10)",
    "LEAST(n * 4611686018427387904, 3) - LEAST(m, k, 4)",
)
SUMMED_OTHERS = ("note", "r", "n", "CAST(r AS VARCHAR)", "g")
SUMMED_KEYS = ("LEAST(n, 3)", "a > 3", "EXTRACT(month FROM day)")


def _summaries() -> list[Source]:
    """One row for each unit, or for each unit and key; the last ones are summaries of
    fewer rows than there are.
    """
    plain = f"(SELECT id, {SUMMARY} FROM visits GROUP BY id)"
    keyed = f"(SELECT id, ward, {SUMMARY} FROM visits GROUP BY id, ward)"
    made = f"(SELECT id, score * 2 AS z, {SUMMARY} FROM visits WHERE ok GROUP BY id, score * 2 HAVING COUNT(*) < 4)"
    twice = "(SELECT id, AVG(n) AS s, MAX(n) AS n, SUM(t) AS t FROM (SELECT id, ward, COUNT(*) AS n, AVG(score) AS t "
    twice += "FROM visits GROUP BY id, ward) GROUP BY id)"
    declared = "(SELECT id, COUNT(*) AS n, SUM(weight) AS t, SUM(LENGTH(sex)) AS c FROM people GROUP BY id)"
    owners = "(SELECT id, COUNT(*) AS n FROM (SELECT id FROM people UNION ALL SELECT id FROM visits) GROUP BY id)"
    few = (
        "n",
        "LEAST(t, 0.5)",
        "n * 4611686018427387904 % 7",
        "FLOOR(SQRT(0.7 - t))",
        "LEAST(c, 9)",
    )
    return [
        Source(
            "per unit",
            plain,
            SUMMED,
            ("day",),
            SUMMED_OTHERS,
            SUMMED_KEYS,
            ("note", "n", "CAST(r AS VARCHAR)"),
            "id",
        ),
        Source(
            "per unit and key",
            keyed,
            SUMMED,
            ("day",),
            SUMMED_OTHERS,
            ("ward", *SUMMED_KEYS),
            ("note", "n"),
            "id",
        ),
        Source(
            "per unit and value",
            made,
            SUMMED,
            (),
            ("CAST(z AS VARCHAR)", "note"),
            SUMMED_KEYS,
            ("CAST(z AS VARCHAR)",),
            "id",
        ),
        Source(
            "per unit twice",
            twice,
            ("LEAST(n, 5)", "LEAST(s, 2.5)", "LEAST(GREATEST(t, -1), 9)"),
            (),
            ("n",),
            (),
            ("n",),
            "id",
        ),
        Source(
            "per unit with declared rows",
            declared,
            few,
            (),
            ("n", "t"),
            ("n",),
            (),
            "id",
        ),
        Source(
            "per unit of a union",
            owners,
            ("LEAST(n, 4)",),
            (),
            ("n",),
            ("LEAST(n, 3)",),
            ("n",),
            "id",
        ),
        Source(
            "distinct values",
            "(SELECT DISTINCT id, raw, note, cost FROM visits)",
            ("cost",),
            (),
            ("CAST(raw AS VARCHAR)",),
            (),
            ("CAST(raw AS VARCHAR)", "note"),
            "id",
        ),
        Source(
            "per linked key",
            "(SELECT visit, COUNT(*) AS n, MAX(grade) AS g, MIN(LENGTH(code)) AS c FROM codes GROUP BY visit)",
            ("LEAST(n, 3)", "g", "g * LEAST(n, 9)"),
            (),
            ("c", "n"),
            ("g", "LEAST(n, 2)"),
            ("c", "n"),
        ),
        Source(
            "people",
            "people",
            ("weight", "weight * 10"),
            (),
            ("city",),
            ("sex",),
            ("city",),
            "id",
        ),
    ]


CLINIC: tuple[Source, ...] = (
    UNIT,
    *_filtered(UNIT),
    *(_of_visits(sql, name) for name, sql in (PUBLIC_JOINS | MEMBERS).items()),
    *(_of_visits(sql.format(id="id, "), name) for name, sql in UNIONS.items()),
    *(_like(BOTH, name, sql) for name, sql in OWNED.items()),
    *_summaries(),
    LINKED,
)
SURVEY: tuple[Source, ...] = (
    ROW,
    *_filtered(ROW),
    *(_of_visits(sql, name, id=False) for name, sql in PUBLIC_JOINS.items()),
    *(_of_visits(sql.format(id=""), name, id=False) for name, sql in UNIONS.items()),
)

ONE = (
    "SUM({})",
    "AVG({})",
    "VAR_SAMP({})",
    "STDDEV_POP({})",
    "MEDIAN({})",
    "MIN({})",
    "MAX({})",
    "QUANTILE_CONT({}, 0.9)",
    "SUM({}) FILTER (WHERE {} > 1)",
)
TWO = ("CORR({}, {})", "COVAR_SAMP({}, {})")


def question(random: Random, source: Source) -> str:
    """A question of a source: up to two keys, and one to three aggregates."""
    keys = _keys(random, source)
    items = [
        *keys,
        *(_aggregate(random, source) for _ in range(random.choice([1, 1, 2, 3]))),
    ]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(f'{item} AS o{i}' for i, item in enumerate(items))} FROM {source.sql}{group}"


def _keys(random: Random, source: Source) -> list[str]:
    shapes = [(0, 0), (1, 0), (1, 0), (2, 0), (0, 1), (0, 1), (1, 1), (0, 2)]
    public, private = random.choice(shapes)
    found = random.sample(source.public, min(public, len(source.public)))
    return found + random.sample(source.private, min(private, len(source.private)))


def _aggregate(random: Random, source: Source) -> str:
    one, other = random.choice(source.numbers), random.choice(source.numbers)
    date, value = (
        random.choice(source.dates or source.numbers),
        random.choice(source.others or source.numbers),
    )
    return random.choice(
        [
            "COUNT(*)",
            f"COUNT({value})",
            f"COUNT(DISTINCT {value})",
            f"COUNT(DISTINCT {source.id or value})",
            *[random.choice(ONE).replace("{}", one)] * 3,
            random.choice(TWO).format(one, other),
            random.choice(ONE[4:8]).format(date),
        ]
    )
