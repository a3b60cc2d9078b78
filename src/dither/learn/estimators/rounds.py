"""Rounds of boosting on curves: residuals in whole numbers, their noisy sums by bin, and
how far curves move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.counting import UnitCount
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.noise import random_words
from dither.privacy import Guarantee

__all__ = ["Boosting", "Residuals", "places_of", "root_up"]

MANY_NUMBERS = 20_000_000
ROUNDS = {True: 30, False: 10}
"""Rounds with Gaussian noise, where more of them cost only time; and with Laplace
noise, where they do.
"""
REACH = 2.0
"""How far noise may move the score of a row."""
FASTEST, SLOWER, SMOOTH = 40.0, 0.9, 1.5
"""The longest step, by how much the last one is shorter, and how many bins wide curves
are smoothed.
"""
WORTH = 0.8
"""Columns with Laplace noise, for the root of units times ε."""
FINE, GRID, LARGEST = 1 << 14, 1 << 12, 32
"""Steps of a probability and of a score, and what a score of a bin is cut to."""
TABLE = 20 * GRID
ONE = 1 << 24
SAFE = 1 - 2.0**-40


def places_of(shares: Reals, bins: int) -> Integers:
    """The bin of each value."""
    found: Integers = np.minimum((shares * bins).astype(np.int64), bins - 1)
    return found


def root_up(count: int) -> float:
    """The square root, or a little more, so that products with it are not too small."""
    return math.sqrt(count) * (1 + 2.0**-40)


@lru_cache(maxsize=1)
def _table() -> Reals:
    found: Reals = np.rint(np.exp(-np.arange(TABLE + 1) / GRID) * ONE)
    return found


@dataclass(frozen=True)
class Residuals:
    """Probability less truth, in whole steps: scores are whole numbers, e^(-t) comes
    from a table, and a division is rounded alike wherever a row stands.
    """

    outputs: int

    @property
    def l1(self) -> int:
        return FINE if self.outputs == 1 else 2 * FINE

    @property
    def l2(self) -> float:
        return (
            float(FINE) if self.outputs == 1 else math.sqrt(2) * FINE * (1 + 2.0**-40)
        )

    def of(self, scores: Integers, targets: NDArray[np.int64]) -> Reals:
        """A line for each output. What other classes have is rounded down, and the true
        one has as much below 0, so that no line of a row is longer than said.
        """
        if self.outputs == 1:
            part = _table()[np.minimum(np.abs(scores[0]), TABLE)]
            shares = np.where(scores[0] > 0, ONE, part) / (ONE + part)
            found: Reals = (np.rint(shares * FINE) - FINE * targets)[None]
            return found
        parts = _table()[np.minimum(scores.max(axis=0) - scores, TABLE)]
        total = np.zeros(scores.shape[1])
        for part in parts:
            total += part  # whole numbers, so exact
        others = np.floor(parts / total * (FINE * SAFE))
        order = np.arange(scores.shape[1])
        others[targets, order] = 0.0
        sums = np.zeros(scores.shape[1])
        for line in others:
            sums += line
        others[targets, order] = -sums
        return np.asarray(others)


@dataclass(frozen=True)
class Boosting:
    """What it takes to count units where that is needed, and rounds of noisy
    histograms.
    """

    declared: Declared
    spending: Spending
    count: UnitCount
    rest: Spending
    bins: int
    rounds: int

    @classmethod
    def of(
        cls, declared: Declared, spending: Spending, bins: int, rounds: int | None
    ) -> Boosting:
        count, rest = UnitCount.of(declared, spending, declared.units is None)
        many = ROUNDS[spending.gaussian] if rounds is None else rounds
        found = cls(declared, spending, count, rest, bins, many)
        numbers = declared.width * bins * found.outputs
        if numbers > MANY_NUMBERS:
            raise ArgumentError(
                "max_bins",
                "must be smaller, because the sums of all bins would have more than "
                f"{MANY_NUMBERS:,} numbers; pass fewer bins",
            )
        _ = found.noise(declared.width)  # what it refuses is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @property
    def outputs(self) -> int:
        assert self.declared.classes is not None
        count = len(self.declared.classes)
        return 1 if count == 2 else count

    @cached_property
    def residuals(self) -> Residuals:
        return Residuals(self.outputs)

    def noise(self, columns: int) -> Additive:
        """Noise for the sums of a round, over so many columns."""
        most = self.declared.whole
        l1, l2 = self.residuals.l1, self.residuals.l2
        step = self.rest.each(self.rounds)
        return step.noise(float(columns * l1 * most), root_up(columns) * l2 * most)

    def columns(self, units: float) -> NDArray[np.intp]:
        """The columns that are used: with Laplace noise a random choice, as each costs
        as much as the last.
        """
        width = self.declared.width
        if self.spending.gaussian:
            return np.arange(width)
        worth = units * (self.spending.epsilon or 0.0)
        most = int(min(max(WORTH * math.sqrt(worth), 4), width))
        order = np.argsort(random_words(2 * width).view(np.uint64), kind="stable")
        return np.sort(order[:most])

    def places(self, rows: Rows, used: NDArray[np.intp]) -> Integers:
        """The bin of each row, with a line for each column."""
        held = [places_of(rows.inputs[:, one], self.bins) for one in used]
        return np.stack(held)

    def exact(
        self, places: Integers, targets: Any, weights: Integers, curves: Integers
    ) -> Integers:
        """The sums of a round: by column, bin and output. `places` has a line for each
        column.
        """
        scores = np.zeros((self.outputs, places.shape[1]), np.int64)
        for column, place in enumerate(places):
            scores += curves[column].T[:, place]
        wrong = self.residuals.of(scores, targets) * weights
        found = np.zeros(curves.shape, np.int64)
        for column, place in enumerate(places):
            for output in range(self.outputs):
                # whole numbers below 2^53 in all, so sums are exact
                found[column, :, output] = np.bincount(place, wrong[output], self.bins)
        return found

    def fit(self, rows: Rows, units: float) -> Fitted:
        """Rounds for about so many units."""
        used = self.columns(units)
        noise = self.noise(len(used))
        places = self.places(rows, used)
        one = self.declared.whole * FINE
        rate = self.rate(units, len(used), math.sqrt(noise_variance(noise)) / one)
        curves = np.zeros((len(used), self.bins, self.outputs))
        kept, late = np.zeros_like(curves), self.rounds // 2
        near = _near(self.bins)
        for step in range(self.rounds):
            whole = np.rint(np.clip(curves, -LARGEST, LARGEST) * GRID).astype(np.int64)
            exact = self.exact(places, rows.targets, rows.weights, whole)
            moved = np.einsum("ab,jbk->jak", near, noise.release(exact) / one)
            curves -= rate * (1 - SLOWER * step / self.rounds) * moved
            if step >= late:
                kept += curves / (self.rounds - late)
        return self.fitted(used, kept)

    def rate(self, units: float, columns: int, blur: float) -> float:
        """How far curves move for a difference of 1. Noise moves the score of a row by
        about rate · √(rounds · columns) · σ in total, which is allowed a public amount.
        """
        allowed = REACH / (max(blur, 1e-12) * math.sqrt(self.rounds * columns))
        return math.sqrt(self.bins) * min(allowed, FASTEST / (columns * units))

    def fitted(self, used: NDArray[np.intp], curves: Reals) -> Fitted:
        """Curves with mean 0, and what that takes off them."""
        declared = self.declared
        assert declared.classes is not None
        full = np.zeros((declared.width, self.bins, self.outputs))
        full[used] = curves
        means = full.mean(axis=1)
        ends = np.linspace(0.0, 1.0, self.bins + 1)
        held = {
            "term_scores_": full - means[:, None],
            "intercept_": means.sum(axis=0),
            "bins_": declared.low[:, None] + declared.span[:, None] * ends,
            "classes_": labels(declared.classes),
        }
        return Fitted(held, full)


def _near(bins: int) -> Reals:
    """Weights of neighbouring bins, by which curves are smoothed."""
    order = np.arange(bins)
    found = np.exp(-0.5 * ((order[:, None] - order) / SMOOTH) ** 2)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
