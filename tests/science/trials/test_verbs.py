"""Every test can be asked of an opened dataset, whose account pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError, Unit, UnitMismatch
from dither.science import trials
from dither.science.trials.verbs import TESTS

ARMS = ("drug", "placebo")
BOTH: dict[str, Any] = {"outcome": "pain", "arm": "arm", "sizes": (60, 60)}
ASKED: dict[str, dict[str, Any]] = {
    "binomtest": {"outcome": "died", "n": 120},
    "chi2_contingency": {"outcome": "died", "arm": "arm"},
    "chisquare": {"outcome": "died", "levels": (0, 1)},
    "kaplan_meier": {
        "outcome": "weeks",
        "event": "died",
        "arm": "arm",
        "edges": (0, 26, 52),
    },
    "kruskal": BOTH,
    "linregress": {"outcome": "pain", "predictors": ["before", "weeks"], "n": 120},
    "location_shift": BOTH | {"within": (-10, 10)},
    "mannwhitneyu": BOTH,
    "mean": {"outcome": "pain", "size": 120},
    "mean_difference": BOTH,
    "median": {"outcome": "pain", "size": 120},
    "median_difference": BOTH,
    "odds_ratio": {"outcome": "died", "arm": "arm"},
    "risk_difference": {"outcome": "died", "arm": "arm"},
    "test_of_tests": {"of": "ttest_ind", "outcome": "pain", "arm": "arm"},
    "wilcoxon": {"outcome": "pain", "baseline": "before", "size": 120},
}
PRIVATE = ("sizes", "size", "n")
NEED_SIZES = ("kruskal", "location_shift", "median", "median_difference", "wilcoxon")


def patients() -> pd.DataFrame:
    drawn = np.random.default_rng(4)  # allowed: test inputs, not noise
    return pd.DataFrame(
        {
            "patient": np.arange(120),
            "arm": np.repeat(ARMS, 60),
            "pain": drawn.integers(0, 11, 120),
            "before": drawn.integers(0, 11, 120),
            "weeks": drawn.integers(1, 52, 120),
            "died": drawn.integers(0, 2, 120),
        }
    )


def opened(relation: str = "replace") -> Any:
    return dither.open(
        patients(),
        name="trial",
        unit=Unit("patient", relation),
        keys={"arm": list(ARMS), "died": [0, 1]},
        bounds={"pain": (0, 10), "before": (0, 10), "weeks": (0, 52)},
        rows=1,
        budget=100.0,
        ledger=":memory:",
    )


def test_all_tests_are_asked_here():
    public = {
        name
        for name in trials.__all__
        if name[0].islower() and name not in ("holm", "power", "sample_size")
    }
    assert set(TESTS) == set(ASKED) == public


@pytest.mark.parametrize("test", ASKED)
def test_the_account_pays(test):
    with opened() as study:
        found = study.trial(test, **ASKED[test], epsilon=2)
        assert study.account.spent == pytest.approx(0.02)
        assert found.guarantee.unit == Unit("patient", "replace")
        assert str(found)


@pytest.mark.parametrize("test", ASKED)
def test_sizes_are_private_where_people_come_or_go(test):
    told = {name: value for name, value in ASKED[test].items() if name not in PRIVATE}
    with opened("add/remove") as study:
        if test in NEED_SIZES:
            with pytest.raises(UnitMismatch, match="replace"):
                study.trial(test, **ASKED[test], epsilon=2)
            assert study.account.spent == 0
            return
        found = study.trial(test, **told, epsilon=2)
        assert found.guarantee.unit == Unit("patient")
        assert study.account.spent == pytest.approx(0.02)


def test_predictors_must_be_named():
    with opened() as study, pytest.raises(ArgumentError, match="predictors"):
        study.trial("linregress", outcome="pain", n=120, epsilon=1)
