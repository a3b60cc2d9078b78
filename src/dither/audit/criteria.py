"""What each kind of guarantee says about guesses, and the lower bound on its number
that counted guesses prove.

A rule looks at one output and guesses which of the two inputs it came from, or
abstains. `Counts` says how often it guessed what. Each test draw came from an input
chosen by a fair coin, so

- under ε-DP every guess is right with probability at most e^ε / (1 + e^ε), whatever the
  output was and whatever else was guessed. Right guesses are thus at most binomial, and
  one Clopper–Pearson bound on their share bounds ε;
- an (ε, δ)-DP pair is an ε-DP pair that, in each draw with probability δ, gives its
  input away (Kairouz, Oh & Viswanath 2015). Given away inputs are at most binomial too,
  and as many right guesses are not counted;
- an ε-bounded range bounds how far the log-likelihood ratios of two events lie apart,
  not how large either is. Of the draws in which the rule guesses the first input, the
  share that is right has the first event's ratio as its odds, and so for the second:
  two Clopper–Pearson bounds, each at half the alarm rate, bound ε by the sum of the
  log-odds;
- for Gaussian and zero-concentrated guarantees two bounds, each at half the alarm rate,
  hold the probabilities p and q of one event on both sides: μ ≥ Φ⁻¹(p) − Φ⁻¹(q), and ρ
  ≥ D_α(p‖q) / α for every order α, since an event is post-processing. A δ of their own
  is an event of that probability on each side.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    ZeroConcentratedDP,
)
from dither.privacy.binomial import lower, most, upper
from dither.privacy.numbers import down

__all__ = ["Bound", "Counts", "Criterion", "criterion_of"]

LEAKS = 0.25
"""The part of the alarm rate that bounds how often δ gave an input away."""
ORDERS = tuple(1 + 10 ** (i / 20) for i in range(-80, 81))

Array = NDArray[np.float64]
Sides = tuple[Array, Array]


@dataclass(frozen=True)
class Counts:
    """How often the first and the second input were guessed right and wrongly, and how
    many draws each input had.

    `sides` are which of the inputs the rule ever guesses.
    """

    first_right: int
    first_wrong: int
    second_right: int
    second_wrong: int
    draws: tuple[int, int]
    sides: tuple[bool, bool] = (True, True)

    @property
    def right(self) -> int:
        return self.first_right + self.second_right

    @property
    def guesses(self) -> int:
        return self.right + self.first_wrong + self.second_wrong

    def both(self) -> tuple[int, int, int, int]:
        """Right and wrong guesses of either input; one that the rule never guesses is
        taken for all other draws.
        """
        first, second = self.draws
        if not self.sides[0]:
            return (
                first - self.second_wrong,
                second - self.second_right,
                self.second_right,
                self.second_wrong,
            )
        if not self.sides[1]:
            return (
                self.first_right,
                self.first_wrong,
                second - self.first_wrong,
                first - self.first_right,
            )
        return self.first_right, self.first_wrong, self.second_right, self.second_wrong

    def event(self) -> tuple[int, int, int, int]:
        """One event: its hits and draws on the side it points to, then on the other
        side.
        """
        if self.sides[0]:
            return self.first_right, self.draws[0], self.first_wrong, self.draws[1]
        return self.second_right, self.draws[1], self.second_wrong, self.draws[0]


@dataclass(frozen=True)
class Bound:
    """What is proved: about the number that the claim states, and about ε."""

    value: float
    epsilon: float


class Criterion(ABC):
    """A claimed guarantee, as far as guesses can contradict it."""

    name: str
    two_sided: bool
    claimed: float

    @abstractmethod
    def bound(self, counts: Counts, alarm: float) -> Bound:
        """The lower bound that is too high with probability at most `alarm`."""

    @abstractmethod
    def rough(
        self,
        right: Array,
        wrong: Array,
        draws: tuple[float, float],
        sides: int,
        z: float,
    ) -> Array:
        """The same to a first approximation, z standard deviations from what was
        counted, for many rules at once.

        With one side, `draws` are those of the side the event points to and of the
        other one.
        """

    def rough_sides(
        self,
        first: Sides,
        second: Sides,
        draws: tuple[float, float],
        sides: int,
        z: float,
    ) -> Array:
        """The bound from right and wrong guesses of either input; most claims look at
        them together.
        """
        return self.rough(first[0] + second[0], first[1] + second[1], draws, sides, z)

    def best(self, draws: int, alarm: float) -> float:
        """The largest bound that so many draws on each side can give: all guesses
        right.

        Coins may leave one side a few draws short.
        """
        if self.two_sided:
            return self.bound(Counts(draws, 0, draws, 0, (draws, draws)), alarm).value
        fewest = max(draws - 3 * math.isqrt(draws), 1)
        return self.bound(
            Counts(fewest, 0, 0, 0, (fewest, fewest), (True, False)), alarm
        ).value


@dataclass(frozen=True)
class Odds(Criterion):
    """ε-DP, or (ε, δ)-DP."""

    claimed: float
    delta: float = 0.0
    name = "ε"
    two_sided = True

    def bound(self, counts: Counts, alarm: float) -> Bound:
        right, guesses = counts.right, counts.guesses
        if self.delta:
            leaks = most(
                sum(counts.draws), self.delta * sum(counts.sides) / 2, alarm * LEAKS
            )
            right, guesses, alarm = right - leaks, guesses - leaks, alarm * (1 - LEAKS)
        share = lower(right, guesses, alarm) if right > 0 else 0.0
        epsilon = _log_odds(share)
        return Bound(epsilon, epsilon)

    def rough(
        self,
        right: Array,
        wrong: Array,
        draws: tuple[float, float],
        sides: int,
        z: float,
    ) -> Array:
        leaks = sum(draws) * self.delta * sides / 2
        counted = np.maximum(right - leaks - z * math.sqrt(leaks), 0.0)
        return _rough_odds(counted, wrong, z)


@dataclass(frozen=True)
class Range(Criterion):
    """ε-bounded range: P(S)·Q(T) ≤ e^ε·Q(S)·P(T) for all events S and T."""

    claimed: float
    name = "range ε"
    two_sided = True

    def bound(self, counts: Counts, alarm: float) -> Bound:
        first, first_wrong, second, second_wrong = counts.both()
        shares = (
            lower(first, first + first_wrong, alarm / 2),
            lower(second, second + second_wrong, alarm / 2),
        )
        if min(shares) <= 0.0:
            return Bound(0.0, 0.0)
        odds = [_signed_log_odds(share) for share in shares]
        return Bound(max(down(math.fsum(odds)), 0.0), max(*odds, 0.0))

    def rough(
        self,
        right: Array,
        wrong: Array,
        draws: tuple[float, float],
        sides: int,
        z: float,
    ) -> Array:
        return self.rough_sides((right, wrong), (0 * right, 0 * wrong), draws, sides, z)

    def rough_sides(
        self,
        first: Sides,
        second: Sides,
        draws: tuple[float, float],
        sides: int,
        z: float,
    ) -> Array:
        # One of them is empty, and all other draws are guessed to be of that input
        if sides == 1:
            first, second = _completed(first, second, draws)
        odds: Array = _rough_odds(*first, z) + _rough_odds(*second, z)
        return odds


def _completed(
    first: Sides, second: Sides, draws: tuple[float, float]
) -> tuple[Sides, Sides]:
    if np.max(first[0]) + np.max(first[1]) > 0:
        return first, (draws[1] - first[1], draws[0] - first[0])
    return (draws[0] - second[1], draws[1] - second[0]), second


def _rough_odds(right: Array, wrong: Array, z: float) -> Array:
    share = rough_lower(right, right + wrong, z)
    odds: Array = np.log(np.maximum(share, 1e-300)) - np.log1p(
        -np.minimum(share, 1 - 1e-15)
    )
    return odds


@dataclass(frozen=True)
class Event(Criterion):
    """A guarantee about the probabilities of one event on both sides, and a δ that
    either may be off by.
    """

    claimed: float
    delta: float = 0.0
    two_sided = False

    def bound(self, counts: Counts, alarm: float) -> Bound:
        hits, draws, others, others_draws = counts.event()
        p = max(lower(hits, draws, alarm / 2) - self.delta, 0.0) / (1 - self.delta)
        q = min(upper(others, others_draws, alarm / 2) / (1 - self.delta), 1.0)
        return (
            Bound(max(down(self.least(p, q)), 0.0), max(down(math.log(p / q)), 0.0))
            if p > q
            else Bound(0.0, 0.0)
        )

    def rough(
        self,
        right: Array,
        wrong: Array,
        draws: tuple[float, float],
        sides: int,  # noqa: ARG002
        z: float,
    ) -> Array:
        p = np.maximum(rough_lower(right, draws[0] + 0 * right, z) - self.delta, 0.0)
        q = 1 - rough_lower(draws[1] - wrong, draws[1] + 0 * wrong, z)
        pairs = zip(p.flat, q.flat, strict=True)
        found = [
            self.least(min(a, 1 - 1e-15), max(b, 1e-300)) if a > b else 0.0
            for a, b in pairs
        ]
        return np.array(found).reshape(p.shape)

    @abstractmethod
    def least(self, p: float, q: float) -> float:
        """The least claim under which an event may have probabilities p > q."""


class Curve(Event):
    """μ-GDP."""

    name = "μ"

    def least(self, p: float, q: float) -> float:
        normal = NormalDist()
        return math.inf if p >= 1 or q <= 0 else normal.inv_cdf(p) - normal.inv_cdf(q)


class Concentrated(Event):
    """ρ-zCDP."""

    name = "ρ"

    def least(self, p: float, q: float) -> float:
        if p >= 1 or q <= 0:
            return math.inf
        return max(_renyi(p, q, order) / order for order in ORDERS)


def _renyi(p: float, q: float, order: float) -> float:
    """The Rényi divergence of two coins."""
    heads = order * math.log(p) + (1 - order) * math.log(q)
    tails = order * math.log1p(-p) + (1 - order) * math.log1p(-q)
    top = max(heads, tails)
    return (top + math.log(math.exp(heads - top) + math.exp(tails - top))) / (order - 1)


def rough_lower(hits: Array, draws: Array, z: float) -> Array:
    """Wilson's lower bound."""
    draws = np.maximum(draws, 1e-9)
    share, spread = hits / draws, z * z / draws
    middle, width = (
        share + spread / 2,
        np.sqrt(np.maximum(spread * (share * (1 - share) + spread / 4), 0.0)),
    )
    found: Array = np.maximum((middle - width) / (1 + spread), 0.0)
    return found


def _log_odds(share: float) -> float:
    return max(_signed_log_odds(share), 0.0) if share > 0.5 else 0.0


def _signed_log_odds(share: float) -> float:
    return down(math.log(share) - math.log1p(-share)) if share < 1.0 else math.inf


def criterion_of(claimed: Any) -> Criterion:
    """How a claim is contradicted."""
    match claimed:
        case PureDP():
            return Odds(claimed.epsilon)
        case BoundedRange():
            return Range(claimed.epsilon)
        case ApproxDP():
            return Odds(claimed.epsilon, claimed.delta)
        case GaussianDP():
            return Curve(claimed.mu, claimed.delta)
        case ZeroConcentratedDP():
            return Concentrated(claimed.rho, claimed.delta)
        case Guarantee():
            kind = type(claimed).__name__
            raise ArgumentError(
                "claimed",
                f"{kind} cannot be audited directly; pass the weaker guarantee "
                "claimed.approx(1e-6)",
            )
    raise ArgumentError(
        "claimed",
        f"must be a guarantee such as PureDP(1.0), not {type(claimed).__name__}",
    )
