"""Low bits: float noise proves what the number was not, ours says nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.low_bits import float_laplace, off_grid
from tests.audit.attacks.support import held, near, shown_well
from tests.chance import chance


@chance(1e-8)
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_float_noise_is_told_and_ours_is_not(epsilon: float) -> None:
    """100,000 tries. Above one half is right in 1 - e^(-ε/2)/2, the closed form (grid
    and sampler aside: below 1e-4).
    """
    found = attacks.low_bits(epsilon=epsilon)
    shown_well(found)
    floats, told, ours, ours_told = found.rates
    assert floats.share > 0.1
    assert floats.guessing == 0
    assert ours.share == ours.guessing == ours.bound == 0
    expected = 1 - math.exp(-epsilon / 2) / 2
    assert near(ours_told, expected)
    assert told.share > expected - 0.01
    assert held(*found.rates)


@chance(1e-8)
def test_the_float_noise_has_the_right_law() -> None:
    """It is attacked for its low bits alone: |x| is exponential."""
    sizes = np.abs(float_laplace(100_000, 2.0))
    assert abs(sizes.mean() - 2.0) < 6 * 2.0 / math.sqrt(100_000)
    assert abs((sizes > 2.0).mean() - math.exp(-1)) < 6 * math.sqrt(0.25 / 100_000)


def test_multiples() -> None:
    tiny = 2.0**-53
    assert off_grid([0.0, 1.0, tiny, -3 * tiny, tiny / 2]).tolist() == [False] * 4 + [
        True
    ]


@pytest.mark.parametrize("given", [{"epsilon": 0}, {"tries": 0}])
def test_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attacks.low_bits(**given)
