"""Noise for gradients: its moments, its tail, its independence."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dither.learn import gaussian
from dither.learn.gaussian import gaussians
from tests.chance import chance

MANY = 400_000
Z = 6.2


@chance(5e-9)
def test_moments() -> None:
    drawn = gaussians(MANY).double()
    root = math.sqrt(MANY)
    assert abs(float(drawn.mean())) < Z / root
    assert abs(float(drawn.square().mean()) - 1) < Z * math.sqrt(2) / root
    assert abs(float((drawn**3).mean())) < Z * math.sqrt(15) / root
    assert abs(float((drawn**4).mean()) - 3) < Z * math.sqrt(96) / root


@chance(5e-8)
def test_shares_beyond_points() -> None:
    drawn = gaussians(MANY).double()
    for point in (-3.0, -1.0, -0.1, 0.0, 0.5, 2.0, 3.5):
        share = 0.5 * math.erfc(point / math.sqrt(2))
        seen = float((drawn > point).double().mean())
        assert abs(seen - share) < Z * math.sqrt(share * (1 - share) / MANY) + 1e-7


@chance(5e-9)
def test_pairs_are_independent() -> None:
    drawn = gaussians(MANY).double()
    half = MANY // 2
    first, second = drawn[:half], drawn[half:]  # from the same radius and angle
    root = math.sqrt(half)
    assert abs(float((first * second).mean())) < Z / root
    squares = (first.square() - 1) * (second.square() - 1)
    assert abs(float(squares.mean())) < Z * 2 / root
    assert abs(float((drawn[1:] * drawn[:-1]).mean())) < Z / math.sqrt(MANY)


@chance(1e-20)
def test_draws_differ() -> None:
    assert not torch.equal(gaussians(1000), gaussians(1000))


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_counts(count: int) -> None:
    drawn = gaussians(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == torch.float32
    assert bool(drawn.isfinite().all())


def test_the_tail_reaches_beyond_what_32_bits_would() -> None:
    words = np.array([0, 1, 2**20, 2**63, 2**64 - 1], dtype=np.uint64)
    radius = gaussian._radius(words)
    assert bool(radius.isfinite().all())
    assert float(radius[0]) > 9
    assert float(radius[2]) > 7.7
    assert float(radius[4]) >= 0
    wanted = math.sqrt(-2 * math.log((2**62 + 0.5) * 2.0**-63))
    assert float(radius[3]) == pytest.approx(wanted)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_noise_is_float32_whatever_the_default_is(kind: torch.dtype) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        drawn = gaussians(1000)
    finally:
        torch.set_default_dtype(before)
    assert drawn.dtype == torch.float32
    assert len(set(drawn.tolist())) > 990
