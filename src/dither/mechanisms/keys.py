"""Private keys: which of the groups found in the data may be named (rule R14)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.additive import Gaussian
from dither.mechanisms.sums import root_up
from dither.mechanisms.values import numbers
from dither.privacy import ROW, GaussianDP, Relation, Unit
from dither.privacy.gaussian import log_tail
from dither.privacy.numbers import (
    LIBM,
    float_down,
    float_up,
    positive,
    small_probability,
    up,
    whole,
)

__all__ = ["KeyThreshold"]

FARTHEST = 38.0
"""Normal deviates beyond this have a tail below every float."""


@dataclass(frozen=True, kw_only=True)
class KeyThreshold:
    """Names a key if the number of units that have it, plus Gaussian noise, reaches a
    threshold.

    `groups` is how many keys one unit may have. A key of fewer than `at_least` units is
    never named, so whoever counts the units may leave it out; the threshold is higher
    by as much.

    Guarantee: mu-Gaussian differential privacy, except for events of probability delta.
    Why: on keys that have `at_least` units in both neighbours this is a Gaussian
    release that one unit moves by √groups in L2 (√(2·groups) where neighbours replace a
    unit); a key that reaches `at_least` by one unit is named so rarely that with
    probability 1 − delta none of the at most `groups` such keys is (Wilson et al. 2020
    for `at_least` = 1; docs/proofs/mechanisms.md).
    Assumes: each unit counts once for each of its keys, and for no more than `groups` of
    them; which ones depends on that unit alone. Keys are left out by these very counts,
    never by what they were before `groups` was applied.
    """

    groups: int
    mu: float
    delta: float
    unit: Unit = ROW
    at_least: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "groups",
            whole(
                "groups", self.groups, "pass the number of keys that one unit may have"
            ),
        )
        object.__setattr__(
            self,
            "at_least",
            whole(
                "at_least",
                self.at_least,
                "pass the number of units that a named key has",
            ),
        )
        object.__setattr__(self, "mu", positive("mu", self.mu, "pass a mu such as 0.5"))
        object.__setattr__(
            self,
            "delta",
            small_probability("delta", self.delta, zero=False, rounding=float_down),
        )
        if self.delta < 1e-250:
            raise ArgumentError(
                "delta",
                "must be at least 1e-250; pass a small probability such as 1e-9",
            )
        _ = self.noise.integer_scale

    @property
    def guarantee(self) -> GaussianDP:
        """What naming keys promises, for all keys together."""
        return GaussianDP(self.mu, self.delta, unit=self.unit)

    @cached_property
    def noise(self) -> Gaussian:
        """What is added to the number of units that have a key."""
        changes = self.groups * (2 if self.unit.relation is Relation.REPLACE else 1)
        return Gaussian(
            sensitivity=float_up(root_up(changes)), mu=self.mu, unit=self.unit
        )

    @property
    def scale(self) -> float:
        """The standard deviation of the noise."""
        return self.noise.scale

    @cached_property
    def threshold(self) -> int:
        """The least noisy count that is named. Rounding the noise to integers moves it
        by at most a half.
        """
        return self.at_least + math.ceil(
            up(0.5 + up(self.scale * _deviate(self.delta, self.groups)))
        )

    def release(self, counts: Any) -> NDArray[np.bool_]:
        """Which keys are named, from the number of units that have each; a key that no
        unit has never is.
        """
        return self.release_counts(counts)[0]

    def release_counts(
        self, counts: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which keys are named, and the noisy number of units of each. Only those of
        named keys may be shown.
        """
        units = numbers(counts, "counts")
        if isinstance(units, np.ndarray) and units.size == 0:
            return np.zeros(units.shape, np.bool_), np.zeros(units.shape, np.int64)
        if not isinstance(units, np.ndarray) or units.dtype != np.int64:
            raise ArgumentError(
                "counts", "must be a list with the number of units of each key"
            )
        noisy: NDArray[np.int64] = self.noise.release(units)
        return (noisy >= self.threshold) & (units >= self.at_least), noisy

    def found(self, count: float) -> float:
        """The probability that a key of so many units is named."""
        if count < self.at_least:
            return 0.0
        return (
            math.erfc((self.threshold - 0.5 - count) / (self.scale * math.sqrt(2))) / 2
        )


def _deviate(delta: float, most: int) -> float:
    """An x, rounded up, with Φ(x)^most ≥ 1 − δ: a tail of at most q = 1 −
    (1−δ)^(1/most) each.

    q is at least δ/most (Bernoulli's inequality), which takes over where the logarithm
    of a tiny q would be rough.
    """
    exact = -math.expm1(math.log1p(-delta) / most)
    target = max(
        math.log(exact) if exact > 1e-300 else -math.inf,
        math.log(delta) - math.log(most),
    )
    target -= 64 * LIBM * (1 + abs(target))
    low, high = -FARTHEST, FARTHEST
    while high - low > 1e-12:
        middle = (low + high) / 2
        sure = log_tail(middle) + 32 * LIBM * (1 + middle * middle) <= target
        low, high = (low, middle) if sure else (middle, high)
    return high
