"""The picture of the error by level."""

from __future__ import annotations

import math

from dither.axes import Axes, Scale
from dither.picture import Dot, Line, Picture, Text
from dither.science.census.pictures import error_by_level

LEVELS = ("state", "county", "block")
FITTED = {"state": 0.0, "county": 5.0, "block": 4.0}


def drawn(fitted: dict[str, float] = FITTED) -> Picture:
    return error_by_level(LEVELS, {1: 6.0, 2: 7.0}, fitted, 0.95)


def words(picture: Picture) -> list[str]:
    return [one.words for one in picture.shapes if isinstance(one, Text)]


def test_levels_are_ticks_by_name() -> None:
    found = words(drawn())
    assert [one for one in found if one in LEVELS] == list(LEVELS)
    assert not {"0.5", "1.5", "2.5"} & set(found)
    assert {"1", "10", "100"} <= set(found)
    assert "0.1" not in found


def test_an_exact_level_is_no_point_but_a_word() -> None:
    picture = drawn()
    dots = [one for one in picture.shapes if isinstance(one, Dot)]
    assert len(dots) == 4
    assert words(picture).count("exact") == 1
    tick = next(one for one in picture.shapes if getattr(one, "words", "") == "state")
    word = next(one for one in picture.shapes if getattr(one, "words", "") == "exact")
    assert isinstance(tick, Text)
    assert isinstance(word, Text)
    assert tick.x == word.x


def test_levels_without_errors() -> None:
    for one in (0.0, math.inf, math.nan):
        assert drawn(dict.fromkeys(LEVELS, one)).svg()
    assert error_by_level(("a",), {}, {"a": 0.0}, 0.95).svg()


def test_long_names_are_cut() -> None:
    names = ["x" * 50, *(f"level {number}" for number in range(7))]
    found = words(error_by_level(names, {}, dict.fromkeys(names, 1.0), 0.95))
    assert "xxxxxx…" in found
    assert "level 6" in found


def test_named_places_alone_have_ticks() -> None:
    axes = Axes(0, 0, 100, 100, Scale(0, 2), Scale(0, 1))
    shapes = [*axes.frame("x", "y", {1.0: "middle"})]
    upright = [one for one in shapes if isinstance(one, Line) and len(one.points) == 2]
    assert sum(one.points[0][0] == one.points[1][0] == 50 for one in upright) == 1
    assert "middle" in [one.words for one in shapes if isinstance(one, Text)]
