"""What a noisy histogram tells about units: on exact counts, on noisy ones, and where
noise is all there is.
"""

import math

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.privacy import gaussian_mu
from dither.query.plan.radius import Bins, seen

HISTOGRAM = Gaussian(sensitivity=1, mu=math.sqrt(0.05) * gaussian_mu(1, 1e-6))
BINS = Bins(1, 1 << 14)


def counted(bins, norms):
    places = np.ceil(2 * np.log2(np.maximum(norms, 1) / bins.first) - 1e-9)
    return np.bincount(
        np.clip(places, 0, bins.count - 1).astype(int), minlength=bins.count
    )


def test_bins_grow_by_the_root_of_two():
    assert BINS.edges[:7] == (1, 1, 2, 2, 4, 5, 8)
    assert Bins(1000, 5000).edges == (1000, 1414, 2000, 2828, 4000, 5000)
    assert Bins(1000, 10).edges == (1000,)
    bins = Bins(4096, 4096 << 14)
    assert bins.count == 29
    for norm in (0, 1, 4096, 4097, 5793, 8192, 8193, 4096 << 14, 1 << 40):
        expected = min(
            max(math.ceil(2 * math.log2(max(norm, 1) / 4096)), 0), bins.count - 1
        )
        assert bins.bin(norm) == expected
    assert len(bins.middles) == bins.count


def test_what_is_cut_off_is_estimated():
    units = seen(
        counted(BINS, np.r_[np.full(10_000, 4), np.full(1000, 64)]), BINS, HISTOGRAM
    )
    assert units.above(4) == 1000
    assert units.lost(4) == pytest.approx(1000 * 60, rel=0.25)
    assert units.lost(64) == pytest.approx(0, abs=1)
    assert max(units.radii) < 64 * 4


@pytest.mark.parametrize("mechanism", [HISTOGRAM, Laplace(sensitivity=1, epsilon=0.05)])
def test_where_noise_is_all_there_is(mechanism):
    """Noise passes for units in at most 0.02 · Σ 2^(−b/2) < 7 % of all draws."""
    nothing = np.zeros(BINS.count, np.int64)
    found = [seen(mechanism.release(nothing), BINS, mechanism) for _ in range(2000)]
    assert sum(units is not None for units in found) < 220
