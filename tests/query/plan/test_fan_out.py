"""How many rows joins can make of one row: bounds by public facts, and that they are
none too small.
"""

from __future__ import annotations

import pytest

from dither.errors import QueryError
from dither.privacy import Unit
from dither.query.catalogue.limits import PUBLIC_ROWS, UNDECLARED
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import Range, Type
from dither.query.collect.public import PublicSizes
from dither.query.collect.rows import Writer
from dither.query.plan import fan_out
from dither.query.plan.fan_out import Reach, check_fan_out
from dither.query.sql.bind import bind
from dither.query.sql.question import Join, Scan, SemiJoin, Union, nodes
from tests.conformance.asking import Worlds, questions

PATIENTS = Table(
    "patients",
    (Field("id", Type.INTEGER), Field("region", Type.TEXT)),
    owner="id",
    rows=1,
)
VISITS = Table(
    "visits",
    (
        Field("visit", Type.INTEGER),
        Field("id", Type.INTEGER),
        Field("cost", Type.INTEGER, Range(0, 9)),
    ),
    owner="id",
    rows=50,
)
CODES = Table(
    "codes",
    (Field("visit", Type.INTEGER), Field("code", Type.TEXT)),
    link=Link("visit", "visits", "visit"),
)
REGIONS = Table(
    "regions", (Field("region", Type.TEXT), Field("n", Type.INTEGER)), public=True
)
PARTS = Table(
    "parts", (Field("part", Type.TEXT), Field("region", Type.TEXT)), public=True
)
CLINIC = Catalogue("clinic", (PATIENTS, VISITS, CODES, REGIONS, PARTS), unit=Unit("id"))


SIZES = {"regions": (12, 1, 3), "parts": (1_000_000, 1, 80_000)}


class Told:
    """Sizes of public tables as a test has them; what was looked up is noted."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rows(self, table: Table) -> int:
        return SIZES[table.name][0]

    def repeats(self, table: Table, column: int) -> int:
        self.asked.append(table.fields[column].name)
        return SIZES[table.name][1 + column]


CROSSED = "CROSS JOIN regions r{n}"
FANS = {
    "SELECT COUNT(*) FROM visits": 1,
    "SELECT COUNT(*) FROM patients p JOIN visits v ON v.id = p.id": 1,
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.id = p.id": 1,
    "SELECT COUNT(*) FROM visits v LEFT JOIN patients p ON v.id = p.id": 1,
    "SELECT COUNT(*) FROM visits v FULL JOIN patients p ON v.id = p.id": 2,
    "SELECT COUNT(*) FROM visits v JOIN codes c ON c.visit = v.visit": 1,
    "SELECT COUNT(*) FROM codes c JOIN visits v ON c.visit = v.visit": 1,
    "SELECT COUNT(*) FROM codes c, visits v, patients p WHERE c.visit = v.visit AND p.id = v.id": 1,
    "SELECT COUNT(*) FROM codes c JOIN codes d ON c.visit = d.visit": UNDECLARED,
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.id = w.id": 50,
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.id = w.id AND v.cost = w.cost": 50,
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.id = w.id AND v.visit = w.visit": 1,
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.id = w.id JOIN visits x ON x.id = w.id": 2_500,
    f"SELECT COUNT(*) FROM patients {CROSSED}": 12,
    f"SELECT COUNT(*) FROM patients {CROSSED} CROSS JOIN regions s": 144,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.region = p.region": 1,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.region = p.region || 'x'": 1,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.region || 'x' = p.region": 12,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.n = p.id": 3,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.n > p.id": 12,
    "SELECT COUNT(*) FROM patients p JOIN parts q ON q.part = p.region": 1,
    "SELECT COUNT(*) FROM patients p JOIN parts q ON q.region = p.region": 80_000,
    "SELECT COUNT(*) FROM patients p JOIN parts q ON q.region = p.region JOIN regions r ON r.region = q.region": 80_000,
    "SELECT COUNT(*) FROM patients p JOIN regions r ON r.region = p.region JOIN parts q ON q.part = r.region": 1,
    "SELECT COUNT(*) FROM patients p JOIN (SELECT part AS k FROM parts WHERE part > 'a') q ON q.k = p.region": 1,
    "SELECT COUNT(*) FROM patients p JOIN (SELECT UPPER(part) AS k FROM parts) q ON q.k = p.region": 1_000_000,
    "SELECT COUNT(*) FROM patients p JOIN (SELECT DISTINCT region FROM parts) q ON q.region = p.region": 80_000,
    "SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)": 2,
    "SELECT COUNT(*) FROM visits v JOIN (SELECT id, COUNT(*) AS n FROM visits GROUP BY id) w ON w.id = v.id": 1,
    "SELECT COUNT(*) FROM visits v JOIN (SELECT id, cost FROM visits GROUP BY id, cost) w "
    "ON w.id = v.id AND w.cost = v.cost": 1,
    "SELECT COUNT(*) FROM visits v JOIN (SELECT id, cost FROM visits GROUP BY id, cost) w ON w.id = v.id": 50,
    "SELECT COUNT(*) FROM visits WHERE id IN (SELECT id FROM visits)": 1,
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE w.id = v.id AND w.cost < v.cost)": 50,
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM regions r WHERE r.n < v.cost)": 12,
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM parts q WHERE q.part = v.visit::TEXT)": 1,
    "SELECT COUNT(*) FROM patients WHERE region IN (SELECT region FROM parts)": 1,
    # A table in which a unit has many rows allows nothing elsewhere.
    "SELECT COUNT(*) FROM patients CROSS JOIN regions CROSS JOIN regions s WHERE id IN (SELECT id FROM visits)": 144,
    "SELECT COUNT(*) FROM patients p CROSS JOIN regions CROSS JOIN regions s "
    "WHERE EXISTS (SELECT * FROM visits v WHERE v.id = p.id)": 144,
    "SELECT COUNT(*) FROM (SELECT p.id FROM patients p CROSS JOIN regions) p JOIN visits v ON v.id = p.id": 12,
}


@pytest.mark.parametrize("sql", FANS)
def test_rows_of_one_row(sql: str) -> None:
    node = bind(sql.replace("{n}", "0"), CLINIC).rows
    assert Reach(Told(), repeats=True).of(node).fan_out == FANS[sql]


def test_repeats_are_counted_only_where_sizes_do_not_suffice() -> None:
    sizes = Told()
    small = bind(
        "SELECT COUNT(*) FROM patients p JOIN regions r ON r.region = p.region", CLINIC
    ).rows
    large = bind(
        "SELECT COUNT(*) FROM patients p JOIN parts q ON q.part = p.region", CLINIC
    ).rows
    check_fan_out(small, sizes, 100)
    assert sizes.asked == []
    check_fan_out(large, sizes, 100)
    assert set(sizes.asked) == {"part"}


def test_what_is_too_much_is_refused_with_a_way_out() -> None:
    joins = " ".join(f"CROSS JOIN regions r{n}" for n in range(8))
    message = "the joins can make 429,981,696 rows from one row, and the limit is 10,000; join fewer tables"
    with pytest.raises(QueryError, match=message):
        check_fan_out(
            bind(f"SELECT COUNT(*) FROM patients {joins}", CLINIC).rows,
            Told(),
            10_000,
        )
    sql = "SELECT COUNT(*) FROM patients WHERE region IN (SELECT a.part FROM parts a CROSS JOIN parts b)"
    node = bind(sql, CLINIC).rows
    with pytest.raises(
        QueryError,
        match=f"the joins of public tables make 1,000,000,000,000 rows, and the limit is {PUBLIC_ROWS:,}",
    ):
        check_fan_out(node, Told(), 10_000)


def test_many_joins_are_looked_at_in_little_time() -> None:
    """Both ways to count each of twenty joins would be a million."""
    joins = " ".join(
        f"JOIN parts q{n} ON q{n}.part = p.region AND q{n}.region = p.region"
        for n in range(19)
    )
    reach = Reach(Told(), repeats=True)
    assert (
        reach.of(bind(f"SELECT COUNT(*) FROM patients p {joins}", CLINIC).rows).fan_out
        == 1
    )
    assert len(reach.known) < 2 * fan_out.LOOKS


def test_no_bound_is_too_small_for_the_rows_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All questions with joins of the conformance suite: each of their relations,
    against its rows in DuckDB.
    """
    worlds, compared = Worlds("duckdb"), 0
    for asked in questions():
        database = worlds.opened(asked.world, "Laplace")
        engine, table = database.engine, database.catalogue.table
        node = bind(asked.sql, database.catalogue).rows
        if not any(isinstance(one, Join | SemiJoin | Union) for one in nodes(node)):
            continue
        with engine.session() as session:

            def most(node, session=session, engine=engine, table=table) -> int:
                writer = Writer(engine.dialect, table)
                rows = writer.select(node)
                by = " GROUP BY u" if node.private else ""
                sql = f"SELECT max(n) FROM (SELECT count(*) AS n FROM ({rows}) t{by}) t"
                return session.fetch(sql, writer.parameters)[0][0] or 0

            parts = list(nodes(node))
            scans = [part for part in parts if isinstance(part, Scan) and part.private]
            monkeypatch.setattr(fan_out, "UNDECLARED", max(map(most, scans)))
            reach = Reach(PublicSizes(engine, table), repeats=True)
            for part in parts:
                assert most(part) <= reach.rows(part), asked
                compared += 1
    worlds.close()
    assert compared > 200
