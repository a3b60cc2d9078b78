"""The question behind a k-anonymous table, answered with noise: how many people of each
public cell have each secret.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.anonymized import Anonymized
from dither.audit.attacks.columns import joint
from dither.audit.attacks.generalized import Categories, Numbers, Quasi
from dither.audit.attacks.rates import right_among, with_or_without
from dither.errors import ArgumentError
from dither.mechanisms import Geometric

__all__ = ["Tabulated", "tabulated"]

Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Reals = NDArray[np.float64]
EDGES = 'pass public ones, such as {"age": range(0, 111, 10)}'


@dataclass(frozen=True)
class Tabulated:
    """Counts of each cell and secret with discrete Laplace noise, one person in one
    count. Each person is attacked on a release of its own, so that tries are
    independent.

    Guarantee: pure ε for adding or removing a person.
    """

    cells: Codes
    codes: Codes
    secrets: int
    epsilon: float

    @cached_property
    def mechanism(self) -> Geometric:
        return Geometric(sensitivity=1, epsilon=self.epsilon)

    @cached_property
    def _own(self) -> Counts:
        """The exact counts of each person's cell."""
        size = int(self.cells.max()) + 1
        place = self.cells * self.secrets + self.codes
        counts = np.bincount(place, minlength=size * self.secrets)
        return np.asarray(counts.reshape(size, self.secrets)[self.cells])

    @property
    def _one(self) -> Counts:
        return np.eye(self.secrets, dtype=np.int64)[self.codes]

    def _noisy(self, counts: Counts) -> Reals:
        return np.asarray(self.mechanism.release(counts), np.float64)

    def released(self) -> Reals:
        """What is published of each person's cell."""
        return self._noisy(self._own)

    def without(self) -> Reals:
        """The result if the person were not in the table."""
        return self._noisy(self._own - self._one)

    def of_one(self) -> Reals:
        """What is left for an attacker who knows everybody else and subtracts them."""
        return self._noisy(self._one)

    def bound(self, without: float) -> float:
        return with_or_without(self.mechanism.guarantee, without)

    def told(self, excluded: NDArray[np.bool_] | None = None) -> tuple[Reals, Reals]:
        """Whether the largest count is that of the secret, on releases with each person
        and without them. What the attacker can exclude is left out.
        """
        shown = (self.released(), self.without())
        out = np.zeros((1, self.secrets), np.bool_) if excluded is None else excluded
        with_them, without = (
            right_among(np.where(out, -np.inf, one), self.codes) for one in shown
        )
        return with_them, without


def tabulated(
    table: Anonymized, edges: Mapping[str, Sequence[float]] | None, epsilon: Any
) -> Tabulated:
    """Cells by declared edges of numbers and the coarsest declared categories."""
    given = {} if edges is None else edges
    if not isinstance(given, Mapping):
        raise ArgumentError(
            "edges", f"must map columns of numbers to their edges; {EDGES}"
        )
    cells = joint(_cells(one, given) for one in table.quasi)
    found = Tabulated(cells, table.codes, len(table.secrets), epsilon)
    return replace(found, epsilon=found.mechanism.epsilon)


def _cells(quasi: Quasi, edges: Mapping[str, Any]) -> Codes:
    if isinstance(quasi, Categories):
        return np.asarray(quasi.levels[1])
    if not isinstance(quasi, Numbers) or quasi.name not in edges:
        raise ArgumentError(
            "edges", f"edges of the numbers {quasi.name!r} are missing; {EDGES}"
        )
    found = _edges(edges[quasi.name])
    # Whoever lies outside counts in the first or the last cell.
    return np.asarray(np.searchsorted(found[1:-1], quasi.values, side="right"))


def _edges(given: Any) -> Reals:
    plain = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    listed = list(given) if plain else []
    real = all(isinstance(one, Real) and math.isfinite(one) for one in listed)
    if len(listed) < 2 or not real or sorted(set(listed)) != listed:
        raise ArgumentError("edges", f"must be two or more increasing numbers; {EDGES}")
    return np.array(listed, np.float64)
