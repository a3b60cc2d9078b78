"""Noisy tables of two columns drawn towards what both columns alone suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["shrunk"]

Reals = NDArray[np.float64]


def shrunk(table, expected, variance):
    """James–Stein."""
    away = table - expected
    norm = float((away * away).sum())
    share = max(0.0, 1 - variance * table.size / norm) if norm > 0 else 0.0
    return expected + share * away
