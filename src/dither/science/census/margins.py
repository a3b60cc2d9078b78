"""Distance of a fitted count from the true value: margins that cover, from variances
alone.

A fitted count is off by a weighted sum of whole-number noises. Its variance is exact.
Gaussian noise has a normal quantile, Laplace noise the worst one among all symmetric
laws with a log-concave density; both get half a step of the coarsest noise, because
noise is on whole numbers. If the noise is so small that whole numbers are not a fine
grid for it, Chernoff's bound is used instead (docs/proofs/census.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Gaussian
from dither.mechanisms.sums import noise_variance
from dither.privacy.numbers import confidence_level
from dither.science.census.fitting import LEAST

__all__ = ["CountSpread", "ends", "margin", "nested"]

Reals = NDArray[np.float64]

FINE = 1.0
"""From this scale on, whole numbers are a fine grid for noise."""
MOVED = 0.625
"""Discrete Laplace noise of scale 1 or more is at most this far from the continuous
noise it is made of (docs/proofs/noise.md): 1 − κ."""
TILTS, PARTS = np.geomspace(0.05, 50, 61), np.linspace(0.1, 0.98, 23)
SLACK = 1e-6
"""More than what floats make of a whole number on the way."""


def margin(
    variance: Any,
    noises: Sequence[Additive],
    confidence: float,
    *,
    nested: bool = False,
) -> Reals:
    """The ± that each figure with one of these variances stays within, with at least
    this probability. `noises` are those of all measurements it is made of.

    Where marginals are `nested`, a unit of noise moves no sum of cells by more than
    one, and the ± is a little smaller.
    """
    level = float(confidence_level("confidence", confidence))
    shape = np.shape(variance)
    deviation = np.sqrt(np.asarray(variance, np.float64).reshape(-1))
    return _margin(deviation, noises, level, nested).reshape(shape)


def nested(workload: Sequence[Sequence[int]]) -> bool:
    """Whether of any two marginals one contains the other."""
    ordered = sorted(map(set, workload), key=len)
    return all(small <= large for small, large in pairwise(ordered))


def _margin(
    deviation: Reals, noises: Sequence[Additive], level: float, nested: bool
) -> Reals:
    if not noises:
        return np.where(deviation > 0, np.inf, 0.0)
    if min(one.integer_scale for one in noises) < FINE:
        return _chernoff(deviation, noises, level, nested)
    step = _steepest(deviation, noises, nested)
    if all(isinstance(one, Gaussian) for one in noises):
        return _normal(level) * deviation + step / 2
    return worst_quantile(level) * _excess(noises) * deviation + MOVED * step


def _steepest(deviation: Reals, noises: Sequence[Additive], nested: bool) -> Reals:
    """The most that one noise moves a figure by: it cannot be the whole deviation and
    more.
    """
    least = min(math.sqrt(noise_variance(one)) for one in noises)
    limit: Reals = deviation / max(least, math.sqrt(LEAST))
    return np.minimum(limit, 1.0) if nested else limit


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _excess(noises: Sequence[Additive]) -> float:
    """Continuous Laplace noise has a little more variance than discrete noise."""
    laplace = [one for one in noises if not isinstance(one, Gaussian)]
    return max(
        math.sqrt(2 / noise_variance(one)) * one.integer_scale for one in laplace
    )


@lru_cache(maxsize=64)
def worst_quantile(level: float) -> float:
    """The most that a symmetric variable with a log-concave density and variance 1
    stays within, with this probability.

    The worst ones have the density e^(−x) on |x| ≤ b, or its limits: uniform for small
    b, Laplace for large b (Fradelizi & Guédon 2006).
    """
    b = np.geomspace(1e-3, 60, 4000)
    mass = -np.expm1(-b)
    square = 2 - np.exp(-b) * (b**2 + 2 * b + 2)
    quantile = -np.log1p(-level * mass)
    found = float(np.max(quantile / np.sqrt(square / mass)))
    return max(found, -math.log1p(-level) / math.sqrt(2), level * math.sqrt(3))


def _chernoff(
    deviation: Reals, noises: Sequence[Additive], level: float, nested: bool
) -> Reals:
    """The least (log E exp(s·error) − log(missed / 2)) / s over tilts s."""
    tail = -math.log((1 - level) / 2)
    some = np.clip(deviation, 1e-300, 1e150)
    steepest = _steepest(some, noises, nested)
    # Laplace noise has no moments from 1 / scale on.
    end = 1 / (steepest * max(one.integer_scale for one in noises))
    tilts = [*(tilt / some for tilt in TILTS), *(part * end for part in PARTS)]
    found = np.full_like(deviation, np.inf)
    with np.errstate(all="ignore"):  # unknown figures overflow
        for tilt in tilts:
            moment = (some * tilt) ** 2 / 2 * _growth(noises, tilt * steepest)
            found = np.fmin(found, (moment + tail) / tilt)
    found[np.isinf(deviation)] = np.inf
    return np.where(deviation > 0, found, 0.0)


def _growth(noises: Sequence[Additive], step: Reals) -> Reals:
    """log E exp(step × noise) over what it would be for Gaussian noise of the same
    variance, or a bound above it.
    """
    found = np.ones_like(step)
    for one in noises:
        found = np.fmax(found, _excess_moment(one, step))
    return found


def _excess_moment(noise: Additive, step: Reals) -> Reals:
    scale = noise.integer_scale
    if isinstance(noise, Gaussian):
        # |round(σZ)| ≤ |σZ| + ½, so its moments are below those of (σ + ½)Z
        return np.full_like(step, (scale + 0.5) ** 2 / noise_variance(noise))
    height = math.sinh(min(0.5 / scale, 300.0))
    ratio = np.minimum(np.sinh(np.minimum(step / 2, 350.0)) / height, 1.0)
    with np.errstate(divide="ignore"):
        moment = -np.log1p(-(ratio**2))
    half = max(noise_variance(noise), LEAST) * step**2 / 2
    found: Reals = moment / np.maximum(half, 1e-300)
    return found


def ends(value: Any, width: Any) -> tuple[Reals, Reals]:
    """The whole numbers within a margin, which hold a count if the margin does.

    None is below 0. A count is never said to be certainly 0, since strongly negative
    noise is not a sign of that; unless it is exact.
    """
    middle, reach = np.asarray(value, np.float64), np.asarray(width, np.float64)
    low, high = middle - reach, middle + reach
    first, last = np.ceil(low - SLACK), np.floor(high + SLACK)
    none = first > last  # rarely, and then the truth lies outside
    first, last = (
        np.where(none, np.floor(low), first),
        np.where(none, np.ceil(high), last),
    )
    least = np.where(reach <= SLACK, 0.0, 1.0)
    return np.maximum(first, 0.0), np.maximum(last, least)


@dataclass(frozen=True, eq=False)
class CountSpread:
    """Where true counts lie: within the margins of fitted ones, at whole numbers from 0
    on.
    """

    value: Any
    variance: Any
    noises: tuple[Additive, ...]
    nested: bool = False

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        width = margin(self.variance, self.noises, confidence, nested=self.nested)
        return ends(self.value, width)
