"""Two order statistics around a median, chosen together by one private choice.

The ranks are set before anything is read: far enough out for sampling, and for how far
off the choice may be (Drechsler, Globus-Harris, McMillan, Sarathy & Smith 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms import Exponential, PermuteAndFlip
from dither.question import Question
from dither.science.trials.columns import Integers, Reals

__all__ = ["Around", "Pair", "around", "ended", "outside"]

POINTS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
TYPICAL = 0.1
"""The share of the bounds' width that a standard deviation is taken to be, where the
number of points is chosen.
"""
ROOT = 1 - 2.0**-48
PLACES = 9
FEW = 2000
REACH = 9.0


@dataclass(frozen=True)
class Pair:
    """A private choice of two of the public points between bounds, low before high, so
    that about `rank` outcomes lie below the first and as many above the second.

    A missing outcome lies below the first point and above the second.

    Guarantee: the choice's own, for one outcome that is replaced.
    Why: a pair's penalty is the larger of how far its two counts are from `rank`, and
    one person moves every count by at most the choice's sensitivity: 1, or the size of
    the other arm where pairs of people are counted (docs/proofs/trials.md).
    Assumes: one outcome for each person.
    """

    choice: Exponential | PermuteAndFlip
    points: int
    rank: int

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """The places of the two points in each candidate; both may be the same."""
        low, high = np.indices((self.points, self.points)).reshape(2, -1)
        fits = high + 1 >= low
        return low[fits], high[fits] + 1

    def penalties(self, below: Integers, above: Integers) -> Integers:
        """Of each candidate, from how many lie below and above each point. A point is
        right for all ranks between what lies beyond it and beyond the next one inwards.
        """
        first = self._away(below[:-1], below[1:])
        second = self._away(above[1:], above[:-1])
        low, high = self.pairs
        return np.maximum(first[low], second[high - 1])

    def _away(self, fewest: Integers, most: Integers) -> Integers:
        far = np.maximum(fewest - self.rank, self.rank - most)
        return np.maximum(0, far).astype(np.int64)

    def release(
        self, counts: tuple[Integers, Integers], points: Reals
    ) -> tuple[float, float]:
        """The two points."""
        chosen = self.choice.release(-self.penalties(*counts))
        low, high = self.pairs
        return float(points[low[chosen]]), float(points[high[chosen]])


def outside(outcomes: Reals, points: Reals, size: int) -> tuple[Integers, Integers]:
    """How many of so many outcomes lie below each point, and how many above; missing
    ones do both.
    """
    inner = np.sort(outcomes[~np.isnan(outcomes)])
    below = size - inner.size + np.searchsorted(inner, points, side="left")
    above = size - np.searchsorted(inner, points, side="right")
    return ended(below, above, size)


def ended(below: Any, above: Any, total: int) -> tuple[Integers, Integers]:
    """Nothing lies beyond the bounds: an end there is always far enough out."""
    below[0], below[-1] = 0, total
    above[0], above[-1] = total, 0
    return below.astype(np.int64), above.astype(np.int64)


@dataclass(frozen=True)
class Around:
    """What an interval will be made of, from public facts: how many people there are, in
    one arm (a median) or in two (a shift), what the choice costs, and at which rate the
    interval is to hold.
    """

    arms: tuple[int, ...]
    weight: float
    factor: float
    confidence: float
    points: int

    @property
    def size(self) -> int:
        """How many are counted: people, or pairs of them."""
        return math.prod(self.arms)

    @cached_property
    def rank(self) -> int:
        """The highest rank for which the interval holds often enough; -1 if none does."""
        low, high = -1, self.size // 2
        while low < high:
            middle = (low + high + 1) // 2
            held = self.failed(middle) <= 1 - self.confidence
            low, high = (middle, high) if held else (low, middle - 1)
        return low

    def failed(self, rank: int) -> float:
        """The probability that the interval misses the population's median, at most,
        wherever that lies among the points.
        """
        above = np.linspace(0, self.points - 1, PLACES).round()
        low = np.array([self._too_far(points, rank) for points in above])
        below = self.points - 1 - above
        high = np.array([self._too_far(points, rank) for points in below])
        # between two places, no more points lie above the median than at the second,
        # and no more below it than at the first
        return float((low[1:] + high[:-1]).max())

    def _too_far(self, points: float, rank: int) -> float:
        """The probability that one end is one of so many points beyond the median. Then
        the choice is as many ranks off as there are people up to the median, less
        `rank`.
        """
        wrong = self.factor * points * (points + 3) / 2
        people, chances = _coins(*self.arms) if self.single else _wins(*self.arms)
        off = np.clip(self.weight * (people - rank), -50.0, 700.0)
        return float(chances @ np.minimum(1.0, wrong * np.exp(-off)))

    @property
    def single(self) -> bool:
        return len(self.arms) == 1

    @property
    def here(self) -> float:
        """The rate at which the interval holds the median of these people."""
        wrong = self.factor * self.points * (self.points + 3) / 2
        off = self.weight * (self.size // 2 - self.rank)
        return 1 - min(1.0, wrong * math.exp(-off))

    @property
    def width(self) -> float:
        """About how wide the interval is, as a share of the bounds' width."""
        if self.rank < 0:
            return math.inf
        share = (self.rank + 0.5) / (self.size + 1)
        spread = TYPICAL * (1 if self.single else math.sqrt(2))
        return -2 * spread * NormalDist().inv_cdf(min(share, 0.5)) + 1 / self.points


@lru_cache(maxsize=16)
def _coins(size: int) -> tuple[Reals, Reals]:
    """How many heads so many coins show, and the chances of that; many neighbouring
    numbers are taken together as the fewest of them. What is left out has a chance
    below 1e-30.
    """
    reach = 12 * math.isqrt(size) + 12
    heads = np.arange(max(0, size // 2 - reach), min(size, size // 2 + reach) + 1.0)
    steps = np.log(size - heads[1:] + 1) - np.log(heads[1:])
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    starts = np.arange(0, heads.size, -(-heads.size // FEW))
    chances = np.add.reduceat(weights, starts) / weights.sum()
    return heads[starts], np.asarray(chances)


@lru_cache(maxsize=16)
def _wins(first: int, second: int) -> tuple[Reals, Reals]:
    """How many pairs of people from two arms that are alike the first one wins, and the
    chances of that, by the normal law; each part of it as the fewest of its own.
    """
    deviation = math.sqrt(first * second * (first + second + 1) / 12)
    edges = np.linspace(-REACH, REACH, FEW + 1)
    below = np.array([NormalDist().cdf(edge) for edge in edges])
    wins = np.floor(first * second / 2 + edges[:-1] * deviation - 0.5)
    return np.maximum(wins, 0.0), np.diff(below) / (below[-1] - below[0])


def around(
    question: Question,
    arms: tuple[int, ...],
    confidence: float,
    points: int | None,
    moved: int = 1,
) -> tuple[Pair, Around]:
    """The private choice for arms of public sizes, of which one person moves every count
    by at most `moved`.
    """
    choice = _choice(question, moved)
    # P(Gumbel noise lifts one above another) is e^(-weight·d) at most; half of that for
    # exponential noise
    factor = 1.0 if isinstance(choice, Exponential) else 0.5
    best = _best(arms, choice.weight, factor, confidence, points)
    if best.rank < 0:
        raise ArgumentError(
            "epsilon",
            f"is too small for {' and '.join(map('{:,}'.format, arms))} people: the "
            "interval would be as wide as the bounds; pass a larger epsilon or fewer "
            "points, or ask for mean_difference",
        )
    return Pair(choice, best.points, best.rank), best


@lru_cache(maxsize=256)
def _best(
    arms: tuple[int, ...],
    weight: float,
    factor: float,
    confidence: float,
    points: int | None,
) -> Around:
    """The plan with the shortest interval, as far as public facts tell."""
    tried = POINTS if points is None else (points,)
    plans = [Around(arms, weight, factor, confidence, one) for one in tried]
    return min(plans, key=lambda plan: plan.width)


def _choice(question: Question, moved: int) -> Exponential | PermuteAndFlip:
    if question.rho is not None:
        # of bounded range ε, an exponential mechanism costs ρ = ε² / 8
        epsilon = math.sqrt(8 * question.rho) * ROOT
        return Exponential(sensitivity=moved, epsilon=epsilon, unit=question.unit)
    epsilon = question.epsilon or 0.0
    return PermuteAndFlip(sensitivity=moved, epsilon=epsilon, unit=question.unit)
