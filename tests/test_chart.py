"""Bars with intervals: well-formed, escaped, and drawn to scale."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

import dither
from dither.chart import MOST, WIDTH, Chart
from dither.privacy import PureDP
from dither.release import Source
from dither.table import TableRelease

SVG = "{http://www.w3.org/2000/svg}"


def table(rows: list[tuple[Any, Any]], ends: Any = None) -> TableRelease:
    cells = [
        [None, ends or (value if value is None else (value - 1, value + 1))]
        for _, value in rows
    ]
    return TableRelease(
        ("key", "n"),
        tuple(rows),
        (Source(PureDP(1.0)),),
        lambda _: cells,
        keys=("key",),
    )


def drawn(release: TableRelease) -> Xml.Element:
    return Xml.fromstring(release.plot().svg())


def rects(root: Xml.Element) -> list[Xml.Element]:
    """The bars; the first box is the ground."""
    return list(root.iter(f"{SVG}rect"))[1:]


def test_bars_are_drawn_to_scale() -> None:
    found = [
        float(bar.get("width", "")) for bar in rects(drawn(table([("a", 9), ("b", 4)])))
    ]
    assert found == [
        pytest.approx(WIDTH * 9 / 10, abs=0.1),
        pytest.approx(WIDTH * 4 / 10, abs=0.1),
    ]


def test_labels_are_escaped_and_cut() -> None:
    texts = [
        text.text
        for text in drawn(table([("<b>&", 1), ("x" * 100, 2)])).iter(f"{SVG}text")
    ]
    assert "<b>&" in texts
    assert "x" * 23 + "…" in texts


def test_missing_and_unbounded_values() -> None:
    release = table([("a", None), ("b", 3.0)], (-math.inf, math.inf))
    assert len(rects(drawn(release))) == 1
    assert drawn(table([])) is not None
    assert drawn(table([("a", 0.0)], (0.0, 0.0))) is not None


def test_what_has_no_bars() -> None:
    with pytest.raises(dither.ArgumentError, match="does not hold numbers"):
        table([("a", 1)]).plot("key")
    with pytest.raises(dither.ArgumentError, match=f"at most {MOST} bars"):
        table([(str(n), n) for n in range(MOST + 1)]).plot()


def test_a_picture_can_be_saved(tmp_path: Path) -> None:
    chart = Chart.of("n", ["a"], [1], [None])
    chart.save(tmp_path / "n.svg")
    assert (tmp_path / "n.svg").read_text(encoding="utf-8") == chart.svg()


def test_arrays_have_pictures_too() -> None:
    found = dither.histogram(["a", "b", "b"], keys=["a", "b", "c"], epsilon=1.0)
    chart = found.plot()
    assert (chart.title, [bar.label for bar in chart.bars]) == (
        "count",
        ["a", "b", "c"],
    )
    assert [bar.value for bar in chart.bars] == found.value.tolist()
    low, high = found.interval(0.95)
    assert [(bar.low, bar.high) for bar in chart.bars] == list(
        zip(low.tolist(), high.tolist(), strict=True)
    )
    assert len(rects(Xml.fromstring(chart.svg()))) == 3
    assert [
        bar.label
        for bar in dither.histogram([1, 7], bins=2, bounds=(0, 10), epsilon=1)
        .plot()
        .bars
    ] == [
        "0 to 5",
        "5 to 10",
    ]


def test_a_number_is_one_bar() -> None:
    (bar,) = dither.count([1] * 40, epsilon=1.0).plot().bars
    assert bar.low <= bar.value <= bar.high


def test_an_interval_may_be_wider_or_lost() -> None:
    found = dither.histogram([1, 7], bins=2, bounds=(0, 10), epsilon=1.0)
    usual, sure = found.plot().bars[0], found.plot(0.999).bars[0]
    assert sure.high > usual.high
    lost = found.map(lambda x: x**2).plot().bars[0]
    assert lost.low == lost.high == lost.value


def test_too_many_bins_have_a_way_out() -> None:
    with pytest.raises(dither.ArgumentError, match="fewer keys or bins"):
        dither.histogram([1], bins=MOST + 1, bounds=(0, 1), epsilon=1.0).plot()
