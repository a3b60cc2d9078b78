"""The chosen radius: on exact counts of units, on noisy ones, with and without a cap."""

import math

import numpy as np
import pytest

from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP, Unit, gaussian_mu
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.plan.choose import plan_of
from dither.query.plan.request import request_of
from dither.query.plan.weighing import radius_of
from dither.query.sql.bind import bind
from tests.query.plan.test_radius import counted

RANDOM = np.random.default_rng(7)  # allowed: test inputs, not noise
RHO = gaussian_mu(1, 1e-6) ** 2 / 2
ROW = 4096


def planned(figure="COUNT(*)", rows=None, keys="ABCDEF", **cost):
    fields = (
        Field("id", Type.TEXT),
        Field("g", Type.TEXT, ANY, tuple(keys)),
        Field("x", Type.INTEGER, Range(-5, 9)),
    )
    catalogue = Catalogue(
        "t", (Table("t", fields, owner="id", rows=rows),), unit=Unit("id")
    )
    terms = Terms.of(Accounting.RENYI, ApproxDP(40.0, 1e-6, unit=Unit("id")))
    return plan_of(
        bind(f"SELECT g, {figure} FROM t GROUP BY g", catalogue),
        request_of(cost or {"rho": RHO}),
        terms,
    )


def chosen(plan, norms, groups, *, noisy=False):
    (measurement,) = plan.measurements
    exact = counted(measurement.bins, norms * measurement.vector.row)
    units = plan.choosing(measurement).release(exact) if noisy else exact
    return (
        radius_of(plan, measurement, [int(count) for count in units], groups).value
        / measurement.vector.row
    )


def heavy(units):
    """Rows of each unit: half have 5 or fewer, one in a hundred more than 47."""
    return np.maximum(1, np.round(np.exp(RANDOM.normal(math.log(5), 0.963, units))))


@pytest.mark.parametrize(
    ("norms", "groups", "low", "high"),
    [
        (np.ones(1000), 1, 1, 1),
        (np.full(5000, 8), 50, 8, 8),
        (np.r_[np.ones(5000), np.full(5000, 512)], 1, 512, 512),
        (heavy(1_240_000), 50, 90, 370),
        (heavy(1000), 50, 5, 16),
    ],
    ids=[
        "one row each",
        "eight rows each",
        "two kinds",
        "many heavy units",
        "few heavy units",
    ],
)
def test_the_choice_on_exact_counts(norms, groups, low, high):
    assert low <= chosen(planned(), norms, groups) <= high


@pytest.mark.parametrize(
    ("units", "groups", "room"), [(1000, 50, 1.5), (10_000, 1, 2.5), (100_000, 50, 1.5)]
)
def test_noisy_choices_are_nearly_as_good_as_the_best(units, groups, room):
    """The median over 60 draws of what is lost and added, beside the best edge's."""
    norms, plan = heavy(units), planned()
    per_row = plan.per_radius(plan.measurements[0])

    def risk(radius):
        return np.maximum(norms - radius, 0).sum() + per_row * groups * radius

    best = min(risk(edge / ROW) for edge in plan.measurements[0].bins.edges)
    found = [risk(chosen(plan, norms, groups, noisy=True)) for _ in range(60)]
    assert np.median(found) <= room * best


def test_without_signal_a_unit_counts_for_one_row():
    for figure in ("COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)"):
        assert chosen(planned(figure), np.zeros(0), 6) == 1


def test_without_signal_and_with_a_cap_nothing_is_cut_off():
    assert chosen(planned(rows=90), np.zeros(0), 6) == 90


def test_a_cap_is_the_radius_where_units_are_near_it():
    plan = planned(rows=90)
    assert chosen(plan, np.full(5000, 88.0), 6) == 90
    assert (
        plan.measurements[0].part(90 * ROW)
        == plan.measurements[0].weight + plan.measurements[0].hiding
    )


def test_far_below_a_cap_the_radius_follows_the_units():
    assert 2 <= chosen(planned(rows=2000), heavy(5000) / 2, 6) <= 40


@pytest.mark.parametrize(
    "figure", ["COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)", "VAR_POP(x)"]
)
def test_parts_of_the_cost_add_up(figure):
    """Whatever radius is chosen, all parts together are the whole cost of the measurement."""
    (measurement,) = planned(figure, rows=90).measurements
    assert measurement.weight + measurement.choosing + measurement.hiding == 1
    for radius in (1, measurement.cap - 1, measurement.cap):
        spent = (
            measurement.part(radius)
            + measurement.choosing
            + (measurement.hiding if measurement.hides(radius) else 0)
        )
        assert spent == 1


def test_no_choice_where_units_have_few_rows():
    (measurement,) = planned(rows=4).measurements
    assert (measurement.radius, measurement.choosing, measurement.hiding) == (
        4 * ROW,
        0,
        0,
    )


def test_laplace_noise_takes_the_cap():
    (measurement,) = planned(rows=90, epsilon=1.0).measurements
    assert (measurement.radius, measurement.choosing, measurement.hiding) == (
        90 * ROW,
        0,
        0,
    )
