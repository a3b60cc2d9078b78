"""An array and a table that hold the same rows have the same mean and variance, with
the same intervals: one library makes both from noisy part sums.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dither
from dither.mechanisms import Laplace

AGES = np.random.default_rng(2).integers(0, 111, 400)  # allowed: test inputs, not noise
NOISE = [0, 3, -2]
"""In rows, of each part sum: a table counts in other steps than an array does."""


@pytest.fixture
def same_noise(monkeypatch):
    """Both have the same noise, as a share of what one row adds."""
    drawn = iter(())

    def release(self, value):
        nonlocal drawn
        many = np.atleast_1d(np.asarray(value, object))
        steps = round(self.sensitivity)
        noise = [next(drawn, 0) * steps for _ in many.ravel()]
        found = many.ravel() + np.array(noise, object)
        if np.ndim(value) == 0:
            return int(found[0])
        return found.astype(np.int64).reshape(np.shape(value))

    def again():
        nonlocal drawn
        drawn = iter(NOISE)

    monkeypatch.setattr(Laplace, "release", release)
    return again


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("array", "sql"), [(dither.mean, "AVG"), (dither.variance, "VAR_POP")]
)
def test_arrays_and_sql_agree(same_noise, array, sql, confidence):
    frame = pd.DataFrame({"age": AGES})
    with dither.open(frame, unit="row", bounds={"age": (0, 110)}, budget=3.0) as data:
        same_noise()
        table = data.sql(f"SELECT {sql}(age) AS a FROM data", epsilon=1.0)
    same_noise()
    one = array(AGES, bounds=(0, 110), epsilon=1.0)
    assert one.value != pytest.approx(AGES.mean() if sql == "AVG" else AGES.var())
    assert one.value == pytest.approx(table.rows[0][0], rel=1e-7)
    assert one.interval(confidence) == pytest.approx(
        table.interval(confidence), rel=1e-7
    )
