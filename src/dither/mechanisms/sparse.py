"""The sparse vector technique: many questions “is this value at or above the
threshold?”, few of them answered yes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.errors import ArgumentError
from dither.mechanisms.interactive import Interactive, Payer, charged
from dither.mechanisms.values import numbers, present
from dither.noise import Grid, discrete_laplace
from dither.noise.shapes import check_scale
from dither.privacy import ROW, PureDP, Relation, Unit
from dither.privacy.numbers import at_most, confidence_level, fraction, positive, whole

__all__ = ["AboveThreshold", "ThresholdStream"]

MOST = 1 << 32


@dataclass(frozen=True, kw_only=True)
class AboveThreshold:
    """Says of one value after the other whether it reaches a threshold, until it has
    said yes `answers` times.

    However many values are asked about, only these count. A whole `threshold` means
    that the values are whole numbers; any other one means that they are reals, which
    are rounded to a public grid. Values are `monotone` if adding a unit never lowers
    any of them, or never raises any (counts are so); they then need half the noise.

    Guarantee: epsilon-differential privacy, pure, for all answers together.
    Why: the standard sparse vector technique (Lyu, Su & Li 2017, algorithm 7): noise on
    the threshold once, for part of epsilon, and on every value, for the rest; see
    docs/proofs/more_mechanisms.md. Other charges may come between its answers: like
    every pure interactive mechanism it is randomized response, drawn when opened, and
    post-processing (Vadhan & Wang 2021; docs/proofs/filter.md).
    Assumes: one unit moves each value by at most `sensitivity`, whichever value is
    asked about after which answers; all in one direction if `monotone`.
    """

    threshold: float
    sensitivity: float
    epsilon: float
    answers: int = 1
    monotone: bool = False
    unit: Unit = ROW

    def __post_init__(self) -> None:
        fraction(
            "threshold",
            self.threshold,
            "pass the public number that values are compared with",
        )
        object.__setattr__(self, "threshold", numbers(self.threshold, "threshold"))
        way_out = "pass how far one unit can move any one value, such as 1 for counts"
        object.__setattr__(
            self, "sensitivity", positive("sensitivity", self.sensitivity, way_out)
        )
        object.__setattr__(self, "epsilon", PureDP(self.epsilon).epsilon)
        object.__setattr__(
            self,
            "answers",
            whole("answers", self.answers, "pass the number of positive answers"),
        )
        if self.answers > MOST:
            raise ArgumentError(
                "answers",
                "must be at most 2**32; pass a smaller number, or release counts",
            )
        if self.monotone and self.unit.relation is Relation.REPLACE:
            raise ArgumentError(
                "monotone",
                "must be False for neighbours that replace a unit, which can raise and "
                "lower values; leave it out, or pass a unit under add/remove",
            )
        _ = self.scales

    @property
    def guarantee(self) -> PureDP:
        """What all answers promise together."""
        return PureDP(self.epsilon, unit=self.unit)

    @property
    def integer(self) -> bool:
        """Whether values are whole numbers."""
        return isinstance(self.threshold, int)

    @cached_property
    def parts(self) -> tuple[Fraction, Fraction]:
        """What the threshold's noise and the values' noise may lose: 1 : k^(2/3), which
        makes their difference least.

        k = Σ of how far values have to be moved over all yeses: 2 × answers, or answers
        when monotone.
        """
        total = at_most(self.epsilon)
        threshold = total * Fraction(1 / (1 + self._moves ** (2 / 3)))
        return threshold, total - threshold

    @property
    def _moves(self) -> int:
        return self.answers * (1 if self.monotone else 2)

    @cached_property
    def grid(self) -> Grid:
        """The multiples of this grid's step are what values are rounded to."""
        if self.integer:
            return Grid(0)
        spread = Fraction(self.sensitivity)
        return Grid.finer_than(min(spread, *(spread / part for part in self.parts)))

    @cached_property
    def scales(self) -> tuple[float, float]:
        """The scales of the threshold's noise and of the values' noise, in steps of the
        grid.
        """
        moved = Fraction(self.sensitivity) / self.grid.step + (0 if self.integer else 1)
        first, second = moved / self.parts[0], moved * self._moves / self.parts[1]
        # `check_scale` rounds a fraction up.
        return tuple(check_scale("sensitivity", scale) for scale in (first, second))  # type: ignore[return-value, arg-type]

    def open(
        self, budget: Payer | None = None, *, purpose: str = "above threshold"
    ) -> ThresholdStream:
        """Charge the whole cost to a budget and begin."""
        return ThresholdStream(self, charged(budget, self.guarantee, purpose))

    def error(self, confidence: float = 0.95, *, asks: int) -> float:
        """How far from the threshold a value may lie and be judged wrongly, at most, in
        all of so many asks together.

        With this probability every value below threshold − error is answered no, and
        every one above it yes.
        """
        missed = (1 - float(confidence_level("confidence", confidence))) / 2
        each = missed / whole("asks", asks, "pass the number of values to compare")
        return (_reach(self.scales[0], missed) + _reach(self.scales[1], each)) * float(
            self.grid.step
        )


def _reach(scale: float, missed: float) -> int:
    """The least k with P(|X| > k) = 2q^(k+1) / (1 + q) ≤ missed."""
    excess = math.log(2) - math.log1p(math.exp(-1 / scale))
    return max(0, math.ceil(scale * (excess - math.log(missed)) - 1))


class ThresholdStream(Interactive):
    """An opened `AboveThreshold`: ask about values until it has said yes as often as it
    may.
    """

    def __init__(self, mechanism: AboveThreshold, receipt: Any) -> None:
        super().__init__(mechanism.guarantee, receipt)
        self.mechanism, self.left = mechanism, mechanism.answers
        exact = Fraction(mechanism.threshold) / mechanism.grid.step
        # Rounded values are integers, so those at or above the threshold are those at
        # or above its ceiling.
        self._threshold = math.ceil(exact) + discrete_laplace(mechanism.scales[0])

    @property
    def halted(self) -> bool:
        """Whether it has given all its yeses."""
        return self.left == 0

    def ask(self, value: Any) -> bool:
        """Whether the value, with noise, reaches the noisy threshold. NaN and None are
        treated as 0.
        """
        steps = self._in_steps(value)
        with self._step():
            if self.halted:
                raise ArgumentError(
                    "value",
                    "cannot be compared, because this stream has given all of its positive "
                    "answers; open another stream",
                )
            above = (
                steps + discrete_laplace(self.mechanism.scales[1]) >= self._threshold
            )
            self.left -= above
        return above

    def _in_steps(self, value: Any) -> int:
        clean = numbers(present(value))
        if isinstance(clean, int):
            return (
                clean
                if self.mechanism.integer
                else round(clean / self.mechanism.grid.step)
            )
        if not isinstance(clean, float | Fraction):
            raise ArgumentError(
                "value",
                "must be one number, not an array; ask about one value after the other",
            )
        if self.mechanism.integer:
            raise ArgumentError(
                "value",
                "must be a whole number because the threshold is one; pass a threshold "
                "such as 10.0 for real numbers",
            )
        return self.mechanism.grid.nearest(clean)

    def __repr__(self) -> str:
        return f"<ThresholdStream: {self.left} of {self.mechanism.answers} yeses left>"
