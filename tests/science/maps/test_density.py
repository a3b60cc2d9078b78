"""The release of a map: frames, GeoJSON, words; what is left after arithmetic."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.release import Release
from dither.science import maps
from tests.science.maps.support import UNIT, scattered, without_noise

POINTS = scattered(3000)
PARIS = (2.2, 48.8, 2.5, 48.95)
COLUMNS = [
    "cell",
    "part",
    "west",
    "south",
    "east",
    "north",
    "area",
    "count",
    "low",
    "high",
]


@pytest.fixture(scope="module")
def chart():
    points = POINTS * (0.3, 0.15) + PARIS[:2]
    return maps.heatmap(points, bounds=PARIS, epsilon=1, provenance="the city's border")


def test_frames(chart):
    pytest.importorskip("pandas")
    frame = chart.to_pandas()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(chart)
    assert not frame.duplicated(["cell", "part"]).any()
    assert (frame["low"] <= frame["high"]).all()
    narrow = chart.to_pandas(0.5)
    assert (narrow["high"] <= frame["high"] + 1e-9).all()
    assert chart.to_polars().columns == COLUMNS


def test_csv(chart, tmp_path):
    rows = list(csv.DictReader(io.StringIO(chart.to_csv())))
    assert len(rows) == len(chart)
    assert float(rows[3]["count"]) == pytest.approx(chart.value[3], abs=1e-6)
    chart.to_csv(tmp_path / "map.csv")
    assert (tmp_path / "map.csv").read_text() == chart.to_csv()


def test_words(chart):
    said = str(chart)
    assert "counted points" in said
    assert "may be empty" not in said
    one = maps.heatmap(
        POINTS, bounds=PARIS, epsilon=1, cells=1, method="uniform", provenance="x"
    )
    assert "heat map of 1 cell: " in str(one)
    assert f"{len(chart):,} cells" in said
    assert "the city's border" in said
    assert "one site (add/remove)" in said
    assert repr(chart) == f"<HeatMap of {len(chart):,} cells>"
    assert chart._repr_html_().startswith("<svg")


def test_an_empty_map_asks_whether_it_should_be(monkeypatch):
    without_noise(monkeypatch)
    empty = maps.heatmap(np.empty((0, 2)), bounds=PARIS, epsilon=1)
    assert "may be empty: are the points lon, lat in EPSG:4326" in str(empty)


def test_arithmetic_leaves_plain_releases(chart):
    half = chart / 2
    assert type(half) is Release
    assert half.value == pytest.approx(chart.value / 2)
    assert type(chart[0]) is Release
    assert chart[0].interval()[1] == chart.interval()[1][0]
    assert type(chart.round()) is Release


def test_intervals_widen_with_confidence(chart):
    _, low = chart.interval(0.5)
    _, high = chart.interval(0.999)
    assert (high >= low).all()
    with pytest.raises(ArgumentError, match="confidence"):
        chart.interval(1.0)


def test_json_of_the_library(chart):
    data = json.loads(chart.to_json())
    assert len(data["rows"]) == len(chart)


def test_areas_are_square_metres(chart):
    assert chart.areas.sum() == pytest.approx(22_000 * 16_680, rel=0.01)
    assert chart.bounds.west == 2.2
    plane = maps.heatmap(POINTS, bounds=UNIT, crs=None, epsilon=1)
    assert np.sum(plane.areas) == pytest.approx(1)
