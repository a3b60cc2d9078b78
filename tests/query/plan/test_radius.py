"""How many units have which norm, and the clip radius that follows from it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dither.ledger.terms import Accounting, Terms
from dither.mechanisms import Gaussian, Laplace
from dither.privacy import ApproxDP, Unit, gaussian_mu
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.plan.choose import plan_of
from dither.query.plan.radius import radius_of, seen
from dither.query.plan.request import request_of
from dither.query.plan.vectors import Bins
from dither.query.sql.bind import bind
from tests.chance import chance

HISTOGRAM = Gaussian(sensitivity=1, mu=math.sqrt(0.05) * gaussian_mu(1, 1e-6))
BINS = Bins(1, 1 << 14)


def counted(bins, norms):
    places = np.ceil(2 * np.log2(np.maximum(norms, 1) / bins.first) - 1e-9)
    return np.bincount(
        np.clip(places, 0, bins.count - 1).astype(int), minlength=bins.count
    )


def test_bins_grow_by_the_root_of_two():
    assert BINS.edges[:7] == (1, 1, 2, 2, 4, 5, 8)
    assert Bins(1000, 5000).edges == (1000, 1414, 2000, 2828, 4000, 5000)
    assert Bins(1000, 10).edges == (1000,)
    bins = Bins(4096, 4096 << 14)
    assert bins.count == 29
    for norm in (0, 1, 4096, 4097, 5793, 8192, 8193, 4096 << 14, 1 << 40):
        expected = min(
            max(math.ceil(2 * math.log2(max(norm, 1) / 4096)), 0), bins.count - 1
        )
        assert bins.bin(norm) == expected
    assert len(bins.middles) == bins.count


def test_what_is_cut_off_is_estimated():
    units = seen(
        counted(BINS, np.r_[np.full(10_000, 4), np.full(1000, 64)]), BINS, HISTOGRAM
    )
    assert units.above(4) == 1000
    assert units.lost(4) == pytest.approx(1000 * 60, rel=0.25)
    assert units.lost(64) == pytest.approx(0, abs=1)
    assert max(units.radii) < 64 * 4


@chance(1e-9)
@pytest.mark.parametrize("mechanism", [HISTOGRAM, Laplace(sensitivity=1, epsilon=0.05)])
def test_where_noise_is_all_there_is(mechanism):
    """Noise passes for units in at most 0.02 · Σ 2^(−b/2) < 7 % of all draws."""
    nothing = np.zeros(BINS.count, np.int64)
    found = [seen(mechanism.release(nothing), BINS, mechanism) for _ in range(2000)]
    assert sum(units is not None for units in found) < 220


RHO = gaussian_mu(1, 1e-6) ** 2 / 2
ROW = 4096


def planned(figure="COUNT(*)", rows=None, keys="ABCDEF", *, fixed=False, **cost):
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
        replace(request_of(cost or {"rho": RHO}), fixed=fixed),
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
    """Rows of each unit: half have 5 or fewer, one in a hundred more than 47. The same
    whichever tests ran before.
    """
    made = np.random.default_rng(units)  # allowed: test inputs, not noise
    return np.maximum(1, np.round(np.exp(made.normal(math.log(5), 0.963, units))))


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


@chance(1e-9)
@pytest.mark.parametrize(
    ("units", "groups", "room"), [(1000, 50, 1.5), (10_000, 1, 2.5), (100_000, 50, 1.5)]
)
def test_noisy_choices_are_nearly_as_good_as_the_best(units, groups, room):
    """The median over 60 draws of what is lost and added, beside the best edge's."""
    norms, plan = heavy(units), planned()
    (one,) = plan.measurements
    per_row = plan.deviation(one.weight + one.hiding, one.vector.levels)

    def risk(radius):
        return np.maximum(norms - radius, 0).sum() + per_row * groups * radius

    best = min(risk(edge / ROW) for edge in plan.measurements[0].bins.edges)
    found = [risk(chosen(plan, norms, groups, noisy=True)) for _ in range(60)]
    assert np.median(found) <= room * best


def test_without_signal_a_unit_counts_for_one_row():
    for figure in ("COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)"):
        assert chosen(planned(figure), np.zeros(0), 6) == 1


@pytest.mark.parametrize("cost", [{"rho": RHO}, {"epsilon": 1.0}])
def test_without_signal_a_cap_changes_nothing(cost):
    """Nothing is cut off only if all units are seen to be near the cap: else it costs a
    table of light units most of its accuracy.
    """
    for figure in ("COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)"):
        assert chosen(planned(figure, rows=90, **cost), np.zeros(0), 6) == 1


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
@pytest.mark.parametrize("cost", [{"rho": RHO}, {"epsilon": 1.0}])
def test_parts_of_the_cost_add_up(figure, cost):
    """Whatever radius is chosen, all parts together are the whole cost of the measurement."""
    (measurement,) = planned(figure, rows=90, **cost).measurements
    assert measurement.weight + measurement.choosing + measurement.hiding == 1
    for radius in (1, measurement.cap - 1, measurement.cap):
        spent = (
            measurement.part(radius)
            + measurement.choosing
            + (measurement.hiding if measurement.hides(radius) else 0)
        )
        assert spent == 1


def test_no_choice_where_units_have_one_row():
    (measurement,) = planned(rows=1).measurements
    assert (measurement.radius, measurement.choosing, measurement.hiding) == (ROW, 0, 0)


def test_values_may_be_far_below_their_bounds():
    """So the sum of one row each is worth a choice too."""
    plan = planned("SUM(x)", rows=1)
    (measurement,) = plan.measurements
    assert measurement.radius is None
    assert chosen(plan, np.full(5000, 1 / 8), 6) <= 1 / 4


def test_laplace_noise_takes_a_choice_too():
    plan = planned(rows=90, keys="A", epsilon=1.0)
    (measurement,) = plan.measurements
    assert measurement.radius is None
    assert measurement.weight >= Fraction(2, 3)
    assert chosen(plan, np.full(5000, 8), 1) == 8


def test_a_public_error_needs_a_public_radius():
    (measurement,) = planned(rows=90, fixed=True).measurements
    assert (measurement.radius, measurement.choosing, measurement.hiding) == (
        90 * ROW,
        0,
        0,
    )
