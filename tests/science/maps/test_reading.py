"""Points from what people hold; types are looked at before the charge, values after."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dither
from dither import Budget
from dither.errors import ArgumentError
from dither.science import maps
from dither.science.maps.places import system_of
from dither.science.maps.reading import floats, source_of
from dither.science.owners import codes_of
from tests.science.maps.support import UNIT, without_noise

PLANE = system_of(None)
LONLAT = system_of(4326)
X, Y = [0.1, 0.5, 0.9], [0.2, 0.5, 0.8]


def read(points, system=PLANE, **names):
    found = source_of(points, system, **names).read(None)
    return found.x.tolist(), found.y.tolist()


def frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    columns = {"lon": X, "lat": Y}
    return [
        columns,
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        arrow.table(columns),
    ]


def test_arrays_pairs_and_lists():
    rows = np.column_stack([X, Y])
    for points in (rows, rows.astype(object), (X, Y), (np.array(X), Y), rows.tolist()):
        assert read(points) == (X, Y)
    assert read(np.array([])) == read([]) == ([], [])
    assert read(np.array([[1, 2]], np.uint8)) == ([1.0], [2.0])


def test_points_of_shapely():
    shapely = pytest.importorskip("shapely")
    points = [shapely.Point(*one) for one in zip(X, Y, strict=True)]
    assert read(points) == (X, Y)
    line = shapely.LineString([(0, 0), (1, 1)])
    assert np.isnan(read([line, shapely.Point()])[0]).all()


def test_columns_of_text_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"lon": ["0.5"], "lat": ["0.5"]}, dtype="string")
    with pytest.raises(ArgumentError, match="column of numbers"):
        source_of(frame, PLANE, x="lon", y="lat")


def test_frames_of_all_kinds():
    for frame in frames():
        assert read(frame, x="lon", y="lat") == (X, Y)


def test_geopandas_in_its_own_and_in_another_system():
    geopandas = pytest.importorskip("geopandas")
    from shapely import LineString, Point

    shapes = [Point(12.5, 41.9), None, Point(), LineString([(0, 0), (1, 1)])]
    frame = geopandas.GeoDataFrame(geometry=shapes, crs=4326)
    x, y = read(frame, LONLAT)
    assert (x[0], y[0]) == (12.5, 41.9)
    assert np.isnan(x[1:]).all()
    x, y = read(frame.to_crs(3857), LONLAT)
    assert (x[0], y[0]) == pytest.approx((12.5, 41.9))
    assert not np.isfinite(x[1:]).any()
    assert read(frame.geometry, LONLAT)[0][0] == 12.5


def test_geopandas_must_say_where_it_is():
    geopandas = pytest.importorskip("geopandas")
    from shapely import Point

    bare = geopandas.GeoDataFrame(geometry=[Point(0, 0)])
    with pytest.raises(ArgumentError, match="set_crs"):
        source_of(bare, LONLAT)
    assert read(bare) == ([0.0], [0.0])
    with pytest.raises(ArgumentError, match="pass it"):
        source_of(bare.set_crs(4326), PLANE)


def test_columns_of_float_ids_are_refused():
    """pandas turns integers into floats where one is missing, which merges ids from
    2^53 on: one missing id would change what all others count for.
    """
    pandas = pytest.importorskip("pandas")
    ids = [2**60, 2**60 + 1, None]
    names = {"x": "lon", "y": "lat", "owner": "who"}
    plain = pandas.DataFrame({"lon": X, "lat": Y, "who": ids})
    assert plain["who"].dtype == float
    with pytest.raises(ArgumentError, match="Int64"):
        source_of(plain, PLANE, **names)
    good = plain.assign(who=pandas.array(ids, "Int64"))
    found = source_of(good, PLANE, **names).read(None)
    assert codes_of(found.owners).tolist() == [0, 1, -1]


class Broken:
    def __iter__(self):
        raise RuntimeError("a value of the data")

    def __float__(self):
        raise KeyError("another")


def test_records_that_raise_are_no_points():
    x, _ = read([Broken(), (Broken(), 1), (0.5, 0.5)])
    assert np.isnan(x[:2]).all()
    assert x[2] == 0.5


def test_odd_numbers():
    odd = [None, "x", b"1 m", True, np.nan, Decimal("0.5"), Fraction(1, 4), 10**400, 2]
    found = floats(odd)
    assert np.isnan(found[:5]).all()
    assert found[5:].tolist() == [0.5, 0.25, np.inf, 2.0]
    masked = np.ma.MaskedArray([1.0, 2.0], [True, False])
    assert floats(masked).tolist()[1] == 2
    assert np.isnan(floats(masked)[0])
    wide = np.array([1, 2], np.longdouble) * np.longdouble("1e4000")
    with np.errstate(all="raise"):
        assert floats(wide).tolist() == [np.inf, np.inf]
    mixed = np.ma.MaskedArray(np.array([1, "a", None, 4], object), [0, 0, 0, 1])
    assert floats(mixed)[0] == 1
    assert np.isnan(floats(mixed)[1:]).all()


REFUSED = [
    (7, {}, "two coordinates"),
    ("0.5", {}, "two coordinates"),
    (np.zeros(5), {}, "two coordinates"),
    (np.zeros((5, 3)), {}, "two coordinates"),
    (np.zeros((5, 2), complex), {}, "numbers"),
    (np.array([["a", "b"]]), {}, "numbers"),
    ((np.zeros(3), 5), {}, "numbers"),
    ({"a": X}, {}, 'x="lon"'),
    ({"a": X}, {"x": "a", "y": "b"}, "no column 'b'"),
    ({"a": X}, {"x": "a", "y": "a", "owner": "c"}, "no column 'c'"),
    (np.zeros((5, 2)), {"owner": 5}, "strings or whole numbers"),
    (np.zeros((5, 2)), {"table": "t"}, "leave table out"),
    (((1, 2), (3, 4), (5, 6)), {}, "two columns"),
    ((np.zeros((3, 2)), np.zeros((3, 2))), {}, "numbers"),
]


@pytest.mark.parametrize(("points", "names", "words"), REFUSED)
def test_wrong_types_are_refused(points, names, words):
    with pytest.raises(ArgumentError, match=words):
        source_of(points, PLANE, **names)


class Guarded(list):
    """Points that may be read after a charge only."""

    paid = False

    def __len__(self):
        raise AssertionError("looked at the data")

    def __iter__(self):
        assert self.paid, "read before the charge"
        return super().__iter__()


def test_nothing_is_read_before_the_charge():
    budget = Budget(epsilon=1)
    points = Guarded([(0.5, 0.5)])
    with pytest.raises(dither.errors.BudgetExceeded):
        maps.heatmap(points, bounds=UNIT, crs=None, epsilon=2, budget=budget)
    points.paid = True
    maps.heatmap(points, bounds=UNIT, crs=None, epsilon=1, budget=budget)


@pytest.fixture
def sites(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "band": ["a", "a", "a", "b", None, "c"],
            "lon": [0.1, 0.2, 0.3, 0.9, 0.5, None],
            "lat": [0.1, 0.2, 0.3, 0.9, 0.5, 0.5],
        }
    )
    path = tmp_path / "sites.csv"
    frame.to_csv(path, index=False)
    with dither.open(
        path,
        unit="band",
        bounds={"lon": (0.0, 1.0), "lat": (0.0, 1.0)},
        rows=3,
        budget=3.0,
        ledger=tmp_path / "book.db",
    ) as opened:
        yield opened


def test_a_dataset_pays_and_knows_its_unit(monkeypatch, sites):
    without_noise(monkeypatch)
    found = maps.heatmap(
        sites, bounds=UNIT, crs=None, x="lon", y="lat", rows=2, epsilon=1
    )
    assert float(found.total()) == pytest.approx(3)
    assert found.guarantee.unit == sites.unit
    assert found.receipt is not None
    assert "clamped to the bounds of their columns" in str(found)
    asked = {"bounds": UNIT, "crs": None, "epsilon": 1, "x": "lon", "y": "lat"}
    with pytest.raises(ArgumentError, match="leave budget out"):
        maps.heatmap(sites, **asked, budget=Budget(epsilon=1))
    with pytest.raises(ArgumentError, match="owner is declared by the dataset"):
        maps.heatmap(sites, **asked, owner="band")
    spent = sites.account.spent
    with pytest.raises(ArgumentError, match="no column 'nope'"):
        maps.heatmap(sites, **asked | {"x": "nope"})
    with pytest.raises(ArgumentError, match="does not hold numbers"):
        maps.heatmap(sites, **asked | {"x": "band"})
    with pytest.raises(ArgumentError, match="must be one of 'sites'"):
        maps.heatmap(sites, **asked, table="others")
    assert sites.account.spent == spent


def test_what_a_column_holds_is_never_named() -> None:
    """A column of pandas is an attribute too."""
    frame = pd.DataFrame({"column_names": ["Ann", "Bob"], "x": [0.1, 0.2]})
    asked = {"bounds": UNIT, "crs": None, "epsilon": 1, "x": "x", "y": "y"}
    with pytest.raises(ArgumentError, match="use one of 'column_names', 'x'"):
        maps.heatmap(frame, **asked)
