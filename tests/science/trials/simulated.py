"""Simulated studies of survival with noise from a seed, so that the tests of what is
made of noisy cells have no chance in them.
"""

import numpy as np

from dither.mechanisms import Laplace
from dither.science.trials.curve import LifeTable
from dither.science.trials.null import Law


def people(rng, size, hazards, censoring, runs):
    """Exact cells of many studies: in each bin some die, and some of the others are
    censored; those left are censored in the last one.
    """
    bins = len(hazards)
    left = np.full(runs, size)
    cells = np.zeros((runs, 2 * bins + 1), np.int64)
    for place in range(bins):
        died = rng.binomial(left, hazards[place])
        last = place == bins - 1
        gone = left - died if last else rng.binomial(left - died, censoring[place])
        cells[:, place], cells[:, bins + place] = died, gone
        left = left - died - gone
    return cells


def mechanism(epsilon, sensitivity=2):
    return Laplace(sensitivity=sensitivity, epsilon=epsilon)


def noisy(rng, cells, used, sizes=None):
    """The table of exact cells with seeded noise: an arm for each row."""
    stop = np.exp(-1 / used.scale)
    shape = cells.shape
    noise = rng.geometric(1 - stop, shape) - rng.geometric(1 - stop, shape)
    held = cells + noise
    if sizes is None:
        held = held[..., :-1]
    return LifeTable.of(held, Law.of(used).variance, sizes)
