"""Data sets, and the public bounds that every library is given.

Bounds are rounded outwards from the ranges that the published description of each set
prints. All columns, and the target of a regression, then go from -1 to 1 by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split

__all__ = ["CLASSED", "MANY", "NUMBERED", "SETS", "SPLITS", "Data", "million", "saved"]

SPLITS = 20
ROWS = 100_000
MANY = {"groups", "line"}
"""The generated sets, of so many rows."""
Reals = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]

IRIS: Pairs = ((4, 8), (2, 5), (1, 7), (0, 3))
WINE: Pairs = (
    *((11, 15), (0, 6), (1, 4), (10, 30), (70, 165), (0, 4), (0, 6)),
    *((0, 1), (0, 4), (1, 13), (0, 2), (1, 4), (250, 1700)),
)
BREAST: Pairs = (
    *((5, 30), (9, 40), (40, 200), (100, 2600), (0.05, 0.2), (0, 0.4)),
    *((0, 0.5), (0, 0.25), (0.1, 0.35), (0.05, 0.1)),
    *((0, 3), (0, 5), (0, 25), (0, 600), (0, 0.04), (0, 0.15)),
    *((0, 0.4), (0, 0.06), (0, 0.1), (0, 0.03)),
    *((5, 40), (10, 50), (50, 300), (150, 4500), (0.05, 0.25), (0, 1.1)),
    *((0, 1.3), (0, 0.3), (0.1, 0.7), (0.05, 0.25)),
)
DIABETES: Pairs = (
    *((18, 80), (1, 2), (15, 45), (60, 140), (90, 310)),
    *((40, 250), (20, 100), (1, 10), (3, 6.5), (50, 130)),
)
PROGRESSION = 0.0, 350.0


@dataclass(frozen=True)
class Data:
    """Rows from -1 to 1, and what is predicted of them: a class, or -1 to 1."""

    name: str
    inputs: Reals
    targets: NDArray[np.generic]

    @property
    def classed(self) -> bool:
        return self.targets.dtype.kind == "i"

    @property
    def classes(self) -> int:
        return int(self.targets.max()) + 1 if self.classed else 0


def scaled(values: Reals, bounds: Pairs | tuple[float, float]) -> Reals:
    low, high = np.asarray(bounds, np.float64).T
    found: Reals = np.clip(2 * (values - low) / (high - low) - 1, -1, 1)
    return found


def _iris() -> Data:
    inputs, targets = datasets.load_iris(return_X_y=True)
    return Data("iris", scaled(inputs, IRIS), targets.astype(np.int64))


def _wine() -> Data:
    inputs, targets = datasets.load_wine(return_X_y=True)
    return Data("wine", scaled(inputs, WINE), targets.astype(np.int64))


def _breast() -> Data:
    inputs, targets = datasets.load_breast_cancer(return_X_y=True)
    return Data("breast cancer", scaled(inputs, BREAST), targets.astype(np.int64))


def _digits() -> Data:
    inputs, targets = datasets.load_digits(return_X_y=True)
    return Data("digits", scaled(inputs, ((0, 16),) * 64), targets.astype(np.int64))


def _diabetes() -> Data:
    inputs, targets = datasets.load_diabetes(return_X_y=True, scaled=False)
    return Data("diabetes", scaled(inputs, DIABETES), scaled(targets, PROGRESSION))


def _groups() -> Data:
    """Five overlapping groups in 20 columns, whose bounds are -10 to 10."""
    made = np.random.default_rng(20)  # allowed: made-up data
    middles = made.normal(0, 0.5, (5, 20))
    targets = made.integers(5, size=ROWS)
    spread = made.uniform(0.8, 1.6, 20)
    inputs = middles[targets] + made.normal(size=(ROWS, 20)) * spread
    return Data("groups", scaled(inputs, ((-10, 10),) * 20), targets)


def _line() -> Data:
    """A line through ten columns from 0 to 1, with noise; the target's bounds are -10
    to 10.
    """
    made = np.random.default_rng(21)  # allowed: made-up data
    inputs = made.uniform(0, 1, (ROWS, 10))
    targets = (inputs - 0.5) @ made.normal(0, 3, 10) + made.normal(size=ROWS)
    return Data("line", scaled(inputs, ((0, 1),) * 10), scaled(targets, (-10, 10)))


SETS: dict[str, Callable[[], Data]] = {
    "iris": _iris,
    "wine": _wine,
    "breast cancer": _breast,
    "digits": _digits,
    "groups": _groups,
    "diabetes": _diabetes,
    "line": _line,
}
NUMBERED = ("diabetes", "line")
CLASSED = tuple(name for name in SETS if name not in NUMBERED)


def saved(data: Data, folder: Path, tested: float = 0.2, splits: int = SPLITS) -> Path:
    """The rows and the places of each split's test rows, for other environments."""
    places = np.arange(len(data.inputs))
    groups = data.targets if data.classed else None
    tests = [
        train_test_split(
            places, test_size=tested, stratify=groups, random_state=number
        )[1]
        for number in range(splits)
    ]
    path = folder / f"{data.name.replace(' ', '_')}.npz"
    np.savez(path, inputs=data.inputs, targets=data.targets, tests=np.stack(tests))
    return path


def million() -> tuple[Reals, NDArray[np.int64]]:
    """A million rows of 50 columns from -1 to 1, in two classes."""
    made = np.random.default_rng(22)  # allowed: made-up data
    inputs = made.uniform(-1, 1, (1_000_000, 50))
    scores = inputs @ made.normal(0, 1, 50) + made.logistic(size=len(inputs))
    return inputs, (scores > 0).astype(np.int64)
