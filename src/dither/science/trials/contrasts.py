"""What two proportions are compared by: the ratio of their odds, their difference, or
their ratio.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

__all__ = ["DIFFERENCE", "ODDS", "RATIO", "Contrast"]

Two = tuple[float, float]


@dataclass(frozen=True)
class Contrast(ABC):
    """One number that tells two proportions apart. `null` is what it is where they are
    equal.
    """

    name: str
    null: float

    @abstractmethod
    def of(self, first: float, second: float) -> float:
        """The value for two proportions; NaN if there is none."""

    @abstractmethod
    def first(self, value: float, second: float) -> float:
        """The first proportion that has this value with the second."""

    @abstractmethod
    def second(self, value: float, first: float) -> float:
        """The second proportion that has this value with the first."""

    @abstractmethod
    def weights(self, value: float, p: Two, n: Two) -> Two:
        """How much the deviation of each arm counts. An error in the second proportion
        then leaves the difference of the two where it is, to first order.
        """

    def at(self, place: float) -> float:
        """The value at a place from 0 (the least) to 1 (the largest)."""
        return place / (1 - place) if place < 1 else math.inf


class _Odds(Contrast):
    def of(self, first: float, second: float) -> float:
        above, below = first * (1 - second), second * (1 - first)
        return _divided(above, below)

    def first(self, value: float, second: float) -> float:
        if math.isinf(value):
            return 1.0
        below = 1 - second + value * second
        return value * second / below if below > 0 else 0.0

    def second(self, value: float, first: float) -> float:
        if math.isinf(value):
            return 1.0 if first >= 1 else 0.0
        below = first + value * (1 - first)
        return first / below if below > 0 else 0.0

    def weights(self, value: float, p: Two, n: Two) -> Two:  # noqa: ARG002
        """The efficient score of a log odds ratio: deviations over their variances."""
        spread = [size * one * (1 - one) for size, one in zip(n, p, strict=True)]
        both = sum(spread)
        return (spread[1] / both, spread[0] / both) if both > 0 else (1.0, 1.0)


class _Difference(Contrast):
    def of(self, first: float, second: float) -> float:
        return first - second

    def first(self, value: float, second: float) -> float:
        return second + value

    def second(self, value: float, first: float) -> float:
        return first - value

    def weights(self, value: float, p: Two, n: Two) -> Two:  # noqa: ARG002
        return 1 / max(n[0], 1), 1 / max(n[1], 1)

    def at(self, place: float) -> float:
        return 2 * place - 1


class _Ratio(Contrast):
    def of(self, first: float, second: float) -> float:
        return _divided(first, second)

    def first(self, value: float, second: float) -> float:
        return value * second if second > 0 else 0.0

    def second(self, value: float, first: float) -> float:
        if math.isinf(value):
            return 0.0
        if value <= 0:
            return math.inf if first > 0 else 0.0
        return first / value

    def weights(self, value: float, p: Two, n: Two) -> Two:  # noqa: ARG002
        if math.isinf(value):
            return 0.0, 1.0
        return 1 / max(n[0], 1), value / max(n[1], 1)


def _divided(above: float, below: float) -> float:
    if below > 0:
        return above / below
    return math.inf if above > 0 else math.nan


ODDS = _Odds("odds ratio", 1.0)
DIFFERENCE = _Difference("risk difference", 0.0)
RATIO = _Ratio("risk ratio", 1.0)
