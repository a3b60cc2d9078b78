"""Choosing what to guess from: the rule that, on draws put aside for it, promises the
highest lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dither.audit.criteria import Counts, Criterion
from dither.audit.features import Feature, counted, log_ratio
from dither.audit.outcomes import Encoder, Outcomes
from dither.audit.views import features

__all__ = ["CHOICES", "Rule", "choose"]

CUTS = 64
CHOICES = ((4.0, 0.9), (0.0, 0.1))
"""Two rules are judged: a cautious one, and a bold one for events that are rare but
tell much. For each: by how many standard deviations the counts by which rules are
compared may be off, and its part of the alarm rate.
"""

PLAIN = 0.01
"""Margin by which the bound of a less simple rule must be higher."""

Order = NDArray[np.intp]
Counted = NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """For each cell of a feature: 1 guesses the first input, −1 the second, 0 abstains."""

    feature: Feature
    guesses: NDArray[np.int8]

    @property
    def sides(self) -> tuple[bool, bool]:
        return bool((self.guesses == 1).any()), bool((self.guesses == -1).any())

    def count(self, outcomes: Outcomes) -> tuple[int, int]:
        """Number of outcomes in the first input's event, and in the second one's."""
        cells = np.bincount(self.feature.cells(outcomes), minlength=self.feature.count)
        return int(cells[self.guesses == 1].sum()), int(cells[self.guesses == -1].sum())

    def counts(self, seen: Sequence[tuple[int, int]], draws: tuple[int, int]) -> Counts:
        """What was counted, from `count` of the first input's draws and of the second
        one's.
        """
        first, second = seen
        return Counts(first[0], second[0], second[1], first[1], draws, self.sides)

    @property
    def words(self) -> str:
        said = [
            (
                f"{self.feature.words(np.flatnonzero(self.guesses == sign).tolist())} "
                f"({side} input)"
            )
            for sign, side in ((1, "first"), (-1, "second"))
            if (self.guesses == sign).any()
        ]
        return ", ".join(said) or "none was found"


@dataclass(frozen=True)
class _Scored:
    score: float
    rule: Rule


def choose(
    encoder: Encoder,
    sides: Sequence[Outcomes],
    criterion: Criterion,
    alarm: float,
    ahead: int,
) -> list[tuple[Rule, float]]:
    """The best rules for a test of `ahead` draws, with their parts of the alarm rate.

    One half of the draws given here orders cells, the other half compares rules.
    """
    halves = [(one[: len(one) // 2], one[len(one) // 2 :]) for one in sides]
    fit, judge = [half[0] for half in halves], [half[1] for half in halves]
    known = [_Known(feature, fit, judge) for feature in features(encoder, fit)]
    found = []
    for caution, part in CHOICES:
        best, *others = (
            one.best(criterion, Caution(caution, alarm * part, ahead)) for one in known
        )
        for one in others:
            best = one if one.score > _beaten(best.score) else best
        found.append((best.rule, alarm * part))
    return found


@dataclass(frozen=True)
class Caution:
    """How far off counts may be by which rules are compared."""

    deviations: float
    alarm: float
    ahead: int

    def z(self, compared: int) -> float:
        """A bound on so many compared draws that lies as far off as their and the
        test's uncertainty together.
        """
        return self.deviations + NormalDist().inv_cdf(1 - self.alarm) * math.sqrt(
            compared / self.ahead
        )


class _Known:
    """A feature, and how often each of its cells was seen."""

    def __init__(
        self, feature: Feature, fit: Sequence[Outcomes], judge: Sequence[Outcomes]
    ) -> None:
        self.feature = feature
        self.fit, self.judge = (
            [counted(feature, one) for one in part] for part in (fit, judge)
        )
        self.all = [
            one + other for one, other in zip(self.fit, self.judge, strict=True)
        ]
        self.seen: NDArray[np.bool_] = np.sum(self.all, axis=0) > 0

    def best(self, criterion: Criterion, caution: Caution) -> _Scored:
        found = _Scored(
            -math.inf, Rule(self.feature, np.zeros(self.feature.count, np.int8))
        )
        cut = _two_sided if criterion.two_sided else _one_sided
        for order, counts in self._orders():
            z = caution.z(int(np.sum(counts)))
            for score, low, high in cut(criterion, [one[order] for one in counts], z):
                if score > _beaten(found.score):
                    found = _Scored(
                        score,
                        Rule(self.feature, self._guesses(order[:low], order[high:])),
                    )
        return found

    def _orders(self) -> Iterator[tuple[Order, list[Counted]]]:
        """Cells from those that speak for the first input to those that speak for the
        second, and counts to compare.

        An order that was found in one half of the draws looks better in that half than
        it is.
        """
        if self.feature.ordered:
            yield np.arange(self.feature.count), self.all
            yield np.arange(self.feature.count)[::-1], self.all
        yield np.argsort(-log_ratio(*self.fit), kind="stable"), self.judge

    def _guesses(self, first: Order, second: Order) -> NDArray[np.int8]:
        """A cell in which nothing was seen is not guessed from; a range like the
        nearest one in which something was.
        """
        guesses = np.zeros(self.feature.count, np.int8)
        guesses[first], guesses[second] = 1, -1
        guesses[~self.seen] = 0
        ranges = np.flatnonzero(self.seen[: self.feature.named])
        if len(ranges):
            after = np.minimum(
                np.searchsorted(ranges, np.arange(self.feature.named)), len(ranges) - 1
            )
            guesses[: self.feature.named] = guesses[ranges[after]]
        return guesses


def _beaten(score: float) -> float:
    """The minimum bound of a rule that replaces a simpler one."""
    return score + PLAIN * abs(score) if math.isfinite(score) else score


def _cuts(count: int) -> NDArray[np.int64]:
    """The places to cut an order: everywhere, or more densely towards the ends."""
    if count <= CUTS:
        return np.arange(count + 1)
    near = np.unique(np.geomspace(1, count / 2, CUTS // 2).astype(np.int64))
    return np.unique(np.concatenate([[0], near, count - near, [count]]))


def _sums(
    seen: Sequence[Counted],
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    cuts = _cuts(len(seen[0]))
    return cuts, [
        np.concatenate([[0], np.cumsum(one)])[cuts].astype(np.float64) for one in seen
    ]


def _two_sided(
    criterion: Criterion, seen: Sequence[Counted], z: float
) -> Iterator[tuple[float, int, int]]:
    """The first input below one cut, the second from another one on; either may be left
    out.
    """
    cuts, (first, second) = _sums(seen)
    below = first[:, None], second[:, None]
    above = (second[-1] - second)[None, :], (first[-1] - first)[None, :]
    draws = float(first[-1]), float(second[-1])
    for sides, rows, columns in (
        (2, slice(None), slice(None)),
        (1, slice(None), slice(-1, None)),
        (1, slice(1), slice(None)),
    ):
        here, there = (
            (below[0][rows], below[1][rows]),
            (above[0][:, columns], above[1][:, columns]),
        )
        score = criterion.rough_sides(here, there, draws, sides, z)
        allowed = cuts[rows][:, None] <= cuts[columns][None, :]
        best = np.unravel_index(
            np.argmax(np.where(allowed, score, -np.inf)), score.shape
        )
        yield float(score[best]), int(cuts[rows][best[0]]), int(cuts[columns][best[1]])


def _one_sided(
    criterion: Criterion, seen: Sequence[Counted], z: float
) -> Iterator[tuple[float, int, int]]:
    """One event: the cells below a cut for the first input, or those from a cut on for
    the second.
    """
    cuts, (first, second) = _sums(seen)
    for here, there, low in (
        (first, second, True),
        (second[-1] - second, first[-1] - first, False),
    ):
        draws = float(first[-1]), float(second[-1])
        ends = draws if low else draws[::-1]
        score = criterion.rough(here, there, ends, 1, z)
        best = int(np.argmax(score))
        cut = int(cuts[best])
        yield (
            (float(score[best]), cut, len(seen[0]))
            if low
            else (float(score[best]), 0, cut)
        )
