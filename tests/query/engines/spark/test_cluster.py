"""The same integers from a cluster of two workers as from DuckDB, and the sums are
really computed there.
"""

from __future__ import annotations

import pytest

from tests.conformance.asking import questions
from tests.conformance.spark_asking import session
from tests.conformance.spark_samples import CLUSTER_STEP
from tests.query.engines.spark.cluster_questions import ask

pytestmark = pytest.mark.engine("spark")


@pytest.mark.full
def test_questions_on_a_cluster():
    session()  # or a skipped test
    found = ask(CLUSTER_STEP)
    assert found["machines"] == 2
    assert found["right"] == list(map(str, questions()[::CLUSTER_STEP]))
