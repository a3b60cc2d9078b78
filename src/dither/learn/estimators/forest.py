"""`RandomForestClassifier`: trees whose splits are drawn without looking at rows, and
noisy counts of the classes in their leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.counting import UnitCount
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.fallback import Fallback, few
from dither.learn.estimators.scores import Scored
from dither.learn.estimators.spending import Spending, quieter
from dither.learn.estimators.sums import Integers
from dither.learn.estimators.trees import Trees
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.privacy import Guarantee
from dither.privacy.numbers import whole

__all__ = ["RandomForestClassifier"]

DEEPEST, MANY_TREES, MANY_NUMBERS = 12, 1000, 20_000_000
ALONE = 20
"""Number of trees up to which their evidence is added up; the evidence of more trees is
scaled down to that of this number.
"""
USUAL_TREES = {True: (3, 100), False: (3, 60)}
"""The fewest and the most trees, with Gaussian noise and with Laplace noise."""


class RandomForestClassifier(Scored):
    """Trees of random splits with noisy counts in their leaves:
    `RandomForestClassifier(epsilon=1, bounds=(0, 16), classes=range(10),
    budget=account).fit(X, y, owner=ids)`.

    Splits are drawn within the bounds, without looking at rows, so they cost nothing.
    The class of a row is the one under which its leaves are likeliest, all trees
    together. All trees count all units: with as much noise as this costs, a tree says
    more than one that counts a part of them. How many trees there are
    (`n_estimators`) and how deep they are (`max_depth`) follows from the number of
    units and the noise, unless stated. Where `units` are not known, a twentieth of the
    cost counts them. A part of the cost chooses how much the leaves count: all of what
    they say, less of it, or nothing, so that all rows get one class.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove; pure
    where the cost is.
    Why: a unit is in one leaf of each of T trees, with one class; so it moves all counts
    together by T in L1 and by √T in L2. The choice is permute-and-flip on counts of rows
    that are right (docs/proofs/estimators.md); parts of the cost add up.
    Assumes: bounds and classes are public, not read off the data.
    """

    _what = "random forest"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        classes: Any = None,
        units: int | None = None,
        rows: int | None = None,
        n_estimators: int | None = None,
        max_depth: int | None = None,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.units = units
        self.rows = rows
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Forest:
        trees = _stated("n_estimators", self.n_estimators, MANY_TREES, 20)
        depth = _stated("max_depth", self.max_depth, DEEPEST, 5)
        return Forest.of(declared, spending, trees, depth)

    def _scores(self, X: Any) -> Reals:
        inputs = self._read(X)
        shares = self.declared_.shares(inputs)
        scores = np.tile(self.class_log_prior_, (len(shares), 1))
        pairs = zip(self.trees_.leaves(shares), self.leaf_log_prob_, strict=True)
        for leaf, table in pairs:
            scores += table[leaf]
        return scores


def _stated(name: str, value: int | None, most: int, example: int) -> int | None:
    if value is None:
        return None
    found = whole(name, value, f"pass a number such as {example}")
    if found > most:
        raise ArgumentError(name, f"must be at most {most}; pass one such as {example}")
    return found


@dataclass(frozen=True)
class Forest:
    """A count of units where it is needed, and then the counts in the leaves."""

    declared: Declared
    spending: Spending
    count: UnitCount
    fallback: Fallback
    leaves: Spending
    trees: int | None
    depth: int | None

    @classmethod
    def of(
        cls,
        declared: Declared,
        spending: Spending,
        trees: int | None,
        depth: int | None,
    ) -> Forest:
        many = 20 if trees is None else trees
        chosen = quieter(spending, float(many), math.sqrt(many))
        if few(declared, spending):
            chosen = spending.ways[1]
        needed = declared.units is None and (trees is None or depth is None)
        count, rest = UnitCount.of(declared, chosen, needed)
        fallback, leaves = Fallback.of(declared, rest)
        found = cls(declared, chosen, count, fallback, leaves, trees, depth)
        most = USUAL_TREES[chosen.gaussian][1] if trees is None else trees
        _ = found.noise(most)  # what it refuses is refused before the charge
        _check_size(most, 5 if depth is None else depth, found.classes)
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @property
    def classes(self) -> int:
        assert self.declared.classes is not None
        return len(self.declared.classes)

    def noise(self, trees: int) -> Additive:
        """Noise for counts in the leaves of this number of trees."""
        most = self.declared.whole
        return self.leaves.noise(float(trees * most), _root_up(trees) * most)

    def shape(self, units: float) -> tuple[int, int]:
        """Number of trees, and their depth. More trees divide space more finely and
        cost more noise; Gaussian noise grows more slowly with them.
        """
        fewest, most = USUAL_TREES[self.leaves.gaussian]
        worth = units * (self.leaves.mu or self.leaves.epsilon or 0.0)
        trees = self.trees
        if trees is None:
            wanted = worth / 3 if self.leaves.gaussian else 0.8 * math.sqrt(worth)
            trees = int(min(max(wanted, fewest), most))
        depth = self.depth
        if depth is None:
            blur = math.sqrt(noise_variance(self.noise(trees))) / self.declared.whole
            room = units / (8 * self.classes * max(blur, 1e-9))
            least = min(max(round(math.log2(max(worth / 2, 1.0)) / 2), 3), 5)
            depth = min(max(least, round(math.log2(max(room, 1.0)))), 10)
            while depth > 5 and trees * self.classes << depth > MANY_NUMBERS:
                depth -= 1
        return trees, depth

    def exact(
        self, rows: Rows, trees: Trees, leaves: Iterable[NDArray[Any]] | None = None
    ) -> Integers:
        """Weights of rows by tree, leaf and class."""
        assert rows.targets is not None
        leaves = trees.leaves(rows.inputs) if leaves is None else leaves
        size = self.classes << trees.depth
        weights = rows.weights.astype(np.float64)  # their sums stay whole, and exact
        found = np.zeros((len(trees), size), np.int64)
        for tree, leaf in enumerate(leaves):
            places = leaf * self.classes + rows.targets
            found[tree] = np.bincount(places, weights, size)
        return found.reshape(len(trees), 1 << trees.depth, self.classes)

    def fit(self, rows: Rows) -> Fitted:
        count, depth = self.shape(self.count.release(rows))
        trees = Trees.drawn(count, depth, self.declared.width)
        noise = self.noise(count)
        leaves = [leaf.astype(np.int32) for leaf in trees.leaves(rows.inputs)]
        noisy = noise.release(self.exact(rows, trees, leaves)) / self.declared.whole
        blur = math.sqrt(noise_variance(noise)) / self.declared.whole
        tables, prior = self.likelihoods(noisy, blur)
        evidence = np.zeros((len(rows), self.classes))
        for leaf, table in zip(leaves, tables, strict=True):
            evidence += table[leaf]
        together = min(1.0, ALONE / count)
        evidence *= together
        chosen = self.fallback.choose(rows, prior, evidence)
        held = {
            "trees_": trees,
            "leaf_log_prob_": chosen.scale * together * tables,
            "class_log_prior_": chosen.base,
            "classes_": labels(self.declared.classes or ()),
        }
        return Fitted(held, noisy, notes=chosen.notes)

    def likelihoods(self, noisy: Reals, blur: float) -> tuple[Reals, Reals]:
        """Log probability of each leaf under each class, and of each class. About half of
        the noise is added to each count, so that noise alone says little.
        """
        sizes = noisy.sum(axis=1).mean(axis=0)
        sizes = np.maximum(sizes, max(0.1 * sizes.mean(), 1.0))
        base = 0.5 * blur + 0.5
        leaf = np.log(np.maximum(noisy, 0.0) + base) - np.log(
            sizes + base * noisy.shape[1]
        )
        return leaf, np.log(sizes / sizes.sum())


def _check_size(trees: int, depth: int, classes: int) -> None:
    if trees * classes << depth > MANY_NUMBERS:
        raise ArgumentError(
            "max_depth",
            f"must be smaller, because the trees would have more than {MANY_NUMBERS:,} "
            "counts; pass a smaller max_depth or n_estimators",
        )


def _root_up(count: int) -> float:
    return math.nextafter(math.sqrt(count), math.inf)
