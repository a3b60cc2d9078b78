"""Pure noise for vectors of which one unit can move every entry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.additive import SENSITIVITY
from dither.mechanisms.values import Integers, numbers, plus
from dither.noise.cube import LARGEST_CUBE, discrete_cube
from dither.privacy import ROW, PureDP, Unit
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    float_up,
    positive,
    whole,
)

__all__ = ["Cube"]


@dataclass(frozen=True, kw_only=True)
class Cube:
    """Noise for vectors of `dims` whole numbers, where `sensitivity` is the most that one
    unit can move *each* entry. An array holds a vector along its last axis.

    An entry's noise has a standard deviation of about dims · sensitivity / (√3·ε), where
    Laplace noise of the same promise has √2 · dims · sensitivity / ε. Where a unit moves
    several vectors, the most in each of them, added up, is the sensitivity.

    Guarantee: epsilon-differential privacy, pure.
    Why: the K-norm mechanism of Hardt & Talwar (2010) for the largest entry, on whole
    numbers (docs/proofs/noise.md).
    Assumes: over the unit's neighbours, the largest changes of an entry of each vector
    add up to at most `sensitivity`.
    """

    sensitivity: float
    dims: int
    epsilon: float
    unit: Unit = ROW

    def __post_init__(self) -> None:
        checked = positive("sensitivity", self.sensitivity, SENSITIVITY)
        object.__setattr__(self, "sensitivity", checked)
        way_out = "pass the number of entries of a vector"
        object.__setattr__(self, "dims", whole("dims", self.dims, way_out))
        object.__setattr__(self, "epsilon", self.guarantee.epsilon)
        if not self.scale * self.dims <= LARGEST_CUBE:
            raise ArgumentError(
                "epsilon",
                "is too small for noise that fits 64-bit integers; pass a larger one",
            )

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, unit=self.unit)

    @cached_property
    def scale(self) -> float:
        """How far the largest entry must move until its probability falls by e."""
        exact = Fraction(self.sensitivity) / at_most(self.epsilon)
        return math.inf if exact > 1 << 200 else float_up(exact)

    @property
    def variance(self) -> float:
        """The variance of an entry's noise."""
        mean = 1 / math.expm1(min(1 / self.scale, 700.0))
        radius = self.dims + (self.dims + 1) * mean
        spread = (self.dims + 1) * mean * (mean + 1)
        return (radius * (radius + 1) + spread) / 3

    @property
    def mse(self) -> float:
        """The mean squared error of an entry: its variance, since the mean is 0."""
        return self.variance

    def release(self, value: Any) -> Integers:
        """The array with noise. It holds whole numbers, in vectors of `dims`."""
        clean = numbers(value)
        array = clean if isinstance(clean, np.ndarray) else np.zeros(0)
        if array.dtype != np.int64 or array.shape[-1:] != (self.dims,):
            raise ArgumentError(
                "value",
                f"must be an array of whole numbers whose last axis has {self.dims} entries",
            )
        whole_numbers = cast("Integers", array)
        return plus(whole_numbers, discrete_cube(self.scale, whole_numbers.shape))

    def error(self, confidence: float = 0.95) -> float:
        """The ± that each entry's noise stays within, with this probability."""
        outside = float(1 - confidence_level("confidence", confidence))
        low, high = 0.0, 1.0
        while _beyond(high, self.dims) > outside:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            inner = _beyond(middle, self.dims) > outside
            low, high = (middle, high) if inner else (low, middle)
        return math.ceil(high * self.scale + self.dims)


def _beyond(x: float, dims: int) -> float:
    """P(|entry| > x) at scale 1: the mean of 1 − x/R over radii R beyond x, which are
    gamma distributed.
    """
    if x <= 0:
        return 1.0
    return max(_gamma_tail(dims + 1, x) - x / dims * _gamma_tail(dims, x), 0.0)


def _gamma_tail(shape: int, x: float) -> float:
    """P(a sum of so many exponential variables > x): fewer than `shape` of a Poisson."""
    logs = [k * math.log(x) - math.lgamma(k + 1) - x for k in range(shape)]
    return math.fsum(math.exp(one) for one in logs)
