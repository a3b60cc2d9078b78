"""What the tests of maps share."""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.mechanisms import Gaussian, Laplace

UNIT = (0.0, 0.0, 1.0, 1.0)


def without_noise(monkeypatch: Any) -> None:
    """Mechanisms release what they are given."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "release", lambda self, value: value)


def scattered(number: int, seed: int = 1) -> Any:
    """Points of two towns and some between them, most of them in the unit square."""
    random = np.random.default_rng(seed)
    towns = random.normal([[0.3, 0.4]], 0.05, (number // 2, 2))
    other = random.normal([[0.7, 0.8]], 0.1, (number // 4, 2))
    spread = random.uniform(-0.1, 1.1, (number - number // 2 - number // 4, 2))
    return np.concatenate([towns, other, spread])
