"""Images that the benchmark makes: ten classes of blurred strokes, shifted, bent and
noisy, so that a teacher with a few hundred of them is right three times out of four.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLASSES", "SIDE", "images"]

SIDE, CLASSES = 8, 10
STROKES, WILD = 3, 0.42
"""Strokes of a class, and the noise of a pixel beside an ink of 1."""
BENT = 0.5
"""By how many pixels an image, and each end of its strokes, is off."""
Reals = NDArray[np.float64]


def images(count: int, seed: int) -> tuple[Reals, NDArray[np.int64]]:
    """So many images, and their classes."""
    made = np.random.default_rng(seed)  # made-up data
    labels = made.integers(0, CLASSES, count)
    lines = _templates()[labels]
    moved = lines + made.normal(0, BENT, (count, 1, 2, 2))
    moved += made.normal(0, BENT, lines.shape)
    found = sum(_stroke(moved[:, one]) for one in range(STROKES))
    found = np.clip(found, 0, 1.5) + made.normal(0, WILD, (count, SIDE * SIDE))
    return np.round(np.clip(found, 0, 2) * 8) / 16, labels


def _templates() -> Reals:
    """The ends of the strokes of each class, the same for every set."""
    made = np.random.default_rng(1)  # made-up data
    return made.uniform(0.5, SIDE - 1.5, (CLASSES, STROKES, 2, 2))


def _stroke(ends: Reals) -> Reals:
    """Ink near the line between two points."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    pixels = np.stack([rows.ravel(), columns.ravel()], axis=1)
    begin, end = ends[:, 0], ends[:, 1]
    along = end - begin
    length = np.maximum((along**2).sum(axis=1), 1e-9)
    place = ((pixels[None] - begin[:, None]) * along[:, None]).sum(axis=2)
    part = np.clip(place / length[:, None], 0, 1)
    near = begin[:, None] + part[:, :, None] * along[:, None]
    away = ((pixels[None] - near) ** 2).sum(axis=2)
    found: Reals = np.exp(-away / 0.8)
    return found
