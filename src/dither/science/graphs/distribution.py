"""Degrees as counts and shares: how many vertices have a degree, or at least that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.release import Ends
from dither.science.graphs.vertices import Integers

__all__ = ["DegreeCounts", "OfDegrees", "counts_at_least"]


def counts_at_least(degrees: Any, most: int) -> Integers:
    """How many of some numbers are at least 0, 1, …, most."""
    rising = np.sort(degrees)
    found: Integers = rising.size - np.searchsorted(rising, np.arange(most + 1))
    return found


class DegreeCounts(ABC):
    """Degrees as counts, and where the true counts lie."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of vertices."""

    @abstractmethod
    def at_least(self) -> Integers:
        """How many vertices have at least 0, 1, 2, … neighbours."""

    @abstractmethod
    def at_least_ends(self, confidence: float) -> Ends:
        """Where those counts lie, all of them at once."""

    @abstractmethod
    def histogram(self) -> Integers:
        """How many vertices have 0, 1, 2, … neighbours."""

    @abstractmethod
    def histogram_ends(self, confidence: float) -> Ends:
        """Where each of those counts lies."""

    def ccdf(self) -> Any:
        """The share of vertices that have at least 0, 1, 2, … neighbours."""
        return self.at_least() / self.size

    def ccdf_ends(self, confidence: float) -> Ends:
        low, high = self.at_least_ends(confidence)
        return low / self.size, high / self.size

    def lines(self) -> list[str]:
        """A few shares in words."""
        shares, (low, high) = self.ccdf(), self.ccdf_ends(0.95)
        shown = [1 << power for power in range(20) if 1 << power < len(shares)]
        said = [
            f"  {degree:,} or more: {_percent(shares[degree])} "
            f"({_percent(low[degree])} to {_percent(high[degree])})"
            for degree in shown
        ]
        head = f"degrees of {self.size:,} vertices (95 % for all of them at once)"
        return [head, *said]


@dataclass(frozen=True)
class OfDegrees:
    """Where counts or shares of degrees lie."""

    counts: DegreeCounts
    kind: str

    def ends(self, confidence: float) -> Ends:
        if self.kind == "histogram":
            return self.counts.histogram_ends(confidence)
        return self.counts.ccdf_ends(confidence)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
