"""Questions on an account beside which exact facts are published (rule R22): the same
plan as for whoever is replaced, and every release says which facts.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dither.ledger import Budget, verify
from dither.ledger.export import export, recheck
from tests.conformance.world import CATALOGUES

FACTS = ("number of visits", "visits of each ward")
REPLACED = CATALOGUES["clinic"].unit.replacing()
TOLD = REPLACED.with_facts(FACTS)
# The last one has private keys, which need a δ.
QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, SUM(cost), AVG(cost), MEDIAN(cost) FROM visits GROUP BY ward",
    "SELECT doctor, COUNT(DISTINCT note) FROM visits GROUP BY doctor",
]


@pytest.mark.parametrize(
    ("sql", "delta"),
    [*((sql, 1e-6) for sql in QUESTIONS), *((sql, 0.0) for sql in QUESTIONS[:2])],
)
def test_facts_change_no_plan_and_stand_beside_every_release(worlds, sql, delta):
    plain, told = (
        worlds.under("clinic", Budget(10.0, delta, unit=unit), unit=unit)
        for unit in (REPLACED, TOLD)
    )
    stated = {"epsilon": 2.0, "radius": 20}
    before = plain.preview(sql, **stated), told.preview(sql, **stated)
    assert before[0].columns == before[1].columns
    assert before[1].guarantee == before[0].guarantee.for_facts(FACTS)
    release = told.sql(sql, **stated)
    assert release.guarantee == before[1].guarantee
    assert release.guarantee.given == FACTS
    words = "given the exact number of visits, visits of each ward"
    assert all(words in text for text in (str(release), release.to_json()))
    assert told.sql(sql, **stated).guarantee == release.guarantee
    book = told.account._ledger
    assert verify(book, [release.receipt], whole=True)
    assert recheck(export(book))[0].charges == 1


def test_what_was_answered_given_other_facts_is_no_replay(worlds):
    """The same account cannot have other facts; its stored answers are kept apart all
    the same.
    """
    sql, account = QUESTIONS[0], Budget(10.0, unit=TOLD)
    told = worlds.under("clinic", account, unit=TOLD)
    told.sql(sql, epsilon=1.0)
    digests = {
        replace(CATALOGUES["clinic"], unit=unit).digest for unit in (REPLACED, TOLD)
    }
    assert len(digests) == 2
    assert told.sql(sql, epsilon=1.0).replayed
