"""`audit.run_time`: how well the time that a call takes tells neighbours apart.

Time is outside of every guarantee: this measures and warns, and refutes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.roc import Roc
from dither.audit.drawing import takes_size
from dither.audit.workers import call
from dither.errors import ArgumentError
from dither.noise import uniform_integers
from dither.privacy.binomial import lower
from dither.privacy.numbers import confidence_level, whole

__all__ = ["RunTime", "run_time"]

FEWEST = 20
Times = NDArray[np.float64]


@dataclass(frozen=True)
class RunTime:
    """How run time separates two inputs. `area` is how often the longer of two calls, one
    of each input, is the second input's (0.5: never more than a coin); `apart` is the
    least total-variation distance of the two times, with the stated confidence.
    """

    area: float
    low: float
    high: float
    apart: float
    runs: int
    confidence: float
    medians: tuple[float, float]

    @property
    def warns(self) -> bool:
        """Whether time tells the inputs apart, beyond what chance explains."""
        return self.apart > 0 or not self.low <= 0.5 <= self.high

    def __str__(self) -> str:
        told = (
            "Run time tells the inputs apart"
            if self.warns
            else "Run time was not found to tell the inputs apart"
        )
        first, second = (f"{1000 * one:.3g}" for one in self.medians)
        return (
            f"{told}: the area under its curve is {self.area:.3f} "
            f"({self.low:.3f} to {self.high:.3f}; a coin has 0.5), and the distance of "
            f"the two at least {self.apart:.3f}, in {self.runs:,} calls of each "
            f"(medians {first} and {second} ms).\n"
            "This is a warning and not a finding: how long a call takes is outside of "
            "every guarantee. Show answers at a time that is fixed in advance."
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "area": self.area,
            "interval": [self.low, self.high],
            "apart": self.apart,
            "runs": self.runs,
            "confidence": self.confidence,
            "medians": list(self.medians),
            "warns": self.warns,
            "guarantee": "none: time is outside of it",
        }


def run_time(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    *,
    runs: int = 200,
    confidence: float = 0.999,
    clock: Callable[[], float] = time.perf_counter,
) -> RunTime:
    """Measures how well the run time of f tells two neighbouring inputs apart.

    Calls of both inputs come in a random order, so that a machine that gets slower does
    so for both. `clock` gives seconds. The interval of the area has no distribution
    assumed: Hoeffding's inequality for two samples; the distance comes from a line that
    one half of the calls chose and a Clopper–Pearson bound on the other half.
    """
    if not callable(f):
        raise ArgumentError(
            "f", f"{type(f).__name__} is not callable; pass a function of one input"
        )
    many = whole("runs", runs, "pass how many calls of each input, such as 200")
    if many < FEWEST:
        raise ArgumentError(
            "runs", f"must be {FEWEST} or more; pass a number such as 200"
        )
    alarm = 1 - float(confidence_level("confidence", confidence))
    sides = _order(many)
    size = takes_size(f)
    spent = np.array([_seconds(f, (a, b)[one], size, clock) for one in sides])
    first, second = spent[sides == 0], spent[sides == 1]
    area = Roc(second, first).area
    # E = P(s > t) + P(s = t)/2 is a U-statistic of two samples of `many` each
    margin = float(np.sqrt(np.log(4 / alarm) / (2 * many)))
    return RunTime(
        area,
        max(area - margin, 0.0),
        min(area + margin, 1.0),
        _distance(first, second, alarm / 2),
        many,
        1 - alarm,
        (float(np.median(first)), float(np.median(second))),
    )


def _order(many: int) -> NDArray[np.int64]:
    """Half of the calls are of each input, in a random order."""
    sides = np.repeat([0, 1], many)
    keys = np.asarray(uniform_integers(1 << 62, 2 * many))
    shuffled: NDArray[np.int64] = sides[np.argsort(keys, kind="stable")]
    return shuffled


def _seconds(
    f: Callable[..., Any], value: Any, size: bool, clock: Callable[[], float]
) -> float:
    start = clock()
    call(f, value, size)
    return clock() - start


def _distance(first: Times, second: Times, alarm: float) -> float:
    """A lower bound on the total-variation distance: P(longer | one) − P(longer |
    other), at a line that the first half of the calls chose.
    """
    half = len(first) // 2
    lines = np.unique(np.concatenate([first[:half], second[:half]]))
    shares = [
        (np.mean(second[:half] > line) - np.mean(first[:half] > line), line)
        for line in lines
    ]
    gain, line = max(shares, key=lambda one: abs(one[0]))
    longer, shorter = (second, first) if gain > 0 else (first, second)
    rest = len(first) - half
    hits = int((longer[half:] > line).sum())
    misses = int((shorter[half:] <= line).sum())
    found = lower(hits, rest, alarm / 2) + lower(misses, rest, alarm / 2) - 1
    return max(float(found), 0.0)
