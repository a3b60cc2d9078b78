"""Pictures hold the same shapes as SVG and as PNG."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

from dither import ArgumentError, MissingExtra
from dither.chart import Chart
from dither.picture import Area, Dot, Line, Picture, Rect, Text, shade

SHAPES = (
    Rect(10, 10, 30, 20, (255, 0, 0)),
    Area(((60, 60), (90, 60), (60, 90)), (0, 0, 255)),
    Line(((0, 95), (50, 95), (99, 95)), dashes=(6, 3)),
    Dot(50, 50, 4, (0, 128, 0)),
    Text(20, 60, "<b>&", bold=True),
    Text(95, 50, "up", turned=True, anchor="middle"),
)
PICTURE = Picture(100, 100, SHAPES, "a <title>")


def test_svg_is_well_formed_and_says_what_was_written() -> None:
    root = ET.fromstring(PICTURE.svg())
    words = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert words == ["<b>&", "up"]
    assert root.find("{http://www.w3.org/2000/svg}title") is not None


def test_png_shows_the_shapes() -> None:
    image = Image.open(io.BytesIO(PICTURE.png()))
    assert image.size == (200, 200)
    assert image.getpixel((40, 40)) == (255, 0, 0)
    assert image.getpixel((130, 130)) == (0, 0, 255)
    assert image.getpixel((100, 100)) == (0, 128, 0)
    assert image.getpixel((198, 2)) == (255, 255, 255)
    beneath = [image.getpixel((x, 190)) for x in range(200)]
    assert {(0, 0, 0), (255, 255, 255)} <= set(beneath)  # the dashes and their gaps


def test_bars_are_written_as_png_too(tmp_path: Path) -> None:
    chart = Chart.of("n", ["a"], [1], [None])
    chart.save(tmp_path / "n.png")
    assert (tmp_path / "n.png").read_bytes() == chart.picture().png()


def test_shades_grow_darker() -> None:
    grey = [
        0.2126 * red + 0.7152 * green + 0.0722 * blue
        for red, green, blue in (shade(share / 50) for share in range(51))
    ]
    assert grey == sorted(grey, reverse=True)
    assert len(set(grey)) == 51
    assert shade(-1) == shade(0)
    assert shade(2) == shade(1)


def test_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PICTURE.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == PICTURE.svg()
    PICTURE.save(tmp_path / "a.PNG")
    with pytest.raises(ArgumentError, match=r"\.svg or \.png"):
        PICTURE.save(tmp_path / "a.jpg")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match="science"):
        PICTURE.png()
