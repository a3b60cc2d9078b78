"""Logistic regression by objective perturbation (Chaudhuri, Monteleoni & Sarwate 2011), to
compare with. It is a measurement: noise and minimum are floats, and nothing is released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["PENALTIES", "Perturbed", "perturbed"]

Reals = NDArray[np.float64]
PENALTIES = (1.2, 2.0, 5.0, 20.0, 80.0)
"""What is tried, in units of the least penalty that leaves anything of ε."""
GENERATOR = np.random.default_rng(23)  # allowed: a measurement, nothing is released


@dataclass(frozen=True)
class Perturbed:
    """The weights of each class, the intercept last; one line where classes are two."""

    weights: Reals

    def predict(self, inputs: Reals) -> Any:
        scores = _with_one(inputs) @ self.weights.T
        if len(self.weights) == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        return scores.argmax(axis=1)


def _with_one(inputs: Reals) -> Reals:
    return np.hstack([inputs, np.ones((len(inputs), 1))])


def least_penalty(classes: int, epsilon: float) -> float:
    """Below about this penalty the change of volume alone costs ε."""
    curve = 0.25 if classes == 2 else (classes - 1) / classes
    return curve / epsilon


def left(classes: int, penalty: float) -> float:
    """What a row that comes or goes changes the volume by, as a logarithm. The second
    derivative of a row has K - 1 eigenvalues at most, which add up to 1 - 1/K at most;
    1/4 of two classes.
    """
    if classes == 2:
        return math.log1p(0.25 / penalty)
    return (classes - 1) * math.log1p(1 / (classes * penalty))


def perturbed(
    inputs: Reals, targets: Any, classes: int, epsilon: float, times: float
) -> Perturbed:
    """Minimize Σ loss + λ/2·|w|² + b·w, over rows z of length 1 at most. A gradient is 1
    long at most (√2 with more than two classes), so |b| has a density by e^(-ε'|b|) for
    that length, where ε' is ε less the change of volume: pure ε for a row that comes or
    goes.
    """
    penalty = times * least_penalty(classes, epsilon)
    rest = epsilon - left(classes, penalty)
    rows = _with_one(inputs) / math.sqrt(inputs.shape[1] + 1)
    lines = 1 if classes == 2 else classes
    size = lines * rows.shape[1]
    length = (1.0 if classes == 2 else math.sqrt(2)) / rest
    away = GENERATOR.normal(size=size)
    away *= GENERATOR.gamma(size) * length / np.linalg.norm(away)

    def objective(weights: Reals) -> tuple[float, Reals]:
        held = weights.reshape(lines, -1)
        loss, gradient = _loss(rows, targets, held)
        more = penalty / 2 * float(weights @ weights) + float(away @ weights)
        return loss + more, gradient.ravel() + penalty * weights + away

    found = minimize(objective, np.zeros(size), jac=True, method="L-BFGS-B")
    return Perturbed(found.x.reshape(lines, -1))


def _loss(rows: Reals, targets: Any, weights: Reals) -> tuple[float, Reals]:
    scores = rows @ weights.T
    if len(weights) == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    log = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    order = np.arange(len(rows))
    wrong = np.exp(log)
    wrong[order, targets] -= 1
    gradient = wrong.T @ rows
    return -float(log[order, targets].sum()), gradient[-len(weights) :]
