"""How far a sum of several independent noises goes: a bound by Chernoff, which holds
for every number of them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Laplace

__all__ = ["sum_margin"]

Reals = NDArray[np.float64]

TRIED = 256
SMOOTH = 4.0
"""From this scale on, rounding is a uniform error of its own, to one part in 2^400."""


def sum_margin(mechanism: Additive, terms: int, missed: float) -> float:
    """What the sum of so many noises exceeds with probability `missed` at most. The
    other side is the same.

    Every λ gives a bound: P(S ≥ x) ≤ e^(−λx)·M(λ)^terms, with M the noise's moments.
    """
    if terms == 1:
        return mechanism.error(1 - 2 * missed, integer=True)
    scale, wanted = mechanism.scale, -math.log(missed)
    if isinstance(mechanism, Laplace):
        slopes = np.geomspace(1e-6, 1 - 1e-9, TRIED) / scale
        moments = _laplace(slopes, scale)
    else:
        best = math.sqrt(2 * wanted / terms) / scale
        slopes = best * np.linspace(0.2, 1.2, TRIED)
        moments = _gaussian(slopes, scale)
    return float(np.min((terms * moments + wanted) / slopes)) * (1 + 1e-9)


def _laplace(slopes: Reals, scale: float) -> Reals:
    """ln M of discrete Laplace noise, below 1 / scale."""
    above, below = -np.expm1(slopes - 1 / scale), -np.expm1(-slopes - 1 / scale)
    found: Reals = 2 * np.log(-np.expm1(-1 / scale)) - np.log(above) - np.log(below)
    return found


def _gaussian(slopes: Reals, scale: float) -> Reals:
    """ln M of rounded Gaussian noise."""
    if scale >= SMOOTH:
        half = slopes / 2
        # sinh(x) / x ≤ e^(x² / 6)
        return (slopes * scale) ** 2 / 2 + half**2 / 6 + 1e-12
    far = math.ceil(40 * scale) + 2
    steps = np.arange(-far, far + 1)
    edges = (np.arange(-far, far + 2) - 0.5) / scale / math.sqrt(2)
    upper = np.array([math.erfc(edge) for edge in np.abs(edges)]) / 2
    left = np.where(edges < 0, upper, 1 - upper)
    right = np.where(edges < 0, 1 - upper, upper)
    chances = np.where(steps <= 0, np.diff(left), -np.diff(right))
    held = chances > 0
    powers = np.outer(slopes, steps[held]) + np.log(chances[held])
    largest = powers.max(axis=1, keepdims=True)
    found: Reals = np.log(np.exp(powers - largest).sum(axis=1)) + largest[:, 0]
    return found + 1e-9
