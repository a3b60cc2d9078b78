"""Units enter a batch with the declared probability, each by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.learn.sampler import Poisson
from tests.chance import chance

FAR = 6.5
"""Deviations that a sound sampler exceeds with probability 1e-10."""


@chance(1e-8)
@pytest.mark.parametrize(("batch", "units"), [(3, 10), (1, 200), (199, 200), (7, 7)])
def test_inclusion_probability(batch: int, units: int) -> None:
    sampler, present, rounds = Poisson.of(batch, units), 1000, 400
    seen = np.zeros(present)
    sizes = []
    for _ in range(rounds):
        drawn = sampler.draw(present)
        seen[drawn] += 1
        sizes.append(len(drawn))
    q = float(sampler.probability)
    assert q <= batch / units < q + 2**-32 + 1e-15
    draws = present * rounds
    deviation = math.sqrt(draws * q * (1 - q))
    assert abs(seen.sum() - draws * q) <= FAR * deviation
    each = math.sqrt(rounds * q * (1 - q))
    assert np.abs(seen - rounds * q).max() <= (FAR + 5) * each + 1e-9
    # Sizes spread as those of coins do: batches of one size would not.
    wanted = present * q * (1 - q)
    assert abs(np.var(sizes) - wanted) <= FAR * wanted * math.sqrt(2 / rounds) * 1.5


@chance(5e-8)
def test_units_are_drawn_apart() -> None:
    sampler, rounds = Poisson.of(1, 2), 4000
    drawn = np.zeros((rounds, 20))
    for line in drawn:
        line[sampler.draw(20)] = 1
    both = np.corrcoef(drawn.T) - np.eye(20)
    assert np.abs(both).max() <= FAR / math.sqrt(rounds)
    after = np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]
    assert abs(after) <= FAR / math.sqrt(drawn.size)
