"""Holm's correction."""

import gc

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.privacy import PureDP
from dither.release import Source
from dither.science import trials
from dither.science.trials.holm import adjust


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_it_is_statsmodels_correction(count, monkeypatch):
    from statsmodels.stats.multitest import multipletests

    # It collects all garbage in every call, which takes long in a process of many tests
    monkeypatch.setattr(gc, "collect", lambda: 0)
    drawn = np.random.default_rng(count)  # allowed: test inputs, not noise
    for _ in range(20):
        pvalues = np.round(drawn.random(count) ** 3, 2)
        wanted = multipletests(pvalues, method="holm")[1]
        np.testing.assert_allclose(adjust(pvalues), wanted, atol=1e-12)


def test_tests_and_numbers_by_name():
    source = Source(PureDP(1.0))
    test = trials.TrialRelease("U", 3, (source,), pvalue=0.01)
    found = trials.holm({"primary": test, "other": 0.2, "third": 0.03})
    assert found["primary"] == pytest.approx(0.03)
    assert found["third"] == pytest.approx(0.06)
    assert found.reject == {"primary": True, "other": False, "third": False}
    assert "primary: corrected p = 0.03\n" in str(found)


@pytest.mark.parametrize(
    "tests", [{}, [0.1], {"a": None}, {"a": 1.5}, {"a": float("nan")}, {"a": "x"}]
)
def test_what_has_no_pvalue_is_refused(tests):
    with pytest.raises(ArgumentError, match=r"tests must be|does not have a p-value"):
        trials.holm(tests)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan"), "x"])
def test_alpha_lies_between_0_and_1(alpha):
    with pytest.raises(ArgumentError, match="alpha"):
        trials.holm({"a": 0.1}, alpha=alpha)
