"""Sensitivities by brute force on tiny inputs: every dataset, every neighbour."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dither.query import moments, quantiles
from dither.query.steps import Steps

VALUES = [-math.inf, -1.5, 0.0, 0.3, 1.0, 2.0, 1e300, math.nan]


def datasets(size):
    return [np.array(values, float) for n in range(size + 1) for values in itertools.product(VALUES, repeat=n)]


def neighbours_by_removal(data):
    return [np.delete(data, i) for i in range(data.size)]


def neighbours_by_replacement(data):
    for i, value in itertools.product(range(data.size), VALUES):
        other = data.copy()
        other[i] = value
        yield other


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 2), (-3, -1), (0.1, 0.7), (5, 9)])
@pytest.mark.parametrize("integer", [False, True])
def test_sum(bounds, integer):
    if integer and not float(bounds[0]).is_integer():
        bounds = (0, 3)
    for replacing, neighbours in ((False, neighbours_by_removal), (True, neighbours_by_replacement)):
        steps = Steps.between(*bounds, integer=integer, replacing=replacing)
        worst = 0
        for data in datasets(2):
            here = steps.total(data)
            worst = max([worst, *(abs(here - steps.total(other)) for other in neighbours(data))])
        assert worst == steps.sensitivity or (bounds[0] > 0 and worst <= steps.sensitivity)


@pytest.mark.parametrize("degree", [1, 2])
def test_moments(degree):
    def sums(data):
        values = moments.scaled(data, -1, 2)
        return np.array([moments.exact_sum(part) for part in moments.parts(values[~np.isnan(values)], degree)])

    worst = 0
    for data in datasets(2):
        for other in neighbours_by_removal(data):
            worst = max(worst, np.abs(sums(data) - sums(other)).sum())
    assert worst == moments.STEPS == moments.sensitivities(replacing=False)[0]


def test_moments_under_replacement():
    values = np.linspace(0, 1, 101)
    for degree in (1, 2):
        points = np.stack(moments.parts(values, degree), axis=1)
        assert (points >= 0).all()
        assert (points.sum(axis=1) == moments.STEPS).all()
        apart = points[:, None, :] - points[None, :, :]
        l1, l2 = moments.sensitivities(replacing=True)
        assert np.abs(apart).sum(axis=2).max() <= l1
        assert np.sqrt((apart.astype(float) ** 2).sum(axis=2)).max() <= l2


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 4), Fraction(19, 20), Fraction(0), Fraction(1)])
@pytest.mark.parametrize("shift", [0, -3, 5])
def test_quantile_penalties(q, shift):
    points = 4
    removal, replacement = 0, 0
    for counts in itertools.product(range(3), repeat=points):
        here = quantiles.penalties(np.array(counts), q, shift)
        for i in range(points):
            if counts[i]:
                fewer = np.array(counts) - np.eye(points, dtype=int)[i]
                removal = max(removal, np.abs(here - quantiles.penalties(fewer, q, shift)).max())
                for j in range(points):
                    moved = fewer + np.eye(points, dtype=int)[j]
                    replacement = max(replacement, np.abs(here - quantiles.penalties(moved, q, shift)).max())
    assert removal <= max(q.numerator, q.denominator - q.numerator)
    assert replacement <= q.denominator


@pytest.mark.parametrize("shift", [0, -7, 7])
def test_some_point_has_no_penalty(shift):
    for counts in itertools.product(range(3), repeat=3):
        assert quantiles.penalties(np.array(counts), Fraction(1, 2), shift).min() == 0


def test_exact_sum_is_exact_beyond_64_bits():
    values = np.array([2**62, 2**62, 2**62, -1, -(2**62)], np.int64)
    assert moments.exact_sum(values) == sum(values.tolist())
