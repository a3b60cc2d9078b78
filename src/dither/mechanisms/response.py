"""Randomized response: each answer is kept with a known probability and replaced by
another one otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import place_of
from dither.noise import bernoulli, uniform_integers
from dither.noise.exact import context, decimal_of
from dither.privacy import PureDP, Relation, Unit
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    float_up,
    fraction,
    up,
    whole,
)

__all__ = ["Estimate", "RandomizedResponse"]

RANGE = 1 << 64
ANSWER = Unit("answer", Relation.REPLACE)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """Randomized response over `categories`: how many there are (answers 0 … k − 1), or
    the list of them.

    State the promise as `epsilon`, or as `truth`, the probability of keeping an answer;
    every other category is then equally likely. An answer outside the categories is
    replaced by a uniformly random one.

    Guarantee: epsilon-differential privacy, pure, for replacing one answer, whoever
    collects the reports.
    Why: P(report | answer) is truth or (1 − truth) / (k − 1), whose ratio is at most
    e^ε (Warner 1965); the probability is an exact fraction, rounded so that the ratio
    stays below.
    Assumes: one report for each individual; several reports add up.
    """

    epsilon: float | None = None
    truth: Fraction | float | None = None
    categories: int | Sequence[Hashable] = 2

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.truth is None):
            raise ArgumentError(
                "epsilon",
                "pass exactly one of epsilon and truth (the probability of a true answer)",
            )
        labels = self._check_categories()
        if self.truth is None:
            epsilon = PureDP(self.epsilon or 0).epsilon
            truth = _truth(epsilon, labels)
        else:
            truth = fraction("truth", self.truth, "pass a probability such as 0.75")
            if not Fraction(1, labels) < truth < 1:
                raise ArgumentError(
                    "truth",
                    f"must lie between 1/{labels} (a random answer) and 1 (no privacy); "
                    "pass a probability such as 0.75",
                )
            epsilon = _epsilon(truth, labels)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "truth", truth)

    def _check_categories(self) -> int:
        if isinstance(self.categories, int | np.integer):
            count = whole(
                "categories",
                int(self.categories),
                "pass the number of possible answers, such as 2",
            )
        else:
            object.__setattr__(self, "categories", tuple(self.categories))
            count = len(set(self.labels))
            if count != len(self.labels):
                raise ArgumentError(
                    "categories", "must list each answer once; remove the duplicates"
                )
        if count < 2:
            raise ArgumentError(
                "categories",
                "must be at least two answers; pass 2, or a list with two or more",
            )
        return count

    @property
    def labels(self) -> Sequence[Any]:
        """The categories in order."""
        return (
            range(self.categories)
            if isinstance(self.categories, int)
            else self.categories
        )

    @property
    def guarantee(self) -> PureDP:
        """What one report promises."""
        return PureDP(self.epsilon or 0, unit=ANSWER)

    @cached_property
    def _lie(self) -> Fraction:
        """The probability of each one of the other answers."""
        return (1 - Fraction(self.truth or 0)) / (len(self.labels) - 1)

    def release(self, answers: Any) -> Any:
        """The report for one answer, or the reports for a list, an array or a column of
        answers.

        A report is always one of the categories (0 … k − 1 if these were given as a
        number), whatever the answer was.
        """
        if isinstance(answers, list | range | np.ndarray) or (
            hasattr(answers, "__array__") and hasattr(answers, "__len__")
        ):
            return self._name(self._randomize(self._places(answers)))
        return self.labels[int(self._randomize(self._places([answers]))[0])]

    def _places(self, answers: Any) -> NDArray[np.int64]:
        """The number of each answer's category; −1 for an answer outside the
        categories.
        """
        if (
            isinstance(self.categories, int)
            and isinstance(answers, np.ndarray)
            and answers.dtype.kind in "bui"
        ):
            known = (answers >= 0) & (answers < self.categories)
            return np.where(known, answers, -1).astype(np.int64)
        places = {label: i for i, label in enumerate(self.labels)}
        shape = answers.shape if isinstance(answers, np.ndarray) else (len(answers),)
        items = (
            answers.reshape(-1).tolist()
            if isinstance(answers, np.ndarray)
            else list(answers)
        )
        return np.array([place_of(item, places) for item in items], np.int64).reshape(
            shape
        )

    def _randomize(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        count = len(self.labels)
        keep = bernoulli(Fraction(self.truth or 0), places.shape)
        other = uniform_integers(count - 1, places.shape)
        other += other >= places
        anything = uniform_integers(count, places.shape)
        return np.where(places < 0, anything, np.where(keep, places, other))

    def _name(self, places: NDArray[np.int64]) -> NDArray[Any]:
        if isinstance(self.categories, int):
            return places
        names = np.empty(len(self.labels), dtype=object)
        for i, label in enumerate(self.labels):
            names[i] = label
        return names[places]

    def estimate(self, reports: Any) -> Estimate:
        """How many of the individuals behind these reports gave each answer: unbiased,
        with intervals.
        """
        places = self._places(reports).reshape(-1)
        seen = np.bincount(places[places >= 0], minlength=len(self.labels)).astype(
            np.float64
        )
        return Estimate(
            tuple(self.labels), seen, float(Fraction(self.truth or 0)), float(self._lie)
        )


def _truth(epsilon: float, categories: int) -> Fraction:
    """e^ε / (e^ε + k − 1), rounded down to a multiple of 2^-64 (less truth, less loss),
    but not below 1/k.
    """
    ctx = context(64)
    lies = ctx.multiply(
        Decimal(categories - 1), ctx.exp(decimal_of(ctx, -at_most(epsilon)))
    )
    exact = ctx.divide(Decimal(RANGE), ctx.add(Decimal(1), lies))
    return max(
        Fraction(int(ctx.subtract(exact, Decimal("1e-30"))), RANGE),
        Fraction(1, categories),
    )


def _epsilon(truth: Fraction, categories: int) -> float:
    """ln(truth / lie), from the exact fraction by which the ratio exceeds 1."""
    excess = truth * (categories - 1) / (1 - truth) - 1
    if excess > 1 << 1000:
        raise ArgumentError(
            "truth",
            "is so close to 1 that there is no privacy; pass a smaller probability",
        )
    return up(math.log1p(float_up(excess)))


@dataclass(frozen=True)
class Estimate:
    """How many individuals gave each answer, as far as their reports tell.

    The estimate of each count is unbiased; its error comes from the randomization
    alone, the individuals being fixed.
    """

    labels: tuple[Any, ...]
    seen: NDArray[np.float64]
    truth: float
    lie: float

    @property
    def reports(self) -> int:
        return int(self.seen.sum())

    @property
    def counts(self) -> NDArray[np.float64]:
        return (self.seen - self.reports * self.lie) / (self.truth - self.lie)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        return self.counts / max(self.reports, 1)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of the counts. Each true answer reports with variance p(1 − p), each other
        one with q(1 − q).
        """
        true = np.clip(self.counts, 0, self.reports)
        variance = true * self.truth * (1 - self.truth) + (
            self.reports - true
        ) * self.lie * (1 - self.lie)
        return np.sqrt(variance) / (self.truth - self.lie)

    def interval(
        self, confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each count, by the normal approximation; good from some ten reports of
        each answer on.
        """
        level = float(confidence_level("confidence", confidence))
        width = NormalDist().inv_cdf((1 + level) / 2) * self.standard_errors
        return self.counts - width, self.counts + width

    def __str__(self) -> str:
        low, high = self.interval()
        rows = zip(self.labels, self.counts, low, high, strict=True)
        lines = [
            f"  {label}: {count:.1f} ({a:.1f} to {b:.1f})"
            for label, count, a, b in rows
        ]
        title = f"counts of {self.reports:,} reports (95 % intervals)"
        return "\n".join([title, *lines])
