"""A histogram with noise on every node of a tree over its leaves, so that sums of many
neighbouring leaves stay sharp.

What is released are the noisy node sums, whole numbers. Least squares then turns them
into leaf counts that agree with all of them; that is post-processing, and its errors
are known exactly (docs/proofs/mechanisms.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.additive import Additive, Gaussian, Laplace
from dither.mechanisms.sums import root_up
from dither.mechanisms.values import Integers, Reals, numbers
from dither.noise import Law
from dither.privacy import ROW, Guarantee, Unit
from dither.privacy.numbers import confidence_level, float_up, whole

__all__ = ["Tree", "TreeMechanism"]

MOST = 1 << 62


@dataclass(frozen=True)
class Tree:
    """A tree over `leaves`, each node above the sum of up to `branching` below; the
    last ones may have fewer.

    Nodes are listed level by level from the root. A tree of 4096 leaves has 4 levels:
    1, 16, 256, 4096. Without its root it has 3, so that each node gets less noise:
    better for ranges, worse for the whole.
    """

    leaves: int
    branching: int = 16
    root: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "leaves", whole("leaves", self.leaves, "pass the number of leaves")
        )
        object.__setattr__(
            self,
            "branching",
            whole("branching", self.branching, "pass a number such as 16"),
        )
        if self.branching < 2:
            raise ArgumentError(
                "branching", "must be at least 2; pass a number such as 16"
            )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has, from the root to the leaves."""
        found = [self.leaves]
        while found[0] > (1 if self.root else self.branching):
            found.insert(0, -(-found[0] // self.branching))
        return tuple(found)

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.sizes)

    @property
    def nodes(self) -> int:
        """How many nodes all levels have together."""
        return sum(self.sizes)

    def sums(self, counts: Integers) -> Integers:
        """The sums of all nodes, from leaf counts along the last axis.

        Leaf counts are held within ±2^62 / leaves, so that no sum leaves 64 bits.
        """
        limit = MOST // self.leaves
        levels = [np.clip(counts, -limit, limit)]
        while len(levels) < self.levels:
            levels.insert(0, self._gathered(levels[0]))
        return np.concatenate(levels, axis=-1)

    def fit(self, measured: Integers | Reals) -> Reals:
        """The leaf counts that fit measured node sums best, in least squares; all nodes
        are equally noisy.

        Upwards each node's own figure is averaged with the sum of those below;
        downwards what is then still missing is shared out. Both weigh by variance.
        """
        levels = np.split(
            np.asarray(measured, np.float64), np.cumsum(self.sizes)[:-1], axis=-1
        )
        best, below = [levels[-1]], []
        for own, (_, spread) in zip(
            reversed(levels[:-1]), reversed(self._variances[:-1]), strict=True
        ):
            below.append(self._gathered(best[-1]))
            best.append((own * spread + below[-1]) / (1 + spread))
        result = best.pop()
        for depth, (own, gathered) in enumerate(
            zip(reversed(best), reversed(below), strict=True), 1
        ):
            missing = (result - gathered) / self._variances[depth - 1][1]
            result = own + self._variances[depth][0] * self._scattered(missing, depth)
        return result

    def variance(self, functional: Reals) -> Any:
        """The variance of a weighted sum of fitted leaf counts, in units of one node's
        noise variance.

        Weights lie along the last axis. Fitting them as if they were leaf counts under
        empty nodes above solves the normal equations for them.
        """
        weights = np.asarray(functional, np.float64)
        above = np.zeros((*weights.shape[:-1], self.nodes - self.leaves))
        return np.sum(
            weights * self.fit(np.concatenate([above, weights], axis=-1)), axis=-1
        )

    @cached_property
    def _variances(self) -> list[tuple[Reals, Reals]]:
        """For each level: of each node's best figure from itself and below, and of the
        sum of those of its children.
        """
        found = [(np.ones(self.leaves), np.ones(self.leaves))]
        while len(found) < self.levels:
            spread = self._gathered(found[0][0])
            found.insert(0, (spread / (1 + spread), spread))
        return found

    def _gathered(self, below: Any) -> Any:
        """Sums over the children of each node."""
        return np.add.reduceat(
            below, np.arange(0, below.shape[-1], self.branching), axis=-1
        )

    def _scattered(self, above: Any, depth: int) -> Any:
        """Each node's figure for each of its children, which lie at this depth."""
        return np.repeat(above, self.branching, axis=-1)[..., : self.sizes[depth]]

    def weights(self, share: float) -> tuple[Reals, Reals]:
        """For each leaf: Σw² and Σw⁴ over the weights with which node noises enter the
        fitted (count up to and with this leaf) − share × (total count). The first is
        that figure's variance.
        """
        return _weights(self, float(share))


@lru_cache(maxsize=64)
def _weights(tree: Tree, share: float) -> tuple[Reals, Reals]:
    slopes, paths = _slopes(tree), [_path(tree, depth) for depth in range(tree.levels)]
    return tuple(_power_sums(tree, share, slopes, paths, power) for power in (2, 4))  # type: ignore[return-value]


def _path(tree: Tree, depth: int) -> Integers:
    """The node above each leaf at a depth."""
    nodes: Integers = np.arange(tree.leaves) // tree.branching ** (
        tree.levels - 1 - depth
    )
    return nodes


def _left(tree: Tree, values: Reals) -> Reals:
    """For each node, the sum over its siblings to the left."""
    before = np.cumsum(values) - values
    return before - np.repeat(before[:: tree.branching], tree.branching)[: values.size]


def _slopes(tree: Tree) -> list[Reals]:
    """For each depth and leaf: how the fitted count up to the leaf, inside the node
    above it, moves with that node.
    """
    found = [np.ones(tree.leaves)]
    for depth in range(tree.levels - 1, 0, -1):
        own, child = tree._variances[depth][0], _path(tree, depth)
        covered = _left(tree, own)[child] + found[0] * own[child]
        found.insert(0, covered / tree._variances[depth - 1][1][_path(tree, depth - 1)])
    return found


def _power_sums(
    tree: Tree, share: float, slopes: list[Reals], paths: list[Integers], power: int
) -> Reals:
    """Σ wᵖ: down from the root, a node hands its weight on to its children, and those
    beside the path have theirs.
    """
    inside = _subtree_powers(tree, power)
    weight, left = slopes[0] - share, (np.cumsum(inside[0]) - inside[0])[paths[0]]
    right = inside[0].sum() - left - inside[0][paths[0]]
    result = (1 - share) ** power * left + share**power * right
    for depth in range(tree.levels - 1):
        own = tree._variances[depth][0][paths[depth]]
        handed, child = (1 - own) * weight, paths[depth + 1]
        left = _left(tree, inside[depth + 1])[child]
        right = (
            tree._gathered(inside[depth + 1])[paths[depth]]
            - left
            - inside[depth + 1][child]
        )
        result += (own * weight) ** power
        result += (1 - slopes[depth] + handed) ** power * left + (
            handed - slopes[depth]
        ) ** power * right
        weight = slopes[depth + 1] - slopes[depth] + handed
    # Where nothing is noisy, such as the whole count less itself, floats end a hair on
    # either side of zero.
    total: Reals = np.maximum(result + weight**power, 0.0)
    return total


def _subtree_powers(tree: Tree, power: int) -> list[Reals]:
    """Σ wᵖ over the node noises in each node's best figure from itself and below."""
    found = [np.ones(tree.leaves)]
    for own, _ in reversed(tree._variances[:-1]):
        found.insert(0, own**power + (1 - own) ** power * tree._gathered(found[0]))
    return found


@dataclass(frozen=True, kw_only=True)
class TreeMechanism:
    """Noise on every node of a tree over a histogram, or over many histograms (one for
    each group) at once.

    Guarantee: epsilon-differential privacy, pure (Laplace noise), or mu-Gaussian
    differential privacy (Gaussian noise).
    Why: each level sums the leaves over disjoint sets, so one unit moves it by at most
    `radius` in L1, hence in L2; all levels together move by levels × radius in L1 and
    √levels × radius in L2 (docs/proofs/mechanisms.md).
    Assumes: one unit moves the leaf counts of all groups together by at most `radius`
    in L1. Where neighbours replace a unit, that is twice what a unit's counts are
    clipped to.
    """

    tree: Tree
    radius: int
    epsilon: float | None = None
    mu: float | None = None
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "radius",
            whole("radius", self.radius, "pass how far one unit can move a level"),
        )
        if self.radius > MOST:
            raise ArgumentError(
                "radius", "must be at most 2**62; count in larger units"
            )
        if (self.epsilon is None) == (self.mu is None):
            raise ArgumentError(
                "epsilon",
                "pass exactly one of epsilon (Laplace noise) and mu (Gaussian noise)",
            )
        _ = self.noise.integer_scale

    @cached_property
    def noise(self) -> Additive:
        """What is added to each node."""
        levels = self.tree.levels
        if self.epsilon is not None:
            return Laplace(
                sensitivity=float_up(Fraction(levels * self.radius)),
                epsilon=self.epsilon,
                unit=self.unit,
            )
        return Gaussian(
            sensitivity=float_up(root_up(levels) * self.radius),
            mu=self.mu,
            unit=self.unit,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What all noisy nodes promise together."""
        return self.noise.guarantee

    def noisy(self, counts: Any) -> Integers:
        """The node sums with noise, from leaf counts along the last axis: what is
        published and kept.

        A count that is missing counts as 0.
        """
        clean = numbers(counts, "counts")
        if (
            not isinstance(clean, np.ndarray)
            or clean.dtype != np.int64
            or clean.shape[-1] != self.tree.leaves
        ):
            raise ArgumentError(
                "counts",
                f"must be an array of whole numbers whose last axis has "
                f"{self.tree.leaves} entries",
            )
        noisy: Integers = self.noise.release(
            self.tree.sums(clean.astype(np.int64, copy=False))
        )
        return noisy

    def fit(self, noisy: Integers) -> Reals:
        """Leaf counts that agree with the noisy node sums best; free."""
        return self.tree.fit(noisy)

    def release(self, counts: Any) -> Reals:
        """Fitted leaf counts."""
        return self.fit(self.noisy(counts))

    def reach(self, share: float, confidence: float) -> Reals:
        """The ± of (count up to and with each leaf) − share × (total count), each with
        this probability.
        """
        level = float(confidence_level("confidence", confidence))
        return _reach(self.noise.law, self.tree, float(share), level).copy()

    def error(self, confidence: float = 0.95, *, share: float = 0.0) -> float:
        """The largest of these ±, over all leaves."""
        return float(self.reach(share, confidence).max())


@lru_cache(maxsize=64)
def _reach(law: Law, tree: Tree, share: float, confidence: float) -> Reals:
    return law.reaches(*_weights(tree, share), confidence)
