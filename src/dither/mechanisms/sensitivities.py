"""Local sensitivities: how far a function can move near the data at hand. Smooth
sensitivity and the ladder take them.

LS_t is the most that one unit can move the function on any data that differs from the
data at hand in t units. It is private, so whatever it turns out to be it is brought
into a public range, over a public number of steps (rule R3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.values import Reals, as_objects, real
from dither.privacy.numbers import written

__all__ = ["local_sensitivities"]

GIVE = (
    "pass LS_t as a list or a function of t, or LS_0 as a number together with growth="
)


def local_sensitivities(
    local: Any, growth: float | None, most: float, steps: int
) -> Reals:
    """LS_0, LS_1, … for so many steps, each within 0 and the global sensitivity `most`.

    `local` is a function of t, or a list (`most` beyond its end), or LS_0 alone, which
    then grows by `growth` with each step. What is not a number, and what a function
    fails to give, is treated as `most`.
    """
    if callable(local):
        found = [_asked(local, t, most) for t in range(steps)]
    elif isinstance(local, np.ndarray | list | tuple) and _flat(local):
        found = [real(item, most) for item in list(local)[:steps]]
        found += [most] * (steps - len(found))
    else:
        found = _growing(local, growth, most, steps)
    plain: Reals = np.nan_to_num(
        np.array(found, np.float64), nan=most, posinf=most, neginf=0.0
    )
    return np.clip(plain, 0.0, most)


def _asked(local: Callable[[int], Any], t: int, most: float) -> float:
    """LS_t of a function. One that raises on some data and not on other would tell them
    apart.
    """
    try:
        return real(local(t), most)
    except Exception:
        return most


def _flat(local: Any) -> bool:
    return (local if isinstance(local, np.ndarray) else as_objects(local)).ndim == 1


def _growing(first: Any, growth: float | None, most: float, steps: int) -> list[float]:
    """LS_0 + growth·t of the numbers as written, rounded once.

    Rounding never turns two numbers round, so LS_t of some data stays at most LS_(t+1)
    of a neighbour.
    """
    start = real(first, math.nan)
    if (
        growth is None
        or isinstance(first, str | bytes)
        or not (first is None or hasattr(first, "__float__"))
    ):
        raise ArgumentError("local", f"does not determine LS_t for every t; {GIVE}")
    if not math.isfinite(start):
        return [start] * steps
    low, slope = written(start), written(growth)
    unit = math.lcm(low.denominator, slope.denominator)
    begin, rise, end = (
        int(low * unit),
        int(slope * unit),
        math.ceil(Fraction(most) * unit),
    )
    return [min(begin + rise * t, end) / unit for t in range(steps)]
