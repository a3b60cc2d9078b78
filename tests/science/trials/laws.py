"""Helpers for tests of rank statistics: their laws, and noise that is taken away."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.columns import Reals
from dither.science.trials.null import Law
from dither.science.trials.rank_nulls import RankNull

COSTS = (0.3, 1.0, 2.0, 3.0, 10.0, 300.0)


def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the noise away."""

    def none(self: Any, scale: float, size: Any) -> Any:  # noqa: ARG001
        return 0 if size is None else np.zeros(size, np.int64)

    monkeypatch.setattr(Laplace, "_draw", none)
    monkeypatch.setattr(Gaussian, "_draw", none)


def exact(null: RankNull) -> dict[int, float]:
    assert null.values is not None
    assert null.probabilities is not None
    return dict(zip(null.values.astype(int).tolist(), null.probabilities, strict=True))


def exact_counts(null: RankNull) -> Counter[int]:
    return Counter({v: round(c * 1e12) for v, c in exact(null).items()})


def laws(null: RankNull) -> list[Law]:
    moved = null.sensitivity
    laplace = [Laplace(sensitivity=moved, epsilon=cost) for cost in COSTS]
    normal = [Gaussian(sensitivity=moved, rho=cost**2 / 2) for cost in COSTS]
    return [Law.of(one) for one in (*laplace, *normal)]


@cache
def claims(null: RankNull, law: Law) -> tuple[Reals, Reals]:
    """Statistics out to where the p-value is small, and their p-values."""
    low, high = (null.critical(law, alpha, "greater") for alpha in (0.1, 1e-4))
    at = np.unique(np.linspace(low, high, 100).astype(int))
    return at, np.array([null.pvalue(law, one, "greater") for one in at.tolist()])


def worst(null: RankNull, seen: Counter[int], law: Law) -> float:
    """How much more often p-values of 0.1 or less come than they should."""
    at, claimed = claims(null, law)
    chances = np.array(list(seen.values())) / seen.total()
    tails = law.survival(at[:, None] - np.array(list(seen), float))
    return float((tails @ chances / claimed).max())
