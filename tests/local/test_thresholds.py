"""Integers as probabilities, and the ε that follows from them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither.errors import ArgumentError
from dither.local.thresholds import check, largest, loss, smallest
from dither.local.words import ONE


@pytest.mark.parametrize("ratio", [1, 2, Fraction(4, 3), 1 + Fraction(1, 10**12)])
def test_a_loss_is_rounded_up(ratio: Fraction) -> None:
    lost = loss(Fraction(ratio))
    assert lost >= math.log1p(float(ratio - 1))
    assert lost <= math.log1p(float(ratio - 1)) * (1 + 1e-9)


def test_a_ratio_beyond_floats_hides_nothing() -> None:
    assert loss(Fraction(2**2000)) == math.inf


def test_the_search_ends_at_the_last_threshold_that_fits() -> None:
    def lost(threshold: int) -> float:
        return threshold / ONE

    assert largest(0.7, lost, 0.5) == ONE // 2
    assert largest(0.499999999, lost, 0.5) == ONE // 2
    assert smallest(0.3, lambda t: 1 - t / ONE, 0.5) == ONE // 2


@pytest.mark.parametrize("threshold", [0, ONE, -1, 1.5, True, "1"])
def test_what_is_no_threshold(threshold: object) -> None:
    with pytest.raises(ArgumentError, match="whole number"):
        check("truth", threshold)  # type: ignore[arg-type]
