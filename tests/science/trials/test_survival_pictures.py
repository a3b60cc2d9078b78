"""Pictures of survival curves."""

import numpy as np

from dither.picture import Line, Text
from dither.science.trials.survival_pictures import curves, steps

EDGES = (0.0, 4.0, 8.0)


def drawn(value, arms=("a", "b")):
    value = np.array(value)
    ends = np.clip(value - 0.1, 0, 1), np.clip(value + 0.1, 0, 1)
    return curves(EDGES, arms, value, ends, 100 * value, 0.95)


def words(picture):
    return [shape.words for shape in picture.shapes if isinstance(shape, Text)]


def test_a_curve_starts_at_one_and_steps_at_the_ends_of_bins():
    xs, ys = steps(EDGES, np.array([0.8, 0.5]))
    assert xs == [0, 4, 4, 8, 8]
    assert ys == [1, 1, 0.8, 0.8, 0.5]


def test_arms_and_numbers_at_risk_are_named():
    picture = drawn([[0.8, 0.5], [0.9, 0.7]])
    said = words(picture)
    assert said.count("a") == said.count("b") == 2
    assert {"80", "50", "90", "70"} <= set(said)
    assert "95 % intervals about the population" in picture.title


def test_a_cut_curve_ends_where_it_was_cut():
    picture = drawn([[0.8, np.nan], [np.nan, np.nan]])
    lines = [
        one for one in picture.shapes if isinstance(one, Line) and one.width == 1.6
    ]
    longest = max(lines, key=lambda one: len(one.points))
    assert len(longest.points) == 3
    assert "50" not in words(picture)


def test_many_arms():
    picture = drawn([[0.8, 0.5]] * 6, [f"a rather long arm {n}" for n in range(6)])
    assert "4 of 6 arms" in picture.title
    assert "a rather lo…" in words(picture)


def test_as_png():
    assert drawn([[0.8, 0.5], [0.9, 0.7]]).png().startswith(b"\x89PNG")
