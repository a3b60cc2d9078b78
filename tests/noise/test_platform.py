"""The one assumption about this platform: log, log1p, exp and sqrt within 2^-45, here
checked with room to spare.

NumPy has different loops for different lengths, strides and alignments, so each is
looked at.
"""

import math

import mpmath
import numpy as np
import pytest

from dither.noise.exact import LOG_ERROR

COUNT = 3000


def near_one(power):
    return 1 - np.exp2(-np.random.default_rng().uniform(1, power, COUNT))


def spread(low, high):
    """Numbers whose logarithms are uniform."""
    return np.exp2(np.random.default_rng().uniform(low, high, COUNT))


POINTS = {
    "log": [
        spread(-63, 0),
        near_one(53),
        np.random.default_rng().uniform(0, 1, COUNT),
        spread(-63, 6),
    ],
    "log1p": [
        -spread(-40, -1),
        -near_one(20),
        -np.random.default_rng().uniform(0, 1 - 2.0**-20, COUNT),
    ],
    "exp": [
        -spread(-60, 9.5),
        -np.random.default_rng().uniform(0, 50, COUNT),
        np.array([0.0, -0.0, -5e-324]),
    ],
    "sqrt": [spread(-40, 40), spread(0, 2)],
}


def truth(name, points):
    """The exact values as pairs of floats whose sum is right to about 2^-106."""
    with mpmath.workprec(200):
        values = [getattr(mpmath, name)(mpmath.mpf(float(x))) for x in points]
        high = np.array([float(value) for value in values])
        low = np.array(
            [float(value - h) for value, h in zip(values, high.tolist(), strict=True)]
        )
    return high, low


def worst(seen, high, low):
    error = np.abs((seen - high) - low)
    return float(np.max(error / np.maximum(np.abs(high), 2.0**-1000), initial=0))


@pytest.mark.parametrize("name", POINTS)
def test_functions_are_accurate(name):
    function, scalar = getattr(np, name), getattr(math, name)
    for points in POINTS[name]:
        high, low = truth(name, points)
        assert worst(function(points), high, low) <= LOG_ERROR / 2
        assert (
            worst(np.array([scalar(x) for x in points.tolist()]), high, low)
            <= LOG_ERROR / 2
        )
        for length in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100):
            for start in range(0, min(8, max(points.size - length, 1))):
                part = slice(start, start + length)
                own = np.empty(length + 9)[start : start + points[part].size]
                function(points[part], out=own)
                assert worst(own, high[part], low[part]) <= LOG_ERROR / 2
        assert worst(function(points[::3]), high[::3], low[::3]) <= LOG_ERROR / 2
        assert worst(function(points[::-1]), high[::-1], low[::-1]) <= LOG_ERROR / 2


def test_arithmetic_is_ieee_double():
    """Products, sums and conversions are rounded once, to nearest."""
    x, y = np.random.default_rng().normal(size=(2, 2000))
    with mpmath.workprec(200):
        for a, b, product, total, ratio in zip(x, y, x * y, x + y, x / y, strict=True):
            exact = mpmath.mpf(float(a)), mpmath.mpf(float(b))
            assert float(exact[0] * exact[1]) == product
            assert float(exact[0] + exact[1]) == total
            assert (
                abs(exact[0] / exact[1] - float(ratio)) <= abs(float(ratio)) * 2.0**-53
            )
    words = np.random.default_rng().integers(0, 1 << 63, 2000)
    assert words.astype(np.float64).tolist() == [float(int(word)) for word in words]
    assert np.ldexp(3.0, -1074) == 3 * 5e-324
