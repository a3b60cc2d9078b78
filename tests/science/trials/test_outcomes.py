"""What counts as a success."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.science.trials.outcomes import successes

PAID: Any = None


@pytest.mark.parametrize(
    ("column", "success", "codes"),
    [
        ([True, False, None, 1, 0, 2, "1", "x", float("nan")], 1, "100100100"),
        (np.array([True, False]), True, "10"),
        (np.array([1.0, np.inf, np.nan]), 1, "100"),
        (["yes", "no", None, "Yes", 1], "yes", "10000"),
        ([2, 1, "2"], 2, "101"),
        (np.ma.array([1, 1], mask=[0, 1]), 1, "10"),
    ],
)
def test_one_outcome_counts(column: Any, success: Any, codes: str) -> None:
    found = successes(column, success).read(PAID)
    expected = [1 - int(one) for one in codes]
    assert found.tolist() == expected


@pytest.mark.parametrize("success", [None, [1], float("nan"), 0.5j])
def test_a_success_is_one_label(success: Any) -> None:
    with pytest.raises(ArgumentError, match="success"):
        successes([1, 0], success)
