"""A charged choice between a fitted classifier, versions of it that trust the columns
less, and one class for all rows: noise then does not make a classifier worse than a
guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dither.learn.estimators.boxes import blur
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers
from dither.mechanisms import PermuteAndFlip

__all__ = ["FAITH", "Fallback", "Tempered", "few", "pure"]

NEEDED, NEEDED_MANY = 30.0, 10.0
"""Units times ε below which the prior odds of the fitted versions are smaller: for two
classes, and for more.
"""
LEAST, MOST, USUAL = 0.02, 1.4, 0.2
"""The smallest part of the cost that the choice takes; the largest, times the number of
classes; and the part for an unknown number of units.
"""
PART, PART_MANY = 2.2, 1.2
"""The part of the cost that the choice takes, times the root of units times ε: for two
classes, and for more, of which a single one is rarely a good answer.
"""
FAITH = {1.0: 0.6, 0.5: 0.2, 0.25: 0.1, 0.1: 0.1}
"""Multiples of the evidence that are tried, and the prior odds of each among them."""
DOUBT, DOUBT_MANY = 0.5, 16.0
"""Prior odds of the fitted versions together, where those of one class for all rows are 2
together: for two classes, and for more.
"""
FEW, MUCH = 60.0, 2.0
"""Units times μ below which pure noise is taken, if a cost can be spent on either; and
how many times as much of it on the columns is too much for that.
"""
MARGIN = 0.02
"""The share of the units by which less evidence must be right more often: it has other
probabilities, which a few rows more do not make better.
"""
LARGEST = 2.0**60
LEAD = 0.1
"""By how much the log probability of a class leads if all rows are given that class."""

ONE_CLASS = (
    "all rows are given the same class: with this much noise, the columns did not show "
    "to be better; spend more, or use fewer columns"
)
LESS = "the evidence of the columns is multiplied by {scale:g}"


@dataclass(frozen=True)
class Tempered:
    """A multiple of the evidence, and what is added to it for each class."""

    scale: float
    base: Reals

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the release on the choice."""
        if self.scale == 0.0:
            return (ONE_CLASS,)
        return () if self.scale == 1.0 else (LESS.format(scale=self.scale),)

    def scores(self, evidence: Reals) -> Reals:
        """A score of each class for each row."""
        found: Reals = self.scale * evidence + self.base
        return found


@dataclass(frozen=True)
class Fallback:
    """Permute-and-flip on the weight of the rows that each candidate gets right.

    Guarantee: pure ε for one unit, under add/remove; as a part of a fit with Gaussian
    noise μ-GDP.
    Why: a row adds its weight to the count of a candidate, or nothing, so a unit adds at
    most `Declared.whole` to each count and subtracts from none (McKenna & Sheldon 2020,
    monotone scores). The head start of each candidate is public. Pure ε is μ-GDP for
    ε ≤ μ·√(2/π) (docs/proofs/estimators.md).
    Assumes: the evidence of a row depends on that row and on earlier releases only.
    """

    declared: Declared
    spending: Spending
    doubt: float = DOUBT

    @classmethod
    def of(cls, declared: Declared, spending: Spending) -> tuple[Fallback, Spending]:
        """The choice, and what is left of the cost."""
        part, classes = USUAL, len(declared.classes or ())
        two = classes == 2
        doubt = DOUBT if two else DOUBT_MANY
        if declared.units is not None:
            worth = max(declared.units * pure(spending), 1e-9)
            wanted = (PART if two else PART_MANY) / math.sqrt(worth)
            part = min(max(wanted, LEAST), MOST / classes)
            doubt *= min(worth / (NEEDED if two else NEEDED_MANY), 1.0)
        part = max(round(part, 3), 0.001)
        first, rest = spending.parts(part, round(1 - part, 3))
        found = cls(declared, first, doubt)
        _ = found.choice  # what it refuses is refused before the charge
        return found, rest

    @cached_property
    def choice(self) -> PermuteAndFlip:
        return PermuteAndFlip(
            sensitivity=float(self.declared.whole),
            epsilon=pure(self.spending),
            monotone=True,
            unit=self.spending.unit,
        )

    def choose(self, rows: Rows, base: Reals, evidence: Reals) -> Tempered:
        """Choose the candidate to predict with. `evidence` has one score for each row and
        class.
        """
        tried = candidates(base)
        if self.declared.units is None:
            tried = [one for one in tried if one.scale in (0.0, 1.0)]
        right = self.right(rows, tried, evidence)
        return tried[self.choice.release(right + self.head_start(tried))]

    def right(self, rows: Rows, tried: list[Tempered], evidence: Reals) -> Integers:
        """The weight of the rows that each candidate gets right."""
        assert rows.targets is not None
        found = np.zeros(len(tried), np.int64)
        for place, one in enumerate(tried):
            guessed = one.scores(evidence).argmax(axis=1)
            found[place] = rows.weights[guessed == rows.targets].sum()
        return found

    def head_start(self, tried: list[Tempered]) -> Integers:
        """Prior odds of the candidates, in units of the counts."""
        each = 2 / sum(one.scale == 0 for one in tried)
        odds = [
            self.doubt * FAITH[one.scale] if one.scale > 0 else each for one in tried
        ]
        steps = np.log(np.array(odds) / min(odds)) * self.choice.scale
        behind = MARGIN * (self.declared.units or 0) * self.declared.whole
        less = np.array([behind if 0 < one.scale < 1 else 0 for one in tried])
        found: Integers = np.rint(np.minimum(steps, LARGEST) - less).astype(np.int64)
        return found


def candidates(base: Reals) -> list[Tempered]:
    """The evidence, less of it, none of it; and each of the other classes."""
    found = [Tempered(scale, base) for scale in (*FAITH, 0.0)]
    likeliest = int(base.argmax())
    for place in range(len(base)):
        if place != likeliest:
            raised = base.copy()
            raised[place] = base[likeliest] + LEAD
            found.append(Tempered(0.0, raised))
    return found


def few(declared: Declared, spending: Spending, least: float = FEW) -> bool:
    """Whether pure noise is the better way because declared units are few, though a δ is
    there: means, leaves and choices then need a small ε more than many parts do.
    """
    if declared.units is None or len(spending.ways) < 2:
        return False
    gaussian, pure = spending.ways
    gaussian = replace(gaussian, mu=spending.equal or spending.mu)
    dims = declared.width + 1
    if blur(pure, dims) > MUCH * blur(gaussian, dims):
        return False
    return declared.units * (spending.equal or spending.mu or 0.0) < least


def pure(spending: Spending) -> float:
    """The pure ε that fits into a cost: ε itself, or ε = μ·√(2/π), which is μ-GDP."""
    if spending.mu is None:
        return spending.epsilon or 0.0
    return spending.mu * math.sqrt(2 / math.pi) * (1 - 2.0**-40)
