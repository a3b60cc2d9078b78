"""Two arms' noisy counts, compared by a test that knows the noise, and by the interval
that follows from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.science.trials.arms import LEFT_OUT, Arm, Known, Private, Steps
from dither.science.trials.checks import GREATER, LESS, TWO_SIDED
from dither.science.trials.contrasts import Contrast
from dither.science.trials.proportions import Evidence, Open, Whole
from dither.science.trials.tulap import Tulap, bisect

__all__ = ["Compared", "Inverted", "evidence_of"]

GRID = 8
"""At so many proportions of the second arm a p-value is taken; the worst counts."""
LOOKS = 9
ROUNDS = 12
NONE = 1e-9
"""As good as a proportion of 0, where odds still have a ratio."""


def evidence_of(arm: Arm) -> Evidence:
    """What an arm by itself says about its proportion."""
    if isinstance(arm, Known):
        return Whole(arm.noisy, arm.size, Tulap(arm.noise))
    assert isinstance(arm, Private)
    return Open(arm)


@dataclass(frozen=True)
class Compared:
    """Two arms. For each value of a contrast there is a p-value: the worst over the
    second arm's proportion (and the arms' sizes, where these are private) among those
    that fit the noisy counts, plus the chance that the true one is not among them
    (Berger & Boos 1994).
    """

    arms: tuple[Arm, Arm]

    def greater(self, contrast: Contrast, value: float) -> float:
        """For the alternative that the contrast is larger; it rises with the value."""
        return self._worst(contrast, value, up=True)

    def less(self, contrast: Contrast, value: float) -> float:
        return self._worst(contrast, value, up=False)

    def pvalue(self, contrast: Contrast, value: float, alternative: str) -> float:
        if alternative == GREATER:
            return min(1.0, self.greater(contrast, value))
        if alternative == LESS:
            return min(1.0, self.less(contrast, value))
        both = self.greater(contrast, value), self.less(contrast, value)
        return min(1.0, 2 * min(both))

    def _worst(self, contrast: Contrast, value: float, *, up: bool) -> float:
        likely = self._likely(contrast, value)
        if not likely:  # the arms by themselves tell that it is larger, or smaller
            larger = value < contrast.of(self._ranges[0][0], self._ranges[1][1])
            return self._left_out if larger is up else 1.0
        tails = (self._tail(contrast, value, p, up=up) for p in likely)
        return self._left_out + max(tails)

    def _tail(
        self, contrast: Contrast, value: float, p: tuple[float, float], *, up: bool
    ) -> float:
        """The worst over sizes of the chance of what was seen, or more of it."""
        first, second = self.arms
        side = 1 if up else -1
        moved = (
            first.moved(p[0]) - side * first.slack,
            second.moved(p[1]) + side * second.slack,
        )
        left = [(size, first.law(p[0], size)) for size in first.sizes()]
        right = [(size, second.law(p[1], size)) for size in second.sizes()]
        found = 0.0
        for (n, one), (m, other) in itertools.product(left, right):
            weights = contrast.weights(value, p, (n, m))
            found = max(found, _chance(one, other, weights, moved, up=up))
        return found

    def _likely(self, contrast: Contrast, value: float) -> list[tuple[float, float]]:
        """Pairs of proportions with this value that fit each arm by itself."""
        (least, most), (low, high) = self._ranges
        low = max(low, contrast.second(value, least), 0.0)
        high = min(high, contrast.second(value, most), 1.0)
        if low > high:
            return []
        return [
            (min(1.0, max(0.0, contrast.first(value, second))), second)
            for second in self._between(low, high)
        ]

    def _between(self, low: float, high: float) -> list[float]:
        """Proportions from low to high, evenly in their log odds. So near to 0 or 1
        that most samples have none or all, nothing changes any more.
        """
        none = 0.05 / max(1, *self.arms[0].sizes(), *self.arms[1].sizes())
        ends = np.clip([low, high], none, 1 - none)
        least, most = np.log(ends / (1 - ends)).tolist()
        odds = np.linspace(least, most, GRID)
        inner = (1 / (1 + np.exp(-odds))).tolist()
        first = [NONE] if low < none else []
        last = [1 - NONE] if high > 1 - none else []
        return [*first, *inner, *last]

    @cached_property
    def _ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        first, second = (_range(arm) for arm in self.arms)
        return first, second

    @property
    def _left_out(self) -> float:
        """A proportion or a size of either arm is left out at most so often."""
        private = any(isinstance(arm, Private) for arm in self.arms)
        return (4 if private else 2) * LEFT_OUT


def _range(arm: Arm) -> tuple[float, float]:
    """The proportions that fit an arm: all but `LEFT_OUT` beyond its private size."""
    miss = LEFT_OUT / 2 + (LEFT_OUT if isinstance(arm, Private) else 0.0)
    evidence = evidence_of(arm)
    return evidence.low(miss), evidence.high(miss)


def _chance(
    first: Steps,
    second: Steps,
    weights: tuple[float, float],
    moved: tuple[float, float],
    *,
    up: bool,
) -> float:
    """P(a·X - b·Y ≥ what was seen), or ≤ for the other side."""
    a, b = weights
    seen = a * moved[0] - b * moved[1]
    slack = a * first.slack * first.step
    if b <= 0:
        tail = first.above if up else first.below
        return float(tail(np.asarray(seen / a)))
    cuts = (a * first.values - seen + (slack if up else -slack)) / b
    tails = second.below(cuts) if up else second.above(cuts)
    return float(first.weights @ tails)


@dataclass(frozen=True)
class Inverted:
    """Where the population's contrast lies: the values that the test does not reject.
    Ends may be 0 or infinite.
    """

    compared: Compared
    contrast: Contrast
    alternative: str = TWO_SIDED

    def ends(self, confidence: float) -> tuple[float, float]:
        miss = 1 - confidence
        least, most = self.contrast.at(0.0), self.contrast.at(1.0)
        if self.alternative == GREATER:
            return self._low(miss), most
        if self.alternative == LESS:
            return least, self._high(miss)
        return self._low(miss / 2), self._high(miss / 2)

    def _low(self, miss: float) -> float:
        def kept(place: float) -> bool:
            value = self.contrast.at(place)
            return self.compared.greater(self.contrast, value) > miss

        return self.contrast.at(_outermost(kept))

    def _high(self, miss: float) -> float:
        def kept(place: float) -> bool:
            value = self.contrast.at(1 - place)
            return self.compared.less(self.contrast, value) > miss

        return self.contrast.at(1 - _outermost(kept))


def _outermost(kept: Callable[[float], bool]) -> float:
    """The first place, from 0 on, at which a value is kept. p-values need not rise all
    the way, so a search by halves begins from a coarse look at all places.
    """
    places = np.linspace(0.0, 1.0, LOOKS).tolist()
    found = next((at for at, place in enumerate(places) if kept(place)), LOOKS - 1)
    if found == 0:
        return 0.0
    return bisect(kept, places[found - 1], places[found], ROUNDS)
