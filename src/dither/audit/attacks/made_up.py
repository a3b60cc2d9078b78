"""Made-up people for attacks that need more than the clinic: genotypes of a study, and
the blocks of a census. All draws are from the declared chances below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.noise import uniform_integers

__all__ = ["ATTRIBUTES", "LEVELS", "PRIOR", "TABLES", "Cohort", "cohort", "town"]

Copies = NDArray[np.int8]
Reals = NDArray[np.float64]
FINE = 1 << 30

LEVELS = ("county", "tract", "block")
ATTRIBUTES = {
    "sex": ["f", "m"],
    "age": ["0-17", "18-29", "30-49", "50-64", "65+"],
    "group": ["a", "b", "c", "d"],
}
TABLES: list[Any] = [("sex", "age"), ("sex", "group"), ("age", "group")]
PRIOR = np.einsum(
    "i,j,k->ijk", [0.49, 0.51], [0.22, 0.16, 0.27, 0.18, 0.17], [0.62, 0.18, 0.14, 0.06]
)


def chances(*shape: int) -> Reals:
    """Even numbers between 0 and 1."""
    return np.asarray((uniform_integers(FINE, shape) + 0.5) / FINE)


@dataclass(frozen=True)
class Cohort:
    """People of one population, the frequencies there, and who is in the study: a coin
    decided it for each.
    """

    table: Copies
    background: Reals
    inside: NDArray[np.bool_]

    @property
    def members(self) -> Copies:
        return self.table[self.inside]

    @property
    def outsiders(self) -> Copies:
        return self.table[~self.inside]


def cohort(people: int, variants: int) -> Cohort:
    """Genotypes of independent variants with frequencies between 0.1 and 0.9."""
    background = 0.1 + 0.8 * chances(variants)
    copies = chances(2, people, variants) < background
    # A study needs a member, and an attack an outsider: the first two are one each.
    inside = uniform_integers(2, (people,)) == 1
    inside[:2] = (True, False)
    return Cohort(copies.sum(axis=0).astype(np.int8), background, inside)


def town(
    blocks: int,
) -> tuple[list[tuple[int, ...]], NDArray[np.int64], dict[str, Any]]:
    """A list of blocks of 1 to 12 people, how many of them are in each cell, and the
    people. Records are draws from the prior.
    """
    places = np.arange(blocks)
    listed = np.stack([places // 50, places // 10, places], axis=1)
    block = places.repeat(1 + uniform_integers(12, (blocks,)))
    ends = PRIOR.ravel().cumsum()
    cell = np.minimum(np.searchsorted(ends, chances(block.size)), ends.size - 1)
    counts = np.bincount(block * ends.size + cell, minlength=blocks * ends.size)
    people: dict[str, Any] = dict(zip(LEVELS, listed[block].T, strict=True))
    codes = np.unravel_index(cell, PRIOR.shape)
    for (name, labels), code in zip(ATTRIBUTES.items(), codes, strict=True):
        people[name] = [labels[one] for one in code]
    lines = [tuple(line) for line in listed.tolist()]
    return lines, counts.reshape(blocks, ends.size), people
