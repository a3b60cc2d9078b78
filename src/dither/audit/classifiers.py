"""Small classifiers, as ways to look at an output: each makes one number of several,
the higher the more likely the first input is.

They are trained on draws that are not used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.features import Feature, counted, log_ratio
from dither.audit.outcomes import Outcomes

__all__ = ["Curved", "Direction", "Weighed", "curve", "line", "tame"]

FAR = 8.0
"""Standard deviations at which a column of a curve ends: squares of more hide the rest.
"""
STEPS = 12


@dataclass(frozen=True)
class Weighed:
    """A view that adds up, over features, how much more likely each one's cell was on
    the first side (naive Bayes).
    """

    features: tuple[Feature, ...]
    gains: tuple[NDArray[np.float64], ...]

    @classmethod
    def fit(cls, features: Sequence[Feature], parts: Sequence[Outcomes]) -> Weighed:
        return cls(
            tuple(features),
            tuple(
                log_ratio(*(counted(one, part) for part in parts)) for one in features
            ),
        )

    def __call__(self, outcomes: Outcomes) -> NDArray[np.float64]:
        total = np.zeros(len(outcomes))
        for feature, gain in zip(self.features, self.gains, strict=True):
            total += gain[feature.place(feature.view(outcomes))]
        return total


@dataclass(frozen=True)
class Direction:
    """A view along the line that separates the two sides best, among columns (logistic
    regression).
    """

    columns: NDArray[np.int64]
    middle: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (
            tame(outcomes.values[:, self.columns]) - self.middle
        ) @ self.weights
        return found


@dataclass(frozen=True)
class Curved:
    """The same with squares and products of few columns: a curve between the sides."""

    columns: NDArray[np.int64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    middle: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.float64]:
        terms = curved(outcomes.values[:, self.columns], self.center, self.scale)
        found: NDArray[np.float64] = (terms - self.middle) @ self.weights
        return found


def curved(
    values: NDArray[Any], center: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Standardized columns, and the products of every two of them."""
    plain = np.clip((tame(values) - center) / scale, -FAR, FAR)
    first, second = np.triu_indices(plain.shape[1])
    return np.column_stack([plain, plain[:, first] * plain[:, second]])


def tame(values: NDArray[Any]) -> NDArray[np.float64]:
    """Reals that can be multiplied: NaN as 0, and nothing too large."""
    return np.clip(np.nan_to_num(values.astype(np.float64)), -1e100, 1e100)


def line(columns: NDArray[np.int64], parts: Sequence[Outcomes]) -> Direction:
    """The line that tells the sides apart best."""
    sides = [tame(one.values[one.numbers][:, columns]) for one in parts]
    return Direction(columns, *_logistic(sides))


def curve(columns: NDArray[np.int64], parts: Sequence[Outcomes]) -> Curved:
    """The same for a curve of the second order."""
    sides = [tame(one.values[one.numbers][:, columns]) for one in parts]
    seen = np.concatenate(sides)
    center = np.median(seen, axis=0) if len(seen) else np.zeros(len(columns))
    spread = np.subtract(*np.quantile(seen, [0.84, 0.16], axis=0)) if len(seen) else 0.0
    scale = np.maximum(spread / 2, 1e-12) + np.zeros(len(columns))
    fitted = _logistic([curved(one, center, scale) for one in sides])
    return Curved(columns, center, scale, *fitted)


def _logistic(sides: Sequence[NDArray[np.float64]]) -> tuple[NDArray[Any], ...]:
    """Means and weights, by Newton's method with a little ridge on standardized
    columns.
    """
    seen = np.concatenate(sides)
    if not len(seen):
        return np.zeros(seen.shape[1]), np.zeros(seen.shape[1])
    middle, scale = seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-12)
    x = np.column_stack([(seen - middle) / scale, np.ones(len(seen))])
    y = np.concatenate([np.ones(len(sides[0])), np.zeros(len(sides[1]))])
    weights, ridge = np.zeros(x.shape[1]), 1e-3 * len(x) * np.eye(x.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + ridge
        weights += np.linalg.solve(curve, x.T @ (y - chance) - ridge @ weights)
    return middle, weights[:-1] / scale
