"""How votes become a label: the most votes win after noise is added to their counts.

One unit has one teacher, whose vote moves from one class to another, or to none, or from
none to one (a teacher that fails abstains). So in each query one unit moves each count by
1 at most, the vector of counts by √2 in L2, and the largest count by 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dither import mechanisms
from dither.errors import ArgumentError
from dither.mechanisms.values import plus
from dither.noise import rounded_gaussian
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import (
    GaussianDP,
    Guarantee,
    PureDP,
    Unit,
    ZeroConcentratedDP,
)
from dither.privacy.gaussian import pure_mu
from dither.privacy.numbers import (
    at_most,
    float_up,
    fraction,
    positive,
    whole,
    written,
)

__all__ = ["ConfidentGNMax", "GNMax", "NoisyMax", "Voting", "lead_of", "root_up"]

Integers = NDArray[np.int64]
BITS = 64
MANY = 10**6
"""Queries, teachers or answers beyond this are refused."""
LARGEST_EPSILON = 1e6
TOO_SMALL = (
    "is too small, because the noise would not fit 64-bit integers; "
    "pass a larger epsilon"
)
SIGMA = "pass the standard deviation of the noise in votes, such as 40"


@dataclass(frozen=True, kw_only=True)
class Voting(ABC):
    """A vote on each query. Its noise is stated, or follows from what may be spent."""

    @property
    @abstractmethod
    def settled(self) -> bool:
        """Whether the noise is known."""

    @abstractmethod
    def promises(self, queries: int, unit: Unit) -> Iterator[Guarantee]:
        """What votes on so many queries promise, in each way that is proven."""

    @abstractmethod
    def answer(self, counts: Integers) -> Integers:
        """The number of the winning class of each query, -1 where none is named.
        `counts` has a line for each query.
        """

    def at_most(self, queries: int) -> int:
        """How many of so many queries can be answered."""
        return queries

    @abstractmethod
    def lead(self, classes: int, confidence: float) -> float:
        """The votes by which a class must lead all others to win with this
        probability.
        """


class Gaussians(Voting):
    """A vote with Gaussian noise, which composes exactly."""

    @abstractmethod
    def squared_mu(self, queries: int) -> Fraction:
        """μ² of so many queries together, exactly."""

    @abstractmethod
    def for_mu(self, queries: int, mu: float) -> Self:
        """The same with the least noise that costs no more than μ."""

    def promises(self, queries: int, unit: Unit) -> Iterator[Guarantee]:
        yield GaussianDP(float_up(root_up(self.squared_mu(queries))), unit=unit)


@dataclass(frozen=True, kw_only=True)
class GNMax(Gaussians):
    """The class with most votes after Gaussian noise of deviation `sigma` on each count;
    every query is answered. Of equal counts the first class wins.

    Guarantee: √(2n)/σ-Gaussian differential privacy for n queries: a Rényi loss of α/σ²
    for each at every order α.
    Why: a unit moves the votes of one teacher, so the counts of one query by √2 in L2
    (Papernot et al. 2018, proposition 8); noise is the rounded Gaussian, and the winner
    is post-processing. See docs/proofs/pate.md.
    Assumes: one unit changes the votes of one teacher at most.
    """

    sigma: float | None = None

    def __post_init__(self) -> None:
        _check_sigma(self, "sigma")

    @property
    def settled(self) -> bool:
        return self.sigma is not None

    def squared_mu(self, queries: int) -> Fraction:
        return Fraction(2 * queries) / _exact(self.sigma) ** 2

    def for_mu(self, queries: int, mu: float) -> Self:
        return replace(self, sigma=_sigma(2 * queries, at_most(mu) ** 2))

    def answer(self, counts: Integers) -> Integers:
        return _winners(counts, self.sigma)

    def lead(self, classes: int, confidence: float) -> float:
        return lead_of(float(_exact(self.sigma)), classes, confidence)


@dataclass(frozen=True, kw_only=True)
class ConfidentGNMax(Gaussians):
    """GNMax of those queries on which teachers agree: where the largest count, with
    Gaussian noise of deviation `sigma_threshold`, reaches the `threshold`. It stops after
    `answers` answers. Noise that is not stated follows from the cost, of which the tests
    take the part `tests`.

    Guarantee: √(n/σ₁² + 2k/σ₂²)-Gaussian differential privacy for n queries and k
    answers: a Rényi loss of n·α/(2σ₁²) + k·α/σ₂².
    Why: a unit moves the largest count by 1 and the counts of one query by √2 in L2.
    All n tests and k answers are paid for beforehand, so which queries pass, and
    stopping early, are post-processing (docs/proofs/pate.md).
    Assumes: one unit changes the votes of one teacher at most.
    """

    threshold: float
    answers: int
    sigma_threshold: float | None = None
    sigma: float | None = None
    tests: float = 0.1

    def __post_init__(self) -> None:
        votes = "pass the votes that a winner needs, such as 0.6 times the teachers"
        object.__setattr__(
            self, "threshold", positive("threshold", self.threshold, votes)
        )
        most = "pass the largest number of queries to answer, such as 500"
        object.__setattr__(self, "answers", whole("answers", self.answers, most))
        if self.answers > MANY:
            raise ArgumentError("answers", f"must be at most {MANY:,}; {most}")
        if (self.sigma is None) != (self.sigma_threshold is None):
            raise ArgumentError(
                "sigma",
                "sigma and sigma_threshold must be passed together; pass both, or "
                "neither of them",
            )
        _check_sigma(self, "sigma")
        _check_sigma(self, "sigma_threshold")
        if not 0 < fraction("tests", self.tests, "pass a part such as 0.1") < 1:
            raise ArgumentError(
                "tests", "must lie between 0 and 1; pass a part such as 0.1"
            )

    @property
    def settled(self) -> bool:
        return self.sigma is not None

    def at_most(self, queries: int) -> int:
        return min(self.answers, queries)

    def squared_mu(self, queries: int) -> Fraction:
        tests = Fraction(queries) / _exact(self.sigma_threshold) ** 2
        return tests + Fraction(2 * self.at_most(queries)) / _exact(self.sigma) ** 2

    def for_mu(self, queries: int, mu: float) -> Self:
        whole_mu, part = at_most(mu) ** 2, written(self.tests)
        return replace(
            self,
            sigma_threshold=_sigma(queries, whole_mu * part),
            sigma=_sigma(2 * self.at_most(queries), whole_mu * (1 - part)),
        )

    def answer(self, counts: Integers) -> Integers:
        most = counts.max(axis=1)
        noise = rounded_gaussian(float(_exact(self.sigma_threshold)), most.shape)
        # Counts are whole, so those that reach the threshold reach its ceiling.
        passed = np.flatnonzero(plus(most, noise) >= math.ceil(self.threshold))
        chosen = passed[: self.answers]
        found: Integers = np.full(len(counts), -1, np.int64)
        found[chosen] = _winners(counts[chosen], self.sigma)
        return found

    def lead(self, classes: int, confidence: float) -> float:
        return lead_of(float(_exact(self.sigma)), classes, confidence)


NOISES: dict[str, Any] = {
    "laplace": mechanisms.NoisyMax,
    "exponential": mechanisms.PermuteAndFlip,
    "gumbel": mechanisms.Exponential,
}


@dataclass(frozen=True, kw_only=True)
class NoisyMax(Voting):
    """The class with most votes after noise of scale 2 / `epsilon` on each count;
    every query is answered.

    `noise` is "laplace", "exponential" (never a larger expected error) or "gumbel"
    (cheaper where an account has a δ).

    Guarantee: epsilon-differential privacy for each query, pure.
    Why: a unit moves each count by 1 at most, in both directions (`NoisyMax`,
    `PermuteAndFlip` and `Exponential` of dither.mechanisms). n of them cost nε; or
    n·ε²/2 as zCDP (n·ε²/8 for Gumbel noise, which has bounded range); or √n·μ(ε) as
    Gaussian differential privacy. See docs/proofs/pate.md.
    Assumes: one unit changes the votes of one teacher at most.
    """

    epsilon: float | None = None
    noise: str = "laplace"

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise ArgumentError("noise", f"must be one of {', '.join(NOISES)}")
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", PureDP(self.epsilon).epsilon)
            if self._epsilon > LARGEST_EPSILON:
                raise ArgumentError(
                    "epsilon",
                    f"must be at most {LARGEST_EPSILON:g}; pass one such as 0.1",
                )

    @property
    def settled(self) -> bool:
        return self.epsilon is not None

    @property
    def _epsilon(self) -> float:
        assert self.epsilon is not None
        return self.epsilon

    def promises(self, queries: int, unit: Unit) -> Iterator[Guarantee]:
        each = written(self._epsilon)
        yield PureDP(float_up(queries * each), unit=unit)
        part = 8 if self.noise == "gumbel" else 2
        yield ZeroConcentratedDP(float_up(queries * each**2 / part), unit=unit)
        mu = Fraction(pure_mu(self._epsilon)) * root_up(Fraction(queries))
        yield GaussianDP(float_up(mu), unit=unit)

    def answer(self, counts: Integers) -> Integers:
        chosen = NOISES[self.noise](sensitivity=1, epsilon=self._epsilon)
        return np.array([chosen.release(line) for line in counts], np.int64)

    def lead(self, classes: int, confidence: float) -> float:
        chosen = NOISES[self.noise](sensitivity=1, epsilon=self._epsilon)
        return float(chosen.error(confidence, candidates=classes))


def _winners(counts: Integers, sigma: float | None) -> Integers:
    noise = rounded_gaussian(float(_exact(sigma)), counts.shape)
    found: Integers = plus(counts, noise).argmax(axis=1).astype(np.int64)
    return found


def lead_of(sigma: float, classes: int, confidence: float) -> float:
    """The lead with which a class wins over each other one with this probability, all
    together (union bound), under Gaussian noise.
    """
    missed = (1 - confidence) / (classes - 1)
    return -NormalDist(0, math.sqrt(2) * sigma).inv_cdf(missed)


def _check_sigma(voting: Any, name: str) -> None:
    stated = getattr(voting, name)
    if stated is None:
        return
    found = positive(name, stated, SIGMA)
    if not 2.0**-20 <= found <= LARGEST_SCALE:
        raise ArgumentError(name, f"must lie between 1e-6 and 2**56; {SIGMA}")
    object.__setattr__(voting, name, found)


def _exact(sigma: float | None) -> Fraction:
    assert sigma is not None
    return Fraction(sigma)


def _sigma(moved: int, squared_mu: Fraction) -> float:
    """σ, rounded up, with moved / σ² at most μ²."""
    found = root_up(Fraction(moved) / squared_mu)
    if found > LARGEST_SCALE:
        raise ArgumentError("epsilon", TOO_SMALL)
    return float_up(found)


def root_up(value: Fraction) -> Fraction:
    """A number just above the square root."""
    scaled = math.ceil(value * (1 << (2 * BITS)))
    return Fraction(math.isqrt(scaled) + 1, 1 << BITS)
