"""The tree against dense linear algebra, its sensitivity by brute force, its errors by
draws.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.mechanisms import Tree, TreeMechanism
from tests.chance import chance

SIZES = [
    (1, 2),
    (2, 2),
    (3, 2),
    (7, 3),
    (16, 16),
    (17, 16),
    (40, 4),
    (64, 4),
    (50, 16),
    (257, 16),
]
SHAPES = [Tree(*size, root=root) for size in SIZES for root in (True, False)]
RANDOM = np.random.default_rng(4)  # allowed: test inputs, not noise


def matrix(tree):
    """Nodes by leaves: which leaves a node sums."""
    return tree.sums(np.eye(tree.leaves, dtype=np.int64)).T


@pytest.mark.parametrize("tree", SHAPES, ids=str)
def test_nodes_are_sums_of_disjoint_runs(tree):
    leaves = tree.leaves
    dense, start = matrix(tree), 0
    assert dense.shape == (tree.nodes, leaves)
    for depth, size in enumerate(tree.sizes):
        level = dense[start : start + size]
        assert (level.sum(0) == 1).all()
        run = tree.branching ** (tree.levels - 1 - depth)
        assert (level.argmax(0) == np.arange(leaves) // run).all()
        start += size
    assert not tree.root or (dense[0] == 1).all()


@pytest.mark.parametrize("tree", SHAPES, ids=str)
def test_fit_is_least_squares(tree):
    leaves = tree.leaves
    measured = RANDOM.normal(size=(2, 3, tree.nodes))
    want = np.linalg.lstsq(
        matrix(tree).astype(float), measured.reshape(6, -1).T, rcond=None
    )[0].T
    assert tree.fit(measured) == pytest.approx(want.reshape(2, 3, leaves), abs=1e-9)
    counts = RANDOM.integers(0, 1000, leaves)
    assert tree.fit(tree.sums(counts)) == pytest.approx(counts, abs=1e-9)


@pytest.mark.parametrize("tree", SHAPES, ids=str)
def test_variances_are_exact(tree):
    leaves = tree.leaves
    dense = matrix(tree).astype(float)
    covariance = np.linalg.inv(dense.T @ dense)
    wanted = RANDOM.normal(size=(5, leaves))
    assert tree.variance(wanted) == pytest.approx(
        np.einsum("ij,jk,ik->i", wanted, covariance, wanted)
    )
    for share in (0.0, 0.3, 1.0):
        weights = (np.tri(leaves) - share) @ covariance @ dense.T
        squares, fourths = tree.weights(share)
        assert squares == pytest.approx((weights**2).sum(1), abs=1e-12)
        assert fourths == pytest.approx((weights**4).sum(1), abs=1e-12)
        assert tree.variance(np.tri(leaves) - share) == pytest.approx(
            squares, abs=1e-12
        )


@pytest.mark.parametrize("tree", SHAPES, ids=str)
@pytest.mark.parametrize("radius", [1, 7, 2**40 + 1])
def test_sensitivity_by_brute_force(tree, radius):
    """A unit's leaf counts, clipped in L1: all on one leaf is the worst, anything else
    is no worse (rule R11).
    """
    leaves = tree.leaves
    laplace = TreeMechanism(tree=tree, radius=radius, epsilon=1)
    gaussian = TreeMechanism(tree=tree, radius=radius, mu=1)
    for _ in range(30):
        unit = RANDOM.multinomial(radius, RANDOM.dirichlet(np.full(leaves, 0.2)))
        moved = [int(x) for x in tree.sums(unit)]
        assert sum(map(abs, moved)) <= laplace.noise.sensitivity
        assert sum(x * x for x in moved) <= Fraction(gaussian.noise.sensitivity) ** 2
    assert laplace.noise.sensitivity == pytest.approx(tree.levels * radius)
    assert gaussian.noise.sensitivity == pytest.approx(math.sqrt(tree.levels) * radius)


def test_a_unit_in_several_groups_moves_no_more():
    tree = Tree(20, 4)
    unit = np.zeros((3, 20), np.int64)
    unit[0, 3], unit[1, 3], unit[2, 19] = 2, 1, 4
    assert (
        np.abs(tree.sums(unit)).sum()
        <= TreeMechanism(tree=tree, radius=7, epsilon=1).noise.sensitivity
    )


def test_promises():
    tree = Tree(4096)
    assert tree.sizes == (1, 16, 256, 4096)
    assert TreeMechanism(tree=tree, radius=3, epsilon=0.5).guarantee == dither.PureDP(
        0.5
    )
    unit = dither.ROW.replacing()
    mechanism = TreeMechanism(tree=tree, radius=3, mu=0.5, unit=unit)
    assert mechanism.guarantee == dither.GaussianDP(0.5, unit=unit)
    assert mechanism.noise.scale == 12


def test_sums_never_wrap():
    tree = Tree(100, 10)
    noisy = TreeMechanism(tree=tree, radius=1, epsilon=1).noisy(np.full(100, 2**62))
    assert noisy.dtype == np.int64
    assert (noisy > 0).all()
    assert noisy[0] == pytest.approx(2**62, rel=1e-6)


@chance(2e-8)
@pytest.mark.parametrize(
    "promise", [{"epsilon": 1.0}, {"mu": 0.5}], ids=["Laplace", "Gaussian"]
)
def test_errors_cover_what_they_say(promise):
    """Counts up to a leaf, less a share of the total: 100 shares, each at least 0.95 but
    for less than seven standard deviations, and at most 0.965 but for that. (Laplace
    noise gets a bound that holds for all weights with these sums of powers.)
    """
    mechanism = TreeMechanism(tree=Tree(50, 4), radius=4, **promise)
    counts, draws = RANDOM.integers(0, 50, 50), 20_000
    upto = np.cumsum(mechanism.release(np.tile(counts, (draws, 1))), axis=1)
    for share in (0.0, 0.5):
        off = np.abs(
            upto - share * upto[:, -1:] - np.cumsum(counts) + share * counts.sum()
        )
        covered = (off <= mechanism.reach(share, 0.95)).mean(0)
        assert covered.min() > 0.95 - 0.011
        assert covered.max() < 0.965 + 0.010
    assert mechanism.error(0.95) == mechanism.reach(0.0, 0.95).max()


@pytest.mark.parametrize("leaves", [2, 21, 35, 40, 41, 101, 201, 730, 4001, 4096])
def test_what_is_not_noisy_has_no_error(leaves):
    """The count up to the last leaf less the whole count is 0; its error is no square
    root of −1e-16.
    """
    for promise in ({"epsilon": 1.0}, {"mu": 1.0}):
        reach = TreeMechanism(tree=Tree(leaves), radius=1, **promise).reach(1.0, 0.95)
        assert reach[-1] == pytest.approx(0, abs=1e-4)
        assert reach.max() > 1


def test_what_is_stored_gives_the_answer_again():
    mechanism = TreeMechanism(tree=Tree(30, 4), radius=2, mu=1)
    noisy = mechanism.noisy(np.zeros((4, 30), np.int64))
    assert noisy.shape == (4, mechanism.tree.nodes)
    assert (mechanism.fit(noisy) == mechanism.fit(noisy.copy())).all()
    assert mechanism.fit(noisy)[2] == pytest.approx(mechanism.fit(noisy[2]))
    assert mechanism.release([0] * 30).shape == (30,)
    assert mechanism.noisy([None] * 29 + [math.nan]).dtype == np.int64


def test_bad_questions():
    for leaves, branching in ((0, 16), (5, 1), (2.5, 16)):
        with pytest.raises(dither.ArgumentError, match=r"leaves|branching"):
            Tree(leaves, branching)
    tree = Tree(4, 2)
    for promise in ({}, {"epsilon": 1, "mu": 1}):
        with pytest.raises(dither.ArgumentError, match="exactly one"):
            TreeMechanism(tree=tree, radius=1, **promise)
    for radius in (0, 10**400):
        with pytest.raises(dither.ArgumentError, match="radius"):
            TreeMechanism(tree=tree, radius=radius, epsilon=1)
    with pytest.raises(dither.ArgumentError, match=r"2\*\*56"):
        TreeMechanism(tree=tree, radius=2**60, epsilon=1e-3)
    mechanism = TreeMechanism(tree=tree, radius=1, epsilon=1)
    for counts in ([1, 2, 3], [0.5] * 4, 7):
        with pytest.raises(dither.ArgumentError, match="counts"):
            mechanism.noisy(counts)
