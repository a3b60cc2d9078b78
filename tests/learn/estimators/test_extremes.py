"""Bounds at the ends of what floats hold: refused before the charge, or fitted as any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget
from dither.learn import LinearRegression, Ridge
from dither.learn.estimators.data import FARTHEST
from tests.learn.estimators.data import GENERATOR
from tests.learn.estimators.test_spending import EVERY

TOO_FAR = [
    (0, 5e-324),
    (-1e308, 1e308),
    (1e300, 1e308),
    (0, 1.7e308),
    (0, 1e-61),
    (0, 1e61),
    (1.0, 1.0 + 2.3e-16),
    (1e16, 1e16 + 2),
]
FAR = [(0, 2e-60), (-FARTHEST, FARTHEST), (9e59, 1e60), (1e10, 1e10 + 1)]
COLUMNS = GENERATOR.uniform(size=(40, 2))
TARGETS = np.arange(40) % 2


def numbers(model: Any) -> Iterator[Any]:
    """What a fit has found."""
    for name, value in vars(model).items():
        real = isinstance(value, float) or getattr(value, "dtype", None) == np.float64
        if name.endswith("_") and real:
            yield value


@pytest.mark.parametrize(("kind", "more"), EVERY)
@pytest.mark.parametrize("bounds", TOO_FAR, ids=str)
def test_extreme_bounds_are_refused_before_the_charge(
    kind: Any, more: Any, bounds: Any
) -> None:
    account = Budget(3.0, 1e-6)
    model = kind(**{"epsilon": 1.0, "bounds": bounds, "budget": account} | more)
    with pytest.raises(ArgumentError) as caught:
        model.fit(COLUMNS, TARGETS if model._target else None)
    assert caught.value.argument == "bounds"
    assert account.charges == 0


@pytest.mark.parametrize("kind", [LinearRegression, Ridge])
@pytest.mark.parametrize("bounds", TOO_FAR, ids=str)
def test_extreme_bounds_of_a_target_are_refused(kind: Any, bounds: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        kind(epsilon=1.0, bounds=(0, 1), y_bounds=bounds).fit(COLUMNS, TARGETS)
    assert caught.value.argument == "y_bounds"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "more"), EVERY)
@pytest.mark.parametrize("bounds", FAR, ids=str)
@pytest.mark.parametrize("delta", [1e-6, None], ids=["gaussian", "pure"])
def test_far_bounds_are_as_any(kind: Any, more: Any, bounds: Any, delta: Any) -> None:
    low, high = bounds
    rows = low + (high - low) * COLUMNS
    model = kind(**{"epsilon": 2.0, "delta": delta, "bounds": bounds} | more)
    model.fit(rows, TARGETS if model._target else None)
    assert all(np.isfinite(one).all() for one in numbers(model))
    for name in ("predict_proba", "transform", "predict"):
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)(rows)).all()


@pytest.mark.full
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_many_columns_are_fitted_or_refused(kind: Any, more: Any) -> None:
    account = Budget(9.0, 1e-6)
    model = kind(**{"epsilon": 2.0, "bounds": (0, 1), "budget": account} | more)
    rows = np.zeros((20, 100_000))
    try:
        model.fit(rows, TARGETS[:20] if model._target else None)
    except ArgumentError:
        assert account.charges == 0
    else:
        assert all(np.isfinite(one).all() for one in numbers(model))
