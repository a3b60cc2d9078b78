"""The ways to answer a question within a wanted error, and how many such answers an
account grants. Sizes of noise are the mechanisms' own, and grants are the ledger's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from functools import lru_cache

from dither.errors import ArgumentError
from dither.explain import local_laws
from dither.explain.price import POINTS
from dither.ledger.left import Remaining
from dither.ledger.promise import accounting_of
from dither.ledger.state import State
from dither.ledger.terms import Terms
from dither.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip
from dither.privacy import (
    ROW,
    ApproxDP,
    Guarantee,
    PureDP,
    Relation,
    Unit,
    ZeroConcentratedDP,
    epsilon_for_error,
    mu_for_error,
)

__all__ = ["CENTRAL", "LOCAL", "QUERIES", "Asked", "Way", "digits", "least"]

QUERIES = ("count", "sum", "mean", "histogram", "quantile")
CENTRAL, LOCAL = "central", "local"
DEVICE = Unit("device", Relation.REPLACE)
FINER = 1 - 1e-6
"""Sums and means are rounded to steps of 2^-32 of what one person moves; this leaves
room for that.
"""
UP = Context(prec=4, rounding=ROUND_CEILING)
MOST = 30.0
"""The largest ε of one answer of a device that is looked at: it hides nothing."""


@dataclass(frozen=True)
class Way:
    """One way to ask: the noise, the keyword and number to ask with, and the guarantee
    of each answer.
    """

    noise: str
    keyword: str
    value: float
    guarantee: Guarantee


@dataclass(frozen=True)
class Asked:
    """A question that is asked several times about n people: the sensitivity, and the
    largest possible answer.
    """

    query: str
    bounds: tuple[float, float] = (0.0, 1.0)
    bins: int = 10
    q: float = 0.5
    confidence: float = 0.95
    model: str = CENTRAL

    @property
    def unit(self) -> Unit:
        """A device is there, and its data may be other data. A mean over a public
        number of people is about replacing one of them.
        """
        if self.model == LOCAL:
            return DEVICE
        return ROW.replacing() if self.query == "mean" else ROW

    @property
    def of(self) -> str:
        """The quantity that an error is relative to."""
        return {
            "count": "of the people",
            "sum": "of the largest possible sum",
            "mean": "of the width of the bounds",
            "histogram": "of an average bin",
            "quantile": "of the ranks",
        }[self.query]

    def whole(self, n: int) -> float:
        """The size of that."""
        low, high = self.bounds
        return {
            "count": float(n),
            "sum": n * max(abs(low), abs(high)),
            "mean": high - low,
            "histogram": n / self.bins,
            "quantile": float(n),
        }[self.query]

    def ways(self, n: int, share: float) -> tuple[Way, ...]:
        """How to reach a relative error, each way with no more noise than that allows;
        empty if no way does.
        """
        width = share * self.whole(n)
        if self.model == LOCAL:
            return self._by_devices(n, width)
        found = self._sensitivity(n)
        if self.query == "quantile":
            return _by_rank(found, width, self.confidence)
        whole = self.query in ("count", "histogram")
        # A rounded Gaussian lies within m where the Gaussian lies within m + 1/2.
        inside = math.floor(width) + 0.5 if whole else width * FINER
        pure = digits(
            epsilon_for_error(
                width if whole else inside, self.confidence, found, integer=whole
            )
        )
        rho = digits(mu_for_error(inside, self.confidence, found) ** 2 / 2)
        return (
            _way(Laplace(sensitivity=found, epsilon=pure, unit=self.unit), pure),
            _way(Gaussian(sensitivity=found, rho=rho, unit=self.unit), rho),
        )

    def _sensitivity(self, n: int) -> float:
        low, high = self.bounds
        return {
            "count": 1.0,
            "sum": max(abs(low), abs(high)),
            "mean": (high - low) / n,
            "histogram": 1.0,
            "quantile": max(self.q, 1.0 - self.q),
        }[self.query]

    def _by_devices(self, n: int, width: float) -> tuple[Way, ...]:
        def error(epsilon: float) -> float:
            return local_laws.error(
                self.query, epsilon, n, self.bounds, self.bins, self.confidence
            )

        if error(MOST) > width:
            return ()
        value = digits(least(lambda epsilon: error(epsilon) <= width, 1e-6, MOST))
        noise = local_laws.oracle(self.query, value, self.bins)
        return (Way(noise, "epsilon", value, PureDP(value, unit=DEVICE)),)

    def granted(self, epsilon: float, delta: float, way: Way) -> int:
        """Number of such answers that an account of (ε, δ) allows; a device counts the
        sum of its ε.
        """
        left = _fresh(epsilon, delta, self.unit)
        try:
            return left.times(way.guarantee)
        except ArgumentError:  # a Gaussian in an account without a δ
            return 0

    def best(
        self, epsilon: float, delta: float, n: int, share: float
    ) -> tuple[int, Way | None]:
        """The most questions that fit, and how to ask them."""
        counted = [
            (self.granted(epsilon, delta, way), way) for way in self.ways(n, share)
        ]
        return max(counted, key=lambda one: one[0], default=(0, None))


def _way(mechanism: Laplace | Gaussian, value: float) -> Way:
    plain = isinstance(mechanism, Laplace)
    noise, keyword = ("Laplace", "epsilon") if plain else ("Gaussian", "rho")
    return Way(noise, keyword, value, mechanism.guarantee)


def _by_rank(moved: float, width: float, confidence: float) -> tuple[Way, ...]:
    """A quantile is chosen with half of its cost; the other half finds its interval."""
    flip = PermuteAndFlip(sensitivity=moved, epsilon=1.0)
    chosen = Exponential(sensitivity=moved, epsilon=1.0)
    pure = digits(2 * flip.error(confidence, candidates=POINTS) / width)
    # half of ρ buys a bounded range of √(8ρ/2)
    rho = digits((chosen.error(confidence, candidates=POINTS) / width) ** 2 / 4)
    return (
        Way("a choice by rank", "epsilon", pure, PureDP(pure)),
        Way("a choice by rank", "rho", rho, ZeroConcentratedDP(rho)),
    )


@lru_cache(maxsize=512)
def _fresh(epsilon: float, delta: float, unit: Unit) -> Remaining:
    """An account of which nothing is spent."""
    total = ApproxDP(epsilon, delta, unit=unit)
    terms = Terms.of(accounting_of(None, delta), total)
    return Remaining(terms, State(terms.pure_cap, terms.loss_cap, terms.delta_cap))


def digits(value: float) -> float:
    """Four digits, rounded up: what is printed is what was counted."""
    return float(UP.create_decimal_from_float(value))


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest number, to about ten digits, for which a rising condition holds; it
    holds for `high`.
    """
    for _ in range(200):
        middle = math.sqrt(low * high)
        if not low < middle < high or high / low < 1 + 1e-10:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
