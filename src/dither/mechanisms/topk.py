"""The k best of several candidates by their noisy scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.selection import Exponential
from dither.mechanisms.values import Integers, numbers
from dither.privacy import ROW, Composed, Guarantee, Unit, ZeroConcentratedDP
from dither.privacy.numbers import (
    confidence_level,
    down,
    float_down,
    positive,
    whole,
    written,
)

__all__ = ["TopK"]

MOST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class TopK:
    """The `k` candidates with the highest noisy scores, best first.

    State the promise for all k together, as `epsilon` (pure) or as `rho`
    (zero-concentrated). `sensitivity` is the most that one unit can move any one score,
    and `monotone` says that adding a unit never lowers any of them (counts are so); see
    `Exponential`.

    Guarantee: k choices of bounded range together: epsilon = k·r pure, rho = k·r² / 8,
    with r the range of one choice.
    Why: the k largest scores after Gumbel noise have the law of k exponential
    mechanisms, each on the candidates that are left (Durfee & Rogers 2019); these
    compose (docs/proofs/more_mechanisms.md).
    Assumes: one unit moves each score by at most `sensitivity`; all in one direction if
    `monotone`.
    """

    k: int
    sensitivity: float
    epsilon: float | None = None
    rho: float | None = None
    monotone: bool = False
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "k", whole("k", self.k, "pass the number of candidates to choose")
        )
        if self.k > MOST:
            raise ArgumentError(
                "k", "must be at most a million; release all scores instead"
            )
        if (self.epsilon is None) == (self.rho is None):
            raise ArgumentError("epsilon", "pass exactly one of epsilon and rho")
        _ = self.choice.weight

    @cached_property
    def choice(self) -> Exponential:
        """One of the k choices."""
        return Exponential(
            sensitivity=self.sensitivity,
            epsilon=self._range(),
            monotone=self.monotone,
            unit=self.unit,
        )

    def _range(self) -> float:
        if self.epsilon is not None:
            return _written_down(
                written(
                    positive("epsilon", self.epsilon, "pass a finite ε such as 0.5")
                )
                / self.k
            )
        rho = Fraction(ZeroConcentratedDP(self.rho or 0.0).rho) / self.k
        return down(math.sqrt(float_down(8 * rho)))

    @property
    def guarantee(self) -> Guarantee:
        """What all k choices promise together."""
        one = self.choice.guarantee
        return Composed([one] * self.k) if self.k > 1 else one

    def release(self, scores: Any) -> Integers:
        """The indices of the chosen candidates, best first. NaN counts as score 0,
        infinities as the largest float.
        """
        clean = numbers(scores, "scores")
        if not isinstance(clean, np.ndarray) or clean.ndim != 1 or clean.size < self.k:
            raise ArgumentError(
                "scores",
                "must be a list with one number for each candidate, at least "
                f"k = {self.k} numbers",
            )
        left, found = np.arange(clean.size), []
        for _ in range(self.k):
            winner = self.choice.release(clean[left])
            found.append(left[winner])
            left = np.delete(left, winner)
        return np.array(found, np.int64)

    def error(self, confidence: float = 0.95, *, candidates: int) -> float:
        """How far any chosen score may lie below the best one not chosen before it,
        with this probability for all.
        """
        missed = (1 - float(confidence_level("confidence", confidence))) / self.k
        return self.choice.error(1 - missed, candidates=candidates)


def _written_down(exact: Fraction) -> float:
    """The largest float that, as written, is at most the fraction: a tenth of 1 is 0.1."""
    near = float(exact)
    return near if written(near) <= exact else math.nextafter(near, 0.0)
