"""Axes show round numbers, and put what they show where it belongs."""

from __future__ import annotations

import pytest

from dither.axes import Axes, Scale, _number


def test_ticks_are_round_and_within() -> None:
    assert Scale(0, 1).ticks() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Scale(0, 347).ticks() == pytest.approx([0, 100, 200, 300])
    assert Scale(-3, 4).ticks() == pytest.approx([-2, 0, 2, 4])
    assert Scale(1, 1e4, log=True).ticks() == pytest.approx([1, 10, 100, 1e3, 1e4])
    assert len(Scale(1e-9, 1e9, log=True).ticks()) <= 7


def test_places() -> None:
    axes = Axes(50, 10, 200, 100, Scale(0, 10), Scale(1, 100, log=True))
    assert axes.place(0, 1) == (50, 110)
    assert axes.place(10, 100) == (250, 10)
    assert axes.place(5, 10) == (150, 60)
    assert axes.place(-5, 1e9) == (50, 10)
    band = axes.band([0, 10], [1, 1], [100, 100])
    assert band.points == ((50, 10), (250, 10), (250, 110), (50, 110))


def test_numbers_are_short() -> None:
    values = (0, 0.2, 1000, 12_000, 1e5, 2e-4, 1e12)
    assert [_number(one) for one in values] == [
        "0",
        "0.2",
        "1,000",
        "12,000",
        "1e5",
        "2e-4",
        "1e12",
    ]
