"""Heat maps: without noise they are the field's own histograms; with it, intervals hold
the truth, and odd points change nothing but counts.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dither import Budget
from dither.errors import ArgumentError, BudgetExceeded, UnitMismatch
from dither.noise import Law
from dither.privacy import ROW, PureDP, Unit, ZeroConcentratedDP
from dither.science import maps
from tests.science.maps.support import UNIT, scattered, without_noise

POINTS = scattered(4000)


def histogram(found, points):
    """numpy's counts for the cells of a map, cell by cell of the first grid."""
    west, south, east, north = found.partition.borders
    parent = found.partition.parent
    counts = np.zeros(len(found))
    for cell in range(found.partition.grid.size):
        own = np.flatnonzero(parent == cell)
        x = np.unique(np.append(west[own], east[own].max()))
        y = np.unique(np.append(south[own], north[own].max()))
        counts[own] = np.histogram2d(*points.T, bins=(x, y))[0].T.ravel()
    return counts


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": 0.2}])
@pytest.mark.parametrize("method", ["adaptive", "uniform"])
def test_without_noise_it_is_a_histogram(monkeypatch, method, cost):
    without_noise(monkeypatch)
    found = maps.heatmap(POINTS, bounds=UNIT, crs=None, method=method, **cost)
    assert len(found) > 100
    assert (method == "adaptive") == (found.partition.sides.max() > 1)
    inside = ((POINTS >= 0) & (POINTS <= 1)).all(axis=1)
    assert found.value == pytest.approx(histogram(found, POINTS), abs=1e-9)
    assert float(found.total()) == pytest.approx(inside.sum())


def test_cells_join_as_geopandas_does(monkeypatch):
    geopandas = pytest.importorskip("geopandas")
    without_noise(monkeypatch)
    found = maps.heatmap(POINTS, bounds=UNIT, crs=32633, epsilon=1)
    frame = found.to_geopandas()
    points = geopandas.GeoDataFrame(
        geometry=geopandas.points_from_xy(*POINTS.T), crs=32633
    )
    joined = geopandas.sjoin(points, frame, predicate="within")
    counts = joined.groupby("index_right").size().reindex(frame.index, fill_value=0)
    assert counts.to_numpy() == pytest.approx(frame["count"].to_numpy(), abs=1e-9)


def test_replacing_an_owner_moves_twice_as_much():
    unit = Unit("herder", "replace")
    budget = Budget(epsilon=5, unit=unit)
    found = maps.heatmap(
        {"x": [0.5], "y": [0.5], "herder": ["a"]},
        x="x",
        y="y",
        owner="herder",
        rows=2,
        bounds=UNIT,
        crs=None,
        epsilon=1,
        cells=4,
        method="uniform",
        budget=budget,
    )
    assert found.noises.parts == Law.laplace(4 / 1.0)
    assert found.guarantee.unit == unit


def test_owners_are_no_rows_whatever_their_column_is_called():
    frame = pd.DataFrame({"row": [1, 1, 2], "x": [0.1, 0.6, 0.9], "y": [0.1, 0.6, 0.9]})
    words = {"x": "x", "y": "y", "owner": "row", "rows": 1, "epsilon": 1.0}
    found = maps.heatmap(frame, bounds=UNIT, crs=None, **words)
    assert found.guarantee.unit == Unit("owner")
    budget = Budget(epsilon=1.0, unit=ROW)
    with pytest.raises(UnitMismatch):
        maps.heatmap(frame, bounds=UNIT, crs=None, budget=budget, **words)
    assert budget.spent == 0


def test_guarantee_and_unit():
    plain = {"bounds": UNIT, "crs": None}
    found = maps.heatmap(POINTS, epsilon=1, **plain)
    assert found.guarantee == PureDP(1.0, unit=Unit("site"))
    found = maps.heatmap(POINTS, rho=0.1, **plain, owner=np.arange(4000) % 50, rows=4)
    assert found.guarantee == ZeroConcentratedDP(0.1, unit=Unit("owner"))
    budget = Budget(epsilon=1)
    found = maps.heatmap(POINTS, share=0.5, budget=budget, **plain)
    assert found.guarantee == PureDP(0.5)
    assert found.receipt is not None
    with pytest.raises(BudgetExceeded):
        maps.heatmap(POINTS, epsilon=0.6, budget=budget, **plain)


def test_a_wanted_error_of_a_uniform_map():
    found = maps.heatmap(
        POINTS,
        bounds=UNIT,
        crs=None,
        method="uniform",
        cells=(5, 4),
        error="±10 at 95%",
    )
    low, high = found.interval()
    assert len(found) == 20
    assert float(np.max(high - low)) <= 20
    with pytest.raises(ArgumentError, match="depends on the data"):
        maps.heatmap(POINTS, bounds=UNIT, crs=None, error=10)


ODD = [
    np.empty((0, 2)),
    np.array(
        [[np.nan, 0.5], [0.5, np.inf], [-np.inf, np.nan], [2, 0.5], [0.5, -1e308]]
    ),
    [(None, 0.5), ("half", 0.5), 7, (0.5,), (1j, 0.5), (True, 0.2)],
    (np.array([0.5, 0.6]), np.array([0.5])),
    np.full((1000, 2), 0.5),
]


@pytest.mark.parametrize("points", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("method", ["adaptive", "uniform"])
def test_odd_points_get_a_normal_answer(points, method):
    found = maps.heatmap(points, bounds=UNIT, crs=None, epsilon=1, method=method)
    assert len(found) == len(found.interval()[0]) >= 1
    assert str(found).startswith("heat map of ")


def test_odd_points_are_dropped(monkeypatch):
    without_noise(monkeypatch)
    for points, number in zip(ODD, (0, 0, 0, 1, 1000), strict=True):
        found = maps.heatmap(points, bounds=UNIT, crs=None, epsilon=1, expect=100)
        assert float(found.total()) == pytest.approx(number)


def test_borders_belong_to_the_map(monkeypatch):
    without_noise(monkeypatch)
    corners = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=2)))
    found = maps.heatmap(
        corners, bounds=UNIT, crs=None, epsilon=1, method="uniform", cells=(2, 2)
    )
    assert found.value.tolist() == [1, 2, 2, 4]


def test_round_numbers_are_counted_as_numpy_counts_them(monkeypatch):
    without_noise(monkeypatch)
    whole = np.array(list(itertools.product(range(11), repeat=2)), float)
    found = maps.heatmap(
        whole,
        bounds=(0, 0, 10, 10),
        crs=None,
        epsilon=1,
        method="uniform",
        cells=(10, 10),
    )
    exact = np.histogram2d(*whole.T, bins=10, range=((0, 10), (0, 10)))[0].T.ravel()
    assert found.value.tolist() == exact.tolist()
    assert found.within((3, 0, 10, 10)).value == 8 * 11


def test_across_the_antimeridian(monkeypatch):
    without_noise(monkeypatch)
    points = np.array([[179.5, 0], [-179.5, 0], [180, 0], [-180, 0], [0, 0], [169, 0]])
    found = maps.heatmap(
        points, bounds=(170, -10, -170, 10), epsilon=1, method="uniform", cells=(2, 1)
    )
    assert found.value.tolist() == [1, 3]
    assert float(found.within((179, -5, -179, 5)).value) == pytest.approx(
        4 / 20, rel=0.01
    )


def test_an_owner_with_many_points(monkeypatch):
    without_noise(monkeypatch)
    owners = ["rich"] * 1000 + ["poor"] * 2 + [None] * 3
    points = np.concatenate([np.full((1000, 2), 0.1), np.full((5, 2), 0.9)])
    found = maps.heatmap(
        points, bounds=UNIT, crs=None, owner=owners, rows=5, epsilon=1, cells=4
    )
    assert float(found.total()) == pytest.approx(7)
    assert "at most 5 points" in str(found)


QUESTIONS = [
    ({"bounds": None}, "not read off the data"),
    ({"bounds": (0, 0, 1)}, "four finite numbers"),
    ({"bounds": (0, 0, 1, math.nan)}, "four finite numbers"),
    ({"bounds": (1, 0, 0, 1), "crs": None}, "west < east"),
    ({"bounds": (0, 40, 1, 130), "crs": 4326}, "lon, lat"),
    ({"bounds": (0, 1, 1, 0), "crs": 4326}, "lon, lat"),
    ({"bounds": (-200, 0, 200, 1), "crs": 4326}, "more than once"),
    ({"method": "quad"}, "adaptive"),
    ({"rows": 2}, "each point is one unit"),
    ({"owner": np.arange(4000)}, "rows must be declared"),
    ({"rows": 0, "owner": [1]}, "rows"),
    ({"rows": 10**400, "owner": [1]}, "rows"),
    ({"cells": 0}, "cells"),
    ({"cells": (2, 3, 4)}, "columns, rows"),
    ({"cells": 10**9, "method": "uniform"}, "cells must be at most"),
    ({"cells": 4, "expect": 5}, "cells or expect, not both"),
    ({"expect": -1}, "expect"),
    ({"expect": 10**400}, "expect"),
    ({"bounds": (-1e308, 0, 1e308, 1)}, "must have sides from"),
    ({"bounds": (0, 0, 5e-324, 1)}, "must have sides from"),
    ({"owner": np.array([True])}, "strings or whole numbers"),
    ({"owner": np.array([1.5])}, "floats merge large ids"),
    ({"owner": np.zeros((4000, 2), int)}, "strings or whole numbers"),
    ({"owner": "name"}, "must be a list of ids"),
    ({"x": "lon"}, "leave both out"),
    ({"provenance": ""}, "provenance"),
    ({"crs": "no such thing"}, "not a coordinate system"),
    ({"epsilon": None, "rho": None}, "pass exactly one of"),
    ({"epsilon": -1}, "epsilon"),
    ({"epsilon": 1e-30}, "too small"),
]


@pytest.mark.parametrize(("change", "words"), QUESTIONS)
def test_bad_questions_cost_nothing(change, words):
    budget = Budget(epsilon=1)
    asked = {"bounds": UNIT, "crs": None, "epsilon": 0.5, "budget": budget} | change
    with pytest.raises(ArgumentError, match=words):
        maps.heatmap(POINTS, **asked)
    assert budget.spent == 0


def test_a_call_without_names_is_explained():
    with pytest.raises(ArgumentError, match="write heatmap"):
        maps.heatmap(POINTS, UNIT)
