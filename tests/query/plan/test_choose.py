"""Which noise answers a question best, by public scales alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

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


MAKERS = pd.DataFrame(
    {"maker": ["a"] * 60 + ["b"] * 40, "v": [1] * 100, "owner": range(100)}
)
BY_MAKER = "SELECT maker, COUNT(*) AS n FROM data GROUP BY maker"


def keys_of(
    sql: str, *, unit: str = "row", rows: int | None = None, **cost: Any
) -> Any:
    with dither.open(
        MAKERS,
        unit=unit,
        rows=rows,
        bounds={"v": (0, 11)},
        budget=(100.0, 1e-5),
        ledger=":memory:",
    ) as data:
        return data.plan(sql, **cost)


@pytest.mark.parametrize(
    ("unit", "rows", "stated", "groups"),
    [
        ("row", None, None, 1),
        ("row", None, 5, 1),
        ("owner", 1, None, 1),
        ("owner", 3, None, 3),
        ("owner", 600, None, 16),
        ("owner", None, None, 16),
        ("owner", 3, 2, 2),
        ("owner", 3, 5, 5),
    ],
)
def test_a_unit_counts_for_no_more_keys_than_it_has_rows(
    unit: str, rows: int | None, stated: int | None, groups: int
) -> None:
    found = keys_of(BY_MAKER, unit=unit, rows=rows, groups=stated, epsilon=0.5)
    assert found.keys.groups == groups


def test_one_measurement_names_keys_and_counts_their_units() -> None:
    found = keys_of(BY_MAKER, epsilon=0.5)
    assert found.measurements == ()
    assert [one.function for one in found.counted] == ["count"]
    assert found.keys.epsilon == 0.5
    assert found.keys.threshold <= 32
    assert found.guarantee == dither.ApproxDP(0.5, 1e-7)
    users = "SELECT maker, COUNT(DISTINCT owner) FROM data GROUP BY maker"
    assert len(keys_of(users, unit="owner", epsilon=0.5).counted) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT maker, COUNT(v) FROM data GROUP BY maker",
        "SELECT maker, COUNT(*) FILTER (WHERE v > 1) FROM data GROUP BY maker",
        "SELECT maker, SUM(v) FROM data GROUP BY maker",
        "SELECT maker, v > 1, COUNT(*) FROM data GROUP BY maker, v > 1",
    ],
)
def test_other_numbers_are_measured_by_themselves(sql: str) -> None:
    found = keys_of(sql, epsilon=0.5)
    assert found.counted == ()
    assert len(found.measurements) == 1
    assert found.keys.epsilon == 0.25


def test_rows_of_units_with_several_are_measured_by_themselves() -> None:
    assert keys_of(BY_MAKER, unit="owner", rows=2, epsilon=0.5).counted == ()
    assert len(keys_of(BY_MAKER, unit="owner", rows=1, epsilon=0.5).counted) == 1


def test_names_and_other_numbers_cost_the_whole_together() -> None:
    sql = "SELECT maker, COUNT(*) AS n, SUM(v) AS s FROM data GROUP BY maker"
    for stated in (None, {"n": 3, "s": 1}):
        found = keys_of(sql, epsilon=0.5, shares=stated)
        (total,) = found.measurements
        assert found.keys.epsilon + 0.5 * float(total.whole) == pytest.approx(0.5)
        assert stated is None or total.whole == Fraction(1, 8)


def test_the_law_with_the_lower_threshold_names_keys() -> None:
    """Truncated Laplace noise for a key of each unit, Gaussian noise for sixteen."""
    assert keys_of(BY_MAKER, epsilon=0.5).keys.truncated
    many = keys_of(BY_MAKER, unit="owner", epsilon=0.5)
    assert many.keys.mu is not None
    assert many.keys.threshold < 250
    assert keys_of(BY_MAKER, rho=0.01).keys.mu is not None


@pytest.mark.parametrize(("rows", "most"), [(3, 3), (12, 12), (600, 12), (None, 12)])
def test_distinct_units_by_key_are_clipped_to_rows_or_keys_whichever_is_less(
    rows: int | None, most: int
) -> None:
    found = keys_of(
        "SELECT v, COUNT(DISTINCT owner) FROM data GROUP BY v",
        unit="owner",
        rows=rows,
        epsilon=0.5,
    )
    (one,) = found.measurements
    assert found.publics == 12
    assert one.cap <= most * one.vector.row
    assert one.cap >= most**0.5 * one.vector.row
