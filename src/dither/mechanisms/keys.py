"""Private keys: which of the groups found in the data may be named (rule R14)."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.additive import Gaussian, Laplace
from dither.mechanisms.sums import root_up
from dither.mechanisms.values import Integers, numbers, plus
from dither.noise.exact import context, decimal_of
from dither.privacy import ROW, ApproxDP, GaussianDP, Relation, Unit
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
    """Names a key if the number of units that have it, plus noise, reaches a threshold.

    State the promise as `mu` and `delta` for Gaussian noise, or as `epsilon` and
    `delta` for Laplace noise. `groups` is how many keys one unit may have. A key of
    fewer than `at_least` units is never named, so whoever counts the units may leave it
    out; the threshold is higher by as much. `truncated`: whether Laplace noise is drawn
    again until it is at most `threshold` − `at_least`; by default, the noise with the
    lower threshold is taken.

    Guarantee: mu-Gaussian differential privacy, or (epsilon, delta)-differential
    privacy; outside events of probability delta on each side, the noisy numbers of all
    named keys are mu-Gaussian or epsilon-private.
    Why: on keys that have `at_least` units in both neighbours this is a release that
    one unit moves by √groups in L2 or by `groups` in L1 (2·groups keys where neighbours
    replace a unit); a key that reaches `at_least` by one unit is named so rarely that
    with probability 1 − delta none of the at most `groups` such keys is (Wilson et al.
    2020 for `at_least` = 1). Truncated noise has the same ratios but at its two ends,
    which delta covers (Desfontaines, Voss, Gipson & Mandayam 2022;
    docs/proofs/mechanisms.md).
    Assumes: each unit counts once for each of its keys, and for no more than `groups` of
    them; which ones depends on that unit alone. Keys are left out by these very counts,
    never by what they were before `groups` was applied.
    """

    groups: int
    delta: float
    mu: float | None = None
    epsilon: float | None = None
    unit: Unit = ROW
    at_least: int = 1
    truncated: bool | None = None

    def __post_init__(self) -> None:
        for name, what in (
            ("groups", "pass the number of keys that one unit may have"),
            ("at_least", "pass the number of units that a named key has"),
        ):
            object.__setattr__(self, name, whole(name, getattr(self, name), what))
        if (self.mu is None) == (self.epsilon is None):
            raise ArgumentError(
                "epsilon", "pass exactly one of: epsilon (Laplace) or mu (Gaussian)"
            )
        for name in ("mu", "epsilon"):
            size = getattr(self, name)
            if size is not None:
                what = f"pass an {name} such as 0.5"
                object.__setattr__(self, name, positive(name, size, what))
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
        object.__setattr__(self, "truncated", self._cuts())

    def _cuts(self) -> bool:
        """Whether noise is truncated. It is not if it would be drawn again too often,
        because its ends are nearer than its scale.
        """
        if self.truncated and self.mu is not None:
            raise ArgumentError(
                "truncated", "is for Laplace noise; leave it out, or pass epsilon"
            )
        if self.truncated is False or self.mu is not None:
            return False
        near = self._margin(truncated=True)
        usable = near >= self.scale
        if self.truncated and not usable:
            raise ArgumentError(
                "truncated",
                "needs a smaller delta or a larger epsilon; leave truncated out",
            )
        return bool(self.truncated) or (
            usable and near <= self._margin(truncated=False)
        )

    @cached_property
    def guarantee(self) -> GaussianDP | ApproxDP:
        """What naming keys promises, for all keys together."""
        if self.mu is not None:
            return GaussianDP(self.mu, self.delta, unit=self.unit)
        assert self.epsilon is not None
        return ApproxDP(self.epsilon, self.delta, unit=self.unit)

    @property
    def _changes(self) -> int:
        """The number of keys that one unit can move."""
        return self.groups * (2 if self.unit.relation is Relation.REPLACE else 1)

    @cached_property
    def noise(self) -> Gaussian | Laplace:
        """The noise of the number of units that have a key, before it is truncated."""
        if self.mu is not None:
            moved = float_up(root_up(self._changes))
            return Gaussian(sensitivity=moved, mu=self.mu, unit=self.unit)
        assert self.epsilon is not None
        return Laplace(sensitivity=self._changes, epsilon=self.epsilon, unit=self.unit)

    @property
    def scale(self) -> float:
        """The standard deviation of Gaussian noise, or the scale of Laplace noise."""
        return self.noise.scale

    def error(self, confidence: float = 0.95, *, integer: bool = True) -> float:
        """The ± that the noise of each key stays within, with this probability."""
        width = self.noise.error(confidence, integer=integer)
        return min(width, self.reach) if self.truncated else width

    @cached_property
    def reach(self) -> int:
        """Distance of the threshold from `at_least`; truncated noise is never larger."""
        if self.mu is not None:
            # Rounding the noise to integers moves it by at most a half
            return math.ceil(
                up(0.5 + up(self.scale * _deviate(self.delta, self.groups)))
            )
        return self._margin(truncated=bool(self.truncated))

    def _margin(self, *, truncated: bool) -> int:
        """The threshold of Laplace noise above `at_least`. Truncated noise has two ends
        for each key that moves, in either direction.
        """
        keys = self._changes if truncated else self.groups
        return _laplace_margin(self.scale, self.delta, keys, truncated)

    @property
    def threshold(self) -> int:
        """The least noisy count that is named."""
        return self.at_least + self.reach

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
        noisy = plus(cast("Integers", units), self._drawn(units.shape))
        return (noisy >= self.threshold) & (units >= self.at_least), noisy

    def _drawn(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Noise for an array. Truncated noise is Laplace noise given that it lies within
        its ends: drawn again where it does not.
        """
        noise: NDArray[np.int64] = self.noise.release(np.zeros(shape, np.int64))
        while self.truncated and (beyond := abs(noise) > self.reach).any():
            noise[beyond] = self.noise.release(np.zeros(int(beyond.sum()), np.int64))
        return noise

    def found(self, count: float) -> float:
        """The probability that a key of so many units is named."""
        if count < self.at_least:
            return 0.0
        if self.mu is None:
            return math.exp(self.log_tail(math.ceil(self.threshold - count)))
        return (
            math.erfc((self.threshold - 0.5 - count) / (self.scale * math.sqrt(2))) / 2
        )

    def log_tail(self, least: int) -> float:
        """The logarithm of the probability that the noise is at least a whole number;
        −∞ beyond the end of truncated noise.
        """
        if self.mu is not None:
            return log_tail((least - 0.5) / self.scale)
        if not self.truncated:
            return _laplace_log_tail(least, self.scale)
        if least > self.reach:
            return -math.inf
        if least <= 0:
            return (
                math.log1p(-math.exp(self.log_tail(1 - least)))
                if (least > -self.reach)
                else 0.0
            )
        end = self.reach + 1
        within = math.log1p(-2 * math.exp(_laplace_log_tail(end, self.scale)))
        part = -math.expm1((least - end) / self.scale)
        return _laplace_log_tail(least, self.scale) + math.log(part) - within


def _laplace_log_tail(least: int, scale: float) -> float:
    """ln P(X ≥ k) of discrete Laplace noise: q^k / (1 + q) for k ≥ 1, q = e^(−1/scale)."""
    if least <= 0:
        return math.log1p(-math.exp(_laplace_log_tail(1 - least, scale)))
    return -least / scale - math.log1p(math.exp(-1 / scale))


def _laplace_margin(scale: float, delta: float, keys: int, truncated: bool) -> int:
    """The least k such that noise is k or more (truncated to ± k: is k) with probability
    at most p = 1 − (1 − δ)^(1/keys).

    With q = e^(−1/scale) these probabilities are q^k / (1 + q), and (1 − q)·q^k / (1 +
    q − 2q^(k+1)). Both are at most p where k is at least scale times a logarithm, which
    is computed to far more digits than δ has zeros, for a p that is smaller by a share
    of 10^-20.
    """
    ctx, one = context(0), Decimal(1)
    ctx.prec += 20 - math.floor(math.log10(delta)) + len(str(keys))
    t = decimal_of(ctx, Fraction(scale))
    none = ctx.ln(ctx.subtract(one, decimal_of(ctx, Fraction(delta))))
    allowed = ctx.subtract(one, ctx.exp(ctx.divide(none, Decimal(keys))))
    p = ctx.multiply(allowed, ctx.subtract(one, Decimal("1e-20")))
    q = ctx.exp(ctx.divide(Decimal(-1), t))
    over = one
    if truncated:
        twice = ctx.multiply(Decimal(2), ctx.multiply(p, q))
        over = ctx.add(ctx.subtract(one, q), twice)
    odds = ctx.divide(over, ctx.multiply(p, ctx.add(one, q)))
    least = ctx.multiply(t, ctx.ln(odds))
    return max(0, int(least.to_integral_value(decimal.ROUND_CEILING)))


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
