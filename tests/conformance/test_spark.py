"""A sample of the questions on Spark in the quick run; the others are asked there in
the full one.
"""

from __future__ import annotations

import pytest

from tests.attacks import analyst
from tests.attacks.spark_worlds import visits
from tests.attacks.test_sql_engines import ATTACKS, HIDDEN, OTHERS
from tests.conformance.asking import Worlds
from tests.conformance.spark_samples import HERE_IN_QUICK
from tests.conformance.test_exact import check

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def worlds():
    opened = Worlds("spark")
    yield opened
    opened.close()


ONE_IN_TWO = [
    pytest.param(question, marks=[pytest.mark.full] if place // 2 % 2 else [])
    for place, question in enumerate(HERE_IN_QUICK)
]
"""Of the sample, half waits for the full run too: each question takes seconds."""


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("question", ONE_IN_TWO, ids=str)
def test_answers_are_the_plain_ones(worlds, question):
    noise = question.noise or ("Laplace", "Gaussian")[HERE_IN_QUICK.index(question) % 2]
    check(question, worlds.ask(question.world, noise, question.sql, **question.stated))


@pytest.mark.full
@pytest.mark.usefixtures("exact")
def test_rows_that_raise_count_as_null():
    """All attacks of `tests.attacks.test_sql_engines` in one question; there each is
    asked by itself.
    """
    listed = ", ".join(f"COUNT({value})" for value, _ in ATTACKS.values())
    with visits([*OTHERS, *HIDDEN]) as spark:
        ours = spark.sql(f"SELECT {listed} FROM visits", epsilon=500, radius=2)
        assert not spark.engine.failures
    with analyst.visits([*OTHERS, *HIDDEN]) as duckdb:
        assert (
            ours.rows
            == duckdb.sql(f"SELECT {listed} FROM visits", epsilon=500, radius=2).rows
        )
