"""The same question on the same version is answered from the book, for free (rule R19)."""

from __future__ import annotations

import pytest

from dither.errors import BudgetExceeded
from dither.ledger import Budget
from tests.conformance.world import CATALOGUES

COUNT = "SELECT COUNT(*) FROM visits"
UNIT = CATALOGUES["clinic"].unit
not_on_spark = pytest.mark.only_on("duckdb", "postgres")
"""The book answers before an engine is asked."""


@pytest.mark.parametrize(
    ("sql", "stated"),
    [
        (COUNT, {}),
        (
            "SELECT ward, SUM(cost), AVG(cost), MEDIAN(cost) FROM visits GROUP BY ward",
            {"radius": 20},
        ),
        (
            "SELECT doctor, day, COUNT(DISTINCT note) FROM visits GROUP BY doctor, day",
            {},
        ),
        (
            "SELECT MIN(day), MAX(moment), CORR(cost, change) FROM visits",
            {"radius": 20},
        ),
    ],
)
def test_the_same_question_again_is_free_and_has_the_same_answer(
    approximate, sql, stated
):
    first = approximate.sql(sql, epsilon=2.0, **stated)
    before = approximate.account.remaining
    again = approximate.sql(sql, epsilon=2.0, **stated)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.rows == first.rows
    assert again.cells() == first.cells()
    assert again.notes == first.notes
    assert (again.receipt.number, again.guarantee) == (
        first.receipt.number,
        first.guarantee,
    )
    assert approximate.account.remaining == before
    assert approximate.preview(sql, epsilon=2.0, **stated).replay


@not_on_spark
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select   count(*)\n  from VISITS -- again", lambda n: ((n,),)),
        ("SELECT COUNT(*) AS rows FROM visits AS v", lambda n: ((n,),)),
        (
            "SELECT 2 * COUNT(*) AS twice, COUNT(*) > 50 AS many FROM visits",
            lambda n: ((2 * n, n > 50),),
        ),
        ("SELECT COUNT(*) FROM visits HAVING COUNT(*) > 1000000", lambda _: ()),
    ],
)
def test_what_was_measured_before_is_shown_in_another_way_for_free(pure, sql, rows):
    n = pure.sql(COUNT, epsilon=1.0).value
    before = pure.account.remaining
    again = pure.sql(sql, epsilon=1.0)
    assert again.replayed
    assert again.rows == rows(n)
    assert pure.account.remaining == before


@not_on_spark
def test_groups_measured_before_are_sorted_and_cut_for_free(approximate):
    sql = "SELECT doctor, COUNT(*) AS n FROM visits GROUP BY doctor"
    first = approximate.sql(sql, epsilon=8.0, radius=5, groups=2)
    again = approximate.sql(
        f"{sql} HAVING n > 1 ORDER BY n DESC, doctor LIMIT 2",
        epsilon=8.0,
        radius=5,
        groups=2,
    )
    assert again.replayed
    wanted = sorted(
        (row for row in first.rows if row[1] > 1), key=lambda row: (-row[1], row[0])
    )
    assert list(again.rows) == wanted[:2]


@not_on_spark
def test_a_replay_is_free_for_every_analyst_and_after_the_account_is_spent(pure):
    first = pure.sql(COUNT, epsilon=10.0, by="ann")
    assert pure.sql(COUNT, epsilon=10.0, by="bo").rows == first.rows
    with pytest.raises(BudgetExceeded):
        pure.sql(COUNT, epsilon=0.1)


@not_on_spark
@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 0.5},
        {"epsilon": 1.0, "radius": 3},
        {"epsilon": 1.0, "radius": {"count(*)": 4}},
        {"share": 0.2},
    ],
)
def test_another_cost_is_another_charge(pure, other):
    pure.sql(COUNT, epsilon=1.0)
    before = pure.account.remaining
    assert not pure.preview(COUNT, **other).replay
    assert not pure.sql(COUNT, **other).replayed
    assert pure.account.remaining != before


@not_on_spark
@pytest.mark.parametrize(
    "changed", [{"version": "2"}, {"population": 1000}, {"tables": "narrower"}]
)
def test_another_catalogue_is_another_charge(worlds, changed):
    """The version, and everything else that answers depend on, is part of the key."""
    budget = Budget(10.0, unit=UNIT)
    worlds.under("clinic", budget).sql(COUNT, epsilon=1.0)
    if "tables" in changed:
        changed = {"tables": CATALOGUES["clinic"].tables[:2]}
    later = worlds.under("clinic", budget, **changed)
    assert not later.sql(COUNT, epsilon=1.0).replayed
    assert 1 - budget.remaining.share == pytest.approx(0.2)


@not_on_spark
def test_who_may_ask_is_not_part_of_the_key(worlds):
    budget = Budget(10.0, unit=UNIT)
    first = worlds.under("clinic", budget).sql(COUNT, epsilon=1.0)
    assert (
        worlds.under("clinic", budget, analysts={"ann": 0.5})
        .sql(COUNT, epsilon=1.0)
        .rows
        == first.rows
    )
