"""Sums of products of columns and target, as one noised vector: all that least squares
needs to know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, blocks, lengths, shortened
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, root_up
from dither.privacy.numbers import float_up

__all__ = ["NoisyProducts", "ProductSums"]

HALVES = Fraction(3, 4)
"""What the two halves cost, where all else costs 5/2."""
MOST = 1 << 62
"""Sums are held within this, so that noise can be added."""


@dataclass(frozen=True)
class ProductSums:
    """The upper triangle of Σ ssᵀ with s = (v, y): v = (1, columns between -1 and 1),
    and a target y between -1 and 1. Each entry has a public weight.

    A row s with a v longer than the radius is brought down as a whole, which weighs the
    row less and keeps the line that it lies on.

    Under Laplace noise the first entries of v and of y are replaced by two halves, v₀(v₀
    + y) and v₀(v₀ - y): neither is negative, and they add up to 2v₀², so that a count and
    a sum of y cost as little as a count.
    """

    declared: Declared
    spending: Spending

    @property
    def size(self) -> int:
        """Entries of v."""
        return self.declared.width + 1

    @property
    def l1(self) -> bool:
        return not self.spending.gaussian

    @property
    def steps(self) -> int:
        """Steps from the middle of the bounds to either."""
        return 1 << 10 if self.declared.whole == 1 else 1 << 8

    @property
    def fine(self) -> int:
        """The weight of squares; other weights are whole numbers by it. It is less where
        these are large, so that sums over many rows fit 64 bits.
        """
        square = (self.radius // self.steps) ** 2
        return 1 << max(2, 6 - max(0, square.bit_length() - 4))

    def check(self) -> None:
        """Refuse what so many units could not be summed for."""
        largest = int(self.weights.max()) * self.steps**2 * self.declared.whole
        if (self.declared.units or 0) * largest > MOST:
            raise ArgumentError(
                "bounds",
                f"the sums of {self.declared.width} columns over "
                f"{self.declared.units:,} units are too large for 64-bit integers; "
                "pass fewer columns, or rows=1",
            )
        _ = self.noise

    @cached_property
    def radius(self) -> int:
        """What v is brought down to, in steps: about as long as it is where columns lie
        evenly between their bounds.
        """
        width = self.declared.width
        longest = 1 + width / 2 if self.l1 else math.sqrt(1 + width / 3)
        return math.floor(longest * self.steps)

    @cached_property
    def weights(self) -> Integers:
        """What each entry of Σ ssᵀ is multiplied with."""
        one = Fraction(self.radius, self.steps)
        products = 2 * self.fine if self.l1 else math.isqrt(2 * self.fine**2)
        found = np.full((self.size + 1, self.size + 1), products, np.int64)
        np.fill_diagonal(found, self.fine)
        found[-1, :] = found[:, -1] = math.floor(self.fine * one)
        found[-1, -1] = math.floor(self.fine * one**2 / 2)
        if self.l1:  # of the two halves
            found[0, 0] = found[0, -1] = found[-1, 0] = math.floor(
                self.fine * one**2 * HALVES / 2
            )
        return found

    @property
    def sensitivity(self) -> float:
        """How far one unit moves the vector. With r the radius: in L2 the three parts
        are at most r², r² and r²/2 long. In L1 they add up to so much, less the entries
        that the halves replace, and a part of r² for these.
        """
        whole = self.declared.whole
        square = self.fine * self.radius**2 * whole
        if self.l1:
            replaced = self.fine * self.steps * (self.radius + self.steps) * whole
            return float_up((Fraction(5, 2) + HALVES) * square - replaced)
        return float_up(root_up(math.ceil(Fraction(9, 4) * square**2)))

    @cached_property
    def noise(self) -> Additive:
        return self.spending.noise(self.sensitivity, self.sensitivity)

    def vectors(self, inputs: Reals, targets: Reals) -> Reals:
        """s of each row, in whole steps."""
        found = np.empty((len(inputs), self.size + 1))
        found[:, 0] = self.steps
        found[:, 1:-1] = np.rint((2 * inputs - 1) * self.steps)
        found[:, -1] = np.rint((2 * targets - 1) * self.steps)
        length = lengths(found[:, :-1], self.l1)
        return shortened(found.T, length, self.radius).T

    def exact(self, rows: Rows) -> Integers:
        """The upper triangle, times the weights."""
        assert rows.targets is not None
        found = np.zeros((self.size + 1, self.size + 1), np.int64)
        for part in blocks(len(rows), self.declared.whole * self.steps**2):
            held = self.vectors(rows.inputs[part], rows.targets[part])
            counted = held * rows.weights[part][:, None]
            found += (counted.T @ held).astype(np.int64)
        if self.l1:
            found[0, 0], found[0, -1] = _halves(found[0, 0], found[0, -1])
        most = MOST // self.weights  # so that no product leaves 64 bits
        upper: Integers = (np.clip(found, -most, most) * self.weights)[self.places]
        return upper

    @cached_property
    def places(self) -> tuple[Integers, Integers]:
        """Rows and columns of the upper triangle."""
        return np.triu_indices(self.size + 1)

    def release(self, rows: Rows) -> NoisyProducts:
        """The noisy sums."""
        noisy = self.noise.release(self.exact(rows))
        units = 1 / self.weights / (self.declared.whole * self.steps**2)
        upper = np.zeros(units.shape)
        upper[self.places] = noisy
        if self.l1:
            units[0, 0] = units[0, -1] = units[-1, 0] = units[0, 0] / 2
            upper[0, 0], upper[0, -1] = _halves(upper[0, 0], upper[0, -1])
        full = (upper + np.triu(upper, 1).T) * units
        return NoisyProducts(full, units, self.noise, self.l1)


def _halves(one: Any, other: Any) -> tuple[Any, Any]:
    """The sum and the difference; of these again, twice what they were."""
    return one + other, one - other


@dataclass(frozen=True)
class NoisyProducts:
    """Noisy Σ ssᵀ. The noise of an entry is that of the mechanism times its `units`."""

    sums: Reals
    units: Reals
    noise: Additive
    halved: bool = False

    @property
    def known(self) -> Reals:
        """Σ vvᵀ."""
        return self.sums[:-1, :-1]

    @property
    def wanted(self) -> Reals:
        """Σ vy."""
        return self.sums[:-1, -1]

    def deviation(self, row: int, column: int) -> float:
        """The standard deviation of the noise on an entry."""
        noise = math.sqrt(noise_variance(self.noise))
        halved = self.halved and row == 0 and column in (0, len(self.sums) - 1)
        both = math.sqrt(2) if halved else 1.0
        return noise * both * float(self.units[row, column])

    def shares(self, left: Reals, right: Reals) -> Reals:
        """How much one step of the noise of each entry counts in leftᵀ·noise·right."""
        both = np.outer(left, right)
        upper = np.triu(both + both.T) - np.diag(np.diag(both))
        found: Reals = upper * self.units
        if self.halved:  # the noises of two entries are a sum and a difference
            found[0, 0], found[0, -1] = _halves(found[0, 0], found[0, -1])
        return found
