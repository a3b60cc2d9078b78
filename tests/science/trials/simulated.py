"""Simulated studies of survival with noise from a seed, so that the tests of what is
made of noisy cells have no chance in them.
"""

import numpy as np

from dither.mechanisms import Laplace
from dither.science.trials.cells import placed
from dither.science.trials.curve import LifeTable
from dither.science.trials.null import Law


def people(rng, size, hazards, censoring, runs):
    """Exact cells of many studies: in each bin some die, some of the others are
    censored at its end, and those left are there to the end. None count for nobody.
    """
    bins = len(hazards)
    left = np.full(runs, size)
    cells = np.zeros((runs, 2 * bins + 2), np.int64)
    for place in range(bins):
        died = rng.binomial(left, hazards[place])
        gone = rng.binomial(left - died, censoring[place])
        cells[:, place], cells[:, bins + place] = died, gone
        left = left - died - gone
    cells[:, 2 * bins] = left
    return cells


def continuous(rng, size, hazard, censoring, bins, runs):
    """The same for people who die and are censored at constant rates, in bins of one."""
    died = rng.exponential(1 / hazard, (runs, size))
    gone = rng.exponential(1 / censoring, (runs, size)) if censoring else np.inf
    cells = placed(np.minimum(died, gone), died <= gone, range(bins + 1))
    found = np.zeros((runs, 2 * bins + 2), np.int64)
    np.add.at(found, (np.arange(runs)[:, None], cells.astype(int)), 1)
    return found


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
