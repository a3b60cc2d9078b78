"""What RAPPOR's three thresholds lose and tell, and which ones tell most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dither.errors import ArgumentError
from dither.local.thresholds import chance, largest, loss, smallest
from dither.local.words import ONE
from dither.privacy.numbers import float_down, fraction, positive, up

__all__ = ["Rates", "calibrated", "thresholds_of"]

Ways = tuple[int, int]

STEPS = 100  # of a search among floats; integers decide afterwards
GOLDEN = (math.sqrt(5) - 1) / 2
BEYOND = "is too small or too large for probabilities of 32 bits; pass an ε such as 1.0"


@dataclass(frozen=True)
class Rates:
    """Probabilities of one bit, from its three thresholds."""

    flip: int
    one: int
    zero: int

    @property
    def said(self) -> tuple[Fraction, Fraction]:
        """Probability that a message has a one where the filter has a one, and where it
        has a zero (q* and p* in papers).
        """
        flip, one, zero = (chance(t) for t in (self.flip, self.one, self.zero))
        return one - flip * (one - zero), zero + flip * (one - zero)

    @property
    def fixed(self) -> float:
        """The part of a bit's variance that its kept answer repeats in every message."""
        flip, one, zero = (chance(t) for t in (self.flip, self.one, self.zero))
        return float((one - zero) ** 2 * flip * (1 - flip))

    def loss(self, ways: Ways) -> float:
        """ε of one message, if filters differ in so many bits each way.

        A bit that only this filter has tells most as a one, and a bit that only the
        other one has tells most as a zero.
        """
        held, null = self.said
        if null <= 0 or held >= 1:
            return math.inf
        if held <= null:
            return 0.0
        ratios = sorted([held / null, (1 - null) / (1 - held)])
        return loss(ratios[1] ** ways[0] * ratios[0] ** ways[1])

    def loss_for_ever(self, ways: Ways) -> float:
        """ε of the kept answer itself, which all messages are made from."""
        if not self.flip:
            return math.inf
        flip = chance(self.flip)
        return loss(((1 - flip) / flip) ** sum(ways))

    def loss_instant(self, bits: int) -> float:
        """ε of one message for those who know the kept bits, all of them different."""
        if not self.zero or self.one >= ONE:
            return math.inf
        one, zero = chance(self.one), chance(self.zero)
        return up(bits * loss(max(one / zero, (1 - zero) / (1 - one))))

    def distance(self, ways: Ways) -> Fraction:
        """The total variation distance between two filters' messages."""
        held, null = self.said
        more, less = ways
        return max(
            _distance(held, null, *pair) for pair in ((more, less), (less, more))
        )


def _distance(held: Fraction, null: Fraction, mine: int, others: int) -> Fraction:
    """How many of the bits that one filter alone has are ones decides everything."""
    total = Fraction(0)
    for a in range(mine + 1):
        for b in range(others + 1):
            here = _binomial(mine, a, held) * _binomial(others, b, null)
            there = _binomial(mine, a, null) * _binomial(others, b, held)
            total += max(here - there, Fraction(0))
    return total


def _binomial(trials: int, hits: int, share: Fraction) -> Fraction:
    ways = math.comb(trials, hits)
    return ways * share**hits * (1 - share) ** (trials - hits)


def thresholds_of(f: float, p: float, q: float) -> tuple[int, int, int]:
    """Thresholds for stated probabilities, each rounded towards more noise."""
    stated = {"f": f, "p": p, "q": q}
    exact = {name: fraction(name, value) for name, value in stated.items()}
    for name, value in exact.items():
        if not 0 <= value <= 1:
            raise ArgumentError(name, "must be a probability from 0 to 1")
    flip = math.ceil(exact["f"] / 2 * ONE)
    return flip, math.floor(exact["q"] * ONE), math.ceil(exact["p"] * ONE)


def calibrated(epsilon: float, for_ever: float, ways: Ways) -> tuple[int, int, int]:
    """Thresholds for an ε once and an ε for ever, with the least variance."""
    way_out = "pass an ε such as 1.0"
    epsilon = positive("epsilon", epsilon, way_out, float_down)
    for_ever = positive("for_ever", for_ever, way_out, float_down)
    if epsilon >= for_ever:
        raise ArgumentError(
            "for_ever",
            "must be above epsilon, because messages need fresh noise; pass for "
            f"example for_ever={2 * epsilon:g}",
        )
    near = 1 / (1 + math.exp(for_ever / sum(ways)))
    flip = smallest(near, lambda t: Rates(t, ONE, 0).loss_for_ever(ways), for_ever)
    if 2 * flip >= ONE or flip < 1:
        raise ArgumentError("for_ever", BEYOND)
    zero = math.ceil(_best_zero(flip / ONE, epsilon, ways) * ONE)
    close = _one_for(flip / ONE, zero / ONE, epsilon, ways)
    one = largest(close, lambda t: Rates(flip, t, zero).loss(ways), epsilon, ONE)
    if one <= zero:
        raise ArgumentError("epsilon", BEYOND)
    return flip, one, zero


def _best_zero(flip: float, epsilon: float, ways: Ways) -> float:
    """p with the least variance of an item that nobody has, by golden section."""
    low, high = 0.0, 0.5

    def variance(zero: float) -> float:
        one = _one_for(flip, zero, epsilon, ways)
        null = zero + flip * (one - zero)
        gain = (1 - 2 * flip) * (one - zero)
        return null * (1 - null) / gain**2 if gain > 0 else math.inf

    for _ in range(STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if variance(left) <= variance(right):
            high = right
        else:
            low = left
    return low


def _one_for(flip: float, zero: float, epsilon: float, ways: Ways) -> float:
    """The largest q that loses at most ε beside this p."""
    low, high = zero, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _lost(flip, middle, zero, ways) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def _lost(flip: float, one: float, zero: float, ways: Ways) -> float:
    held, null = one - flip * (one - zero), zero + flip * (one - zero)
    if null <= 0 or held >= 1:
        return math.inf
    losses = sorted([math.log(held / null), math.log((1 - null) / (1 - held))])
    return ways[0] * losses[1] + ways[1] * losses[0]
