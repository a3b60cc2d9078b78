"""What clipping takes off is what it is said to take off: computed by plain SQL,
without noise.
"""

from __future__ import annotations

import re

import pytest

from tests.conformance.world import plain_answer

PER_UNIT = "(SELECT patient_id, COUNT(*) AS n, COALESCE(SUM(cost), 0) AS total FROM visits GROUP BY patient_id)"
BY_WARD = """
    WITH per AS (
        SELECT patient_id, ward, COUNT(*) AS n FROM visits
        WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY patient_id, ward
    ), norms AS (SELECT patient_id, {norm} AS norm FROM per GROUP BY patient_id)
    SELECT ward, SUM(n * LEAST(1.0, {radius} / norm)) FROM per JOIN norms USING (patient_id) GROUP BY ward
"""
NORMS = {"Laplace": "SUM(n)", "Gaussian": "SQRT(SUM(n * n))"}
pytestmark = pytest.mark.usefixtures("exact")
both = pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
sums = pytest.mark.only_on("duckdb", "postgres")
"""Spark's clipped sums are those of DuckDB, integer for integer: see
`test_same_integers`.
"""


BOUND = 4000
"""The largest cost that is declared."""
STEPS = 2 * 0.5 * 52
"""What rounding toward zero can take off a sum of costs: two steps of a half for each
of the patients with visits.
"""


def one(sql):
    ((value,),) = plain_answer(sql)
    return float(value)


@sums
@both
@pytest.mark.parametrize("radius", [1, 3, 10, 27, 28])
def test_a_unit_counts_for_the_radius_at_most(worlds, noise, radius):
    """Exactly, but for what rounding toward zero takes off: less than a step in 4,096
    for each unit.
    """
    found = worlds.ask("clinic", noise, "SELECT COUNT(*) FROM visits", radius=radius)
    assert found.value == pytest.approx(
        one(f"SELECT SUM(LEAST(n, {radius})) FROM {PER_UNIT}"), abs=0.6
    )


@sums
@both
@pytest.mark.parametrize("radius", [500, 4000, 30_000])
def test_a_sum_is_clipped_for_each_unit_and_not_for_each_row(worlds, noise, radius):
    found = worlds.ask("clinic", noise, "SELECT SUM(cost) FROM visits", radius=radius)
    assert found.value == pytest.approx(
        one(f"SELECT SUM(LEAST(total, {radius})) FROM {PER_UNIT}"), abs=STEPS
    )


@sums
@both
@pytest.mark.parametrize("radius", [1, 4, 15])
def test_a_unit_with_many_groups_is_scaled_over_all_of_them(worlds, noise, radius):
    """By its norm: the sum of its counts for Laplace noise, the root of the sum of
    their squares for Gaussian.
    """
    found = worlds.ask(
        "clinic",
        noise,
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        radius=radius,
    )
    expected = dict(plain_answer(BY_WARD.format(norm=NORMS[noise], radius=radius)))
    for ward, count in found.rows:
        assert count == pytest.approx(expected.get(ward, 0), abs=0.6)


@both
@pytest.mark.parametrize("most", [1, 3, 8])
def test_a_unit_counts_for_so_many_different_values(worlds, noise, most):
    """These are different for all visits, so it does not matter which of them are kept."""
    found = worlds.ask(
        "clinic",
        noise,
        "SELECT COUNT(DISTINCT visit_id * 101 + change) FROM visits",
        values=most,
    )
    assert found.value == one(f"SELECT SUM(LEAST(n, {most})) FROM {PER_UNIT}")


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_counts_for_so_many_private_keys(worlds, most):
    """With one key a unit, at most as many keys as units are found, and never one that
    does not exist.
    """
    found = worlds.ask(
        "clinic",
        "Gaussian",
        "SELECT doctor, COUNT(*) FROM visits GROUP BY doctor",
        groups=most,
    )
    everything = dict(
        plain_answer("SELECT doctor, COUNT(*) FROM visits GROUP BY doctor")
    )
    assert found.rows
    assert all(everything[doctor] == count for doctor, count in found.rows)
    keys = "1 key" if most == 1 else f"{most} keys"
    assert any(f"at most {keys}" in note for note in found.notes)


@sums
@both
def test_a_mean_weighs_a_unit_down(worlds, noise):
    """A unit above the radius counts for less in sum and count alike; within 5 % of the
    exact weighting by rows.
    """
    found = worlds.ask("clinic", noise, "SELECT AVG(cost) FROM visits", radius=5)
    weighed = """
        WITH per AS (SELECT patient_id, COUNT(cost) AS n, SUM(cost) AS total FROM visits GROUP BY patient_id)
        SELECT SUM(total * LEAST(1.0, 5 / n)) / SUM(n * LEAST(1.0, 5 / n)) FROM per WHERE n > 0
    """
    assert found.value == pytest.approx(
        one(weighed), rel=1e-6 if noise == "Laplace" else 0.05
    )


@sums
@both
def test_a_median_weighs_a_unit_down(worlds, noise):
    """Each row of a unit with n rows counts 5/n: the least value up to which half of
    the weight lies.
    """
    found = worlds.ask("clinic", noise, "SELECT MEDIAN(cost) FROM visits", radius=5)
    weighed = """
        WITH per AS (SELECT cost, LEAST(1.0, 5 / COUNT(*) OVER (PARTITION BY patient_id)) AS w FROM visits
            WHERE cost IS NOT NULL),
        upto AS (SELECT cost, SUM(w) OVER (ORDER BY cost) AS upto, SUM(w) OVER () AS total FROM per)
        SELECT MIN(cost) FROM upto WHERE upto >= 0.5 * total - 1e-9
    """
    assert found.value == one(weighed)


@sums
@both
@pytest.mark.parametrize("epsilon", [0.5, 5.0, 100.0])
@pytest.mark.parametrize(
    "sql", ["SELECT COUNT(*) FROM visits", "SELECT SUM(cost) FROM visits"]
)
def test_a_radius_that_is_chosen_clips_as_it_says(worlds, sql, noise, epsilon):
    """The note tells the radius, as exactly as it is written there (rows are whole, so
    5 may be 5.657); without any signal it is one row's bound.
    """
    cost = (
        {"epsilon": epsilon, "rho": None}
        if noise == "Laplace"
        else {"rho": epsilon**2 / 20}
    )
    found = worlds.ask("clinic", noise, sql, total=1e4, radius=None, **cost)
    note = next(
        (note for note in found.notes if "chosen privately" in note),
        "units of more than 1 row",
    )
    assert ("chosen privately" in note) != bool(found.first)
    radius = float(
        re.search(r"(?:more than|above) ([0-9.e+,]+)", note)[1].replace(",", "")
    )
    what = "n" if "COUNT" in sql else "total"
    radius *= BOUND if found.first and what == "total" else 1
    most = radius + (what == "n" and not found.first)
    least, kept = (
        one(f"SELECT SUM(LEAST({what}, {limit})) FROM {PER_UNIT}")
        for limit in (radius, most)
    )
    rounded = 1 if what == "n" else STEPS + 1e-3 * kept
    assert least - rounded <= found.value <= kept + rounded


@sums
def test_a_larger_cost_chooses_a_larger_radius(worlds):
    """In the end nothing is cut off: the answer is the plain one."""
    counts = [
        worlds.ask(
            "clinic",
            "Laplace",
            "SELECT COUNT(*) FROM visits",
            total=1e4,
            radius=None,
            epsilon=epsilon,
        ).value
        for epsilon in (0.1, 1.0, 10.0, 1000.0)
    ]
    assert counts == sorted(counts)
    assert counts[-1] == one("SELECT COUNT(*) FROM visits")
