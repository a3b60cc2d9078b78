"""What a tree is for: sums over ranges, against noise on every leaf, for several
branchings, by exact variances.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dither.mechanisms import Laplace, Tree, TreeMechanism
from dither.mechanisms.sums import noise_variance

LEAVES, EPSILON = 4096, 0.1
ENDS = np.sort(
    np.random.default_rng(7).integers(0, LEAVES, (2000, 2)), axis=1
)  # allowed: test inputs, not noise
RANGES = (
    (np.arange(LEAVES) >= ENDS[:, :1]) & (np.arange(LEAVES) <= ENDS[:, 1:])
).astype(float)


def mean_square(branching):
    tree = Tree(LEAVES, branching, root=False)
    noise = TreeMechanism(tree=tree, radius=1, epsilon=EPSILON).noise
    return float(np.mean(tree.variance(RANGES))) * noise_variance(noise)


def test_ranges_are_far_sharper_than_from_a_flat_histogram():
    flat = (
        noise_variance(Laplace(sensitivity=1, epsilon=EPSILON)) * RANGES.sum(1).mean()
    )
    assert math.sqrt(flat / mean_square(16)) > 3


def test_branching_16_is_the_best():
    found = {branching: mean_square(branching) for branching in (2, 4, 8, 16, 64)}
    assert min(found, key=found.__getitem__) == 16


@pytest.mark.parametrize(("leaves", "branching"), [(4, 2), (5, 2), (6, 3), (9, 3)])
@pytest.mark.parametrize("radius", [1, 2, 3])
def test_sensitivity_over_every_unit_with_several_leaves(leaves, branching, radius):
    """Rule R11: every way to spread up to `radius` records of one unit over leaves, all
    levels together.
    """
    tree = Tree(leaves, branching)
    laplace = TreeMechanism(tree=tree, radius=radius, epsilon=1).noise.sensitivity
    gaussian = Fraction(TreeMechanism(tree=tree, radius=radius, mu=1).noise.sensitivity)
    most = [0, 0]
    for places in itertools.combinations_with_replacement(range(leaves), radius):
        moved = tree.sums(np.bincount(places, minlength=leaves)).tolist()
        most = [max(most[0], sum(moved)), max(most[1], sum(x * x for x in moved))]
    assert most[0] == laplace
    assert most[1] <= gaussian**2 <= Fraction(most[1]) * (1 + Fraction(1, 10**9))


def test_a_clip_of_the_leaves_in_l2_would_not_do():
    """Nine leaves of a third each have L2 norm 1, but their sum at the root is 3."""
    tree = Tree(9, 3)
    moved = tree.sums(np.ones(9, np.int64)) / 3
    assert np.sqrt((moved**2).sum()) > math.sqrt(tree.levels)
