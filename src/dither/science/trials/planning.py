"""A study is planned before anything is spent: power and sample size, from public
numbers alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dither.errors import ArgumentError
from dither.science.trials.checks import chosen, level
from dither.science.trials.hints import unavailable

__all__ = ["PLANNERS", "power", "sample_size"]

PLANNERS: dict[str, tuple[str, str]] = {
    "linregress": ("dither.science.trials.mean_power", "linregress"),
    "location_shift": ("dither.science.trials.mean_power", "location_shift"),
    "mean_difference": ("dither.science.trials.mean_power", "mean_difference"),
    "median_difference": ("dither.science.trials.mean_power", "median_difference"),
    "binomtest": ("dither.science.trials.plans", "binomial_power"),
    "chi2_contingency": ("dither.science.trials.plans", "chi2_power"),
    "odds_ratio": ("dither.science.trials.plans", "odds_power"),
    "risk_difference": ("dither.science.trials.plans", "odds_power"),
    "test_of_tests": ("dither.science.trials.plans", "blocks_power"),
    "kruskal": ("dither.science.trials.rank_power", "kruskal"),
    "mannwhitneyu": ("dither.science.trials.rank_power", "mannwhitneyu"),
    "wilcoxon": ("dither.science.trials.rank_power", "wilcoxon"),
    "logrank": ("dither.science.trials.logrank_power", "power_of"),
}
"""The module and function that knows the power of each test."""
MOST = 1 << 24


def power(test: str, **public: Any) -> float:
    """The probability that a test finds an effect of a stated size:
    power("mannwhitneyu", effect=0.5, n=100, epsilon=1).

    All of it is computed from what is stated here; no data is read and nothing is
    spent.
    """
    return _planner(test)(**public)


def sample_size(test: str, *, power: float = 0.8, **public: Any) -> int:
    """The fewest people in each arm with which a test reaches a power."""
    wanted = level(power, "power")
    if "n" in public:
        raise ArgumentError("n", "is the result of sample_size; leave it out")
    planner = _planner(test)
    high = 2
    while planner(n=high, **public) < wanted:
        high *= 2
        if high > MOST:
            raise ArgumentError(
                "power",
                f"is not reached with {MOST:,} people in each arm; pass a larger effect, "
                "a larger epsilon, or a lower power",
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        reached = planner(n=middle, **public) >= wanted
        low, high = (low, middle) if reached else (middle, high)
    return high


def _planner(test: Any) -> Callable[..., float]:
    if unavailable(test) and test not in PLANNERS:
        raise ArgumentError("test", unavailable(test))
    module, name = PLANNERS[chosen("test", test, sorted(PLANNERS))]
    found: Callable[..., float] = getattr(import_module(module), name)

    def planned(**public: Any) -> float:
        try:
            inspect.signature(found).bind(**public)
        except TypeError:
            known = ", ".join(inspect.signature(found).parameters)
            words = (
                f"the power of {test!r} is computed from {known}; pass these by name"
            )
            raise ArgumentError("power", words) from None
        return found(**public)

    return planned
