"""Sums of Laplace variables on the line, against the inverted characteristic function."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dither.noise.laplace_sums import (
    FEW,
    few_tail,
    multiple,
    multiples,
    pair_multiple,
    pair_tail,
    worst_multiple,
)


def tail(scales, x):
    """P(|sum| > x) (Gil-Pelaez)."""
    s = (np.arange(200_000) + 0.5) * 0.01
    transform = np.prod([1 / (1 + (w * s) ** 2) for w in scales], axis=0)
    return 1 - 2 / math.pi * np.sum(np.sin(s * x) / s * transform) * 0.01


@pytest.mark.parametrize(
    "scales", [(1,), (1, 0.3), (1, 1), (1, 1, 1), (1, 0.999, 0.2), (1, 1, 0.5, 0.5)]
)
@pytest.mark.parametrize("x", [0.4, 3.0, 9.0])
def test_few_variables_have_a_closed_form(scales, x):
    found, exact = few_tail(scales, x), tail(scales, x)
    assert len(scales) <= FEW
    assert exact - 1e-5 <= found <= exact * 1.03 + 1e-5
    if len(scales) == 2:
        assert pair_tail(*scales, x) == pytest.approx(exact, abs=1e-4)


def test_no_variables_and_none_to_reach():
    assert few_tail([0.0, 0.0], 1.0) == pair_tail(0, 0, 1) == 0
    assert few_tail([0.0], 0.0) == few_tail([1.0], -1.0) == pair_tail(1, 2, 0) == 1
    for found in (pair_tail(1, 0, 2), few_tail([1, 0], 2)):
        assert found == pytest.approx(math.exp(-2))


@pytest.mark.parametrize("missed", [0.25, 0.025, 0.0005])
@pytest.mark.parametrize(
    "scales",
    [(1,), (1, 1), (1, 0.3), (1,) * 3, (1,) * 10, (1,) * 60, (1,) + (0.2,) * 20],
    ids=len,
)
def test_a_multiple_is_never_too_small(scales, missed):
    squares = np.array(scales, float) ** 2
    uneven = (squares**2).sum() / squares.sum() ** 2
    deviations = multiple(uneven, missed)
    assert tail(scales, deviations * math.sqrt(2 * squares.sum())) <= 2 * missed + 1e-5
    assert deviations <= worst_multiple(missed)
    assert multiples(np.array([uneven]), missed).tolist() == [deviations]


def test_many_variables_are_nearly_normal():
    assert multiple(1 / 60, 0.025) <= 1.01 * norm.isf(0.025)
    assert multiple(1 / 300, 0.0005) <= 1.01 * norm.isf(0.0005)
    assert multiple(0.0, 1e-9) <= 1.1 * norm.isf(1e-9)


def test_one_variable_is_the_worst_but_for_a_little():
    for missed in (0.025, 1e-4, 1e-9):
        alone = -math.log(2 * missed) / math.sqrt(2)
        assert alone <= worst_multiple(missed) <= 1.03 * alone
        assert multiple(1.0, missed) == worst_multiple(missed)


@pytest.mark.parametrize("missed", [0.25, 0.025, 1e-6])
def test_a_pair_is_covered_between_grid_points(missed):
    most = pair_multiple(missed)
    for ratio in np.linspace(0.001, 0.999, 300):
        assert pair_tail(1, ratio, most * math.hypot(1, ratio)) <= 2 * missed
