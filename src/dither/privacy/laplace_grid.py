"""The privacy losses of Laplace noise on a grid, in closed form.

Half of the mass loses ε, e^(−ε)/2 of it loses −ε, and between them the loss x has the
density e^((x−ε)/2)/4. Cells between neighbouring multiples of the step are split over
their two ends as in `loss_grid` (docs/proofs/training.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dither.privacy.loss_grid import GridLosses, Reals
from dither.privacy.numbers import LIBM

__all__ = ["laplace_losses"]

_UNIT = 2.0**-50


def laplace_losses(epsilon: float, step: float) -> GridLosses:
    """One number, or vector, with Laplace noise; no loss is beyond ±ε."""
    rounding = 32.0 * LIBM + _UNIT * epsilon
    low, high = math.ceil(-epsilon / step), math.floor(epsilon / step)
    first = math.floor(-epsilon / step) - 1
    masses = np.zeros(math.ceil(epsilon / step) + 3 - first)
    ends = [(-epsilon, math.exp(-epsilon) / 2.0), (epsilon, 0.5)]
    if low < high:
        _between(
            masses, np.arange(low, high, dtype=np.int64) - first, epsilon, step, first
        )
        # What lies between an end and its nearest multiple of the step goes outwards.
        masses[low - first] += _part(epsilon, -epsilon, low * step)
        ends[1] = epsilon, 0.5 + _part(epsilon, high * step, epsilon)
    else:
        ends[1] = epsilon, -math.expm1(-epsilon) / 2.0 + 0.5
    for loss, mass in ends:
        _point(masses, loss, mass, step, first)
    shift = 8.0 * _UNIT * (epsilon + step)
    return GridLosses(first, masses * (1.0 + rounding), 0.0, shift)


def _between(
    masses: Reals,
    places: NDArray[np.int64],
    epsilon: float,
    step: float,
    first: int,
) -> None:
    """All whole cells: ∫ P = e^((a−ε)/2)·(e^(h/2) − 1)/2, and ∫ (P − e^a·Q) = 2
    e^((a−ε)/2)·sinh²(h/4), a being the lower loss of the cell.
    """
    falls = np.exp(((places + first) * step - epsilon) / 2.0)
    mass = falls * (math.expm1(step / 2.0) / 2.0)
    upper = falls * (2.0 * math.sinh(step / 4.0) ** 2 / -math.expm1(-step))
    upper = np.minimum(upper * (1.0 + 64.0 * LIBM + 2.0 * _UNIT * epsilon), mass)
    masses[places] += mass - upper
    masses[places + 1] += upper


def _part(epsilon: float, low: float, high: float) -> float:
    """The mass of the losses between two that are less than a step apart, rounded
    up.
    """
    width = max(high - low, 0.0) + 4.0 * _UNIT * (abs(low) + abs(high))
    return math.exp((high - epsilon) / 2.0) * -math.expm1(-width / 2.0) / 2.0


def _point(masses: Reals, loss: float, mass: float, step: float, first: int) -> None:
    """A mass at one loss, split over the two multiples of the step beside it."""
    cell = math.floor(loss / step)
    inside = min(max(loss - cell * step, 0.0), step)
    upper = mass * math.expm1(-inside) / math.expm1(-step) * (1.0 + 8.0 * LIBM)
    upper = min(upper, mass)
    masses[cell - first] += mass - upper
    masses[cell - first + 1] += upper
