"""How far a function can move near the data at hand: what smooth sensitivity and the ladder are told.

LS_t is the most that one unit can move the function on any data that differs from the data at hand in t units. It is
private, so whatever it turns out to be it is brought into a public range, over a public number of steps (rule R3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.values import Reals, real

__all__ = ["local_sensitivities"]

GIVE = "pass LS_t as a list or a function of t, or LS_0 as a number together with growth="


def local_sensitivities(local: Any, growth: float | None, most: float, steps: int) -> Reals:
    """LS_0, LS_1, … for so many steps, each within 0 and the global sensitivity `most`.

    `local` is a function of t, or a list (`most` beyond its end), or LS_0 alone, which then grows by `growth` with each
    step. What is no number counts as `most`.
    """
    if callable(local):
        found = [real(local(t), most) for t in range(steps)]
    elif isinstance(local, np.ndarray | list | tuple) and np.ndim(local) == 1:
        found = [real(item, most) for item in list(local)[:steps]]
        found += [most] * (steps - len(found))
    else:
        found = _growing(local, growth, steps)
    plain: Reals = np.nan_to_num(np.array(found, np.float64), nan=most, posinf=most, neginf=0.0)
    return np.clip(plain, 0.0, most)


def _growing(first: Any, growth: float | None, steps: int) -> list[float]:
    start = real(first, math.nan)
    if growth is None or isinstance(first, str | bytes) or not hasattr(first, "__float__"):
        raise ArgumentError("local", f"is not enough to know LS_t; {GIVE}")
    return [start + growth * t for t in range(steps)]
