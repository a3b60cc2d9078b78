"""Two arms compared: the test holds its level for every pair of proportions, and the
interval is what the test keeps.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.arms import Known, Private
from dither.science.trials.compared import Compared, Inverted
from dither.science.trials.contrasts import DIFFERENCE, ODDS, RATIO, Contrast
from dither.science.trials.null import Law

LAWS = [
    Law.of(Laplace(sensitivity=1, epsilon=1)),
    Law.of(Gaussian(sensitivity=1, rho=2)),
]


def outcomes(law: Law, n: int, p: float) -> dict[int, float]:
    """How likely each noisy count is."""
    noisy = np.arange(-6, n + 7)
    counts = np.arange(n + 1)
    chance = law.pmf(noisy[:, None] - counts) @ stats.binom.pmf(counts, n, p)
    return dict(zip(noisy.tolist(), chance.tolist(), strict=True))


def kept(law: Law, contrast: Contrast, p: tuple[float, float], n: int) -> float:
    """How often the true value is outside of a 90 % interval: summed over all pairs of
    noisy counts.
    """
    value = contrast.of(*p) if p[0] != p[1] else contrast.null
    missed = 0.0
    for first, chance in outcomes(law, n, p[0]).items():
        for second, other in outcomes(law, n, p[1]).items():
            if chance * other > 1e-4:
                compared = Compared((Known(first, n, law), Known(second, n, law)))
                low = compared.greater(contrast, value) <= 0.05
                missed += (
                    chance * other * (low or compared.less(contrast, value) <= 0.05)
                )
    return missed


@pytest.mark.parametrize("contrast", [ODDS, DIFFERENCE])
@pytest.mark.parametrize("p", [(0.5, 0.5), (0.3, 0.7)])
def test_the_level_holds(contrast: Contrast, p: tuple[float, float]) -> None:
    assert kept(LAWS[1], contrast, p, 5) <= 0.1


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("contrast", [ODDS, RATIO])
@pytest.mark.parametrize("p", [(0.05, 0.1), (0.2, 0.7), (1e-9, 1e-9)])
def test_the_level_holds_everywhere(
    law: Law, contrast: Contrast, p: tuple[float, float]
) -> None:
    assert kept(law, contrast, p, 4) <= 0.1


@pytest.mark.parametrize(
    ("contrast", "private"),
    [(ODDS, False), (DIFFERENCE, False), (RATIO, False), (ODDS, True)],
)
def test_an_interval_is_what_the_test_keeps(contrast: Contrast, private: bool) -> None:
    law = LAWS[0]
    counts = [(40, 30), (25, 75)]
    arms = [
        Private(yes, no, law) if private else Known(yes, yes + no, law)
        for yes, no in counts
    ]
    compared = Compared((arms[0], arms[1]))
    low, high = Inverted(compared, contrast).ends(0.95)
    assert low < contrast.of(40 / 70, 25 / 100) < high
    assert compared.greater(contrast, low) <= 0.025
    assert compared.less(contrast, high) <= 0.025
    inside = low + 0.01 * (high - low), high - 0.01 * (high - low)
    assert compared.greater(contrast, inside[0]) > 0.024
    assert compared.less(contrast, inside[1]) > 0.024
    lower = Inverted(compared, contrast, "greater").ends(0.975)
    assert lower == (pytest.approx(low), contrast.at(1.0))
    upper = Inverted(compared, contrast, "less").ends(0.975)
    assert upper == (contrast.at(0.0), pytest.approx(high))


def test_ends_may_be_0_and_infinite() -> None:
    law = LAWS[0]
    none = Compared((Known(0, 20, law), Known(1, 20, law)))
    assert Inverted(none, ODDS).ends(0.95) == (0.0, math.inf)
    few = Compared((Known(0, 50, law), Known(40, 50, law)))
    low, high = Inverted(few, ODDS).ends(0.95)
    assert low == 0
    assert 0 < high < 0.2
    many = Compared((Known(40, 50, law), Known(0, 50, law)))
    low, high = Inverted(many, ODDS).ends(0.95)
    assert 5 < low < high
    assert high == math.inf


def test_arms_that_exclude_a_value_decide_on_it() -> None:
    law = LAWS[0]
    apart = Compared((Known(990, 1000, law), Known(10, 1000, law)))
    assert apart.greater(DIFFERENCE, 0.0) < 0.01
    assert apart.less(DIFFERENCE, 0.0) == 1
    assert apart.pvalue(DIFFERENCE, 0.0, "two-sided") < 0.01
    assert apart.pvalue(ODDS, 1.0, "less") == 1


def test_without_noise_it_is_near_barnards_test() -> None:
    law = Law.of(Laplace(sensitivity=1, epsilon=1e4))
    compared = Compared((Known(14, 20, law), Known(6, 20, law)))
    wanted = stats.barnard_exact([[14, 6], [6, 14]], pooled=False).pvalue
    found = compared.pvalue(DIFFERENCE, 0.0, "two-sided")
    assert found == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize("counts", [(-9, -7), (70, 90), (-9, 80)])
def test_noise_beyond_all_people(counts: tuple[int, int]) -> None:
    law = Law.of(Laplace(sensitivity=1, epsilon=0.1))
    compared = Compared((Known(counts[0], 50, law), Known(counts[1], 50, law)))
    for contrast in (ODDS, DIFFERENCE, RATIO):
        low, high = Inverted(compared, contrast).ends(0.95)
        assert contrast.at(0.0) <= low < high <= contrast.at(1.0)
        assert 0 < compared.pvalue(contrast, contrast.null, "two-sided") <= 1
