"""Curves from cells: lifelines' without noise, sensible with it."""

import json
from pathlib import Path

import numpy as np
import pytest

from dither.science.trials.cells import counted, placed
from dither.science.trials.curve import CUT, LifeTable, even_share, falling

FIXTURE = Path(__file__).parents[2] / "fixtures" / "trials" / "survival.json"
STUDIES = json.loads(FIXTURE.read_text(encoding="utf-8"))


def exact(study, variance=0.0, sizes=False):
    """A study's table without noise, as if it had some of a variance."""
    arms = sorted(study["curves"])
    codes = np.array([arms.index(arm) for arm in study["arm"]])
    cells = placed(np.array(study["time"]), np.array(study["event"]), study["edges"])
    public = np.bincount(codes) if sizes else None
    found = counted(cells, codes, len(arms), len(study["edges"]) - 1, public)
    return LifeTable.of(found, variance, public)


@pytest.mark.parametrize("sizes", [False, True])
@pytest.mark.parametrize("name", STUDIES)
def test_without_noise_curves_are_those_of_lifelines(name, sizes):
    study = STUDIES[name]
    table = exact(study, sizes=sizes)
    theirs = np.array([study["curves"][arm] for arm in sorted(study["curves"])])
    shown = table.shown
    assert shown.sum() >= shown.size - 3  # nobody is left at risk in the others
    np.testing.assert_allclose(table.survival[shown], theirs[shown], atol=1e-12)


def test_a_known_size_takes_its_surplus_from_all_cells():
    table = LifeTable.of(np.array([[3, 5, 4, 6, 9, 2]]), 2.0, np.array([23]))
    assert table.deaths.tolist() == [[2.0, 4.0]]
    assert table.censored.tolist() == [[3.0, 5.0]]
    assert table.ended.tolist() == [8.0]
    assert table.at_risk.tolist() == [[22.0, 17.0]]
    assert table.leaving(1.0).at_risk.tolist() == [[19.0, 12.0]]


def test_numbers_that_are_printed_can_be_true():
    """Noise made 3 deaths negative: 53 of 50 would be at risk after them."""
    cells = np.array([[-3, 20, 1, 4, 28, 0]])
    table = LifeTable.of(cells, 2.0, np.array([50]))
    assert table.at_risk.tolist() == [[50.0, 52.0]]
    at_risk, deaths = table.possible
    assert at_risk.tolist() == [[50.0, 50.0]]
    assert deaths.tolist() == [[0.0, 20.0]]
    alone = LifeTable.of(np.array([[2, 9, -8, 0, -2]]), 2.0, None)
    at_risk, deaths = alone.possible
    assert at_risk.tolist() == [[4.0, 4.0]]
    assert deaths.tolist() == [[2.0, 4.0]]


@pytest.mark.parametrize("before", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("known", [False, True])
def test_the_noise_at_risk_is_that_of_the_sum(known, before):
    """Against the variance of the sum's own weights."""
    ones = np.ones((1, 3))
    table = LifeTable(ones, ones, np.ones(1), 2.0, known, before)
    for place in range(3):
        deaths = (np.arange(3) >= place).astype(float)
        censored = deaths - before * (np.arange(3) == place)
        weights = np.concatenate([deaths, censored, [1.0]])
        expected = np.sqrt(table.noise_of(weights))
        assert table.risk_deviation[0, place] == pytest.approx(expected)
        assert table.at_risk[0, place] == pytest.approx(weights.sum())


def test_noise_of_projected_cells():
    """Against the covariance of the projection itself."""
    table = LifeTable(np.ones((1, 3)), np.ones((1, 3)), np.ones(1), 2.0, True)
    projection = np.eye(8) - 1 / 8
    covariance = 2.0 * (projection @ projection.T)[:7, :7]
    weights = np.array([1.0, -2, 0.5, 3, 0, 1, -1])
    expected = weights @ covariance @ weights
    assert table.noise_of(weights) == pytest.approx(expected)


def test_a_curve_is_cut_where_few_are_at_risk():
    cells = np.array([[10, 10, 1, 10, 10, 1, 0]])
    assert LifeTable.of(cells, 0.01, None).shown.tolist() == [[True, True, True]]
    noisy = LifeTable.of(cells, 4.0, None)
    assert noisy.risk_deviation[0, 2] * CUT > 2
    assert noisy.shown.tolist() == [[True, True, False]]
    assert np.isnan(noisy.survival[0]).tolist() == [False, False, True]


def test_curves_never_rise_nor_leave_the_unit_interval():
    rng = np.random.default_rng(3)
    cells = rng.integers(-6, 9, (200, 13))
    for table in (LifeTable.of(cells, 0.5, None), LifeTable.of(cells, 1e6, None)):
        held = np.nan_to_num(table.survival, nan=0.0)
        assert ((held >= 0) & (held <= 1)).all()
        assert (np.diff(held, axis=1) <= 1e-12).all()


def test_nobody_at_all():
    table = LifeTable.of(np.zeros((2, 7), int), 2.0, None)
    assert np.isnan(table.survival).all()


@pytest.mark.parametrize("hazard", [0.01, 0.3, 1.5])
@pytest.mark.parametrize("censoring", [0.01, 0.7, 2.0])
def test_even_rates_give_the_hazard_of_the_population(hazard, censoring):
    """Expected cells of a bin of one: with the share before its deaths, deaths among
    those at risk are 1 - e^-hazard.
    """
    gone = 1 - np.exp(-hazard - censoring)
    deaths, censored = (
        gone * one / (hazard + censoring) for one in (hazard, censoring)
    )
    share = even_share(np.array([deaths]), np.array([censored]))[0]
    found = deaths / (1 - share * censored)
    assert found == pytest.approx(1 - np.exp(-hazard), rel=1e-3)
    assert 0.5 <= share <= 1


def test_even_shares_of_odd_cells():
    table = LifeTable.of(np.array([[-5, 90, 40, -7, 30], [0] * 5]), 1.0, None)
    share = table.evenly().before
    assert ((share >= 0.5) & (share <= 1)).all()


def test_falling_pools_neighbours_that_rise():
    assert falling(np.array([1.0, 0.5, 0.7, 0.2])).tolist() == [1.0, 0.6, 0.6, 0.2]
    assert falling(np.array([0.1, 0.2, 0.6])).tolist() == pytest.approx([0.3] * 3)
    assert falling(np.zeros(0)).size == 0
