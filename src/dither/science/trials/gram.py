"""Sums and sums of products of several variables, as one noised vector: all that a
linear regression needs to know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Gaussian
from dither.mechanisms.sums import root_up
from dither.privacy.numbers import float_up
from dither.question import Question
from dither.science.trials.columns import Integers, Reals

__all__ = ["STEPS", "Gram", "NoisyGram"]

STEPS = 1 << 14
"""Number of steps from the middle of the bounds to either: few enough that sums of
products of 2^27 people fit 64 bits.
"""
FINE = 64
"""The weight of sums under Gaussian noise; those of products are whole numbers below."""


@dataclass(frozen=True)
class Gram:
    """The noised vector for `count` variables: the upper triangle of Σ zzᵀ over complete
    records, with z = (1, first, …, last variable) between -1 and 1, each entry times a
    weight.

    The weights are such that products cost little more than sums alone, and counting
    people costs nothing (docs/proofs/trials.md).
    """

    question: Question
    count: int
    steps: int = STEPS

    @property
    def mechanism(self) -> Additive:
        """Noise for one record, which comes, goes or is replaced."""
        unit, d = self.steps**2, self.count
        l1 = 9 * d * (d + 1) * unit // 4
        # FINE² · unit² · 9d/2, and a root that is not rounded down
        square = FINE**2 * unit**2 * Fraction(9 * d, 2)
        l2 = root_up(math.ceil(square))
        return self.question.vector(float_up(Fraction(l1)), float_up(l2))

    @cached_property
    def gaussian(self) -> bool:
        return isinstance(self.mechanism, Gaussian)

    @cached_property
    def weights(self) -> Integers:
        """What each entry of Σ zzᵀ is multiplied with."""
        d = self.count
        if self.gaussian:
            sums, squares = FINE, math.isqrt(FINE**2 // d)
            products = math.isqrt(2 * FINE**2 // d)
            people = math.isqrt(FINE**2 * 5 * d // 2)
        else:
            # in quarters of what they are, all at once, so that they are whole
            sums, squares, products, people = 4 * (d + 1), 8, 8, d * (d + 1)
        found = np.full((d + 1, d + 1), products, np.int64)
        np.fill_diagonal(found, squares)
        found[0, :] = found[:, 0] = sums
        found[0, 0] = people
        return found

    def vector(self, codes: Integers, there: NDArray[np.bool_]) -> Integers:
        """The exact vector of records in steps, one row each."""
        known = codes[there]
        ones = np.full((len(known), 1), self.steps, np.int64)
        rows = np.hstack([ones, known])
        whole = self.weights * (rows.T @ rows)
        quarters = 1 if self.gaussian else 4
        found: Integers = whole[self.places] // quarters
        return found

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of the upper triangle."""
        return np.triu_indices(self.count + 1)

    def read(self, noisy: NDArray[Any], most: float) -> NoisyGram:
        """The noised vector as a matrix of means of products times people; at most so
        many people as are public.
        """
        quarters = 1 if self.gaussian else 4
        units = quarters / self.weights / self.steps**2
        upper = np.zeros(units.shape)
        upper[self.places] = noisy
        full = (upper + np.triu(upper, 1).T) * units
        full[0, 0] = min(max(full[0, 0], 1.0), most)
        return NoisyGram(full, self.mechanism.scale * units, self.gaussian)


@dataclass(frozen=True)
class NoisyGram:
    """A noisy Σ zzᵀ, with the scale of the noise on each entry."""

    sums: Reals
    scales: Reals
    gaussian: bool

    @cached_property
    def powers(self) -> Reals:
        """The variance of the noise on each entry."""
        return self.scales**2 * (1 if self.gaussian else 2)

    def weights(self, left: Reals, right: Reals) -> Reals:
        """How much the noise of each entry of the upper triangle counts in
        leftᵀ·noise·right.
        """
        both = np.outer(left, right)
        return np.asarray(np.triu(both + both.T) - np.diag(np.diag(both)))

    def variance(self, left: Reals, right: Reals) -> float:
        """The variance of leftᵀ·noise·right."""
        return float((self.weights(left, right) ** 2 * self.powers).sum())
