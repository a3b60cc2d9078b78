from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dither.local import estimates
from dither.local.evidence import Law
from dither.local.oracles import HadamardResponse

HITS = np.array([0, 3, 3, 7, 1, 3, 2_000_000_000])
TRIALS = np.array([10, 10, 12, 12, 10, 10, 4_000_000_000])


def test_tails_are_exact_for_every_pair_of_hits_and_trials() -> None:
    found = estimates._exact_tails(Law(HITS, TRIALS, 0.3), np.zeros(len(HITS)))
    assert found == pytest.approx(binom.sf(HITS - 1, TRIALS, 0.3), rel=1e-6)


def test_too_many_different_counts_keep_the_normal_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimates, "MANY", 5)
    normal = np.linspace(0, 1, len(HITS))
    assert (estimates._exact_tails(Law(HITS, TRIALS, 0.3), normal) == normal).all()


@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
def test_intervals_hold_values_at_their_ends(epsilon: float) -> None:
    """All messages, or none, support the item: the exact end is the value itself."""
    oracle = HadamardResponse.at(3, epsilon)
    for n, column in product(range(1, 60), range(oracle.side)):
        counts = np.zeros(oracle.blocks * oracle.side, np.int64)
        counts[column] = n
        score = estimates.Score(oracle.evidence(counts, n, 1, np.arange(3)))
        low, high = score.ends(0.95)
        assert (low <= score.value).all()
        assert (score.value <= high).all()
