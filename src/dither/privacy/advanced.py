"""The textbook forms of advanced composition, because textbooks quote them; `compose`
takes them only where they win.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dither.privacy.numbers import up


def advanced_epsilon(parts: Mapping[float, int], delta: float) -> float:
    """√(2 ln(1/δ) Σε²) + Σε(e^ε − 1) (Dwork, Rothblum, Vadhan 2010, for parts that need
    not be equal).
    """
    drift = math.fsum(
        count * epsilon * math.expm1(min(epsilon, 700.0))
        for epsilon, count in parts.items()
    )
    return up(math.sqrt(-2.0 * math.log(delta) * _squares(parts)) + drift)


def heterogeneous_epsilon(parts: Mapping[float, int], delta: float) -> float:
    """Σε·tanh(ε/2) + √(2Σε² ln L) with L = min(1/δ, e + √Σε²/δ) (Kairouz, Oh, Viswanath
    2015, theorem 3.5).
    """
    squares = _squares(parts)
    drift = math.fsum(
        count * epsilon * math.tanh(epsilon / 2.0) for epsilon, count in parts.items()
    )
    spread = min(-math.log(delta), math.log(math.e + math.sqrt(squares) / delta))
    return up(drift + math.sqrt(2.0 * squares * spread))


def _squares(parts: Mapping[float, int]) -> float:
    return math.fsum(count * epsilon * epsilon for epsilon, count in parts.items())
