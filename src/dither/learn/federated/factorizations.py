"""Noise of rounds that makes up for earlier noise, so that running sums have less of it.

Rounds have the sums x₁, …, x_T. With an invertible lower triangular matrix C, C·x + Z is
released, and rounds see x + C⁻¹Z. How far one client moves C·x depends on when it can
take part (docs/proofs/federated.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dither.errors import ArgumentError
from dither.learn.federated.participation import Participation
from dither.learn.gaussian import gaussians
from dither.privacy.numbers import whole

__all__ = [
    "Banded",
    "Factorization",
    "Independent",
    "Stream",
    "Tree",
    "coefficients",
    "factorization_of",
]

Reals = NDArray[np.float64]
UP = 1 + 2.0**-40
"""Covers the rounding of a few thousand float64 additions of positive numbers."""
LONGEST = 1 << 16
WIDEST = 1 << 10
"""More bands than this hardly help, and each is a copy of all weights."""


class Stream(ABC):
    """Noise of one run, round after round, each of standard deviation 1 before it is
    correlated.

    It can be neither copied nor pickled: two runs on the same noise cancel it.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    @abstractmethod
    def next(self) -> Tensor:
        """The noise of the next round, in float64."""

    def _fresh(self) -> Tensor:
        return gaussians(self.size).to(torch.float64)

    def __reduce__(self) -> NoReturn:
        raise TypeError("correlated noise cannot be copied or pickled")


class Factorization(ABC):
    """How the noise of rounds is correlated."""

    @abstractmethod
    def sensitivity(self, rounds: int, rule: Participation) -> float:
        """How far a client moves C·x, in L2, where each of its contributions is 1 long
        at most. Rounded up.
        """

    @abstractmethod
    def squared_error(self, rounds: int) -> float:
        """The mean over rounds of the variance of a running sum's noise, in each number,
        for noise of deviation 1 before it is correlated.
        """

    @abstractmethod
    def largest(self, rounds: int) -> float:
        """The largest deviation of any round's noise, where the first one's is 1."""

    @abstractmethod
    def stream(self, rounds: int, size: int) -> Stream: ...

    def chosen(self, rounds: int, rule: Participation) -> Factorization:  # noqa: ARG002
        """The same with what was left open chosen by public numbers."""
        return self

    def error(self, rounds: int, rule: Participation) -> float:
        """The root of the mean squared error of running sums, for a radius of 1 and a
        noise multiplier of 1: what to compare at equal privacy.
        """
        moved = self.sensitivity(rounds, rule)
        return moved * math.sqrt(self.squared_error(rounds))


@dataclass(frozen=True)
class Independent(Factorization):
    """Noise of each round by itself: C is the identity.

    Guarantee: a client that takes part k times moves all rounds by √k together.
    Why: rounds are different entries of one vector.
    Assumes: the sampler enforces the participation.
    """

    def sensitivity(self, rounds: int, rule: Participation) -> float:
        return math.sqrt(rule.times(rounds)) * UP

    def squared_error(self, rounds: int) -> float:
        return (rounds + 1) / 2

    def largest(self, rounds: int) -> float:  # noqa: ARG002
        return 1.0

    def stream(self, rounds: int, size: int) -> Stream:  # noqa: ARG002
        return _Fresh(size)


class _Fresh(Stream):
    def next(self) -> Tensor:
        return self._fresh()


@lru_cache(maxsize=64)
def coefficients(bands: int) -> Reals:
    """The first entries of (1 − x)^(−1/2) as a series: f_k = f_(k−1)·(1 − 1/2k). They
    are positive and never rise, in floats too.
    """
    factors = 1 - 1 / (2 * np.arange(1, bands))
    found: Reals = np.concatenate([[1.0], np.cumprod(factors)])
    return found


@lru_cache(maxsize=64)
def inverse(bands: int, rounds: int) -> Reals:
    """The first column of C⁻¹."""
    given = coefficients(bands)[1:][::-1]
    found = np.zeros(bands - 1 + rounds)
    found[bands - 1] = 1.0
    for place in range(bands, bands - 1 + rounds):
        found[place] = -(found[place - bands + 1 : place] @ given)
    return found[bands - 1 :]


@dataclass(frozen=True)
class Banded(Factorization):
    """The square root of the matrix of running sums, cut off after so many `bands`
    (Kalinin, Lampert 2024); as many as make running sums best, if not given. A run holds
    that many copies of the weights.

    Guarantee: a client that takes part k times, at least b rounds apart, moves C·x by no
    more than one that comes in rounds 1, 1 + b, …, 1 + (k−1)·b with equal contributions.
    Why: entries of C are positive and fall along each column, so inner products of
    columns are largest for early rounds that are close to each other
    (docs/proofs/federated.md).
    Assumes: the sampler enforces the participation.
    """

    bands: int | None = None

    def __post_init__(self) -> None:
        if self.bands is not None:
            whole("bands", self.bands, "pass the number of bands, such as 16")
            if self.bands > LONGEST:
                raise ArgumentError(
                    "bands", f"must be at most {LONGEST:,}; pass fewer bands"
                )

    def chosen(self, rounds: int, rule: Participation) -> Banded:
        if self.bands is not None:
            return Banded(min(self.bands, rounds))
        most = min(rounds, WIDEST)
        powers = [1 << power for power in range(most.bit_length())]
        tried = sorted({*powers, min(rule.gap, most), most})
        return min(map(Banded, tried), key=lambda one: one.error(rounds, rule))

    def _width(self, rounds: int) -> int:
        if self.bands is None:
            raise ValueError("the number of bands is not chosen")
        return min(self.bands, rounds)

    def sensitivity(self, rounds: int, rule: Participation) -> float:
        one = coefficients(self._width(rounds))
        moved = np.zeros(rounds)
        for time in range(rule.times(rounds)):
            start = time * rule.gap
            part = one[: rounds - start]
            moved[start : start + len(part)] += part
        return math.sqrt(math.fsum(moved * moved)) * UP

    def squared_error(self, rounds: int) -> float:
        sums = np.cumsum(inverse(self._width(rounds), rounds))
        left = np.arange(rounds, 0, -1)
        return float(left @ (sums * sums)) / rounds

    def largest(self, rounds: int) -> float:
        return float(np.linalg.norm(inverse(self._width(rounds), rounds)))

    def stream(self, rounds: int, size: int) -> Stream:
        return _Solving(size, self._width(rounds))


class _Solving(Stream):
    """Solves C·y = z one line at a time; the last few lines of y are all it holds."""

    def __init__(self, size: int, bands: int) -> None:
        super().__init__(size)
        self._before: deque[Tensor] = deque(maxlen=bands - 1)
        self._factors = coefficients(bands)[1:].tolist()

    def next(self) -> Tensor:
        found = self._fresh()
        for factor, earlier in zip(self._factors, self._before, strict=False):
            found.sub_(earlier, alpha=factor)
        if self._before.maxlen:
            self._before.appendleft(found)
        return found.clone()


@dataclass(frozen=True)
class Tree(Factorization):
    """Running sums from the nodes of a binary tree over the rounds (Dwork, Naor, Pitassi,
    Rothblum 2010; for training Kairouz, McMahan, Song, Thakkar, Thakurta, Xu 2021): a
    round completes one node, of as many rounds as the last bit of its number says, with
    noise of its own; a running sum needs few of them.

    Guarantee: of a client's k times, a node of w rounds holds at most m = ⌈w / gap⌉, and
    a level has n nodes; so it moves by at most m² for each of ⌊k/m⌋ nodes, and (k mod m)²
    for one more, n nodes in all.
    Why: a sum of squares under these limits is largest where nodes are full
    (docs/proofs/federated.md).
    Assumes: the sampler enforces the participation.
    """

    def sensitivity(self, rounds: int, rule: Participation) -> float:
        times, moved = rule.times(rounds), 0
        for level in range(rounds.bit_length()):
            nodes = ((rounds >> level) + 1) // 2
            most = min(times, -(-(1 << level) // rule.gap))
            full = min(times // most, nodes)
            rest = times % most if full < nodes else 0
            moved += full * most**2 + rest**2
        return math.sqrt(moved) * UP

    def squared_error(self, rounds: int) -> float:
        return sum(one.bit_count() for one in range(1, rounds + 1)) / rounds

    def largest(self, rounds: int) -> float:
        # A round's own node, and those that it takes the place of.
        return math.sqrt(rounds.bit_length())

    def stream(self, rounds: int, size: int) -> Stream:  # noqa: ARG002
        return _Climbing(size)


class _Climbing(Stream):
    """Holds the noise of the nodes that the last running sum is made of."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._round = 0
        self._nodes: list[Tensor] = []

    def next(self) -> Tensor:
        self._round += 1
        gone = (self._round & -self._round).bit_length() - 1
        found = self._fresh()
        fresh = found.clone()
        for _ in range(gone):
            found -= self._nodes.pop()
        self._nodes.append(fresh)
        return found


KNOWN = (Banded, Tree, Independent)


def factorization_of(stated: Any, rounds: int, rule: Participation) -> Factorization:
    """The factorization that was stated for a run; banded noise by default."""
    found = Banded() if stated is None else stated
    if type(found) not in KNOWN:
        raise ArgumentError(
            "factorization", "must be Banded(), Tree() or Independent()"
        )
    if rounds > LONGEST:
        raise ArgumentError(
            "rounds",
            f"must be at most {LONGEST:,} if noise is correlated; pass fewer rounds",
        )
    chosen: Factorization = found.chosen(rounds, rule)
    return chosen
