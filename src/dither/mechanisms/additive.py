"""Mechanisms that add noise to numbers: Laplace, Geometric, Gaussian.

Integers get integer noise and stay integers. Reals are rounded to a public power-of-two
grid, noised there in whole steps and turned back, so their low bits say nothing
(docs/proofs/mechanisms.md).
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import Exact, Integers, Reals, numbers, plus
from dither.noise import Grid, Law, discrete_laplace, rounded_gaussian
from dither.noise.shapes import Shape, check_scale
from dither.privacy import (
    ROW,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    Unit,
    gaussian_mu,
)
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    float_down,
    float_up,
    positive,
    whole,
)

__all__ = ["Additive", "Gaussian", "Geometric", "Laplace"]

SENSITIVITY = "pass how far one unit can move the value, such as 1 for a count"
SMALLEST = 2.0**-1000
LARGEST = Fraction(sys.float_info.max)
FINE = Fraction(1, 1 << 20)
"""A quarter of a step over the noise scale in steps, at most."""
FINEST = Fraction(1, 1 << 54)
"""The grid is never finer than this share of the noise, so that noise on it fits 64-bit
integers.
"""


@dataclass(frozen=True, kw_only=True)
class Additive(ABC):
    """Noise added to a number or an array.

    `sensitivity` is the most that one unit can move the whole array, in the norm the
    mechanism names. `changes` is how many entries of an array of reals one unit can
    move; it is all of them unless said otherwise.
    """

    sensitivity: float
    unit: Unit = ROW
    changes: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "sensitivity", positive("sensitivity", self.sensitivity, SENSITIVITY)
        )
        if self.changes is not None:
            object.__setattr__(
                self,
                "changes",
                whole(
                    "changes",
                    self.changes,
                    "pass the number of entries that one unit can change",
                ),
            )

    def _check_scale(self) -> None:
        try:
            usable = self.scale >= SMALLEST
        except OverflowError:
            usable = False
        if not usable:
            raise ArgumentError(
                "sensitivity",
                "the noise scale for this sensitivity and guarantee is beyond the range "
                "of floats; measure the value in other units",
            )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one release promises."""

    @property
    def scale(self) -> float:
        """The scale of the noise on integers. On reals it is larger by a millionth, or
        more if `scale_on` says so.
        """
        return float_up(self._exact_scale(Fraction(self.sensitivity)))

    @property
    def variance(self) -> float:
        """The variance of the noise on a real number. For Laplace noise it is
        2·(sensitivity / epsilon)², larger by two millionths at most (by more if epsilon
        is below about 1e-10, because the grid is coarser there).
        """
        grid, scale = self._single
        exact = Fraction(self._variance_of(scale)) * grid.step**2
        return float(exact) if exact <= LARGEST else math.inf

    @property
    def mse(self) -> float:
        """The mean squared error of a release of reals: the variance of its noise, which
        has mean 0. For integers it is `integer_variance`.
        """
        return self.variance

    @property
    def integer_variance(self) -> float:
        """The variance of the noise on an integer: a little less for Laplace noise
        (2q / (1 − q)² with q = e^(−1/scale)), 1/12 more for Gaussian noise, which is
        rounded (an upper bound if its scale is below 1).
        """
        return self._variance_of(self.integer_scale)

    @abstractmethod
    def _variance_of(self, scale: float) -> float:
        """The variance of integer noise of this scale."""

    @cached_property
    def law(self) -> Law:
        """The law of the noise on an integer: intervals of all sums follow from it."""
        return self._law_of(self.scale)

    @abstractmethod
    def _law_of(self, scale: float) -> Law:
        """The law of integer noise of this scale."""

    def _integer_error(self, confidence: float) -> int:
        missed = (1 - confidence_level("confidence", confidence)) / 2
        return int(self.law.quantile(float(missed)))

    @abstractmethod
    def error(
        self, confidence: float = 0.95, *, integer: bool = False, size: int = 1
    ) -> float:
        """The ± that each entry's noise stays within, with this probability, in an
        array of `size` numbers.
        """

    def _scale_of_reals(self, size: int) -> float:
        grid, scale = self._single if size == 1 else self.scale_on(size)
        return float(Fraction(scale) * grid.step)

    @abstractmethod
    def _exact_scale(self, sensitivity: Fraction) -> Fraction:
        """The scale that keeps the promise for a sensitivity."""

    @abstractmethod
    def _rounding(self, changes: int) -> Fraction:
        """Largest change of an array with that many changing entries by rounding to the
        integers, in the norm at hand.
        """

    def _steps(self, changes: int) -> Fraction:
        """Number of steps of the grid that are added to the sensitivity for rounding to
        it.
        """
        return self._rounding(changes)

    @overload
    def _draw(self, scale: float, size: None) -> int: ...
    @overload
    def _draw(self, scale: float, size: Shape) -> Integers: ...
    @abstractmethod
    def _draw(self, scale: float, size: Shape | None) -> int | Integers:
        """Integer noise."""

    @overload
    def release(self, value: int) -> int: ...
    @overload
    def release(self, value: float) -> float: ...
    @overload
    def release(
        self, value: NDArray[Any] | list[Any] | tuple[Any, ...]
    ) -> NDArray[Any]: ...
    def release(self, value: Any) -> Any:
        """The value with noise: an int for an int, a float for other numbers, an array
        for an array or a list.

        NaN counts as 0 and infinities as the largest float; an answer beyond 64 bits in
        an array of integers is held at the end of the range.
        """
        clean = numbers(value)
        if isinstance(clean, int):
            return clean + self._draw(self.integer_scale, None)
        if isinstance(clean, float | Fraction):
            grid, scale = self._single
            return grid.real(grid.nearest(clean) + self._draw(scale, None))
        if clean.dtype == np.int64:
            return plus(
                cast("Integers", clean), self._draw(self.integer_scale, clean.shape)
            )
        grid, scale = self.scale_on(clean.size)
        return grid.add(cast("Reals | Exact", clean), self._draw(scale, clean.shape))

    @cached_property
    def integer_scale(self) -> float:
        """The scale on integers, if 64 bits are wide enough for it."""
        return check_scale("sensitivity", self.scale)

    @cached_property
    def _single(self) -> tuple[Grid, float]:
        return self.scale_on(1)

    def scale_on(self, size: int) -> tuple[Grid, float]:
        """The grid for an array of reals of a size, and the noise scale in steps of
        that grid, rounded up.
        """
        changes = min(self.changes or size, size) or 1
        spread, moved = (
            self._exact_scale(Fraction(self.sensitivity)),
            self._rounding(changes),
        )
        step = max(
            min(spread, Fraction(self.sensitivity) / moved), spread * FINEST * (1 << 20)
        )
        grid = Grid.finer_than(step)
        steps = Fraction(self.sensitivity) / grid.step + self._steps(changes)
        exact = self._exact_scale(steps)
        return grid, check_scale("sensitivity", float_up(exact))


@dataclass(frozen=True, kw_only=True)
class Laplace(Additive):
    """Laplace noise for a number, or an array whose L1 sensitivity is known.

    It takes integers and reals. `Geometric` is the same noise for integers only: use it
    if a real would be a mistake that should be refused.

    Guarantee: epsilon-differential privacy, pure.
    Why: discrete Laplace noise of scale Δ / ε on integers (Ghosh, Roughgarden &
    Sundararajan 2009); reals are rounded to a grid first, which moves each changing
    entry by at most one step more (docs/proofs/mechanisms.md).
    Assumes: the value's L1 sensitivity over the unit's neighbours is at most
    `sensitivity`.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", self.guarantee.epsilon)
        self._check_scale()

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, unit=self.unit)

    @property
    def guarantee_on_reals(self) -> LaplaceDP:
        """What a release of reals promises: more is known of it than that it is pure.

        Integers get whole-number noise, and a count that changes by 1 is then as easy
        to tell as by randomized response: it has `guarantee`, and no more.
        """
        return LaplaceDP(self.epsilon, unit=self.unit)

    def error(
        self, confidence: float = 0.95, *, integer: bool = False, size: int = 1
    ) -> float:
        if integer:
            return self._integer_error(confidence)
        tail = -math.log(float(1 - confidence_level("confidence", confidence)))
        return self._scale_of_reals(size) * tail + float(self.scale_on(size)[0].step)

    def _variance_of(self, scale: float) -> float:
        return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-2 else 0.0

    def _law_of(self, scale: float) -> Law:
        return Law.laplace(scale)

    def _exact_scale(self, sensitivity: Fraction) -> Fraction:
        return sensitivity / at_most(self.epsilon)

    def _rounding(self, changes: int) -> Fraction:
        return Fraction(changes)

    # The little more makes noise on the grid as good as real noise
    # (docs/proofs/training.md).
    def _steps(self, changes: int) -> Fraction:
        return Fraction(changes) + FINE

    def _draw(self, scale: float, size: Any) -> Any:
        return discrete_laplace(scale, size)


@dataclass(frozen=True, kw_only=True)
class Geometric(Laplace):
    """Two-sided geometric noise: the noise of `Laplace` for integers only. A real is
    refused instead of rounded.

    Guarantee: epsilon-differential privacy, pure.
    Why: P(k) / P(k + Δ) = e^(ε) at most (Ghosh, Roughgarden & Sundararajan 2009).
    Assumes: integer values whose L1 sensitivity over the unit's neighbours is at most
    `sensitivity`.
    """

    def release(self, value: Any) -> Any:
        clean = numbers(value)
        if not isinstance(clean, int) and not (
            isinstance(clean, np.ndarray) and clean.dtype == np.int64
        ):
            raise ArgumentError(
                "value",
                "must hold whole numbers only for geometric noise; use Laplace for "
                "real numbers",
            )
        return super().release(clean)

    @property
    def variance(self) -> float:
        """The variance of the noise: 2q / (1 − q)² with q = e^(−1/scale)."""
        return self.integer_variance

    def error(
        self, confidence: float = 0.95, *, integer: bool = True, size: int = 1
    ) -> float:
        return super().error(confidence, integer=integer, size=size)


@dataclass(frozen=True, kw_only=True)
class Gaussian(Additive):
    """Gaussian noise for a number, or an array whose L2 sensitivity is known.

    State the promise as `epsilon` and `delta`, or as `rho` (zero-concentrated), or as
    `mu` (Gaussian).

    Guarantee: mu-Gaussian differential privacy; the noise for (epsilon, delta) is the
    least that suffices.
    Why: analytic calibration (Balle & Wang 2018); rounding Gaussian noise on integers
    is post-processing of the Gaussian mechanism, so the guarantee is exact in any
    dimension (docs/proofs/mechanisms.md).
    Assumes: the value's L2 sensitivity over the unit's neighbours is at most
    `sensitivity`.
    """

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    mu: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mu", _mu(self.epsilon, self.delta, self.rho, self.mu))
        self._check_scale()

    @property
    def guarantee(self) -> GaussianDP:
        assert self.mu is not None
        return GaussianDP(self.mu, unit=self.unit)

    def error(
        self, confidence: float = 0.95, *, integer: bool = False, size: int = 1
    ) -> float:
        if integer:
            return self._integer_error(confidence)
        level = float(confidence_level("confidence", confidence))
        normal = NormalDist().inv_cdf((1 + level) / 2)
        return self._scale_of_reals(size) * normal + float(self.scale_on(size)[0].step)

    def _variance_of(self, scale: float) -> float:
        return scale * scale + 1 / 12

    def _law_of(self, scale: float) -> Law:
        return Law.gaussian(scale)

    def _exact_scale(self, sensitivity: Fraction) -> Fraction:
        return sensitivity / Fraction(self.guarantee.mu)

    def _rounding(self, changes: int) -> Fraction:
        return (
            Fraction(math.isqrt(changes << 64) + 1, 1 << 32)
            if changes > 1
            else Fraction(1)
        )

    def _draw(self, scale: float, size: Any) -> Any:
        return rounded_gaussian(scale, size)


def _mu(
    epsilon: float | None, delta: float | None, rho: float | None, mu: float | None
) -> float:
    """The largest mu that keeps the promise stated in one of three ways."""
    stated = [epsilon is not None or delta is not None, rho is not None, mu is not None]
    if sum(stated) != 1:
        raise ArgumentError(
            "epsilon", "pass exactly one of: epsilon and delta together, rho, or mu"
        )
    if mu is not None:
        return positive("mu", mu, "pass a mu such as 0.5")
    if rho is not None:
        return float_down(
            _root(2 * Fraction(positive("rho", rho, "pass a rho such as 0.1")))
        )
    if epsilon is None or delta is None:
        missing = "epsilon" if epsilon is None else "delta"
        raise ArgumentError(
            missing,
            "is missing, and Gaussian noise needs both; pass epsilon and delta, such as "
            "1.0 and 1e-6",
        )
    return gaussian_mu(epsilon, delta)


def _root(value: Fraction) -> Fraction:
    """A number just below the square root."""
    scaled = value * (1 << 256)
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator), 1 << 128)
