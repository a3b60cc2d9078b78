"""Sums of vectors that lie in a box: what one unit moves, and the noise for that.

A row is a vector with every entry from -`STEPS` to `STEPS`, times its weight; rows are
summed by group (a class, a cluster). The largest entries that a unit moves, added up over
groups, are at most `STEPS` times what its weights add up to.
"""

from __future__ import annotations

import math

import numpy as np

from dither.learn.estimators.data import Declared, Reals
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, products
from dither.mechanisms import Cube, Gaussian
from dither.mechanisms.sums import noise_variance, root_up
from dither.privacy.numbers import float_up

__all__ = [
    "STEPS",
    "USUAL",
    "blur",
    "box_noise",
    "box_spending",
    "grouped",
    "moved",
    "shrunk",
    "squares",
    "standard_deviation",
]

STEPS = 1 << 16
"""Steps from the middle of the bounds to either."""


def moved(inputs: Reals, steps: int = STEPS) -> Reals:
    """Shares of bounds as whole steps from the middle."""
    found: Reals = np.rint((2 * inputs - 1) * steps)
    return found


def squares(values: Reals, steps: int = STEPS) -> Reals:
    """2v² - 1 in whole steps, from -steps to steps, for v in whole steps."""
    found: Reals = np.rint(2 * values * values / steps - steps)
    return found


def grouped(
    rows: Reals, groups: Integers, weights: Integers, count: int, most: int
) -> Integers:
    """The weighted sum of rows in each group; an entry times a weight is at most
    `most`.
    """
    chosen = np.zeros((len(rows), count))
    chosen[np.arange(len(rows)), groups] = weights
    return products(chosen, rows, most)


def box_noise(
    spending: Spending, declared: Declared, dims: int, steps: int = STEPS
) -> Cube | Gaussian:
    """Noise for sums by group of rows of `dims` entries."""
    most = declared.whole * steps
    if spending.mu is not None:
        l2 = float_up(root_up(most**2 * dims))
        return _fitting(Gaussian(sensitivity=l2, mu=spending.mu, unit=spending.unit))
    epsilon = spending.epsilon or 0.0
    return Cube(sensitivity=most, dims=dims, epsilon=epsilon, unit=spending.unit)


def box_spending(spending: Spending, dims: int) -> Spending:
    """Choose the kind of noise that is smaller for vectors with `dims` entries."""
    return spending.choose(lambda way: blur(way, dims))


def blur(way: Spending, dims: int) -> float:
    """Approximate standard deviation of the noise on one of `dims` entries."""
    if way.mu is not None:
        return math.sqrt(dims) / way.mu
    return (dims + 1.5) / math.sqrt(3) / (way.epsilon or 0.0)


def standard_deviation(noise: Cube | Gaussian) -> float:
    """The standard deviation of the noise on an entry."""
    variance = noise.variance if isinstance(noise, Cube) else noise_variance(noise)
    return math.sqrt(variance)


USUAL = 0.15
"""What means of columns vary by, and what columns do, where bounds are -1 and 1: more is
rarely there, and noise easily pretends it.
"""


def shrunk(
    values: Reals,
    target: Reals | float,
    error: Reals | float,
    least: float = 0.0,
    most: float = math.inf,
) -> Reals:
    """Noisy values shrunk towards a target, the more the larger their noise variance is
    beside the variance they show (empirical Bayes), which is taken to be at most
    `most`.
    """
    apart = values - target
    spread = min(max(float(np.mean(apart**2 - error)), least, 1e-12), most)
    found: Reals = target + apart * (spread / (spread + error))
    return found


def _fitting(noise: Gaussian) -> Gaussian:
    _ = noise.integer_scale  # refused where 64 bits are too few
    return noise
