"""The unbiased two-sided test."""

from __future__ import annotations

import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.null import Law
from dither.science.trials.plans import cuts
from dither.science.trials.tulap import Binomial, Tulap
from dither.science.trials.unbiased import Unbiased

LAWS = [
    Law.of(Laplace(sensitivity=1, epsilon=0.3)),
    Law.of(Laplace(sensitivity=1, epsilon=3)),
    Law.of(Gaussian(sensitivity=1, rho=0.5)),
]


def rejected(test: Unbiased, p: float, alpha: float) -> float:
    """How often a population of proportion p is rejected."""
    low, high = cuts(test.counts, test.tulap, "two-sided", alpha)
    counts = Binomial(test.counts.n, p)
    below = test.tulap.below(low - counts.values)
    return counts.mean(below + test.tulap.below(counts.values - high))


@pytest.mark.parametrize("law", LAWS)
def test_the_level_is_exact_and_nothing_is_rejected_less(law: Law) -> None:
    p, alpha = 0.2, 0.05
    test = Unbiased(Binomial(15, p), Tulap(law))
    assert rejected(test, p, alpha) == pytest.approx(alpha, rel=1e-6)
    for other in (p - 0.01, p + 0.01):
        assert rejected(test, other, alpha) > alpha


def test_where_both_sides_are_alike_it_is_the_symmetric_test() -> None:
    law = LAWS[1]
    counts = Binomial(20, 0.5)
    test = Unbiased(counts, Tulap(law))
    for away in (0.7, 3.0, 6.2):
        tail = counts.mean(Tulap(law).below(counts.values - 10 - away))
        assert test.pvalue(10 + away) == pytest.approx(2 * tail, rel=1e-6)
        assert test.pvalue(10 - away) == pytest.approx(2 * tail, rel=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_far_away_p_values_go_on_falling(law: Law) -> None:
    test = Unbiased(Binomial(100, 0.5), Tulap(law))
    for side in (-1, 1):
        found = [test.pvalue(50 + side * away) for away in (30, 60, 120, 300, 2000)]
        assert found == sorted(found, reverse=True)
        assert found[-1] < 1e-6


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_certain_count_leaves_the_noise(p: float) -> None:
    test = Unbiased(Binomial(9, p), Tulap(LAWS[0]))
    assert test.pvalue(9 * p) == pytest.approx(1)
    assert test.pvalue(9 * p + 40) < 1e-3
