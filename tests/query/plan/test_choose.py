"""Which noise answers a question best, by public scales alone."""

from __future__ import annotations

import pandas as pd
import pytest

import dither
from dither.privacy import GaussianDP, PureDP

PLACES = [f"place {number}" for number in range(300)]
FRAME = pd.DataFrame({"person": range(600), "place": [PLACES[0]] * 600})


@pytest.mark.parametrize(
    ("question", "promised"),
    [
        ("SELECT COUNT(DISTINCT person) FROM people", PureDP),
        ("SELECT place, COUNT(DISTINCT person) FROM people GROUP BY place", GaussianDP),
    ],
)
def test_one_count_gets_laplace_noise_and_many_get_gaussian_noise(
    question: str, promised: type[dither.Guarantee]
) -> None:
    """A person has rows in up to 20 places: they move the counts by up to 20 in L1, but
    the noise of each count follows from L2 if it is Gaussian.
    """
    with dither.open(
        FRAME,
        name="people",
        unit="person",
        keys={"place": PLACES},
        rows=20,
        budget=(4.0, 1e-6),
        ledger=":memory:",
    ) as people:
        assert isinstance(people.sql(question, epsilon=0.5).guarantee, promised)
