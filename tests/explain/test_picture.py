"""Axes, plots and the document around them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as Xml

import pytest

from dither.explain.picture import ACCENT, Axis, Panel, document, logarithmic, percents

SVG = "{http://www.w3.org/2000/svg}"


def luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", ["#ffffff", "#121212", "#000000"])
def test_the_accent_shows_on_light_and_dark(page: str) -> None:
    light, dark = sorted((luminance(ACCENT), luminance(page)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def test_even_and_logarithmic_places() -> None:
    even, log = percents("share"), logarithmic("ε", [0.01, 10])
    assert [even.place(value) for value in (-1, 0, 0.25, 1, 2)] == [0, 0, 0.25, 1, 1]
    assert [text for _, text in even.ticks] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert (log.low, log.high) == (0.01, 10)
    assert log.place(0.1) == pytest.approx(1 / 3)
    assert [text for _, text in log.ticks] == ["0.01", "0.1", "1", "10"]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0],
        [1.0],
        [math.inf, 2.0],
        [5e-324, 1.7e308],
        [0.0999, 99.9],
        [1e-9, 1e12],
        [1e300],
    ],
)
def test_any_numbers_get_an_axis(values: list[float]) -> None:
    axis = logarithmic("x", values)
    assert 0 < axis.low < axis.high < math.inf
    assert 2 <= len(axis.ticks) <= 9
    assert all(0 <= axis.place(value) <= 1 for value in values if value >= 0)


def test_a_plot_is_drawn_to_scale_and_escaped() -> None:
    panel = Panel(10, 20, 100, 50, Axis("a<b", 0, 1, ()), Axis("&", 0, 1, ()))
    assert panel.at((0.5, 0.5)) == (60, 45)
    assert panel.at((0, 0)) == (10, 70)
    panel = (
        panel.line([(0, 0), (1, 1)], dashed=True)
        .dot((1, 1))
        .words((0, 1), "<x>")
        .legend("<l>")
        .remark("<r>")
    )
    root = Xml.fromstring(document("<t>", "d & e", (200, 200), [panel]))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["a<b", "&", "<x>", "<l>", "<r>"]
    assert [each.text for each in list(root)[:2]] == ["<t>", "d & e"]
    lines = [path.get("d") for path in root.iter(f"{SVG}path")]
    assert "M10.0 70.0L110.0 20.0" in lines
    heights = [
        float(text.get("y", ""))
        for text in root.iter(f"{SVG}text")
        if text.text in ("<l>", "<r>")
    ]
    assert heights[1] - heights[0] == 18
