"""Tails of weighted sums of independent symmetric noises, by inversion of the
characteristic function, which is known exactly.

Every step errs to the safe side: a little normal noise makes the law smooth, the period
of the Fourier series is long enough by Chernoff's bound, and both are paid for
(docs/proofs/noise.md). A sum on a lattice needs no smoothing: its law is found exactly,
up to what floats lose and the period leaves out, which are paid for too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GAUSSIAN",
    "LAPLACE",
    "NORMAL",
    "Part",
    "farthest",
    "lattice_quantile",
    "lattice_tail",
    "log_moment",
    "log_wave",
    "smooth_quantile",
    "smooth_tail",
]

Reals = NDArray[np.float64]

LAPLACE, GAUSSIAN, NORMAL = "laplace", "gaussian", "normal"
"""Discrete Laplace noise, a normal number that is rounded, and one that is not."""

RARE = 1e-3
"""The share of what may be missed that is left outside the period."""
TINIEST = 1e-9
"""Least probability for which floats are fine enough for a series; Chernoff's bound
is used for smaller ones.
"""
FLOATS = 1e-13
"""More than what floats lose of a probability."""
SMOOTH = 192
"""The sum's standard deviation over that of the noise that makes it smooth."""
FINEST = 4000
SHIFT = 2.5
"""In standard deviations of that noise: it is that far below zero rarely, which is paid
for.
"""
KEPT = NormalDist().cdf(SHIFT)
FADED = 8.5
"""exp(−8.5² / 2) is below 2^-52: the Fourier series ends here."""
BLOCK = 1 << 20
LARGEST = 1 << 12
"""Points of a lattice, at most."""
SLACK = 1e-11
"""More than what floats make of a sum of weights."""


class Part(NamedTuple):
    """`number` independent noises of one law, each with the same positive weight."""

    weight: float
    number: int
    kind: str
    scale: float


def log_wave(kind: str, scale: float, angle: Reals) -> Reals:
    """The logarithm of the absolute value of the characteristic function."""
    if kind == NORMAL:
        wave: Reals = -((scale * angle) ** 2) / 2
        return wave
    if kind == GAUSSIAN:
        return _rounded_gaussian(scale, angle)
    # (1 − q)² / (1 − 2q·cos + q²) with q = e^(−1/t)
    return -np.log1p(_steepness(scale) * np.sin(angle / 2) ** 2)


def log_moment(kind: str, scale: float, tilt: Reals) -> Reals:
    """The logarithm of E exp(tilt × noise), or a bound above it; infinite if there is
    none.
    """
    if kind != LAPLACE:
        # |round(σZ)| ≤ |σZ| + ½, so its moments are below those of (σ + ½)Z
        size = scale + 0.5 if kind == GAUSSIAN else scale
        bound: Reals = size**2 * tilt**2 / 2
        return bound
    rate = 1 / scale
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


def _log_waves(parts: Sequence[Part], angles: Reals) -> Reals:
    """The logarithm of the sum's characteristic function."""
    total = np.zeros_like(angles)
    for kind, scale in {(part.kind, part.scale) for part in parts}:
        own = [part for part in parts if (part.kind, part.scale) == (kind, scale)]
        weights = np.array([part.weight for part in own])
        counts = np.array([part.number for part in own], np.float64)
        step = max(BLOCK // angles.size, 1)
        for start in range(0, len(own), step):
            some = slice(start, start + step)
            waves = log_wave(kind, scale, weights[some, None] * angles)
            total += counts[some] @ waves
    return total


def farthest(parts: Sequence[Part], deviation: float, missed: float) -> float:
    """A distance that the sum reaches with this probability at most (Chernoff)."""
    tilts, logs = _moments(parts, deviation, missed)
    with np.errstate(invalid="ignore"):
        return float(np.nanmin((logs - math.log(missed)) / tilts)) * (1 + SLACK)


def _chernoff(parts: Sequence[Part], deviation: float, x: float) -> float:
    """A bound on P(sum ≥ x)."""
    tilts, logs = _moments(parts, deviation, math.exp(-min(x / deviation, 700.0)))
    with np.errstate(invalid="ignore"):
        best = float(np.nanmin(logs - tilts * x * (1 - SLACK)))
    return min(math.exp(min(best, 0.0)) * (1 + SLACK), 1.0)


def _moments(
    parts: Sequence[Part], deviation: float, missed: float
) -> tuple[Reals, Reals]:
    """Tilts, and the logarithms of the moments there."""
    tilts = np.geomspace(0.05, max(50.0, -math.log(missed)), 120) / deviation
    ends = [1 / (part.weight * part.scale) for part in parts if part.kind == LAPLACE]
    if ends:
        near = min(ends) * (1 - np.geomspace(0.5, 1e-6, 60))
        tilts = np.concatenate([tilts, near])
        tilts = tilts[tilts < min(ends)]
    with np.errstate(over="ignore", invalid="ignore"):
        logs = sum(n * log_moment(kind, t, w * tilts) for w, n, kind, t in parts)
    return tilts, np.asarray(logs)


class _Series(NamedTuple):
    """The smooth sum's tail as a Fourier series on half a period."""

    half: float
    smooth: float
    angles: Reals
    heights: Reals

    def beyond(self, x: float) -> float:
        return 0.5 - x / (2 * self.half) - float(self.heights @ np.sin(self.angles * x))


def _series(parts: Sequence[Part], deviation: float, far: float) -> _Series:
    smooth = max(deviation / SMOOTH, far / FINEST)
    half = far + FADED * smooth
    last = math.ceil(FADED / smooth * half / math.pi)
    terms: Reals = np.arange(1, last + 1, dtype=np.float64)
    angles: Reals = terms * (math.pi / half)
    heights = np.exp(_log_waves(parts, angles) - (smooth * angles) ** 2 / 2)
    heights /= math.pi * terms
    return _Series(half, smooth, angles, heights)


def smooth_quantile(parts: Sequence[Part], deviation: float, missed: float) -> float:
    """The least x where the tail of the smooth sum is small enough, by bisection."""
    far = farthest(parts, deviation, missed)
    if missed < TINIEST:
        return far
    rare = RARE * missed
    series = _series(parts, deviation, farthest(parts, deviation, rare))
    wanted = missed * KEPT - 2 * rare - FLOATS
    low, high = 0.0, series.half
    while high - low > 1e-4 * series.smooth:
        middle = (low + high) / 2
        enough = series.beyond(middle) <= wanted
        low, high = (low, middle) if enough else (middle, high)
    return min((high + SHIFT * series.smooth) * (1 + SLACK), far)


def smooth_tail(parts: Sequence[Part], deviation: float, x: float) -> float:
    """A bound on P(sum ≥ x)."""
    bound, rare = _chernoff(parts, deviation, x), RARE * TINIEST
    if bound < rare:
        return bound
    series = _series(parts, deviation, farthest(parts, deviation, rare))
    moved = x * (1 - SLACK) - SHIFT * series.smooth
    if not 0 < moved < series.half:
        return bound
    found = (series.beyond(moved) + 2 * rare + FLOATS) / KEPT
    return min(bound, found)


def _lattice(parts: Sequence[Part], deviation: float, missed: float) -> Reals | None:
    """P(sum ≥ k) for a sum of whole numbers, up to where it is rarely; None if it is
    too wide. `parts` have weight 1.
    """
    far = farthest(parts, deviation, RARE * missed)
    if not far < LARGEST / 2 - 2:
        return None
    size = 1 << (2 * math.ceil(far) + 4).bit_length()
    angles = np.arange(size // 2 + 1, dtype=np.float64) * (2 * math.pi / size)
    chances = np.fft.irfft(np.exp(_log_waves(parts, angles)), size)
    some = np.maximum(chances[: size // 2], 0.0)
    return np.cumsum(some[::-1])[::-1] + RARE * missed + FLOATS


def lattice_quantile(
    parts: Sequence[Part], deviation: float, missed: float
) -> int | None:
    """The least k with P(sum > k) small enough, for a sum of whole numbers."""
    if missed < TINIEST:
        return None
    beyond = _lattice(parts, deviation, missed)
    if beyond is None:
        return None
    return int(np.argmax(beyond[1:] <= missed))


def lattice_tail(parts: Sequence[Part], deviation: float, k: int) -> float | None:
    """A bound on P(sum ≥ k), k > 0."""
    bound = _chernoff(parts, deviation, float(k))
    if bound < RARE * TINIEST:
        return bound
    beyond = _lattice(parts, deviation, TINIEST)
    if beyond is None:
        return None
    return min(bound, float(beyond[k])) if k < beyond.size else bound
