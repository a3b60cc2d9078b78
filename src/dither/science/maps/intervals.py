"""How far a weighted sum of independent integer noises stays from zero, surely.

The sum's law follows from its characteristic function, which is known exactly. Every
step errs to the safe side: a little Gaussian noise makes the law smooth, the period of
the Fourier series is long enough by Chernoff's bound, and both are paid for
(docs/proofs/science.md). The ± is 1 to 3 % above the least one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Gaussian
from dither.mechanisms.sums import noise_variance
from dither.privacy.numbers import confidence_level

__all__ = ["Law", "Part", "reach"]

Reals = NDArray[np.float64]

RARE = 1e-10
"""What Chernoff's bound leaves outside the period."""
SMOOTH = 96
"""The sum's deviation over that of the noise that makes it smooth."""
FINEST = 2000
SHIFT = 2.5
"""In deviations of that noise: it is that far below zero rarely, which is paid for."""
KEPT = NormalDist().cdf(SHIFT)
FADED = 8.5
"""exp(−8.5² / 2) is below 2^-52: the Fourier series ends here."""
BLOCK = 1 << 20


@dataclass(frozen=True)
class Law:
    """The law of one mechanism's noise on integers."""

    mechanism: Additive

    @property
    def scale(self) -> float:
        return self.mechanism.integer_scale

    @property
    def gaussian(self) -> bool:
        return isinstance(self.mechanism, Gaussian)

    @property
    def variance(self) -> float:
        return noise_variance(self.mechanism)

    def log_wave(self, angle: Reals) -> Reals:
        """The logarithm of the characteristic function, which is positive."""
        if self.gaussian:
            return _rounded_gaussian(self.scale, angle)
        # (1 − q)² / (1 − 2q·cos + q²) with q = e^(−1/t)
        return -np.log1p(_steepness(self.scale) * np.sin(angle / 2) ** 2)

    def log_moment(self, tilt: Reals) -> Reals:
        """The logarithm of E exp(tilt × noise), or a bound above it; infinite where
        there is none.
        """
        if self.gaussian:
            # |round(σZ)| ≤ |σZ| + ½, so its moments are below those of (σ + ½)Z
            bound: Reals = (self.scale + 0.5) ** 2 * tilt**2 / 2
            return bound
        rate = 1 / self.scale
        left = np.maximum(-np.expm1(np.abs(tilt) - rate), 0.0)
        right = -np.expm1(-np.abs(tilt) - rate)
        with np.errstate(divide="ignore"):
            found: Reals = 2 * np.log(-np.expm1(-rate)) - np.log(left) - np.log(right)
        return found


def _steepness(scale: float) -> float:
    return 1 / math.sinh(0.5 / scale) ** 2 if scale > 2e-3 else 0.0


def _rounded_gaussian(scale: float, angle: Reals) -> Reals:
    """Of round(scale × Z): by Poisson's sum, or by its few values where it is narrow."""
    turn = 2 * math.pi
    near = angle - turn * np.round(angle / turn)
    if scale < 0.5:
        values = np.arange(1, 13)
        tails = [
            math.erfc((k - 0.5) / (scale * math.sqrt(2))) / 2 for k in range(1, 15)
        ]
        chances = 2 * (np.array(tails[:12]) - np.array(tails[1:13]))
        away = 1 - np.cos(near[..., None] * values)
        narrow: Reals = np.log1p(-(away @ chances))
        return narrow
    total = np.zeros_like(near)
    for k in range(-3, 4):
        moved = near + turn * k
        total += np.exp(-((scale * moved) ** 2) / 2) * np.sinc(moved / turn)
    # Where the wave is as good as gone, its logarithm must not be that of zero.
    return np.log(np.maximum(total, 1e-300))


class Part(NamedTuple):
    """`number` independent noises of one law, each with the same weight."""

    weight: float
    number: int
    law: Law


def reach(parts: Sequence[Part], confidence: float) -> float:
    """The ± that the sum of all parts stays within, with at least this probability.

    Each side misses with at most half of the rest.
    """
    level = float(confidence_level("confidence", confidence))
    found = _merged(parts)
    variance = sum(w * w * n * law.variance for w, n, law in found)
    if variance <= 1e-30:
        return 0.0
    if len(found) == 1 and found[0].number == 1:
        only = found[0]
        return only.weight * float(only.law.mechanism.error(level, integer=True))
    return _inverted(found, math.sqrt(variance), (1 - level) / 2)


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts of equal weight and law together; signs do not matter, noise is symmetric."""
    counts: dict[tuple[float, Law], int] = {}
    for weight, count, law in parts:
        if weight and count:
            key = (float(f"{abs(weight):.12e}"), law)
            counts[key] = counts.get(key, 0) + int(count)
    return tuple(Part(weight, n, law) for (weight, law), n in counts.items())


@lru_cache(maxsize=4096)
def _inverted(parts: tuple[Part, ...], deviation: float, missed: float) -> float:
    """The least x where the tail of the smooth sum is small enough, by bisection."""
    far = _farthest(parts, deviation)
    smooth = max(deviation / SMOOTH, far / FINEST)
    half = far + FADED * smooth
    last = math.ceil(FADED / smooth * half / math.pi)
    terms: Reals = np.arange(1, last + 1, dtype=np.float64)
    angles: Reals = terms * (math.pi / half)
    heights = np.exp(_log_waves(parts, angles) - (smooth * angles) ** 2 / 2)
    heights /= math.pi * terms
    wanted = missed * KEPT - 2 * RARE
    low, high = 0.0, half
    while high - low > 1e-4 * smooth:
        middle = (low + high) / 2
        tail = 0.5 - middle / (2 * half) - float(heights @ np.sin(angles * middle))
        low, high = (low, middle) if tail <= wanted else (middle, high)
    return min(high + SHIFT * smooth, far)


def _log_waves(parts: tuple[Part, ...], angles: Reals) -> Reals:
    """The logarithm of the sum's characteristic function."""
    total = np.zeros_like(angles)
    laws = {part.law for part in parts}
    for law in laws:
        own = [part for part in parts if part.law == law]
        weights = np.array([part.weight for part in own])
        counts = np.array([part.number for part in own], np.float64)
        step = max(BLOCK // angles.size, 1)
        for start in range(0, len(own), step):
            some = slice(start, start + step)
            total += counts[some] @ law.log_wave(weights[some, None] * angles)
    return total


def _farthest(parts: tuple[Part, ...], deviation: float) -> float:
    """A distance that the sum reaches with probability RARE at most (Chernoff)."""
    tilts = np.geomspace(0.05, 50, 120) / deviation
    ends = [1 / (w * law.scale) for w, _, law in parts if not law.gaussian]
    if ends:
        tilts = np.concatenate([tilts, min(ends) * (1 - np.geomspace(0.5, 1e-6, 60))])
        tilts = tilts[tilts < min(ends)]
    with np.errstate(over="ignore", invalid="ignore"):
        logs = sum(n * law.log_moment(w * tilts) for w, n, law in parts)
        bounds = (logs - math.log(RARE)) / tilts
    return float(np.nanmin(bounds))
