"""Made-up people are drawn from the declared chances."""

from __future__ import annotations

import numpy as np

from dither.audit.attacks.made_up import ATTRIBUTES, PRIOR, cohort, town
from tests.chance import chance


@chance(1e-8)
def test_genotypes_follow_their_frequencies() -> None:
    made = cohort(400, 500)
    assert set(np.unique(made.table)) <= {0, 1, 2}
    apart = made.table.mean(axis=0) / 2 - made.background
    wide = np.sqrt(made.background * (1 - made.background) / 800)
    # 500 binomial shares: six deviations are passed once in 300,000 runs
    assert np.abs(apart / wide).max() < 8
    assert len(made.members) + len(made.outsiders) == 400
    assert 0 < len(cohort(4, 5).members) < 4


@chance(1e-9)
def test_a_town_of_the_prior() -> None:
    listed, counts, people = town(600)
    assert len(listed) == len(counts) == 600
    sizes = counts.sum(axis=1)
    assert (sizes.min(), sizes.max()) == (1, 12)
    total = sizes.sum()
    wide = np.sqrt(PRIOR.ravel() * (1 - PRIOR.ravel()) / total)
    assert (np.abs(counts.sum(axis=0) / total - PRIOR.ravel()) < 8 * wide).all()
    assert len(people["sex"]) == total
    assert set(people["age"]) <= set(ATTRIBUTES["age"])
    # The people and the counts are the same.
    first = [at for at, block in enumerate(people["block"]) if block == 0]
    assert len(first) == sizes[0]
