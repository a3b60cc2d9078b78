"""Intervals around survival curves hold what they are about, at their rate."""

import numpy as np
import pytest

from dither.mechanisms import Laplace
from dither.science.trials.bands import FEWER, Bands, Margins, gradients
from dither.science.trials.curve import ENDS, EVENLY, WITHIN, LifeTable
from tests.science.trials.simulated import continuous, mechanism, noisy, people

RUNS = 2000


def product_of(cells, before):
    deaths, censored = cells[:4], cells[4:8]
    later = np.cumsum((deaths + censored)[::-1])[::-1] + cells[8]
    return np.cumprod(1 - deaths / (later - before * censored))


@pytest.mark.parametrize("before", [0.0, 0.4, 1.0])
def test_gradients_are_those_of_the_curve(before):
    """Against differences."""
    cells = np.array([8.0, 5, 9, 2, 3, 7, 1, 6, 4])
    table = LifeTable(cells[None, :4], cells[None, 4:8], cells[8:], 0.0, False, before)
    np.testing.assert_allclose(table.unbiased[0], product_of(cells, before))
    found = gradients(table, 0)
    for place in range(9):
        step = np.zeros(9)
        step[place] = 1e-6
        moved = product_of(cells + step, before) - product_of(cells - step, before)
        np.testing.assert_allclose(found[:, place], moved / 2e-6, atol=1e-8)


def test_noise_counts_for_more_where_few_are_at_risk():
    twenty = np.full((1, 2), 20.0)
    table = LifeTable(twenty, twenty, np.zeros(1), 1.0)
    plain = table.noise_of(gradients(table, 0))
    more = (1 / (1 - FEWER * table.risk_deviation / table.at_risk))[0]
    noise = Margins(table, mechanism(1.0)).noise[0]
    np.testing.assert_allclose(noise, plain * more**2)
    assert more[1] > more[0] > 1


CASES = {
    "ordinary": ([0.08] * 8, [0.04] * 8),
    "few deaths": ([0.004] * 8, [0.0] * 8),
    "much censoring": ([0.05] * 8, [0.2] * 8),
    "nobody dies": ([0.0] * 8, [0.15] * 8),
    "most die at once": ([0.0, 0.95] + [0.0] * 6, [0.0] * 8),
    "most die": ([0.4] * 8, [0.02] * 8),
}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_at_their_rate(name, epsilon, known):
    """2,000 seeded studies of 200; a rate of 0.95 has a standard error of 0.005."""
    hazards, censoring = (np.array(one) for one in CASES[name])
    rng = np.random.default_rng(11)
    cells = people(rng, 200, hazards, censoring, RUNS)
    used = mechanism(epsilon)
    table = noisy(rng, cells, used, np.full(RUNS, 200) if known else None)
    bands = Bands(table, used, ENDS)
    own = LifeTable.of(cells[:, :-1], 0.0, None)
    theirs = np.where(own.shown, own.unbiased, own.unbiased[:, -1:])
    for truth, (low, high) in (
        (theirs, bands.of_table(0.95)),
        (np.cumprod(1 - hazards), bands.of_population(0.95)),
    ):
        held = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        assert held.mean(axis=0).min() >= 0.935


@pytest.mark.parametrize(
    ("size", "hazard", "censoring"),
    [(200, 0.3, 0.3), (1000, 0.3, 0.3), (1000, 0.1, 0.7)],
)
def test_censoring_within_bins_is_allowed_for(size, hazard, censoring):
    """Both at constant rates; the convention alone misses the population."""
    rng = np.random.default_rng(13)
    used = mechanism(1.0)
    cells = continuous(rng, size, hazard, censoring, 4, 300)
    table = noisy(rng, cells, used, np.full(300, size))
    truth = np.exp(-hazard * np.arange(1, 5))
    for known in (WITHIN, EVENLY):
        low, high = Bands(table, used, known).of_population(0.95)
        assert ((low <= truth) & (truth <= high)).mean(axis=0).min() >= 0.94
    low, high = Bands(table, used, ENDS).of_population(0.95)
    assert ((low <= truth) & (truth <= high)).mean(axis=0).min() < 0.93


def test_beyond_the_cut_a_curve_lies_anywhere_below():
    cells = np.array([[40.0, 1, 1]])
    table = LifeTable(cells, cells, np.zeros(1), 4.0)
    assert table.shown.tolist() == [[True, False, False]]
    bands = Bands(table, mechanism(1.0))
    for low, high in (bands.of_table(0.9), bands.of_population(0.9)):
        assert low[0, 1:].tolist() == [0.0, 0.0]
        assert high[0, 1:].tolist() == [high[0, 0]] * 2


def test_nothing_shown_says_nothing():
    nothing = np.zeros((1, 2))
    table = LifeTable(nothing, nothing, np.zeros(1), 8.0)
    bands = Bands(table, mechanism(1.0))
    low, high = bands.of_population(0.95)
    assert low.tolist() == [[0.0, 0.0]]
    assert high.tolist() == [[1.0, 1.0]]


def test_without_noise_the_interval_is_wilson_s():
    """With half a person of room; at the first bin it is that of a proportion."""
    from statsmodels.stats.proportion import proportion_confint

    deaths, none = np.array([[30.0, 1]]), np.zeros((1, 2))
    table = LifeTable(deaths, none, np.array([69.0]), 0.0)
    bands = Bands(table, Laplace(sensitivity=2, epsilon=1e6))
    low, high = (end[0, 0] for end in bands.of_population(0.95))
    least, _ = proportion_confint(69.5, 100, method="wilson")
    _, most = proportion_confint(70.5, 100, method="wilson")
    assert low == pytest.approx(least, abs=1e-9)
    assert high == pytest.approx(most, abs=1e-9)
