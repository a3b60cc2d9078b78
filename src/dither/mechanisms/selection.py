"""Mechanisms that choose one of several candidates by a noisy score: Exponential,
PermuteAndFlip, NoisyMax.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.values import numbers
from dither.noise import Noise, noisy_argmax
from dither.privacy import ROW, BoundedRange, Guarantee, PureDP, Relation, Unit
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    float_down,
    positive,
    whole,
)

__all__ = ["Exponential", "NoisyMax", "PermuteAndFlip"]

PARTS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Selection(ABC):
    """A private choice. `sensitivity` is the most that one unit can move any one score.

    Scores are `monotone` if adding a unit never lowers any of them (counts are so); the
    same promise then needs half the noise. Replacing a unit may move scores both ways,
    so that relation has no monotone scores.
    """

    sensitivity: float
    epsilon: float
    monotone: bool = False
    unit: Unit = ROW

    noise: ClassVar[Noise]

    def __post_init__(self) -> None:
        way_out = (
            "pass how far one unit can move any one score, such as 1 when "
            "scores are counts"
        )
        object.__setattr__(
            self, "sensitivity", positive("sensitivity", self.sensitivity, way_out)
        )
        object.__setattr__(self, "epsilon", PureDP(self.epsilon).epsilon)
        if (
            not 2.0**-1000
            < Fraction(self.epsilon) / Fraction(self.sensitivity)
            < 2.0**1000
        ):
            raise ArgumentError(
                "sensitivity",
                "the noise scale for this sensitivity and epsilon is beyond the range of "
                "floats; measure the scores in other units",
            )
        if self.monotone and self.unit.relation is Relation.REPLACE:
            raise ArgumentError(
                "monotone",
                "must be False for neighbours that replace a unit, which can raise and "
                "lower scores; leave it out, or pass a unit under add/remove",
            )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one choice promises."""

    @cached_property
    def weight(self) -> float:
        """What scores are multiplied with before noise of scale 1 is added; rounded
        down.
        """
        return float_down(
            at_most(self.epsilon)
            / (Fraction(self.sensitivity) * (1 if self.monotone else 2))
        )

    @property
    def scale(self) -> float:
        """The scale of the noise, in units of the score."""
        return 1 / self.weight

    def release(self, scores: Any) -> int:
        """The index of the chosen candidate. NaN counts as score 0, infinities as the
        largest float.
        """
        clean = numbers(scores, "scores")
        if not isinstance(clean, np.ndarray) or clean.ndim != 1 or clean.size == 0:
            raise ArgumentError(
                "scores",
                "must be a list with one number for each candidate, at least one",
            )
        if clean.dtype == np.float64 and not np.isfinite(clean).all():
            return noisy_argmax(
                np.nan_to_num(clean).astype(np.float64), self.weight, self.noise
            )
        return noisy_argmax(clean, self.weight, self.noise)

    def error(self, confidence: float = 0.95, *, candidates: int) -> float:
        """How far below the best score the chosen one may lie, at most, with this
        probability.
        """
        tail = 1 - float(confidence_level("confidence", confidence))
        return (
            self._sides
            * math.log(
                whole("candidates", candidates, "pass the number of candidates") / tail
            )
            / self.weight
        )

    _sides: ClassVar[int] = 1

    def wrong_winner(self, margin: float, *, candidates: int) -> float:
        """The probability that the choice is not the best candidate, if that leads all
        others by an assumed `margin` (or more: then it is less likely).

        A margin that is read off the scores would tell about them: assume one.
        """
        lead = positive("margin", margin, "pass the lead of the best, such as 20")
        count = whole("candidates", candidates, "pass the number of candidates")
        return max(0.0, 1 - self._right(self.weight * lead, count))

    @abstractmethod
    def _right(self, lead: float, count: int) -> float:
        """The probability that the best of `count` is chosen, with a lead in units of
        its noise over all others, which are equal.
        """


class Exponential(Selection):
    """The exponential mechanism: P(i) proportional to exp(ε·score / 2Δ), or exp(ε·score
    / Δ) when monotone.

    Guarantee: epsilon-bounded range, hence epsilon-differential privacy, and zCDP with
    rho = ε² / 8.
    Why: McSherry & Talwar 2007; Gumbel noise gives exactly these odds; range: Durfee &
    Rogers 2019.
    Assumes: one unit moves each score by at most `sensitivity`; all in one direction if
    `monotone`.
    """

    noise = Noise.GUMBEL

    @property
    def guarantee(self) -> BoundedRange:
        return BoundedRange(self.epsilon, unit=self.unit)

    def _right(self, lead: float, count: int) -> float:
        return 1 / (1 + (count - 1) * math.exp(-lead))


class PermuteAndFlip(Selection):
    """Permute-and-flip: the same promise as the exponential mechanism and never a
    larger expected error.

    Guarantee: epsilon-differential privacy, pure.
    Why: McKenna & Sheldon 2020; the same law as the maximum under exponential noise
    (Ding et al. 2021).
    Assumes: one unit moves each score by at most `sensitivity`; all in one direction if
    `monotone`.
    """

    noise = Noise.EXPONENTIAL

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, unit=self.unit)

    def _right(self, lead: float, count: int) -> float:
        # E[(1 - e^(-lead - X))^(count - 1)] for exponential noise X of the best
        behind = math.exp(-lead)
        if not behind:
            return 1.0
        lost = math.expm1(count * math.log1p(-behind)) if behind < 1 else -1.0
        return -lost / (count * behind)


class NoisyMax(Selection):
    """Report noisy max: the largest score after Laplace noise of scale 2Δ / ε, or Δ / ε
    when monotone.

    Guarantee: epsilon-differential privacy, pure.
    Why: Dwork & Roth 2014, claim 3.9; noise is continuous, so there are no ties.
    Assumes: one unit moves each score by at most `sensitivity`; all in one direction if
    `monotone`.
    """

    noise = Noise.LAPLACE
    _sides = 2

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, unit=self.unit)

    def _right(self, lead: float, count: int) -> float:
        # by the quantiles of the best one's noise, at the middles of equal parts
        parts = (np.arange(PARTS) + 0.5) / PARTS
        noise = np.where(parts < 0.5, np.log(2 * parts), -np.log(2 - 2 * parts)) + lead
        below = np.where(
            noise < 0, np.exp(np.minimum(noise, 0)) / 2, 1 - np.exp(-abs(noise)) / 2
        )
        return float(np.mean(below ** (count - 1)))
