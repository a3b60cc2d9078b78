"""Closed forms for weighted sums of noises: normal quantiles, and Laplace variables on
the line, with what rounding to whole numbers may move (docs/proofs/noise.md).

They are quick, so searches and whole arrays of sums use them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dither.noise import laplace_sums
from dither.noise.inversion import GAUSSIAN, LAPLACE, NORMAL, SLACK, Part
from dither.noise.one_noise import beyond_of, moved_of, quantile_of, variance_of

__all__ = [
    "FINE",
    "ROUGH",
    "TOO_SMALL",
    "closed_quantile",
    "closed_tail",
    "gaussian_figures",
    "gaussian_reach",
    "laplace_beyond",
    "many_reaches",
]

Reals = NDArray[np.float64]

ALMOST = 2e-3
"""Sums are treated as sums on the line if rounding moves them by at most this share of
their standard deviation.
"""
FINE = 500.0
"""Least scale, in steps, for which rounding is taken to move noise by a whole step."""
FLAT = 1 / (2 * math.pi)
"""The variance of the normal variable whose highest density is that of rounding: 1."""
ROUGH = 2.5
"""Least scale, in steps, for which closed forms are used for rounded Gaussian noise."""
WEIGHTS = 100
"""Weights of a sum that closed forms are asked about, at most."""
MANY = 1e6
"""Noises of one sum, at most, where a bound does not know how many there are."""
PROVED = 0.1
"""The share of what may be missed that proofs of many sums at once may take."""
TOO_SMALL = 1e-30


def closed_quantile(parts: Sequence[Part], missed: float) -> float | None:
    """Quantile of sums that are normal except for rounding, and of few Laplace noises
    whose rounding is not felt; None for others.
    """
    normal = _as_normal(parts)
    if normal is not None:
        deviation, moved, lost = normal
        if lost < missed / 4:
            z = -NormalDist().inv_cdf(missed - lost)
            return float((z * deviation + moved) * (1 + SLACK))
    scales = _few_scales(parts)
    if scales is None:
        return None
    moved = _all_moved(parts)
    low, high = 0.0, sum(scales) * (2 - math.log(2 * missed))
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        enough = laplace_sums.few_tail(scales, middle) <= 2 * missed
        low, high = (low, middle) if enough else (middle, high)
    return (high + moved) * (1 + SLACK)


def closed_tail(parts: Sequence[Part], x: float) -> float | None:
    normal = _as_normal(parts)
    if normal is not None:
        deviation, moved, lost = normal
        at = max(x * (1 - SLACK) - moved, 0.0)
        found = math.erfc(at / (deviation * math.sqrt(2))) / 2
        if lost < found / 4:
            return min((found + lost) * (1 + SLACK), 1.0)
    scales = _few_scales(parts)
    if scales is None:
        return None
    at = x * (1 - SLACK) - _all_moved(parts)
    return 1.0 if at <= 0 else laplace_sums.few_tail(scales, at) / 2


def _as_normal(parts: Sequence[Part]) -> tuple[float, float, float] | None:
    """A standard deviation, a shift and a probability: the sum's tail is at most that of
    a normal variable with this standard deviation, plus the shift, and that probability.

    The noise with the largest weight is left unrounded, at the cost of half its weight.
    Beside it the others are normal variables plus uniform ones, except for a part of
    their characteristic functions that has faded (`lost`).
    """
    if any(part.kind == LAPLACE for part in parts):
        return None
    rounded = [part for part in parts if part.kind == GAUSSIAN]
    if not rounded:
        return math.sqrt(sum(w * w * n * t * t for w, n, _, t in parts)), 0.0, 0.0
    if min(part.scale for part in rounded) < 0.5:
        return None
    plain = sum(w * w * n * t * t for w, n, kind, t in parts if kind == NORMAL)
    first = max(rounded, key=lambda part: (part.weight, part.scale))
    clear = plain + (first.weight * first.scale) ** 2
    flat = sum(w * w * n for w, n, _, _ in rounded) - first.weight**2
    variance = sum(w * w * n * t * t for w, n, _, t in parts) + FLAT * flat
    moved = first.weight / 2
    lost = 0.0
    for weight, number, _, scale in rounded:
        ratio = clear / weight**2
        faded = scale**2 * ratio / (scale**2 + ratio)
        lost += 0.4 * number * math.exp(-2 * math.pi**2 * faded)
    return math.sqrt(max(variance, 0.0)), moved, lost


def _few_scales(parts: Sequence[Part]) -> list[float] | None:
    """The scales of at most four Laplace noises on the line."""
    number = sum(part.number for part in parts)
    if number > laplace_sums.FEW or any(part.kind != LAPLACE for part in parts):
        return None
    size = math.sqrt(sum((w * t) ** 2 * n for w, n, _, t in parts))
    if _all_moved(parts) > ALMOST * size:
        return None
    return [part.weight * part.scale for part in parts for _ in range(part.number)]


def _all_moved(parts: Sequence[Part]) -> float:
    return sum(part.weight * part.number * moved_of(part.scale) for part in parts)


@lru_cache(maxsize=256)
def _z(missed: float) -> float:
    """The normal quantile."""
    return max(-NormalDist().inv_cdf(missed), 0.0)


def laplace_beyond(
    part: Part, weights: Sequence[float], x: float, confidence: float
) -> bool:
    """Whether a sum of fine noises is certainly beyond ±x with a probability of at most
    1 − confidence. Rounding moves each by less than a step.
    """
    weight, _, _, scale = part
    missed = 1 - confidence
    if len(weights) == 2:
        first, second = abs(weights[0]) * weight, abs(weights[1]) * weight
        x = x * (1 - SLACK) - first - second
        tail = laplace_sums.pair_tail(first * scale, second * scale, x)
        return x > 0 and tail * (1 + SLACK) <= missed
    sizes = [abs(w) * weight * scale for w in weights]
    x = x * (1 - SLACK) - sum(sizes) / scale
    if x <= 0:
        return False
    if len(sizes) <= laplace_sums.FEW:
        return laplace_sums.few_tail(sizes, x) <= missed
    squares = [b * b for b in sizes]
    total = sum(squares)
    uneven = sum([b * b for b in squares]) / total**2 if total else 0.0
    return x >= laplace_sums.multiple(uneven, missed / 2) * math.sqrt(2 * total)


def gaussian_reach(
    part: Part,
    weights: Sequence[float],
    confidence: float,
    spare: tuple[Sequence[float], float] = ((), math.inf),
) -> float:
    """The ± of rounded noises with these weights, and of spare ones given by weights and
    a scale, as in `_as_normal`.
    """
    times, size = gaussian_figures(part, min(part.scale, spare[1]), confidence)
    squares, largest = 0.0, max(map(abs, spare[0]), default=0.0) / part.weight
    for w in weights:
        squares += w * w
        if w > largest or -w > largest:
            largest = abs(w)
    total = squares * size
    if spare[0]:
        total += sum(w * w for w in spare[0]) * (spare[1] ** 2 + FLAT)
    return times * math.sqrt(total) + largest * part.weight / 2 * (1 + SLACK)


@lru_cache(maxsize=256)
def gaussian_figures(
    part: Part, narrow: float, confidence: float
) -> tuple[float, float]:
    """The normal quantile, and the variance of a noise that stands for a rounded one."""
    lost = 0.4 * WEIGHTS * math.exp(-((math.pi * narrow) ** 2))
    z = _z(_left((1 - confidence) / 2, lost))
    return z * (1 + SLACK), part.weight**2 * (part.scale**2 + FLAT)


def many_reaches(part: Part, squares: Reals, fourths: Reals, missed: float) -> Reals:
    """The noise with the largest weight is put on the line, at the cost of ½ and a
    little more of its weight. Beside it all others may be put on the line too, at the
    cost of a small probability.
    """
    whole = part.kind != NORMAL
    rare = whole and MANY * beyond_of(part.kind, part.scale, 1) <= missed
    if missed >= 0.5 or rare:
        return np.zeros_like(squares)
    some = np.where(squares > TOO_SMALL, squares, 1.0)
    uneven = np.clip(fourths / some**2, 0.0, 1.0)
    largest = np.sqrt(np.sqrt(uneven) * some)
    if part.kind == LAPLACE:
        found = _laplace_multiples(part.scale, uneven, missed)
        found *= np.sqrt(2 * some) * part.scale
        found += largest * moved_of(part.scale)
    elif part.kind == GAUSSIAN:
        lost = _lost_gaussian(part.scale, 1 / max(float(uneven.min()), 1e-6))
        size = np.sqrt(some * (part.scale**2 + FLAT))
        found = _z(_left(missed, lost)) * size + largest / 2
    else:
        found = _z(missed) * part.scale * np.sqrt(some)
    # one weight alone, or with others that are as good as none beside it
    alone = quantile_of(part._replace(weight=1.0), missed) + 1e-4 * part.scale
    found = np.where(uneven >= 1 - 1e-12, largest * alone, found)
    result: Reals = np.where(squares > TOO_SMALL, found * (1 + SLACK), 0.0)
    return result


def _left(missed: float, lost: float) -> float:
    """The probability of a miss, minus what the proof loses. If that is more than a part
    of it, nothing is taken off: then the bound is checked, and not proved.
    """
    return missed - lost if lost <= PROVED * missed else missed


def _laplace_multiples(scale: float, uneven: Reals, missed: float) -> Reals:
    others = 1 / np.sqrt(np.maximum(uneven, 1e-12)) - 1
    places = np.searchsorted(NUMBERS, others, side="right") - 1
    found = np.empty(uneven.shape)
    lefts = [_left(missed, lost) for lost in _lost_laplace(scale)]
    if min(lefts) >= missed * (1 - 1e-3):
        return laplace_sums.multiples(uneven, min(lefts))
    for place in np.unique(places).tolist():
        here = places == place
        found[here] = laplace_sums.multiples(uneven[here], lefts[place])
    return found


def _lost_gaussian(scale: float, effective: float) -> float:
    """See `_as_normal`: `effective` is Σw² over the largest w²."""
    square = (math.pi * scale) ** 2
    return 0.4 * (effective * math.exp(-square) + MANY * math.exp(-2 * square))


NUMBERS = np.array([0.0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20, 40])
"""Effective numbers of other noises, (Σw² less the largest) over the largest w²: from
each on, the lost probability is bounded.
"""


@lru_cache(maxsize=64)
def _lost_laplace(scale: float) -> list[float]:
    """See docs/proofs/noise.md: how far the tail moves, at most, if all noises but the one
    with the largest weight are put on the line.
    """
    variance = variance_of(LAPLACE, scale)
    if not variance:
        return [1.0] * NUMBERS.size
    step = math.pi / 1000
    u = (np.arange(1000) + 0.5) * step
    own = np.log1p(2 * variance / math.pi**2 * u**2)
    weight = step / math.pi / (u * (1 + (scale * u) ** 2))
    moved = np.minimum(variance * u**4 / 24, u**2 / 12)
    ends = np.concatenate([[0.0], np.geomspace(0.05, NUMBERS[-1], 80)])
    cells = np.array(
        [
            float((np.minimum(moved * high, 1.0) * np.exp(-low * own)) @ weight)
            for low, high in pairwise(ends.tolist())
        ]
    )
    # from the last number on, the bound falls like this one over the number
    many = float(NUMBERS[-1])
    last = math.pi**3 * many / (192 * variance * (many - 1) * (many - 2))
    worst = np.maximum(np.maximum.accumulate(cells[::-1])[::-1], last)
    places = np.searchsorted(ends, NUMBERS[:-1], side="right") - 1
    within = [*(1.01 * worst[places]).tolist(), last]
    beyond = 1 / (2 * math.pi**3 * scale**2)
    return [one + beyond for one in within]
