"""The promise of Laplace noise: pure, and less is revealed than by the worst pure
mechanism (docs/proofs/training.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dither.errors import ArgumentError
from dither.privacy.guarantees import PureDP
from dither.privacy.losses import laplace_loss
from dither.privacy.numbers import (
    LIBM,
    TINY,
    Number,
    float_up,
    gap,
    positive,
    up,
    whole,
)
from dither.privacy.units import ROW, Unit

__all__ = ["LaplaceDP", "discrete_laplace_dp"]


@dataclass(frozen=True)
class LaplaceDP(PureDP):
    """Neighbours are at most as easy to tell apart as Laplace noise of scale 1 and the
    same noise moved by ε.

    Guarantee: ε-DP, with δ(ε′) = 1 − e^((ε′−ε)/2) below ε. Thirty answers at ε = 1 are
    together (27.78, 1e-6)-DP, where thirty pure ones are 29.99.
    Why: Laplace noise on a number, or on a vector with this L1 sensitivity, in real
    arithmetic; a shift that is split over entries is easier to hide than the same
    shift of one (docs/proofs/training.md).
    Assumes: real noise. Whole-number noise on a count is as bad as randomized
    response: it promises PureDP, or `discrete_laplace_dp` for wide sensitivities.
    """

    def _loss(self, order: float) -> float:
        return laplace_loss(self.epsilon, order)

    def _epsilon(self, delta: float) -> float:
        if delta == 0.0:
            return self.epsilon
        saved = -2.0 * math.log1p(-delta) * (1.0 - 8.0 * LIBM)
        least = up(self.epsilon - saved) + 4.0 * self.epsilon * LIBM
        return min(max(least, 0.0), self.epsilon)

    def _delta(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return 0.0
        return up(-math.expm1(-gap(self.epsilon, epsilon) / 2.0)) + TINY

    @property
    def measure(self) -> str:
        return f"ε = {self.epsilon:.6g} (Laplace)"


def discrete_laplace_dp(
    epsilon: Number, sensitivity: int, *, unit: Unit = ROW
) -> LaplaceDP:
    """What whole-number Laplace noise promises, stated as real Laplace noise.

    Guarantee: LaplaceDP(ε + 2·ln cosh(ε/2Δ)), rounded up.
    Why: P(k) ∝ e^(−ε|k|/Δ) on whole numbers that one unit moves by at most Δ is
    dominated by real noise moved by that much (docs/proofs/training.md).
    Assumes: integers, whose L1 sensitivity is the whole number Δ.
    """
    promised = positive("epsilon", epsilon, "pass a finite ε such as 0.5")
    steps = whole("sensitivity", sensitivity, "pass a whole number such as 100")
    if promised / steps > 700.0:
        raise ArgumentError(
            "epsilon",
            "is too large for noise in whole numbers; pass a smaller one, such as 1.0",
        )
    extra = 2.0 * math.log(math.cosh(promised / (2.0 * steps)))
    small = (promised / steps) ** 2 / 4.0  # ln cosh x ≤ x²/2
    more = up(min(extra + 4.0 * LIBM, small))
    return LaplaceDP(float_up(Fraction(promised) + Fraction(more)), unit=unit)
