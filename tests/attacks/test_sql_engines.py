"""The four exception attacks on every engine: 1/0, ln 0, overflow and a bad cast, which
raise for one row only.

PostgreSQL raises in all four, and prints the text that was no number; Spark raises in
most. Here an analyst sees the same of the table with that row and without it, and the
same in each engine.
"""

from __future__ import annotations

import traceback

import pytest

from dither.errors import EngineFailed
from tests.attacks.analyst import log, row, seen
from tests.attacks.engine_worlds import WORLDS
from tests.attacks.test_sql_messages import told
from tests.conformance.asking import in_turn

CANARY = "CANARY-55de"
OTHERS = [
    row("p1"),
    row("p1", cost=9),
    row("p2", ward="B"),
    row("p3", note=None, weight=None, points=None),
]
ATTACKS = {
    "division by zero": ("1 / (points - 17)", {"points": 17}),
    "whole division by zero": ("1 // (points - 17)", {"points": 17}),
    "remainder of zero": ("weight % (weight - 17)", {"weight": 17.0}),
    "logarithm of zero": ("LN(weight)", {"weight": 0.0}),
    "logarithm of a negative": ("LOG2(-points)", {"points": 5}),
    "root of a negative": ("SQRT(16 - points)", {"points": 17}),
    "overflow of integers": ("points * 4611686018427387904", {"points": 2**63 - 1}),
    "overflow of a sum": ("points + points", {"points": 2**63 - 1}),
    "overflow of reals": ("weight * 1e308", {"weight": 1e308}),
    "overflow of an exponential": ("EXP(weight)", {"weight": 1e308}),
    "overflow of a power": ("POWER(weight, 1000)", {"weight": 1e308}),
    "underflow": ("weight * 1e-300 / 1e300", {"weight": 1e-300}),
    "overflow of a cast": ("CAST(weight AS INTEGER)", {"weight": 1e308}),
    "a text that is no number": ("CAST(note AS INTEGER)", {"note": CANARY}),
    "a text that is no real": ("CAST(note AS REAL)", {"note": CANARY}),
    "a text that is no date": ("CAST(note AS DATE)", {"note": "2022-02-30"}),
    "a text that is no time": (
        "CAST(note AS TIMESTAMP)",
        {"note": "2022-02-02 25:61:61"},
    ),
    "a date too late": ("day + INTERVAL 9000 YEAR", {}),
}
HIDDEN = [
    row(f"h{number}", **special) for number, (_, special) in enumerate(ATTACKS.values())
]


@pytest.fixture(scope="module", params=in_turn(WORLDS))
def worlds(request):
    """The table without the rows for which something fails, with them, and empty; in
    one engine.
    """
    opened = [WORLDS[request.param](rows) for rows in (OTHERS, [*OTHERS, *HIDDEN], [])]
    yield opened
    for database in opened:
        database.close()


@pytest.fixture(scope="module")
def reference(worlds):
    """What DuckDB shows of the plain table, once for each engine."""
    assert worlds
    with WORLDS["duckdb"](OTHERS) as database:
        yield database


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_row_that_raises_is_not_seen(worlds, reference, attack):
    """The same answer, cost, log and notes with and without the row, and on every
    engine.
    """
    value, _ = ATTACKS[attack]
    sql = f"SELECT ward, COUNT(*), COUNT({value}) FROM visits WHERE ({value}) IS NOT NULL GROUP BY ward"
    first, *others = (
        seen(world, sql, epsilon=1.0, radius=2) for world in (reference, *worlds)
    )
    assert first[-1][-3:] == ["charge", "store", "settle"]
    assert all(other == first for other in others)
    assert CANARY not in "".join(
        line for database in worlds for _, line in log(database)
    )
    assert not any(getattr(database.engine, "failures", ()) for database in worlds)


@pytest.mark.parametrize("summary", ["SUM", "AVG"])
def test_a_unit_whose_sum_is_beyond_all_doubles_is_not_seen(worlds, reference, summary):
    """Rows that are each a number that a double still holds: their sum is held at the
    largest one.
    """
    huge = "CASE WHEN ward = 'A' THEN 1.7976931348623157e308 ELSE 0 END"
    inner = f"SELECT patient_id, {summary}({huge}) AS s FROM visits GROUP BY patient_id"
    sql = f"SELECT COUNT(*) FROM ({inner}) WHERE s >= 0"
    first, *others = (seen(world, sql, epsilon=1.0) for world in (reference, *worlds))
    assert first[-1][-3:] == ["charge", "store", "settle"]
    assert all(other == first for other in others)
    assert not any(getattr(database.engine, "failures", ()) for database in worlds)


def test_a_charge_is_the_same_on_every_engine(worlds, reference):
    sql = "SELECT ward, SUM(LEAST(GREATEST(1 / (points - 17), -1), 1)) FROM visits GROUP BY ward"
    for database in (reference, *worlds):
        before = database.account.remaining
        database.sql(sql, epsilon=0.5)
        assert before != database.account.remaining
        assert str(database.account.history()[-1].guarantee) == str(
            reference.account.history()[-1].guarantee
        )


def test_an_engine_that_fails_says_nothing(worlds, monkeypatch):
    """A statement that fails in the middle: one constant sentence, the charge stays,
    and no value is in any message.
    """
    _, database, _ = worlds

    def fail(_self, _sql, _parameters=()):
        raise ValueError(CANARY)

    with database.engine.session() as opened:
        monkeypatch.setattr(type(opened), "fetch", fail)
    before = len(log(database))
    with pytest.raises(EngineFailed) as failed:
        database.sql("SELECT COUNT(*), MEDIAN(cost) FROM visits", epsilon=0.25)
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert CANARY not in told(failed.value) + "".join(
        traceback.format_exception(failed.value)
    )
    assert [kind for kind, _ in log(database)][before:] == ["charge", "fail"]
