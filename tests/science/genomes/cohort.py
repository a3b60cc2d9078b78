"""Small simulated cohorts, and all small tables of genotypes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

GENOTYPES = (0, 1, 2, -1)
Table = NDArray[np.int8]


def cohort(people: int, variants: int, missing: float = 0.0, seed: int = 0) -> Table:
    """Independent variants of frequencies between 0.05 and 0.95."""
    source = np.random.default_rng(seed)
    frequencies = source.uniform(0.05, 0.95, variants)
    drawn = source.binomial(2, frequencies, (people, variants)).astype(np.int8)
    drawn[source.random((people, variants)) < missing] = -1
    return drawn


def names(count: int) -> list[str]:
    return [f"rs{number}" for number in range(count)]


def all_columns(people: int) -> Table:
    """Every column of a table of so many people, missing calls included, side by side:
    every table of two variants is a pair of them.
    """
    return np.array(list(product(GENOTYPES, repeat=people)), np.int8).T


def without(table: Table, person: int) -> Table:
    """The neighbour in which that person's genotypes are all missing."""
    other = table.copy()
    other[person] = -1
    return other


def frequency(table: Table) -> Any:
    """Each variant's frequency among those called; NaN where nobody is."""
    called = (table >= 0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(table >= 0, table, 0).sum(axis=0) / (2 * called)
