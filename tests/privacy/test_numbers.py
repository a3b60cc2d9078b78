from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from dither.errors import ArgumentError
from dither.privacy import numbers


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("exp", -700.0, 700.0),
        ("expm1", -40.0, 40.0),
        ("log", 1e-300, 1e300),
        ("log1p", -0.999999, 1e6),
        ("sinh", -30.0, 30.0),
        ("cosh", -30.0, 30.0),
        ("tanh", -20.0, 20.0),
        ("erf", -5.0, 5.0),
        ("erfc", -5.0, 26.0),
        ("sqrt", 1e-300, 1e300),
    ],
)
def test_the_c_library_is_as_accurate_as_assumed(
    name: str, low: float, high: float
) -> None:
    """Half the points are uniform, half approach 0 geometrically, where relative errors
    hide.
    """
    drawn = random.Random(7)
    ours: Callable[[float], float] = getattr(math, name)
    exact: Callable[[mpf], mpf] = getattr(mp, name)
    for i in range(1500):
        x = (
            drawn.uniform(low, high)
            if i % 2
            else math.exp(drawn.uniform(-40.0, math.log(high)))
        )
        truth = exact(mpf(x))
        assert abs(mpf(ours(x)) - truth) <= abs(truth) * numbers.LIBM / 16, x


@pytest.mark.parametrize("value", [1e-300, 0.1, 1.0, 12345.678, -3.0])
def test_up_and_down_pass_the_slack(value: float) -> None:
    assert numbers.down(value) < value * (1 - math.copysign(numbers.SLACK / 2, value))
    assert numbers.up(value) > value * (1 + math.copysign(numbers.SLACK / 2, value))


def test_fractions_round_outward() -> None:
    third = Fraction(1, 3)
    assert (
        Fraction(numbers.float_down(third)) < third < Fraction(numbers.float_up(third))
    )
    assert (
        numbers.float_up(Fraction(1, 4)) == numbers.float_down(Fraction(1, 4)) == 0.25
    )


@pytest.mark.parametrize(
    "value", [1, 0.5, Fraction(1, 3), Decimal("0.1"), np.float32(0.5), np.int64(3)]
)
def test_numbers_of_all_kinds_are_accepted(value: Any) -> None:
    assert numbers.positive("epsilon", value, "pass 1") >= float(value)


@pytest.mark.parametrize(
    "value",
    [
        "1",
        None,
        [1],
        1j,
        True,
        np.True_,
        float("nan"),
        float("inf"),
        0,
        -1,
        Fraction(10) ** 400,
    ],
)
def test_what_is_not_a_positive_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^epsilon .*pass 1$"):
        numbers.positive("epsilon", value, "pass 1")


@pytest.mark.parametrize("value", [0, -2, 1.5, "3", True, np.True_])
def test_counts_are_whole_and_at_least_one(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^steps .*pass 5"):
        numbers.whole("steps", value, "pass 5")
    assert numbers.whole("steps", np.int32(4), "pass 5") == 4
