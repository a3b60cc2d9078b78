import math

import numpy as np
import pytest

import dither
from dither.mechanisms.values import HIGH, LOW, numbers, plus, present


@pytest.mark.parametrize("value", [3, True, np.int8(3), np.uint64(2**64 - 1), 2**200])
def test_ints_stay_python_ints(value):
    assert type(numbers(value)) is int
    assert numbers(value) == int(value)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), math.nan])
def test_floats_stay_floats(value):
    assert type(numbers(value)) is float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2], [1, 2]),
        (np.array([1, 2], np.uint8), [1, 2]),
        (np.array([2**64 - 1], np.uint64), [HIGH]),
        ([2**70, -(2**70), 5], [HIGH, LOW, 5]),
        ([2**63, -1], [HIGH, -1]),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        ([], []),
    ],
)
def test_integers_in_arrays_become_int64(value, expected):
    result = numbers(value)
    assert result.dtype == np.int64 or result.size == 0
    assert result.tolist() == expected


def test_reals_and_what_is_no_number():
    assert numbers([1, 2.5]).dtype == np.float64
    assert numbers([1.0, None, "x", [1]]).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert np.isnan(numbers([1.0, None], missing=math.nan)[1])
    assert numbers([10**400, 1.0]).tolist() == [math.inf, 1.0]
    assert numbers(np.array([1e10], np.float32)).dtype == np.float64


@pytest.mark.parametrize("value", ["5", b"5", None, 1j, np.array(["a"]), np.array([1j])])
def test_other_types_are_refused(value):
    with pytest.raises(dither.ArgumentError, match="value"):
        numbers(value)


def test_sums_never_wrap():
    values = np.array([HIGH, LOW, HIGH, 0], np.int64)
    noise = np.array([1, -1, -1, 7], np.int64)
    assert plus(values, noise).tolist() == [HIGH, LOW, HIGH - 1, 7]


def test_what_is_missing_counts_as_zero():
    for value in (None, math.nan, np.float32(math.nan), np.ma.masked):
        assert present(value) == 0
    assert present(math.inf) == math.inf
    assert present("x") == "x"


def test_gaps_in_a_list_leave_its_kind_alone():
    """One missing value must not turn the others into floats: 2^60 + 127 and 2^60 + 129 are 256 apart as floats."""
    whole = numbers([2**60 + 1, None, math.nan, "x", np.ma.masked])
    assert whole.dtype == np.int64
    assert whole.tolist() == [2**60 + 1, 0, 0, 0, 0]
    assert numbers([[1, None], [2, 3]]).tolist() == [[1, 0], [2, 3]]
    assert numbers((1.5, None)).tolist() == [1.5, 0]
    assert numbers(np.array([1, None], object)).dtype == np.int64
    assert numbers([1, None], missing=math.nan).dtype == np.float64
