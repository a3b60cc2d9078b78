"""Random trees, and least squares with dense matrices to compare with."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dither.science.census.effects import Effects
from dither.science.census.fitting import Fit, fit
from dither.science.census.shape import Tree

SMALL = 1e-8


def some_tree(random: np.random.Generator, most: int = 24) -> Tree:
    """One to four levels, one to three roots, one to three children each."""
    size = int(random.integers(1, 4))
    parents = [np.zeros(size, int)]
    for _ in range(random.integers(0, 4)):
        children = random.integers(1, 4, size=size)
        if children.sum() > most:
            break
        parents.append(np.repeat(np.arange(size), children))
        size = int(children.sum())
    return Tree(tuple(parents))


def marginals(number: int) -> list[tuple[int, ...]]:
    """All marginals, in every order of their attributes."""
    lengths = range(number + 1)
    return [m for k in lengths for m in itertools.permutations(range(number), k)]


@dataclass
class Problem:
    """A random census: a tree, attributes, a workload, measurements, exact totals."""

    tree: Tree
    sizes: tuple[int, ...]
    workload: list[tuple[int, ...]]
    variances: list[list[float]]
    truth: Any
    measured: list[list[Any]]
    exact: list[Any]

    @classmethod
    def some(cls, random: np.random.Generator, most: int = 24) -> Problem:
        tree, number = some_tree(random, most), int(random.integers(0, 3))
        sizes = tuple(int(one) for one in random.integers(1, 4, size=number))
        every = marginals(number)
        some = random.permutation(len(every))[: random.integers(1, 4)]
        workload = [every[place] for place in some]
        choices = [np.inf, random.uniform(0.1, 5), random.uniform(0.1, 5)]
        variances = [
            [float(random.choice(choices)) for _ in workload] for _ in tree.parents
        ]
        truth = random.integers(0, 10, size=(tree.leaves, Effects(sizes).cells))
        problem = cls(tree, sizes, workload, variances, truth, [], [])
        problem._measure(random)
        return problem

    def _measure(self, random: np.random.Generator) -> None:
        levels = self.tree.counts_up(self.truth)
        for counts, variances in zip(levels, self.variances, strict=True):
            tables = [self.effects.marginal(one, counts) for one in self.workload]
            noisy = [one + random.normal(size=one.shape) * 3 for one in tables]
            pairs = zip(noisy, variances, strict=True)
            self.measured.append([a if np.isfinite(v) else None for a, v in pairs])
            given = random.random() < 0.25
            self.exact.append(counts.sum(axis=1) if given else None)

    @property
    def effects(self) -> Effects:
        return Effects(self.sizes)

    def fit(self) -> Fit:
        return fit(
            self.tree,
            self.sizes,
            self.workload,
            self.measured,
            self.variances,
            self.exact,
        )

    @cached_property
    def sums(self) -> list[Any]:
        """Each level's nodes as sums of leaves."""
        return list(self.tree.counts_up(np.eye(self.tree.leaves)))

    def asked(self, level: int, marginal: tuple[int, ...]) -> Any:
        """A marginal of each node, as weights on all cells of all leaves."""
        cells = self.effects.marginal(marginal, np.eye(self.effects.cells)).T
        return np.kron(self.sums[level], cells)

    @cached_property
    def _solved(self) -> tuple[Any, Any, Any]:
        """The best cells, their covariance, and what is not known of them."""
        number = self.tree.leaves * self.effects.cells
        matrix, values = self._weighted(number)
        start, free = self._constrained(number)
        inside = matrix @ free
        left, sizes, right = np.linalg.svd(inside, full_matrices=False)
        used = sizes > SMALL
        inverse = (right[used].T / sizes[used]) @ left[:, used].T
        best = start + free @ (inverse @ (values - matrix @ start))
        unknown = np.eye(free.shape[1]) - right[used].T @ right[used]
        return best, free @ inverse @ inverse.T @ free.T, free @ unknown @ free.T

    def _weighted(self, number: int) -> tuple[Any, Any]:
        rows, values = [np.zeros((0, number))], [np.zeros(0)]
        for level, variances in enumerate(self.variances):
            for place, variance in enumerate(variances):
                if np.isfinite(variance):
                    weight = 1 / math.sqrt(variance)
                    rows.append(self.asked(level, self.workload[place]) * weight)
                    values.append(self.measured[level][place].ravel() * weight)
        return np.vstack(rows), np.concatenate(values)

    def _constrained(self, number: int) -> tuple[Any, Any]:
        """Cells with the exact totals, and all directions that keep them."""
        held = [level for level, one in enumerate(self.exact) if one is not None]
        if not held:
            return np.zeros(number), np.eye(number)
        matrix = np.vstack([self.asked(level, ()) for level in held])
        totals = np.concatenate([self.exact[level] for level in held])
        _, sizes, right = np.linalg.svd(matrix)
        rank = int((sizes > SMALL).sum())
        return np.linalg.pinv(matrix, rcond=1e-10) @ totals, right[rank:].T

    def best(self, asked: Any) -> tuple[Any, Any]:
        """The values of queries and their variances, infinite where nothing tells."""
        best, covariance, unknown = self._solved
        variance = np.einsum("ij,jk,ik->i", asked, covariance, asked)
        known = np.abs(asked @ unknown).max(axis=1, initial=0.0) < 1e-6
        return asked @ best, np.where(known, variance, np.inf)
