"""Single numbers of survival curves: survival at a time, differences, medians and
restricted means, each with where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.trials.bands import Pointwise
from dither.science.trials.result import TrialRelease

__all__ = [
    "At",
    "HazardRatio",
    "Less",
    "MeanTime",
    "MedianRelease",
    "MedianTime",
    "log_hazard",
]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class At:
    """The ends of all arms at one time, or of one arm."""

    bands: Pointwise
    place: int
    arm: int | None = None

    def ends(self, confidence: float) -> tuple[Any, Any]:
        low, high = (end[:, self.place] for end in self.bands.by_arm(confidence))
        if self.arm is None:
            return low, high
        return float(low[self.arm]), float(high[self.arm])


@dataclass(frozen=True)
class Less:
    """The ends of a difference of two curves at one time: each side is as far off as
    both together, by the root of their squares (Newcombe 1998; Zou & Donner 2008).
    """

    bands: Pointwise
    first: int
    second: int
    place: int

    def ends(self, confidence: float) -> tuple[float, float]:
        low, high = (end[:, self.place] for end in self.bands.by_arm(confidence))
        first, second = self.first, self.second
        curves = self.bands.bands.table.survival[:, self.place]
        value = float(curves[first] - curves[second])
        if np.isnan(value):  # a curve was cut
            return float(low[first] - high[second]), float(high[first] - low[second])
        below, above = curves - low, high - curves
        down = float(np.hypot(below[first], above[second]))
        up = float(np.hypot(above[first], below[second]))
        return max(value - down, -1.0), min(value + up, 1.0)


def log_hazard(survival: Any) -> Reals:
    """The logarithm of the cumulative hazard: from -∞ where all survive to ∞."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.log(np.clip(survival, 0.0, 1.0))))


@dataclass(frozen=True)
class HazardRatio:
    """The ends of a ratio of cumulative hazards, by those of a difference of their
    logarithms. They may be 0 and infinite.
    """

    bands: Pointwise
    first: int
    second: int
    place: int

    def ends(self, confidence: float) -> tuple[float, float]:
        low, high = (end[:, self.place] for end in self.bands.by_arm(confidence))
        curves = self.bands.bands.table.survival[:, self.place]
        # a high curve is a low hazard
        at, least, most = log_hazard(curves), log_hazard(high), log_hazard(low)
        if not np.isfinite(at[[self.first, self.second]]).all():
            return 0.0, float("inf")
        below, above = at - least, most - at
        value = at[self.first] - at[self.second]
        down = np.hypot(below[self.first], above[self.second])
        up = np.hypot(above[self.first], below[self.second])
        with np.errstate(over="ignore"):
            return float(np.exp(value - down)), float(np.exp(value + up))


@dataclass(frozen=True)
class MedianTime:
    """Edges at which the curve's own interval holds a half (Brookmeyer & Crowley
    1982).
    """

    bands: Pointwise
    arm: int
    times: tuple[float, ...]

    def ends(self, confidence: float) -> tuple[float, float]:
        low, high = (end[self.arm] for end in self.bands.by_arm(confidence))
        may = np.flatnonzero(low <= 0.5)
        still = np.flatnonzero(high > 0.5)
        first = int(may[0]) if may.size else len(self.times)
        last = int(still[-1]) + 1 if still.size else 0
        return self._time(first), self._time(max(first, last))

    def _time(self, place: int) -> float:
        """The time at a place; infinite beyond the last."""
        return float(self.times[place]) if place < len(self.times) else float("inf")


@dataclass(frozen=True)
class MeanTime:
    """The ends of the area below a curve, wherever within its bin each death fell: in
    a bin, the curve lies between where it was before and where it is after.
    """

    bands: Pointwise
    arm: int
    widths: tuple[float, ...]

    def ends(self, confidence: float) -> tuple[float, float]:
        low, high = (end[self.arm] for end in self.bands.by_arm(confidence))
        bins = len(self.widths)
        before = np.concatenate([[1.0], high])[:bins]
        return float(low[:bins] @ self.widths), float(before @ self.widths)


@dataclass(frozen=True, eq=False, repr=False)
class MedianRelease(TrialRelease):
    """A median survival time: the end of its bin, infinite where it is not reached."""

    def _lines(self) -> list[str]:
        here = _words(*self.interval())
        wide = _words(*self.confidence_interval())
        value = f"{self.value:g}" if np.isfinite(self.value) else "not reached"
        return [
            f"{self.what}: {value} (95 % interval {here})",
            f"population: {wide} (95 % interval)",
        ]


def _words(low: float, high: float) -> str:
    if np.isfinite(high):
        return f"{low:g} to {high:g}"
    return f"{low:g} or later" if np.isfinite(low) else "not reached"
