"""The cells of a cross of attributes, written as effects: a total, and contrasts of one
or several attributes.

Every marginal of the cross is diagonal in this basis, so that least squares falls apart
into one small problem for each effect (docs/proofs/census.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Effects", "basis"]

Reals = NDArray[np.float64]
Marginal = tuple[int, ...]

SMALL = 128
"""Up to so many cells, one product with a matrix is faster than one an attribute."""


@lru_cache(maxsize=64)
def basis(size: int) -> Reals:
    """An orthonormal basis of vectors with one entry for each category, in columns: a
    constant one first, then contrasts, which sum to zero (Helmert's).
    """
    found = np.zeros((size, size))
    found[:, 0] = 1 / math.sqrt(size)
    for k in range(1, size):
        length = math.sqrt(k * (k + 1))
        found[:k, k], found[k, k] = 1 / length, -k / length
    found.setflags(write=False)
    return found


@lru_cache(maxsize=64)
def _cross(sizes: tuple[int, ...]) -> Reals:
    """The basis of a whole cross in one matrix."""
    found: Reals = np.ones((1, 1))
    for size in sizes:
        found = np.kron(found, basis(size)).astype(np.float64)
    return found


def _along(values: Reals, inverse: bool) -> Reals:
    """A change of basis along the middle axis: a product with a small matrix, or
    cumulative sums, which is what Helmert's contrasts are.
    """
    size = values.shape[1]
    if size <= SMALL:
        matrix = basis(size) if inverse else basis(size).T
        found: Reals = np.matmul(matrix, values)
        return found
    k = np.arange(1, size, dtype=np.float64)[:, None]
    length = np.sqrt(k * (k + 1))
    found = np.empty_like(values)
    if not inverse:
        sums = np.cumsum(values, axis=1)
        found[:, 0] = sums[:, -1] / math.sqrt(size)
        found[:, 1:] = (sums[:, :-1] - k * values[:, 1:]) / length
        return found
    parts = values[:, 1:] / length
    found[:, 1:] = -k * parts
    found[:, 0] = 0
    # each contrast adds the same to all categories before its own
    found[:, :-1] += np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
    found += values[:, :1] / math.sqrt(size)
    return found


@dataclass(frozen=True)
class Effects:
    """A cross of attributes with these numbers of categories; cells are in the order of
    numpy's `reshape(*sizes)`.
    """

    sizes: tuple[int, ...]

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    def shape(self, marginal: Iterable[int]) -> tuple[int, ...]:
        """The sizes of a marginal's attributes."""
        return tuple(self.sizes[a] for a in marginal)

    @cached_property
    def kinds(self) -> tuple[frozenset[int], ...]:
        """The sets of attributes that an effect can be a contrast of."""
        found: list[frozenset[int]] = [frozenset()]
        for a, size in enumerate(self.sizes):
            if size > 1:
                found += [kind | {a} for kind in found]
        return tuple(found)

    @cached_property
    def kind_of(self) -> NDArray[np.intp]:
        """For each effect, in the order of the cells, the place of its kind."""
        place = np.zeros(self.sizes, np.intp)
        for a, step in self._steps.items():
            along = np.arange(self.sizes[a]) > 0
            place += step * along.reshape([-1 if b == a else 1 for b in self._axes])
        return place.reshape(-1)

    @property
    def _axes(self) -> range:
        return range(len(self.sizes))

    @property
    def _steps(self) -> dict[int, int]:
        wide = [a for a in self._axes if self.sizes[a] > 1]
        return {a: 1 << i for i, a in enumerate(wide)}

    def of_cells(self, cells: Any) -> Reals:
        """Effects from cells along the last axis."""
        return self._turned(cells, self._axes, inverse=False)

    def to_cells(self, effects: Any) -> Reals:
        """Cells from effects along the last axis."""
        return self._turned(effects, self._axes, inverse=True)

    def _turned(self, values: Any, axes: Iterable[int], inverse: bool) -> Reals:
        """A change of basis along each attribute of a marginal."""
        sizes = self.shape(axes)
        found = np.asarray(values, np.float64)
        if math.prod(sizes) <= SMALL:
            matrix = _cross(sizes)
            return found @ (matrix.T if inverse else matrix)
        flat = found.shape
        for place, size in enumerate(sizes):
            after = math.prod(sizes[place + 1 :])
            found = _along(found.reshape(-1, size, after), inverse)
        return found.reshape(flat)

    def marginal(self, marginal: Marginal, cells: Any) -> Any:
        """A marginal of cells that lie along the last axis."""
        table = np.asarray(cells)
        lead = table.ndim - 1
        table = table.reshape(*table.shape[:-1], *self.sizes)
        gone = tuple(lead + a for a in self._axes if a not in marginal)
        left = sorted(marginal)
        order = [left.index(a) for a in marginal]
        found = table.sum(axis=gone).transpose(
            *range(lead), *(lead + place for place in order)
        )
        return found.reshape(*found.shape[:lead], -1)

    def spread_out(self, marginal: Marginal, measured: Any) -> Reals:
        """What a measured marginal says of the effects, before it is divided by its
        variance: the transpose of `marginal`, in effects.
        """
        own = self._turned(measured, marginal, inverse=False)
        lead = own.shape[:-1]
        found = np.zeros((*lead, *self.sizes))
        inside = tuple(slice(None) if a in marginal else 0 for a in self._axes)
        left = sorted(marginal)
        order = [marginal.index(a) for a in left]
        axes = (*range(len(lead)), *(len(lead) + place for place in order))
        table = own.reshape(*lead, *self.shape(marginal)).transpose(axes)
        found[(..., *inside)] = math.sqrt(self.outside(marginal)) * table
        return found.reshape(*lead, -1)

    def outside(self, marginal: Iterable[int]) -> int:
        """How many cells one cell of a marginal sums up."""
        return self.cells // math.prod(self.shape(marginal))

    def precision(self, marginal: Marginal) -> Reals:
        """How sharply a marginal of variance 1 measures an effect of each kind."""
        inside = [kind <= set(marginal) for kind in self.kinds]
        found: Reals = np.array(inside, np.float64) * self.outside(marginal)
        return found

    def share(self, marginal: Marginal) -> Reals:
        """The variance of one cell of a marginal, over that of the effects of each
        kind. All of its cells have the same.
        """
        found = [self._share(kind, marginal) for kind in self.kinds]
        return np.array(found)

    def _share(self, kind: frozenset[int], marginal: Sequence[int]) -> float:
        if not kind <= set(marginal):
            return 0.0
        inside = [
            1 - 1 / self.sizes[a] if a in kind else 1 / self.sizes[a] for a in marginal
        ]
        return math.prod(inside) * self.outside(marginal)

    def weights(self, cells: Any) -> Reals:
        """The squared length, within the effects of each kind, of weights on cells."""
        turned = self.of_cells(np.asarray(cells, np.float64))
        found = np.bincount(self.kind_of, turned**2, minlength=len(self.kinds))
        return found.astype(np.float64)
