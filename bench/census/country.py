"""A made-up country of 200,000 blocks, and releases of its totals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dither.mechanisms import Gaussian
from dither.mechanisms.sums import noise_variance
from dither.science.census.fitting import Fit, fit
from dither.science.census.shape import Tree

__all__ = ["CASE", "NAMES", "RHO", "SIZES", "Country", "released"]

NAMES = ("nation", "state", "county", "tract", "block")
SIZES = (1, 10, 500, 10_000, 200_000)
PEOPLE = 4_190_000
RHO = 0.5
CASE = f"{SIZES[-1]:,} blocks, {PEOPLE / 1e6:.2f} M people, ρ = {RHO:g}"


@dataclass(frozen=True)
class Country:
    """A made-up country: a tree, and how many people live in each block."""

    seed: int = 1

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)  # allowed: made-up people

    @cached_property
    def tree(self) -> Tree:
        levels = [np.zeros(1, np.intp)]
        for above, size in pairwise(SIZES):
            more = self._random.integers(0, above, size - above)
            levels.append(np.sort(np.concatenate([np.arange(above), more])))
        return Tree(tuple(levels))

    @cached_property
    def counts(self) -> Any:
        size = self._random.lognormal(0, 1.2, SIZES[-1])
        size *= self._random.random(SIZES[-1]) < 0.6
        return self._random.multinomial(PEOPLE, size / size.sum())

    @cached_property
    def levels(self) -> list[Any]:
        return [one[:, None] for one in self.tree.counts_up(self.counts)]

    @cached_property
    def places(self) -> dict[str, Any]:
        """The label of each block at each level."""
        codes = [np.arange(SIZES[-1])]
        for above in reversed(self.tree.parents[1:]):
            codes.insert(0, above[codes[0]])
        return dict(zip(NAMES, codes, strict=True))


def released(country: Country, states: bool) -> tuple[Fit, list[Any], list[Any]]:
    """A fit of totals: what it says, what was measured, and what is exact."""
    first = 2 if states else 0
    rho = RHO / (len(SIZES) - first)
    noise = Gaussian(sensitivity=math.sqrt(2) if states else 1, rho=rho)
    measured = [
        [noise.release(one) if level >= first else None]
        for level, one in enumerate(country.levels)
    ]
    variances = [
        [noise_variance(noise) if level >= first else math.inf]
        for level in range(len(SIZES))
    ]
    exact: list[Any] = [None] * len(SIZES)
    if states:
        exact[1] = country.levels[1][:, 0]
    found = fit(country.tree, (), [()], measured, variances, exact)
    return found, [one[0] for one in measured], exact
