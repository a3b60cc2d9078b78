"""Counts and sums, with what clipping hid of them."""

from dataclasses import replace

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.query.statistics.intervals import Hidden, Ratio
from dither.query.statistics.intervals import Mean as HiddenMean
from dither.query.statistics.totals import Total
from tests.chance import chance
from tests.query.statistics.test_intervals import measured

NOISES = [
    (Laplace(sensitivity=3, epsilon=1), Laplace(sensitivity=9, epsilon=1)),
    (Gaussian(sensitivity=3, mu=1), Gaussian(sensitivity=9, mu=1)),
]


@pytest.mark.parametrize(("kept", "hidden"), NOISES, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_an_estimate_and_what_was_hidden_make_one_sum(kept, hidden, sign):
    """At 99 % two Laplace noises go farther than normal ones of their variances."""
    total = Total(1000, kept, 1.0, sign, Hidden(50.0, hidden.law))
    both = (kept.law + hidden.law).reach(0.99)
    low, high = total.sides(0.99)
    ends = {
        1: (1000 - kept.error(0.99, integer=True), 1050 + both),
        -1: (1000 - both, 1000 + kept.error(0.99, integer=True)),
        0: (1050 - both, 1050 + both),
    }
    assert (low, high) == ends[sign]


@chance(1e-8)
@pytest.mark.parametrize(("kept", "hidden"), NOISES, ids=["Laplace", "Gaussian"])
def test_means_hold_with_hidden_rows(kept, hidden):
    """Each of 500 intervals misses with 1 % at most; 23 misses are p < 1e-8. A row is
    many steps, as in private SQL.
    """
    step = 1 << 20
    kept, hidden = (
        replace(one, sensitivity=one.sensitivity * step) for one in (kept, hidden)
    )
    zeros, ones, lost = 300 * step, 500 * step, 100 * step
    truth, missed = (ones + lost) / (zeros + ones + lost), 0
    for _ in range(500):
        parts = kept.release(np.array([zeros, ones]))
        ratio = Ratio(
            measured(parts, (0, 1), kept), measured(parts, (1, 1), kept), (0.0, 1.0)
        )
        mean = HiddenMean(ratio, Hidden(float(hidden.release(lost)), hidden.law))
        low, high = mean.ends(0.99)
        missed += not low <= truth <= high
    assert missed < 23
