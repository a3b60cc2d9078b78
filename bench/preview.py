"""Previews are free, so none may be dear: nasty questions, each at its worst within the
limits, in CPU-seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import duckdb

from bench.harness import Report, Row, at_most, cpu_seconds, versions
from dither.dataset import Dataset
from dither.errors import DitherError
from dither.ledger import Ledger
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.open import dataset_of
from dither.query.sql import domains

MOST = 0.2
REPEATS = 3
NOTES = (
    "CPU-seconds of one preview, the median of three. Each shape is "
    "asked in several sizes up to the limits and "
    "beyond, and the dearest is shown. Whether a preview is answered "
    "or refused, it costs the account nothing.",
    "The tables have no rows (previews read none); one has 300 "
    "columns, one column has 100,000 declared keys.",
)
COSTS: tuple[dict[str, Any], ...] = (
    {"epsilon": 0.1},
    {"error": 500, "radius": 1, "expect": 100_000},
)
MANY_KEYS = tuple(f"key {n}" for n in range(100_000))
WIDE = 300


def catalogue() -> Catalogue:
    """Tables that make it hard: many columns, long lists of keys, links, public tables."""
    fields = (
        Field("visit", Type.INTEGER),
        Field("id", Type.TEXT),
        Field("ward", Type.TEXT, ANY, ("A", "B", "C")),
        Field("code", Type.TEXT, ANY, MANY_KEYS),
        Field("zip", Type.INTEGER, Range(0, 9_999)),
        Field("day", Type.DATE, Range(0, 36_000)),
        Field("at", Type.TIMESTAMP, Range(0, 36_000 * 86_400_000_000)),
        Field("x", Type.INTEGER, Range(0, 1_000_000)),
        Field("r", Type.REAL, Range(0.0, 1.0)),
        Field("t", Type.TEXT),
    )
    tenths = (Field(f"c{n}", Type.INTEGER, Range(0, 9)) for n in range(WIDE))
    listed = (
        Field("code", Type.TEXT, ANY, MANY_KEYS),
        Field("n", Type.INTEGER, Range(0, 99)),
    )
    tables = (
        Table("visits", fields, owner="id"),
        Table("wide", (Field("id", Type.TEXT), *tenths), owner="id"),
        Table(
            "codes",
            (Field("visit", Type.INTEGER), Field("name", Type.TEXT)),
            link=Link("visit", "visits", "visit"),
        ),
        Table("public", listed, public=True),
    )
    return Catalogue("nasty", tables, unit=Unit("id"))


def opened() -> Dataset:
    declared = catalogue()
    stored = duckdb.connect()
    for table in declared.tables:
        columns = ", ".join(f'"{field.name}" VARCHAR' for field in table.fields)
        stored.execute(f"CREATE TABLE {table.name} ({columns})")
    stored.execute("INSERT INTO public SELECT 'key ' || range, range FROM range(20)")
    places = {table.name: (stored, table.name) for table in declared.tables}
    account = Ledger.open(":memory:").account(
        "nasty", epsilon=10.0, delta=1e-6, unit=declared.unit
    )
    return dataset_of(declared, DuckDBEngine.of(declared, places), account)


LONG = {
    "IN list of numbers": (
        "SELECT COUNT(*) FROM visits WHERE x IN (",
        "{n}",
        ", ",
        ")",
    ),
    "IN list of texts": (
        "SELECT COUNT(*) FROM visits WHERE t IN (",
        "'t{n}'",
        ", ",
        ")",
    ),
    "IN list of expressions": (
        "SELECT COUNT(*) FROM visits WHERE x IN (",
        "x + {n}",
        ", ",
        ")",
    ),
    "IN list of keys": (
        "SELECT COUNT(*) FROM visits WHERE code IN (",
        "code",
        ", ",
        ")",
    ),
    "AND of comparisons": (
        "SELECT COUNT(*) FROM visits WHERE ",
        "x > {n}",
        " AND ",
        "",
    ),
    "OR of keys": (
        "SELECT COUNT(*) FROM visits WHERE ",
        "code = 'key {n}'",
        " OR ",
        "",
    ),
    "sum of numbers": ("SELECT COUNT(*) FROM visits WHERE x = ", "{n}", " + ", ""),
    "sum of decimals": ("SELECT COUNT(*) FROM visits WHERE r = ", "0.{n}", " + ", ""),
    "sum of columns": ("SELECT SUM(", "x", " + ", ") FROM visits"),
    "concatenation": ("SELECT COUNT(*) FROM visits WHERE (", "t", " || ", ") = ''"),
    "concatenation of keys": (
        "SELECT COUNT(*) FROM visits GROUP BY (",
        "code",
        " || ",
        ")",
    ),
    "CASE with many branches": (
        "SELECT SUM(CASE ",
        "WHEN x = {n} THEN {n}",
        " ",
        " END) FROM visits",
    ),
    "key with many branches": (
        "SELECT COUNT(*) FROM visits GROUP BY CASE ",
        "WHEN t = 'a' THEN {n}",
        " ",
        " END",
    ),
    "key with branches of keys": (
        "SELECT COUNT(*) FROM visits GROUP BY CASE ",
        "WHEN code = '{n}' THEN {n}",
        " ",
        " END",
    ),
    "COALESCE of many": ("SELECT SUM(COALESCE(", "x", ", ", ")) FROM visits"),
    "GREATEST of many": ("SELECT SUM(GREATEST(", "x + {n}", ", ", ")) FROM visits"),
    "columns of an answer": ("SELECT ", "COUNT(*) AS c{n}", ", ", " FROM visits"),
    "columns of one name": ("SELECT ", "COUNT(*) AS c", ", ", " FROM visits"),
    "columns without a name": ("SELECT ", "COUNT(*)", ", ", " FROM visits"),
    "different sums": ("SELECT ", "SUM(x + {n}) AS c{n}", ", ", " FROM visits"),
    "different averages by key": (
        "SELECT code, ",
        "AVG(x + {n}) AS c{n}",
        ", ",
        " FROM visits GROUP BY code",
    ),
    "different variances": ("SELECT ", "STDDEV(r + {n}) AS c{n}", ", ", " FROM visits"),
    "different correlations": (
        "SELECT ",
        "CORR(r + {n}, x) AS c{n}",
        ", ",
        " FROM visits",
    ),
    "different medians": ("SELECT ", "MEDIAN(x + {n}) AS c{n}", ", ", " FROM visits"),
    "different extremes": ("SELECT ", "MAX(x + {n}) AS c{n}", ", ", " FROM visits"),
    "different counts of keys": (
        "SELECT ",
        "COUNT(DISTINCT code || '{n}') AS c{n}",
        ", ",
        " FROM visits",
    ),
    "filtered sums": (
        "SELECT ",
        "SUM(x) FILTER (WHERE code = '{n}') AS c{n}",
        ", ",
        " FROM visits",
    ),
    "arithmetic over sums": ("SELECT ", "SUM(x + {n})", " + ", " FROM visits"),
    "arithmetic over a count": ("SELECT ", "COUNT(*)", " + ", " FROM visits"),
    "HAVING of many": (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ",
        "COUNT(*) > {n}",
        " AND ",
        "",
    ),
    "ORDER BY many": (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ",
        "COUNT(*) + {n}",
        ", ",
        "",
    ),
    "columns of a subquery": (
        "SELECT COUNT(*) FROM (SELECT ",
        "x + {n} AS c{n}",
        ", ",
        " FROM visits)",
    ),
    "keys of a subquery": (
        "SELECT COUNT(*) FROM (SELECT ",
        "code AS c{n}",
        ", ",
        " FROM visits)",
    ),
    "unknown names": ("SELECT ", "nope{n}", ", ", " FROM visits"),
    "unknown names of a wide table": (
        "SELECT COUNT(*) FROM wide WHERE ",
        "c999 > {n}",
        " AND ",
        "",
    ),
    "names of a wide table": (
        "SELECT COUNT(*) FROM wide WHERE ",
        "c299 > {n}",
        " AND ",
        "",
    ),
    "stars": ("SELECT COUNT(*) FROM (SELECT ", "*", ", ", " FROM wide)"),
    "long name": ("SELECT COUNT(*) FROM ", "v", "", ""),
    "long text": ("SELECT COUNT(*) FROM visits WHERE t = '", "x", "", "'"),
    "long pattern": ("SELECT COUNT(*) FROM visits WHERE t LIKE '", "%x", "", "'"),
    "long comment": ("SELECT COUNT(*) FROM visits /* ", "/* ", "", "*/"),
    "comments": ("", "/* */", "", "SELECT COUNT(*) FROM visits"),
    "blanks": ("SELECT", " ", "", "COUNT(*) FROM visits"),
    "lines": ("SELECT", "\n", "", "nope FROM visits"),
    "long number": ("SELECT COUNT(*) FROM visits WHERE x > ", "9", "", ""),
    "long decimal": ("SELECT COUNT(*) FROM visits WHERE r > 0.1 * 0.", "9", "", ""),
    "long exponent": ("SELECT COUNT(*) FROM visits WHERE r > 1e", "9", "", ""),
    "brackets [1]": ("SELECT COUNT(*) FROM visits WHERE t", "[1]", "", " = 1"),
    "minus signs": ("SELECT COUNT(*) FROM visits WHERE x > ", "- ", "", "1"),
    "NOT NOT NOT": ("SELECT COUNT(*) FROM visits WHERE ", "NOT", " ", " x > 1"),
    "casts of casts": (
        "SELECT COUNT(*) FROM visits WHERE x",
        "::DOUBLE::INTEGER",
        "",
        " > 1",
    ),
    "semicolons": ("SELECT COUNT(*) FROM visits", ";", "", ""),
    "open brackets": ("SELECT ", "(", "", ""),
    "open quotes": ("SELECT '", "''", "", ""),
    "dots": ("SELECT COUNT(*) FROM visits WHERE a", ".a", "", " > 1"),
    "intervals": (
        "SELECT COUNT(*) FROM visits WHERE ",
        "day > day + INTERVAL '{n}' DAY",
        " AND ",
        "",
    ),
    "dates": ("SELECT COUNT(*) FROM visits WHERE ", "day > '2024-01-01'", " AND ", ""),
    "joins without a condition": (
        "SELECT COUNT(*) FROM visits ",
        "JOIN visits v{n}",
        " ",
        "",
    ),
    "windows": ("SELECT ", "SUM(x) OVER (ORDER BY x)", ", ", " FROM visits"),
    "tables without commas": ("SELECT COUNT(*) FROM ", "visits", " ", ""),
    "UNION ALL": (
        "SELECT COUNT(*) FROM (",
        "SELECT id, x FROM visits",
        " UNION ALL ",
        ")",
    ),
    "UNION ALL of wide tables": (
        "SELECT COUNT(*) FROM (",
        "SELECT * FROM wide",
        " UNION ALL ",
        ")",
    ),
    "UNION ALL of keys": (
        "SELECT c, COUNT(*) FROM (",
        "SELECT id, code AS c FROM visits",
        " UNION ALL ",
        ") GROUP BY c",
    ),
    "IN (SELECT …)": (
        "SELECT COUNT(*) FROM visits WHERE ",
        "id IN (SELECT id FROM visits WHERE x > {n})",
        " AND ",
        "",
    ),
    "EXISTS (SELECT …)": (
        "SELECT COUNT(*) FROM visits v WHERE ",
        "EXISTS (SELECT * FROM wide w WHERE w.id = v.id AND w.c{n} > 1)",
        " AND ",
        "",
    ),
    "joins on the unit": (
        "SELECT COUNT(*) FROM visits v0 ",
        "JOIN visits w{n} ON w{n}.id = v0.id",
        " ",
        "",
    ),
    "joins of wide tables": (
        "SELECT COUNT(*) FROM wide v0 ",
        "JOIN wide w{n} ON w{n}.id = v0.id",
        " ",
        "",
    ),
    "joins of links": (
        "SELECT COUNT(*) FROM visits v ",
        "JOIN codes c{n} ON c{n}.visit = v.visit",
        " ",
        "",
    ),
    "joins by a long list of keys": (
        "SELECT COUNT(*) FROM visits v ",
        "JOIN public p{n} ON p{n}.code = v.code",
        " ",
        "",
    ),
    "cross joins": ("SELECT COUNT(*) FROM visits ", "CROSS JOIN public p{n}", " ", ""),
    "USING": ("SELECT COUNT(*) FROM visits ", "JOIN wide w{n} USING (id)", " ", ""),
    "FULL JOIN USING": (
        "SELECT COUNT(*) FROM visits ",
        "FULL JOIN wide w{n} USING (id)",
        " ",
        "",
    ),
    "unused queries": (
        "WITH ",
        "u{n} AS (SELECT * FROM wide)",
        ", ",
        " SELECT COUNT(*) FROM visits",
    ),
    "GROUP BY many": ("SELECT COUNT(*) FROM visits GROUP BY ", "x % {n}9", ", ", ""),
    "GROUP BY many long lists": (
        "SELECT COUNT(*) FROM visits GROUP BY ",
        "UPPER(code || '{n}')",
        ", ",
        "",
    ),
}
"""Before, what is repeated, what stands between, after."""

DEEP = {
    "nested brackets": ("SELECT COUNT(*) FROM visits WHERE ", "(", "x > 1", ")", ""),
    "nested functions": ("SELECT SUM(", "ABS(", "x", ")", ") FROM visits"),
    "nested CASE": (
        "SELECT SUM(",
        "CASE WHEN x > 1 THEN ",
        "x",
        " ELSE 0 END",
        ") FROM visits",
    ),
    "nested CASE of keys": (
        "SELECT COUNT(*) FROM visits GROUP BY ",
        "CASE WHEN x > 1 THEN code ELSE ",
        "code",
        " END",
        "",
    ),
    "nested GREATEST": ("SELECT SUM(", "GREATEST(x, ", "x", ", 1)", ") FROM visits"),
    "nested subqueries": (
        "SELECT COUNT(*) FROM ",
        "(SELECT * FROM ",
        "visits",
        ")",
        "",
    ),
    "nested wide subqueries": (
        "SELECT COUNT(*) FROM ",
        "(SELECT * FROM ",
        "wide",
        ")",
        "",
    ),
    "nested summaries": (
        "SELECT COUNT(*) FROM ",
        "(SELECT id, COUNT(*) AS n FROM ",
        "visits",
        " GROUP BY id)",
        "",
    ),
    "nested IN": (
        "SELECT COUNT(*) FROM visits WHERE id IN ",
        "(SELECT id FROM visits WHERE id IN ",
        "(SELECT id FROM visits)",
        ")",
        "",
    ),
    "nested EXISTS": (
        "SELECT COUNT(*) FROM visits v WHERE ",
        "EXISTS (SELECT * FROM visits w WHERE w.id = v.id AND ",
        "v.x > 1",
        ")",
        "",
    ),
}
"""Before, what opens, the innermost, what closes, after."""

STEPS = {
    "WITH, doubled joins": (
        "id, x FROM visits",
        "SELECT a.id, a.x FROM {q} a JOIN {q} b ON a.id = b.id",
    ),
    "WITH, doubled unions": (
        "id, x FROM visits",
        "SELECT * FROM {q} UNION ALL SELECT * FROM {q}",
    ),
    "WITH, doubled sums": ("id, x FROM visits", "SELECT id, x + x AS x FROM {q}"),
    "WITH, doubled texts": ("id, t FROM visits", "SELECT id, t || t AS t FROM {q}"),
    "WITH, doubled keys": (
        "id, code AS c FROM visits",
        "SELECT id, CASE WHEN c > 'a' THEN c ELSE c END AS c FROM {q}",
    ),
    "WITH, doubled IN": (
        "id, x FROM visits",
        "SELECT id, x FROM {q} WHERE id IN (SELECT id FROM {q})",
    ),
    "WITH, long chain": ("id, x FROM visits", "SELECT * FROM {q} WHERE x > 1"),
    "WITH, long chain of keys": (
        "id, code FROM visits",
        "SELECT * FROM {q} WHERE code > 'a'",
    ),
    "WITH, wide chain": ("* FROM wide", "SELECT * FROM {q} WHERE c0 > 1"),
    "WITH, wide summaries": (
        "* FROM wide",
        "SELECT id, c1, SUM(c0) AS c0 FROM {q} GROUP BY id, c1",
    ),
}
"""The first query of WITH, and what each of the next does with the one before it."""

KEYS = (
    *(
        "code",
        "UPPER(code)",
        "code || code",
        "code || ward",
        "code || zip::TEXT",
        "SUBSTRING(code, 1, 5)",
    ),
    *(
        "LENGTH(code)",
        "CASE WHEN code > 'k' THEN code ELSE ward END",
        "code IN ('a', 'b')",
        "COALESCE(code, t)",
    ),
    *(
        "zip",
        "zip + 1",
        "zip * 7 % 1000",
        "zip % 100 + x % 100",
        "zip % 90 + x % 90 + visit % 90",
        "x",
        "FLOOR(x / 10)",
    ),
    *(
        "day",
        "EXTRACT(week FROM day)",
        "DATE_TRUNC('month', day)",
        "day - DATE '1990-01-01'",
    ),
    *(
        "DATE_TRUNC('minute', at)",
        "DATE_TRUNC('day', at)",
        "EXTRACT(year FROM at) * 100 + EXTRACT(month FROM at)",
    ),
    *(
        "ROUND(zip / 7, 2)::TEXT",
        "zip::TEXT || day::TEXT",
        "CASE WHEN zip > 5 THEN day END",
    ),
)
AGGREGATES = (
    "COUNT(*)",
    "MEDIAN(r)",
    "MIN(x)",
    "AVG(x)",
    "CORR(x, r)",
    "COUNT(DISTINCT code)",
    "COUNT(DISTINCT x)",
)
MANY = (5, 15, 18, 58, 190, 600, 1_150, 2_400, 18_000)
FEW = (5, 18, 23, 60, 95, 190, 2_000)


COMMAS = (3, 8, 12, 19, 60)


def commas(table: str, times: int) -> str:
    """Parts of FROM with commas between them, joined by conditions of WHERE."""
    listed = ", ".join(f"{table} w{n}" for n in range(times))
    return (
        f"SELECT COUNT(*) FROM {listed} WHERE "
        f"{' AND '.join(f'w{n}.id = w0.id' for n in range(1, times))}"
    )


def aliases(times: int) -> str:
    """Long names that are almost the same, and one that is almost one of them."""
    named = ", ".join(f"x AS {'v' * 60}{n}" for n in range(times))
    return f"SELECT COUNT({'v' * 60}x) FROM (SELECT {named} FROM visits)"


def repeated(text: str, times: int, between: str) -> str:
    return between.join(text.replace("{n}", str(n)) for n in range(times))


def steps(first: str, step: str, times: int) -> str:
    named = [f"q{n} AS ({step.replace('{q}', f'q{n - 1}')})" for n in range(1, times)]
    return (
        f"WITH {', '.join([f'q0 AS (SELECT {first})', *named])} SELECT "
        f"COUNT(*) FROM q{times - 1}"
    )


def questions() -> Iterator[tuple[str, str]]:
    for name, (before, text, between, after) in LONG.items():
        yield from (
            (name, before + repeated(text, size, between) + after) for size in MANY
        )
    for name, (before, opens, inner, closes, after) in DEEP.items():
        yield from (
            (name, before + opens * size + inner + closes * size + after)
            for size in FEW
        )
    for name, (first, step) in STEPS.items():
        yield from ((name, steps(first, step, size)) for size in FEW)
    for size in COMMAS:
        yield "joins by commas", commas("visits", size)
        yield "joins by commas of wide tables", commas("wide", size)
        yield "unknown name among long ones", aliases(12 * size)
    for key in KEYS:
        yield f"by {key}", f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY k"
        yield (
            f"by {key}",
            f"SELECT {key} AS k, ward, day, COUNT(*) FROM visits GROUP BY k, ward, day",
        )
        yield (
            f"by {key}",
            f"SELECT k, {', '.join(AGGREGATES)} FROM (SELECT *, {key} AS k "
            "FROM visits) GROUP BY k",
        )


def preview(database: Dataset, sql: str, cost: dict[str, Any]) -> str:
    try:
        database.preview(sql, **cost)
    except DitherError as problem:
        return str(problem)
    return "answered"


def measured(database: Dataset, sql: str, cost: dict[str, Any]) -> float:
    """As if it was asked for the first time: public values of keys are otherwise kept."""
    seen = []
    for _ in range(REPEATS):
        domains._found.cache_clear()
        seen.append(cpu_seconds(lambda: preview(database, sql, cost)))
    return median(seen)


def run() -> Report:
    worst: dict[str, float] = {}
    with opened() as database:
        for name, sql in questions():
            for cost in COSTS:
                case = f"{name}; {next(iter(cost))} stated"
                worst[case] = max(worst.get(case, 0.0), measured(database, sql, cost))
    rows = tuple(
        Row(case, "dither", "CPU-seconds", seconds) for case, seconds in worst.items()
    )
    goal = at_most("the dearest preview, CPU-seconds", MOST, max(worst.values()))
    return Report(rows, (goal,), NOTES, versions("dither", "sqlglot", "duckdb"))
