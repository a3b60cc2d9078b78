"""Sensitivities by brute force on tiny inputs: every dataset, every neighbour."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dither.dataset import Kind
from dither.query.arrays import moments, quantiles
from dither.query.arrays.columns import Numbers, numbers_of
from dither.query.arrays.sums import SumGrid

VALUES = [-math.inf, -1.5, 0.0, 0.3, 1.0, 2.0, 1e300, math.nan]
RECORDS = [
    None,
    math.nan,
    3,
    2**70,
    -(2**70),
    1.5,
    "7",
    [1, 2],
    (1,),
    True,
    np.timedelta64(5, "s"),
    1j,
    np.ma.masked,
]
INTEGERS = [None, 0, 1, 3, 2**56 - 3, 2**63 - 1, -(2**63)]


def datasets(values, size):
    return [
        list(chosen)
        for n in range(size + 1)
        for chosen in itertools.product(values, repeat=n)
    ]


def neighbours(data, values, replacing):
    for i in range(len(data)):
        rest = data[:i] + data[i + 1 :]
        yield from (
            [[*data[:i], value, *data[i + 1 :]] for value in values]
            if replacing
            else [rest]
        )


COLUMNS = [
    ("float array", VALUES, Kind.REALS, lambda data: np.array(data, float)),
    ("list", RECORDS, Kind.ANYTHING, list),
    (
        "pandas Int64",
        INTEGERS,
        Kind.INTEGERS,
        lambda data: pd.Series(data, dtype="Int64"),
    ),
    (
        "polars Int64",
        INTEGERS,
        Kind.INTEGERS,
        lambda data: pl.Series(data, dtype=pl.Int64),
    ),
    ("arrow int64", INTEGERS, Kind.INTEGERS, lambda data: pa.array(data, pa.int64())),
    (
        "polars UInt64",
        [None, 0, 5, 2**64 - 1],
        Kind.INTEGERS,
        lambda data: pl.Series(data, dtype=pl.UInt64),
    ),
    (
        "polars Float64",
        [None, 1.0, math.nan],
        Kind.REALS,
        lambda data: pl.Series(data, dtype=pl.Float64),
    ),
]


@pytest.mark.parametrize(
    "bounds", [(0, 1), (-1, 2), (-3, -1), (0.1, 0.7), (5, 9), (2**56 - 10, 2**56)]
)
@pytest.mark.parametrize("replacing", [False, True])
@pytest.mark.parametrize(
    ("values", "kind", "make"), [c[1:] for c in COLUMNS], ids=[c[0] for c in COLUMNS]
)
def test_sum(values, kind, make, replacing, bounds):
    integer = kind is Kind.INTEGERS and float(bounds[0]).is_integer()
    steps = SumGrid.between(*bounds, integer=integer, replacing=replacing)

    def total(data):
        with np.errstate(all="ignore"):
            return steps.total(numbers_of(make(data), kind))

    for data in datasets(values, 2):
        here = total(data)
        for other in neighbours(data, values, replacing):
            assert abs(here - total(other)) <= steps.sensitivity, (data, other)


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 2), (-3, -1)])
def test_the_sensitivity_of_a_sum_is_reached(bounds):
    for replacing in (False, True):
        steps = SumGrid.between(*bounds, integer=False, replacing=replacing)
        totals = [steps.total(Numbers(np.array([value]))) for value in bounds] + [0] * (
            not replacing
        )
        assert max(totals) - min(totals) >= steps.sensitivity


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(
    ("values", "kind", "make"), [c[1:] for c in COLUMNS], ids=[c[0] for c in COLUMNS]
)
def test_moments(degree, values, kind, make):
    def sums(data):
        with np.errstate(all="ignore"):
            scaled = moments.scaled(numbers_of(make(data), kind), -1, 2)
        return np.array(
            [moments.exact_sum(part) for part in moments.parts(scaled, degree)]
        )

    worst = 0
    for data in datasets(values, 2):
        for other in neighbours(data, values, replacing=False):
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


@pytest.mark.parametrize(
    "q", [Fraction(1, 2), Fraction(1, 4), Fraction(19, 20), Fraction(0), Fraction(1)]
)
@pytest.mark.parametrize("shift", [0, -3, 5])
def test_quantile_penalties(q, shift):
    points = 4
    removal, replacement = 0, 0
    for counts in itertools.product(range(3), repeat=points):
        here = quantiles.penalties(np.array(counts), q, shift)
        for i in range(points):
            if counts[i]:
                fewer = np.array(counts) - np.eye(points, dtype=int)[i]
                removal = max(
                    removal, np.abs(here - quantiles.penalties(fewer, q, shift)).max()
                )
                for j in range(points):
                    moved = fewer + np.eye(points, dtype=int)[j]
                    replacement = max(
                        replacement,
                        np.abs(here - quantiles.penalties(moved, q, shift)).max(),
                    )
    assert removal <= max(q.numerator, q.denominator - q.numerator)
    assert replacement <= q.denominator


@pytest.mark.parametrize("shift", [0, -7, 7])
def test_some_point_has_no_penalty(shift):
    for counts in itertools.product(range(3), repeat=3):
        assert quantiles.penalties(np.array(counts), Fraction(1, 2), shift).min() == 0


def test_exact_sum_is_exact_beyond_64_bits():
    values = np.array([2**62, 2**62, 2**62, -1, -(2**62)], np.int64)
    assert moments.exact_sum(values) == sum(values.tolist())
