"""The planned power of the log-rank test is what studies have."""

import numpy as np
import pytest

from dither import ArgumentError
from dither.science import trials
from dither.science.trials.logrank_test import pvalue
from tests.science.trials.simulated import mechanism, noisy, people

STUDY = {"hazard_ratio": 0.5, "n": 100, "survival": 0.4, "bins": 5, "epsilon": 1.0}


@pytest.mark.parametrize("censored", [0.0, 0.3])
@pytest.mark.parametrize(("n", "epsilon"), [(60, 3.0), (100, 1.0), (200, 0.3)])
def test_power_is_that_of_simulated_studies(n, epsilon, censored):
    """200 seeded studies; the standard error is 0.035 at most."""
    rng = np.random.default_rng(41)
    used, sizes = mechanism(epsilon), np.array([n, n])
    lost = [1 - (1 - censored) ** 0.2] * 5
    arms = [
        people(rng, n, [1 - alive**0.2] * 5, lost, 200) for alive in (0.4, 0.4**0.5)
    ]
    found = [
        pvalue(noisy(rng, np.array(two), used, sizes), used)[1]
        for two in zip(*arms, strict=True)
    ]
    words = STUDY | {"n": n, "epsilon": epsilon, "censored": censored}
    planned = trials.power("logrank", **words)
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(planned, abs=0.1)


def test_power_grows_with_people_effect_and_cost():
    base = trials.power("logrank", **STUDY)
    assert trials.power("logrank", **(STUDY | {"n": 200})) > base
    assert trials.power("logrank", **(STUDY | {"epsilon": 3.0})) > base
    assert trials.power("logrank", **(STUDY | {"hazard_ratio": 0.4})) > base
    assert trials.power("logrank", **(STUDY | {"bins": 20})) < base
    assert trials.power("logrank", **(STUDY | {"hazard_ratio": 1.0})) <= 0.05
    lost = STUDY | {"censored": 0.3}
    declared = [
        trials.power("logrank", censoring=when, **lost)
        for when in ("within", "evenly", "ends")
    ]
    assert declared[0] < declared[1] <= declared[2] + 0.02


def test_without_noise_it_is_schoenfeld_s():
    """Events needed for 80 %: 4 (z + z)² / log² ratio, for a ratio near 1."""
    people = trials.sample_size(
        "logrank", hazard_ratio=0.8, survival=0.3, bins=500, epsilon=1e6
    )
    events = people * (1 - 0.3 + 1 - 0.3**0.8)
    assert events == pytest.approx(4 * 2.8016**2 / np.log(0.8) ** 2, rel=0.03)


def test_too_few_people_have_no_power():
    assert trials.power("logrank", **(STUDY | {"n": 1, "epsilon": 0.01})) == 0


def test_a_sample_size_reaches_its_power():
    words = {name: value for name, value in STUDY.items() if name != "n"}
    found = trials.sample_size("logrank", power=0.9, **words)
    assert trials.power("logrank", **(STUDY | {"n": found})) >= 0.9
    assert trials.power("logrank", **(STUDY | {"n": found - 1})) < 0.9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hazard_ratio", 0),
        ("hazard_ratio", "x"),
        ("n", 0),
        ("n", 1.5),
        ("survival", 0),
        ("survival", 1),
        ("censored", 1.0),
        ("censored", -0.1),
        ("censoring", "never"),
        ("bins", 0),
        ("bins", 501),
        ("alpha", 1),
        ("epsilon", 0),
        ("rho", 1.0),
    ],
)
def test_bad_plans_are_refused(name, value):
    with pytest.raises(ArgumentError):
        trials.power("logrank", **(STUDY | {name: value}))


def test_a_plan_needs_a_cost():
    with pytest.raises(ArgumentError):
        trials.power("logrank", **(STUDY | {"epsilon": None}))
    rho = trials.power("logrank", **(STUDY | {"epsilon": None, "rho": 0.5}))
    assert 0.5 < rho < 1
