"""Arguments of explanations."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.explain import check


def test_numbers_of_any_kind() -> None:
    for half in (0.5, Fraction(1, 2), Decimal("0.5"), np.float32(0.5)):
        assert (
            check.epsilon(half)
            == check.loss(half)
            == check.between("prior", half, "")
            == 0.5
        )
    assert check.epsilon(0) == 0
    assert check.count("n", np.int64(3), "") == 3
    assert check.bounds([0, Fraction(1, 2)]) == (0, 0.5)
    assert (check.delta(0), check.confidence(0.95)) == (0, 0.95)


@pytest.mark.parametrize(
    "value", [True, False, np.True_, "1", None, math.nan, math.inf, -1, [1]]
)
def test_what_is_no_number(value: object) -> None:
    for refuse in (check.epsilon, check.loss, check.delta, check.confidence):
        with pytest.raises(ArgumentError):
            refuse(value)
    with pytest.raises(ArgumentError):
        check.count("n", value, "pass a number")


def test_numbers_that_round_out_of_their_range() -> None:
    with pytest.raises(ArgumentError, match="strictly between"):
        check.between("prior", Fraction(1, 10**400), "pass 0.5")
    with pytest.raises(ArgumentError, match="strictly between"):
        check.between("prior", 1 - Fraction(1, 10**40), "pass 0.5")
    with pytest.raises(ArgumentError, match="above 0"):
        check.loss(0)
    with pytest.raises(ArgumentError, match="delta"):
        check.delta(0, zero=False)
