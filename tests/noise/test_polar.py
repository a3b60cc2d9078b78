"""Points of the square, and whether they lie in the unit disc."""

from fractions import Fraction

import numpy as np

from dither.noise.polar import Point, coordinates, heads
from tests.noise.support import ONES, Replay, random_words

MIXED = 0x9E3779B97F4A7C15


def test_a_point_knows_its_bounds():
    point = Point(-3, 2, 4, Replay([0, ONES]))
    assert (point.magnitude(0), point.magnitude(1)) == ((2, 3), (2, 3))
    point.refine()
    assert point.uv == (-3 << 64, (2 << 64) + ONES)
    assert point.magnitude(0) == ((3 << 64) - 1, 3 << 64)


def test_coordinates_lie_where_their_first_bits_say() -> None:
    words = random_words(200)
    for bits in (4, 46):
        u, v = coordinates(words, bits)
        assert len(u) == len(v) == 100
        assert np.all((u >= -1) & (u < 1))
        for i in range(100):
            head = heads(words, i, bits)
            assert (u[i] * 2 ** (bits - 1), v[i] * 2 ** (bits - 1)) == head


def test_a_point_is_inside_where_its_square_says() -> None:
    """Points whose first bits decide draw nothing; the others draw until they know."""
    for u in range(-8, 8):
        for v in range(-8, 8):
            point = Point(u, v, 4, Replay([MIXED] * 8))
            found = point.inside()
            least, most = (Fraction(end, point.one**2) for end in point.square())
            assert most <= 1 if found else least >= 1
