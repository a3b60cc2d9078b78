"""Curves from cells: lifelines' without noise, sensible with it."""

import json
from pathlib import Path

import numpy as np
import pytest

from dither.science.trials.cells import counted, placed
from dither.science.trials.curve import CUT, LifeTable, falling

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
    table = LifeTable.of(np.array([[3, 5, 4, 6, 2]]), 2.0, np.array([15]))
    assert table.deaths.tolist() == [[2.0, 4.0]]
    assert table.censored.tolist() == [[3.0, 5.0]]
    assert table.at_risk.tolist() == [[14.0, 9.0]]


@pytest.mark.parametrize("known", [False, True])
def test_the_noise_at_risk_is_that_of_the_sum(known):
    """Against the variance of the sum's own weights."""
    table = LifeTable(np.ones((1, 3)), np.ones((1, 3)), 2.0, known)
    for place in range(3):
        later = (np.arange(3) >= place).astype(float)
        weights = np.concatenate([later, later])
        expected = np.sqrt(table.noise_of(weights))
        assert table.risk_deviation[place] == pytest.approx(expected)


def test_noise_of_projected_cells():
    """Against the covariance of the projection itself."""
    table = LifeTable(np.ones((1, 3)), np.ones((1, 3)), 2.0, True)
    projection = np.eye(7) - 1 / 7
    covariance = 2.0 * (projection @ projection.T)[:6, :6]
    weights = np.array([1.0, -2, 0.5, 3, 0, 1])
    expected = weights @ covariance @ weights
    assert table.noise_of(weights) == pytest.approx(expected)


def test_a_curve_is_cut_where_few_are_at_risk():
    cells = np.array([[10, 10, 1, 10, 10, 1]])
    assert LifeTable.of(cells, 0.01, None).shown.tolist() == [[True, True, True]]
    noisy = LifeTable.of(cells, 4.0, None)
    assert noisy.risk_deviation[2] * CUT > 2
    assert noisy.shown.tolist() == [[True, True, False]]
    assert np.isnan(noisy.survival[0]).tolist() == [False, False, True]


def test_curves_never_rise_nor_leave_the_unit_interval():
    rng = np.random.default_rng(3)
    cells = rng.integers(-6, 9, (200, 12))
    for table in (LifeTable.of(cells, 0.5, None), LifeTable.of(cells, 1e6, None)):
        held = np.nan_to_num(table.survival, nan=0.0)
        assert ((held >= 0) & (held <= 1)).all()
        assert (np.diff(held, axis=1) <= 1e-12).all()


def test_nobody_at_all():
    table = LifeTable.of(np.zeros((2, 6), int), 2.0, None)
    assert np.isnan(table.survival).all()


def test_falling_pools_neighbours_that_rise():
    assert falling(np.array([1.0, 0.5, 0.7, 0.2])).tolist() == [1.0, 0.6, 0.6, 0.2]
    assert falling(np.array([0.1, 0.2, 0.6])).tolist() == pytest.approx([0.3] * 3)
    assert falling(np.zeros(0)).size == 0
