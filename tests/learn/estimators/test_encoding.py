"""One odd value does not change how others are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither.learn.encoding import Keyed, floats

ODD = {
    "complex": np.array([1, 0, 1, 1j]),
    "text": pd.Series([True, False, True, "x"]).astype(str),
    "object": pd.Series([1, 0, True, "x"], dtype=object),
}


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_others_stay(column: Any) -> None:
    assert floats(column)[:3].tolist() == [1.0, 0.0, 1.0]
    assert Keyed((0, 1)).numbers(column)[:3].tolist() == [1, 0, 1]


def test_a_row_of_several_numbers_has_none() -> None:
    assert np.isnan(floats(np.ones((3, 2)))).tolist() == [True] * 3
