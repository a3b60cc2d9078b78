"""No more outcomes than were declared, whatever the data has."""

from __future__ import annotations

import numpy as np

from dither.noise import random_words
from dither.science.trials.columns import Reals

__all__ = ["at_most", "subset"]


def at_most(values: Reals, size: int) -> Reals:
    """The outcomes, or a random part of them if there are more: for statistics that
    need not hold those that are missing, however many were declared.
    """
    return values if values.size <= size else values[subset(values.size, size)]


def subset(count: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """A random subset of `size` out of `count` indices, uniform to within 2^-64."""
    order = np.argsort(random_words(count), kind="stable")
    return np.sort(order[:size])
