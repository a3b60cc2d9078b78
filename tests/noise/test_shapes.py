"""What all samplers do with scales, sizes and NumPy's error state."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.noise import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    rounded_cauchy,
    rounded_gaussian,
    stream,
    uniform_integers,
)
from dither.noise.shapes import check_scale
from tests.noise.support import Replay

SAMPLERS = [discrete_laplace, discrete_gaussian, rounded_gaussian, rounded_cauchy]
BAD = [
    0,
    -1.0,
    math.nan,
    math.inf,
    -math.inf,
    2.0**56 + 16,
    10**400,
    2.0**-1001,
    5e-324,
    "1",
    None,
    1j,
    Decimal(1),
    [1.0],
]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("scale", BAD, ids=str)
def test_bad_scales_draw_nothing(sampler, scale, monkeypatch):
    monkeypatch.setattr(stream, "current", lambda: Replay([]))
    for size in (None, 3):
        with pytest.raises(ArgumentError, match=r"scale|sigma"):
            sampler(scale, size)


@pytest.mark.parametrize(
    "sampler", [*SAMPLERS, bernoulli, bernoulli_exp, uniform_integers]
)
@pytest.mark.parametrize(
    "size",
    [-1, (2, -1), 1.5, (1.5,), "ab", (None,), True, np.float64(3), {"a": 1}],
    ids=str,
)
def test_bad_sizes_draw_nothing(sampler, size, monkeypatch):
    monkeypatch.setattr(stream, "current", lambda: Replay([]))
    with pytest.raises(ArgumentError, match="size"):
        sampler(1, size)


@pytest.mark.parametrize(
    "sampler", [*SAMPLERS, bernoulli, bernoulli_exp, uniform_integers]
)
@pytest.mark.parametrize(
    "size",
    [
        0,
        5,
        (),
        (0,),
        (0, 2),
        (3, 0),
        (2, 3),
        (2, 1, 3),
        np.int64(4),
        (np.uint8(2), 2),
        [2, 3],
    ],
    ids=str,
)
def test_shapes(sampler, size):
    result = sampler(1, size)
    assert isinstance(result, np.ndarray)
    assert result.shape == np.zeros(size).shape


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_scales_at_both_ends(sampler):
    assert sampler(2.0**-1000, 3).tolist() == [0, 0, 0]
    assert isinstance(sampler(2.0**56), int)
    assert sampler(np.float32(2.0), 3).dtype == np.int64
    assert sampler(Fraction(1, 3), 0).size == 0


def test_scales_are_never_rounded_down():
    for scale in (
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(1, 10),
        (1 << 55) + 1,
        (1 << 55) + 3,
    ):
        assert scale <= check_scale("scale", scale) < scale * (1 + Fraction(1, 1 << 51))
    for scale in (0.1, 1, 3.5, 2.0**56, np.float64(0.3), np.int64(7)):
        assert check_scale("scale", scale) == scale


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_callers_error_state_does_not_matter(sampler):
    """Whether noise underflows must not decide whether a call succeeds."""
    with np.errstate(all="raise"):
        for scale in (2.0**-1000, 1e-160, 0.05, 1.0, 2.0**56):
            sampler(scale, 200)
            sampler(scale)
