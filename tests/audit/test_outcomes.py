"""Outputs of any kind become arrays, and no two that differ become the same."""

import numpy as np
import pytest

from dither.audit.outcomes import Encoder, Raised, joined


def test_whole_numbers_stay_exact():
    found = Encoder().encode([2**62 + 1, -(2**63), True])
    assert found.values.dtype == np.int64
    assert found.values[:, 0].tolist() == [2**62 + 1, -(2**63), 1]
    assert found.numbers.all()


@pytest.mark.parametrize("outputs", [np.zeros((3, 2, 2)), np.zeros(3), np.zeros(3, np.float32), np.zeros(3, complex)])
def test_arrays_become_rows(outputs):
    found = Encoder().encode(outputs)
    assert found.values.shape == (3, max(1, outputs.size // 3 * (2 if outputs.dtype == complex else 1)))
    assert found.values.dtype == np.float64


def test_kinds_differ():
    encoder = Encoder()
    odd = [1, 1.5, float("nan"), "a", "b", None, (1, 2), [1, 2, 3], {"x": 1}, Raised("ValueError"), Raised("KeyError")]
    found = encoder.encode(odd)
    assert found.numbers.tolist() == [True] * 3 + [False] * 8
    assert len(set(found.kinds[3:].tolist())) == 8
    assert found.kinds[0] != found.kinds[1]
    assert "it raises KeyError" in encoder.names
    assert encoder.encode(odd).kinds.tolist() == found.kinds.tolist()


def test_rows_of_one_width_are_numbers_whatever_holds_them():
    found = Encoder().encode([(1, 2), [3, 4], np.array([5, 6]), (np.int64(7), 8)])
    assert found.numbers.all()
    assert found.values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_huge_numbers_and_empty_outputs_are_outcomes_too():
    found = Encoder().encode([10**400, -(10**30), 3])
    assert found.numbers.all()
    assert found.values[1, 0] == -1e30
    assert not Encoder().encode([(), [], None]).numbers.any()


def test_what_was_met_before_the_width_or_reals_is_held_alike():
    encoder = Encoder()
    first, second = encoder.encode([Raised("ValueError")]), encoder.encode([3])
    third = encoder.encode([2.5])
    whole = joined([encoder.again(one) for one in (first, second, third)])
    assert whole.values[:, 0].tolist() == [0, 3, 2.5]
    assert whole.numbers.tolist() == [False, True, True]


def test_reals_that_come_late_are_no_numbers():
    encoder = Encoder()
    encoder.encode([1, 2])
    encoder.settled = True
    late = encoder.encode(np.array([0.5]))
    assert not late.numbers.any()
    assert late.values.dtype == np.int64
