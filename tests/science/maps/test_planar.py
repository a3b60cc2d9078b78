"""Blurred places: what two places may differ by, exactly, and how far they are moved."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from dither import Budget
from dither.dataset import Dataset
from dither.errors import ArgumentError, NoConversion
from dither.ledger.wire import from_json
from dither.privacy import MetricDP, PureDP, Unit
from dither.science import maps
from dither.science.maps.ground import ground_of
from dither.science.maps.places import place_of
from dither.science.maps.planar import Lattice
from tests.chance import chance
from tests.science.maps.support import UNIT

PARIS = (2.2, 48.8, 2.5, 48.95)
HERE = np.array([[2.35, 48.85]])


def lattice(epsilon, radius, bounds=PARIS, crs=4326):
    return Lattice.of(ground_of(place_of(bounds, crs)), epsilon, radius)


def test_the_promise_holds_for_all_pairs_of_places():
    """The log-ratio of the noise's law is at most rate × steps; with rounding to the
    lattice that is at most ε within the radius, and ε/radius for a metre beyond.
    """
    made = lattice(2.0, 3.0, UNIT, None)
    random = np.random.default_rng(1)
    places = random.uniform(-8, 8, (60, 2))
    steps = np.floor(places / made.step + 0.5)
    for (p, i), (q, j) in itertools.combinations(zip(places, steps, strict=True), 2):
        apart = math.dist(p, q)
        # max over z of | |z − i| − |z − j| | is |i − j|, reached at z = i
        loss = made.rate * math.dist(i, j)
        assert loss <= made.epsilon * max(apart, made.radius) * (1 + 1e-12)
        assert loss >= made.epsilon * apart * 0.99 - 0.01


@pytest.mark.parametrize(("epsilon", "radius"), [(0.01, 5), (1, 200), (20, 1.5)])
def test_the_worst_rounding_is_paid_for(epsilon, radius):
    made = lattice(epsilon, radius)
    diagonal = math.sqrt(2) * made.step
    assert made.rate / made.step * (radius + diagonal) <= epsilon
    assert made.rate / made.step * radius >= 0.998 * epsilon
    assert made.rate <= 1 / 1024


@chance(5e-8)
def test_places_move_as_far_as_they_should():
    found = maps.blur(
        np.repeat(HERE, 20_000, axis=0), bounds=PARIS, epsilon=math.log(4), radius=200
    )
    pyproj = pytest.importorskip("pyproj")
    ends = (*found.value.T, *np.repeat(HERE, 20_000, axis=0).T)
    moved = pyproj.Geod(ellps="WGS84").inv(*ends)[2]
    # Andrés et al. 2013: a mean of 2/ε = 288.5 m; sd 204 m, so 1.44 m of the mean.
    assert 280 < moved.mean() < 302
    for level in (0.5, 0.95, 0.99):
        held = np.mean(moved <= found.reach(level))
        error = math.sqrt(level * (1 - level) / 20_000)
        assert level - 6 * error < held < level + 0.01 + 6 * error


@chance(2e-8)
def test_intervals_hold_the_place():
    found = maps.blur(
        np.repeat(HERE, 2000, axis=0), bounds=PARIS, epsilon=1, radius=100
    )
    low, high = found.interval(0.9)
    held = ((low <= HERE) & (high >= HERE)).all(axis=1).mean()
    assert held > 0.9 - 6 * math.sqrt(0.09 / 2000)


def test_distances_on_the_plane_are_never_above_the_ground():
    pyproj = pytest.importorskip("pyproj")
    geod = pyproj.Geod(ellps="WGS84")
    random = np.random.default_rng(2)
    for bounds in (PARIS, (-30, 50, 25, 70), (10, -80, 40, -10), (170, -5, -150, 40)):
        place = place_of(bounds, 4326)
        ground = ground_of(place)
        box = place.box
        x = random.uniform(box.west, box.east, (2, 4000))
        y = random.uniform(box.south, box.north, (2, 4000))
        x[:, :100], y[:, :100] = np.array([[box.west], [box.east]]), box.north
        flat = [ground.flat(*one, place) for one in zip(x, y, strict=True)]
        plane = np.hypot(*(flat[0] - flat[1]).T)
        exact = geod.inv(x[0], y[0], x[1], y[1])[2]
        assert (plane <= exact).all()
        assert plane.max() <= ground.diagonal


def test_as_many_places_come_back_whatever_they_are():
    odd = [(2.3, 48.9), (np.nan, 1), None, ("a", "b"), (1e308, -1e308), (-400, 48.9)]
    found = maps.blur(odd, bounds=PARIS, epsilon=1, radius=50)
    assert found.value.shape == (6, 2)
    assert np.isfinite(found.value).all()
    assert (
        maps.blur(np.empty((0, 2)), bounds=PARIS, epsilon=1, radius=50).value.size == 0
    )


def test_odd_places_go_to_the_border_or_the_middle():
    place = place_of(UNIT, None)
    ground = ground_of(place)
    x = np.array([np.nan, 9.0, -9.0, 0.25, np.inf])
    y = np.array([0.1, np.nan, 9.0, 0.25, -np.inf])
    flat = ground.flat(x, y, place) + 0.5
    expected = [[0.5, 0.5], [0.5, 0.5], [0, 1], [0.25, 0.25], [1, 0]]
    assert flat.tolist() == expected


@pytest.mark.parametrize("bounds", [(0, 50, 10, 60), (175, 50, -175, 60)])
def test_a_place_outside_goes_to_its_own_side(bounds):
    place = place_of(bounds, 4326)
    ground = ground_of(place)
    box = place.box
    near = 0.001
    x = np.array([box.east + near, box.west - near, box.east - near, box.east - 360])
    flat = ground.flat(x, np.full(4, 55.0), place) / ground.scales[0] + ground.middle[0]
    assert flat[:, 0] == pytest.approx([box.east, box.west, box.east - near, box.east])
    again = ground.flat(x - 360, np.full(4, 55.0), place)
    assert again == pytest.approx(ground.flat(x, np.full(4, 55.0), place), abs=1e-6)


def test_a_lattice_that_floats_cannot_count_is_refused():
    with pytest.raises(ArgumentError, match="too small for these bounds"):
        maps.blur([(1, 1)], bounds=(0, 0, 4e15, 4e15), crs=None, epsilon=1, radius=1)


def test_no_account_takes_it_without_a_diameter():
    unit = Unit("location", "replace")
    budget = Budget(epsilon=100, unit=unit)
    asked = {"bounds": PARIS, "epsilon": 1, "radius": 1000}
    walkers = Budget(epsilon=100, unit=Unit("walker", "replace"))
    for other in (walkers, Budget(epsilon=100)):
        with pytest.raises(ArgumentError, match="replacing a place"):
            maps.blur(HERE, **asked, budget=other, diameter=30_000)
    with pytest.raises(ArgumentError, match="pass the largest distance"):
        maps.blur(HERE, **asked, budget=budget)
    with pytest.raises(ArgumentError, match="the diagonal of bounds"):
        maps.blur(HERE, **asked, budget=budget, diameter=1000)
    assert budget.spent == 0
    found = maps.blur(HERE, **asked, budget=budget, diameter=30_000)
    assert found.guarantee == PureDP(30.0, unit=unit)
    assert found.receipt is not None
    free = maps.blur(HERE, **asked)
    assert free.guarantee == MetricDP(
        0.001, beyond=1000, unit=Unit("location", "replace")
    )
    assert free.guarantee.within(0.001).epsilon == pytest.approx(1)
    with pytest.raises(NoConversion):
        free.guarantee.epsilon_at(1e-6)


def test_a_small_diameter_costs_the_radius():
    found = maps.blur(
        [(0.5, 0.5)], bounds=UNIT, crs=None, epsilon=1, radius=50, diameter=2
    )
    assert found.guarantee.epsilon == pytest.approx(1)


QUESTIONS = [
    ({"bounds": None}, "not read off the data"),
    ({"epsilon": 0}, "epsilon"),
    ({"radius": -1}, "radius"),
    ({"radius": 0.01}, "at least 1 metre"),
    ({"radius": 1e30}, "radius must be between"),
    ({"bounds": (-90, 0, 90, 1)}, "too large"),
    ({"bounds": (0, 80, 1, 89)}, "too large"),
    ({"diameter": -5}, "diameter"),
    ({"budget": 7}, "must be a dither.Budget"),
    ({"provenance": " "}, "provenance"),
]


@pytest.mark.parametrize(("change", "words"), QUESTIONS)
def test_bad_questions(change, words):
    asked = {"bounds": PARIS, "epsilon": 1, "radius": 100} | change
    with pytest.raises(ArgumentError, match=words):
        maps.blur(HERE, **asked)


def test_datasets_and_outlines_are_refused():
    asked = {"epsilon": 1, "radius": 100}
    with pytest.raises(ArgumentError, match="heatmap"):
        maps.blur(Dataset.of({"x": [1]}), bounds=PARIS, **asked)
    outline = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
    pytest.importorskip("shapely")
    with pytest.raises(ArgumentError, match="must be a box"):
        maps.blur(HERE, bounds=outline, **asked)
    with pytest.raises(ArgumentError, match="write blur"):
        maps.blur(HERE, bounds=PARIS)


def test_forms():
    found = maps.blur(HERE, bounds=PARIS, epsilon=1, radius=100)
    assert "metres of their blurred places" in str(found)
    assert repr(found) == "<Blurred: 1 places>"
    assert [row[0] for row in found.rows()] == ["0 x", "0 y"]
    assert found[0].value.shape == (1, 2)
    data = json.loads(found.to_json())
    assert data["guarantee"]["kind"] == "metric"
    assert from_json(data["guarantee"]) == found.guarantee
    assert found.to_csv().splitlines()[0] == "x,y"
    point = found.to_geojson()["features"][0]["geometry"]
    assert point["coordinates"] == pytest.approx(found.value[0].tolist())
    with pytest.raises(ArgumentError, match="confidence"):
        found.reach(95)
    with pytest.raises(ArgumentError, match="heatmap"):
        found.plot()
    pytest.importorskip("pandas")
    assert list(found.to_pandas().columns) == ["x", "y"]
    pytest.importorskip("geopandas")
    assert found.to_geopandas().crs == 4326
    feet = maps.blur(
        [(1e6, 2e5)],
        bounds=(9e5, 1e5, 1.1e6, 3e5),
        crs=2263,
        **{"epsilon": 1, "radius": 100},
    )
    assert "in EPSG:2263" in str(feet)
    assert feet.guarantee.per == "EPSG:2263 metre"
    assert "per EPSG:2263 metre from 100 EPSG:2263 metres on" in str(feet)


@chance(1e-13)
def test_across_the_antimeridian():
    found = maps.blur(
        np.array([[179.999, 0.0]] * 200),
        bounds=(170, -5, -170, 5),
        epsilon=1,
        radius=500,
    )
    assert (np.abs(found.value[:, 0] - 180) < 0.2).all()
    assert (found.value[:, 0] > 180).any()
    low, high = found.interval(0.999)
    assert ((low[:, 0] <= 179.999) & (high[:, 0] >= 179.999)).mean() > 0.9
    pytest.importorskip("geopandas")
    assert (np.abs(found.to_geopandas().geometry.x) <= 180).all()
