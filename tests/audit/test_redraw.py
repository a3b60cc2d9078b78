"""Named keys and their numbers are drawn anew, at the same places for both neighbours."""

import numpy as np
import pandas as pd
import pytest

from tests.audit.support import FRAME, ask, opened
from tests.chance import chance


@pytest.fixture(scope="module")
def data():
    with opened(FRAME) as database:
        yield database


def test_named_keys_stand_where_both_neighbours_have_them(data, monkeypatch):
    """A key of one neighbour alone is told by its flag, in a column that the other
    leaves 0.
    """
    from dither.audit import questions

    seen = []
    honest = questions.mechanism

    def spy(f, *arguments, **options):
        seen.extend(f(side, 50) for side in (0, 1))
        return honest(f, *arguments, **options)

    monkeypatch.setattr(questions, "mechanism", spy)
    # One key for each unit: the threshold is low, so a key of a single unit is still a
    # candidate.
    ask(
        data,
        "SELECT code, COUNT(*) AS n FROM data GROUP BY code",
        300,
        radius=5,
        groups=1,
    )
    first, second = seen
    assert first.shape == second.shape == (50, 8)
    assert not second[:, 3].any()
    named, numbers = first[:, :4], first[:, 4:]
    assert np.isin(named, (0, 1)).all()
    assert np.array_equal(numbers != 0, named == 1)


@chance(1e-9)
def test_a_key_that_one_unit_makes_a_candidate_keeps_the_promise():
    """With the unit a key has as many units as the engine needs to bring it here, and
    one fewer without.
    """
    sql, cost = "SELECT code, COUNT(*) AS n FROM data GROUP BY code", {"radius": 5}
    with opened(FRAME) as database:
        plan = database.explain_plan(sql, epsilon=1.0, **cost)
    least = int(plan.partition("and at least ")[2].partition(" units")[0])
    assert least >= 2
    edge = pd.DataFrame(
        {
            "id": [f"p{n}" for n in range(least - 1)] + ["one"],
            "ward": "A",
            "age": 5,
            "code": "edge",
        }
    )
    with opened(pd.concat([FRAME, edge])) as database:
        assert not ask(database, sql, 2000, **cost).refuted
