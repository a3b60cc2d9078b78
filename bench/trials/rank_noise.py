"""What the campaigns on rank tests share: noise, sizes and who is protected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither import Budget, Unit
from dither.mechanisms import Laplace
from dither.science import trials
from dither.science.trials.null import Law

Reals = NDArray[np.float64]

EPSILONS = (0.3, 1.0, 3.0)
SIZES = (50, 200)
UNITS = {
    "add/remove": Unit("person"),
    "replace": Unit("person", "replace"),  # type: ignore[arg-type]
}


def draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def law_of(sensitivity: float, epsilon: float) -> Law:
    return Law.of(Laplace(sensitivity=sensitivity, epsilon=epsilon))


def rate(statistics: Any, law: Law, critical: int, *, absolute: bool = True) -> float:
    noisy = np.asarray(statistics) + law.draw(len(statistics))
    return float(np.mean((np.abs(noisy) if absolute else noisy) >= critical))


def private_arms(values: Reals, n: int, epsilon: float, unit: Unit) -> Any:
    """Two arms without sizes."""
    budget = Budget(epsilon=epsilon, unit=unit)
    return trials.mannwhitneyu(values[:n], values[n:], epsilon=epsilon, budget=budget)


def private_differences(values: Reals, epsilon: float, unit: Unit) -> Any:
    """Differences without a size."""
    budget = Budget(epsilon=epsilon, unit=unit)
    return trials.wilcoxon(values, epsilon=epsilon, budget=budget)
