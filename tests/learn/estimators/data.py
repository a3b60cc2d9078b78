"""Made-up rows for tests of estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.learn.estimators.data import Declared, Rows
from dither.learn.estimators.spending import Spending
from dither.privacy import ROW

GENERATOR = np.random.default_rng(5)  # allowed: made-up data


def classified(count: int = 300, classes: int = 3) -> tuple[Any, Any]:
    """Four numbers between -3 and 3, and a class that lines divide."""
    made = np.random.default_rng(1)  # allowed: made-up data
    inputs = np.clip(made.normal(size=(count, 4)), -3, 3)
    turned = made.normal(size=(4, classes))
    return inputs, (inputs @ turned).argmax(axis=1)


def lined(count: int = 2000, noise: float = 0.5) -> tuple[Any, Any]:
    """Three numbers between 0 and 10, and a line through them."""
    made = np.random.default_rng(2)  # allowed: made-up data
    inputs = made.uniform(0, 10, size=(count, 3))
    target = 4 + inputs @ np.array([1.5, -1.0, 0.0]) + noise * made.normal(size=count)
    return inputs, target


def declared(
    width: int, *, classes: int | None = None, rows: int = 1, units: int | None = None
) -> Declared:
    """Columns between 0 and 1, with classes or a target between 0 and 1."""
    named = None if classes is None else tuple(range(classes))
    low, high = np.zeros(width), np.ones(width)
    target = (0.0, 1.0) if classes is None else None
    return Declared(low, high, named, target, units, rows)


def rows(inputs: Any, targets: Any = None, weights: Any = None) -> Rows:
    held: NDArray[np.float64] = np.asarray(inputs, np.float64)
    counts = np.ones(len(held), np.int64) if weights is None else weights
    return Rows(held, None if targets is None else np.asarray(targets), counts)


GAUSSIAN = Spending(ROW, mu=0.5)
PURE = Spending(ROW, epsilon=1.0)
