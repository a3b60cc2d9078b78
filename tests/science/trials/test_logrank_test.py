"""The log-rank test: lifelines' without noise, calibrated with it."""

import numpy as np
import pytest

from dither.mechanisms import Laplace
from dither.science.trials.curve import ENDS, EVENLY, LifeTable
from dither.science.trials.logrank_test import Exact, pvalue
from dither.science.trials.scores import Scores
from tests.science.trials.simulated import continuous, mechanism, noisy, people
from tests.science.trials.test_curve import STUDIES, exact

SILENT = Laplace(sensitivity=2, epsilon=1e6)


@pytest.mark.parametrize("name", STUDIES)
def test_without_noise_it_is_that_of_lifelines(name):
    study = STUDIES[name]
    statistic, probability = pvalue(exact(study), SILENT, ENDS)
    assert statistic == pytest.approx(study["logrank"]["statistic"], rel=1e-12)
    assert probability == pytest.approx(study["logrank"]["pvalue"], rel=1e-9)


def test_three_arms_without_noise():
    """Against statsmodels, person by person."""
    from statsmodels.duration.survfunc import survdiff

    rng = np.random.default_rng(2)
    time, event = rng.integers(1, 6, 150), rng.integers(0, 2, 150)
    arm = rng.integers(0, 3, 150)
    cells = np.zeros((3, 11), np.int64)
    np.add.at(cells, (arm, time - 1 + 5 * (1 - event)), 1)
    table = LifeTable.of(cells, 0.0, None)
    statistic, probability = pvalue(table, SILENT, ENDS)
    theirs, their_probability = survdiff(time, event, arm)
    assert statistic == pytest.approx(theirs, rel=1e-12)
    assert probability == pytest.approx(their_probability, rel=1e-9)


def test_unlike_censoring_within_bins_is_no_effect():
    """One hazard, censored at unlike rates all the time: the convention alone finds an
    effect where there is none.
    """
    rng = np.random.default_rng(7)
    used, sizes = mechanism(1.0), np.array([200, 200])
    arms = [continuous(rng, 200, 0.3, rate, 4, 200) for rate in (0.05, 0.7)]
    tables = [noisy(rng, np.array(two), used, sizes) for two in zip(*arms, strict=True)]
    found = [pvalue(table, used)[1] for table in tables]
    evenly = [pvalue(table, used, EVENLY)[1] for table in tables]
    assert np.mean(np.array(evenly) <= 0.05) <= 0.05 + 3 * 0.0154
    plain = [pvalue(table, used, ENDS)[1] for table in tables]
    assert np.mean(np.array(found) <= 0.05) <= 0.05
    assert np.mean(np.array(plain) <= 0.05) > 0.2


CASES = {
    "ordinary": ([0.1] * 5, [0.05] * 5, [0.05] * 5),
    "few deaths": ([0.005] * 5, [0.0] * 5, [0.0] * 5),
    "nobody dies": ([0.0] * 5, [0.2] * 5, [0.2] * 5),
    "one bin": ([0.0, 0.97, 0.0, 0.0, 0.0], [0.0] * 5, [0.0] * 5),
    "unlike censoring": ([0.15] * 5, [0.3] * 5, [0.0] * 5),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("epsilon", "known"), [(0.3, True), (1.0, False), (3.0, True)])
def test_false_positives(name, epsilon, known):
    """300 seeded studies of 50 against 100; the standard error is 0.0126."""
    hazards, *censoring = CASES[name]
    rng = np.random.default_rng(23)
    used, sizes = mechanism(epsilon), (50, 100)
    arms = [
        people(rng, size, hazards, one, 300)
        for size, one in zip(sizes, censoring, strict=True)
    ]
    found = [
        pvalue(noisy(rng, np.array(two), used, _sizes(sizes, known)), used, ENDS)[1]
        for two in zip(*arms, strict=True)
    ]
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * 0.0126


def _sizes(sizes, known):
    return np.array(sizes) if known else None


@pytest.mark.parametrize(
    ("sizes", "hazard"), [((1, 200), 0.1), ((3, 100), 0.05), ((5, 300), 0.02)]
)
def test_false_positives_of_a_small_arm(sizes, hazard):
    """Its score is skewed: a normal law has two to three times as many. 400 seeded
    studies; the standard error is 0.011.
    """
    rng = np.random.default_rng(43)
    used = mechanism(10.0)
    arms = [people(rng, size, [hazard] * 4, [0.0] * 4, 400) for size in sizes]
    found = [
        pvalue(noisy(rng, np.array(two), used, np.array(sizes)), used, ENDS)[1]
        for two in zip(*arms, strict=True)
    ]
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * 0.011


def test_a_small_third_arm():
    rng = np.random.default_rng(47)
    sizes = np.array([100, 100, 2])
    alike = np.stack([people(rng, size, [0.1] * 4, [0.0] * 4, 1)[0] for size in sizes])
    table = noisy(rng, alike, mechanism(10.0), sizes)
    assert 0 < pvalue(table, mechanism(10.0), ENDS)[1] <= 1


def test_an_effect_is_found():
    rng = np.random.default_rng(29)
    used = mechanism(1.0)
    first = people(rng, 200, [0.2] * 5, [0.0] * 5, 50)
    second = people(rng, 200, [0.08] * 5, [0.0] * 5, 50)
    found = [
        pvalue(noisy(rng, np.array(two), used, np.array([200, 200])), used)[1]
        for two in zip(first, second, strict=True)
    ]
    assert np.mean(np.array(found) <= 0.05) > 0.9


def test_three_arms_are_simulated():
    rng = np.random.default_rng(31)
    used = mechanism(1.0)
    alike = people(rng, 100, [0.1] * 4, [0.05] * 4, 3)
    table = noisy(rng, alike, used, np.full(3, 100))
    statistic, probability = pvalue(table, used, ENDS)
    assert statistic > 0
    assert 1e-4 < probability <= 1
    apart = np.stack(
        [people(rng, 100, [h] * 4, [0.0] * 4, 1)[0] for h in (0.1, 0.1, 0.6)]
    )
    assert pvalue(noisy(rng, apart, used, np.full(3, 100)), used)[1] < 0.01


def test_nothing_to_see_is_no_evidence():
    nothing = np.zeros((2, 3))
    table = LifeTable(nothing, nothing, np.zeros(2), 8.0)
    assert pvalue(table, mechanism(1.0)) == (0.0, 1.0)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("hazards", [(0.1, 0.1), (0.2, 0.1)])
def test_the_interval_holds_the_exact_statistic(epsilon, hazards):
    rng = np.random.default_rng(37)
    used, sizes = mechanism(epsilon), np.array([200, 200])
    arms = [people(rng, 200, [one] * 5, [0.05] * 5, 400) for one in hazards]
    held = []
    for two in zip(*arms, strict=True):
        cells = np.array(two)
        own = Scores.of(LifeTable.of(cells, 0.0, sizes))
        truth = own.values[0] ** 2 / own.sampling[0, 0]
        low, high = Exact(Scores.of(noisy(rng, cells, used, sizes)), used).ends(0.95)
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.94
