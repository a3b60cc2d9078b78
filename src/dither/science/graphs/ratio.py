"""A share of two counts, such as the wedges that are closed."""

from __future__ import annotations

from dataclasses import dataclass

from dither.release import Ends, Spread

__all__ = ["Ratio", "ratio"]


def ratio(above: float, below: float) -> float:
    """A share between 0 and 1; none of nothing is 0."""
    return min(1.0, above / below) if below > 0 else 0.0


@dataclass(frozen=True)
class Ratio:
    """Where factor·above / below lies. Both hold together (union bound)."""

    factor: int
    above: Spread
    below: Spread

    def ends(self, confidence: float) -> Ends:
        each = (1 + confidence) / 2
        low, high = self.above.ends(each)
        least, most = self.below.ends(each)
        lowest = ratio(self.factor * low, most)
        return lowest, ratio(self.factor * high, least) if least > 0 else 1.0
