"""As many outcomes as were declared, whatever the data has."""

from __future__ import annotations

import numpy as np

from dither.noise import random_words
from dither.science.trials.columns import Reals

__all__ = ["fit", "subset"]


def fit(values: Reals, size: int) -> Reals:
    """Exactly so many outcomes: missing ones are added, and of too many a random part
    stays, which does not depend on what they are.
    """
    if values.size <= size:
        return np.append(values, np.full(size - values.size, np.nan))
    return values[subset(values.size, size)]


def subset(count: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Random places of so many, each set equally likely but for 2^-64."""
    order = np.argsort(random_words(count), kind="stable")
    return np.sort(order[:size])
