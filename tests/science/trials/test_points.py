"""Single figures of survival curves lie where they are said to lie."""

import numpy as np
import pytest

from dither.science.trials.bands import Bands, Pointwise
from dither.science.trials.curve import LifeTable
from dither.science.trials.points import (
    HazardRatio,
    Less,
    MeanTime,
    MedianTime,
    log_hazard,
)
from tests.science.trials.simulated import mechanism, noisy, people

BINS, ALIVE = 6, (0.3, 0.3**0.6)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_figures_are_held_at_their_rate(epsilon):
    """200 seeded studies of 200 in each arm; the standard error is 0.015."""
    rng = np.random.default_rng(53)
    used, sizes = mechanism(epsilon), np.array([200, 200])
    arms = [
        people(rng, 200, [1 - one ** (1 / BINS)] * BINS, [0.03] * BINS, 200)
        for one in ALIVE
    ]
    rate = -np.log(ALIVE[0]) / BINS
    truths = (ALIVE[0] - ALIVE[1], 0.6, 4.0, (1 - ALIVE[0]) / rate)
    held = np.zeros(4)
    for two in zip(*arms, strict=True):
        table = noisy(rng, np.array(two), used, sizes)
        bands = Pointwise(Bands(table, used), population=True)
        figures = (
            Less(bands, 0, 1, BINS - 1),
            HazardRatio(bands, 1, 0, BINS - 1),
            MedianTime(bands, 0, tuple(range(1, BINS + 1))),
            MeanTime(bands, 0, (1.0,) * BINS),
        )
        for place, (figure, truth) in enumerate(zip(figures, truths, strict=True)):
            low, high = figure.ends(0.95)
            held[place] += low <= truth <= high
    assert (held / 200 >= 0.92).all()


def test_logarithms_of_hazards():
    assert log_hazard([1.0, np.exp(-1), 0.0]).tolist() == [-np.inf, 0.0, np.inf]


@pytest.mark.parametrize("deaths", [[[0.0], [50.0]], [[100.0], [50.0]]])
def test_a_ratio_to_nobody_or_of_all_may_be_anything(deaths):
    died = np.array(deaths)
    table = LifeTable(died, np.zeros((2, 1)), 100 - died[:, 0], 0.0)
    bands = Pointwise(Bands(table, mechanism(1.0)))
    assert HazardRatio(bands, 0, 1, 0).ends(0.95) == (0.0, np.inf)
