"""The degree histogram under node privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dither.mechanisms import Additive
from dither.release import Ends
from dither.science.graphs.degrees import in_order
from dither.science.graphs.distribution import DegreeCounts
from dither.science.graphs.kernels import Edges
from dither.science.graphs.projection import projected_degrees
from dither.science.graphs.tails import Reals, grid
from dither.science.graphs.vertices import Integers

__all__ = ["DegreeBins"]


@dataclass(frozen=True, eq=False)
class DegreeBins(DegreeCounts):
    """How many vertices have 1, 2, …, θ neighbours, with noise; the others have none,
    because the number of vertices is public.

    `capped` says that no vertex has more than θ: only then nothing was dropped, and
    intervals are closed. Else a degree can only be larger, so shares are at least what
    they are here, and counts are anything.
    """

    count: int
    noisy: Integers
    mechanism: Additive
    capped: bool

    @classmethod
    def of(
        cls, edges: Edges, cap: int, mechanism: Additive, *, capped: bool
    ) -> DegreeBins:
        degrees = projected_degrees(edges, cap)
        bins = np.bincount(degrees, minlength=cap + 1)[1:]
        return cls(edges.count, mechanism.release(bins), mechanism, capped)

    @property
    def size(self) -> int:
        return self.count

    def _raw_at_least(self) -> Integers:
        """How many have at least 1, 2, …, θ, by sums of bins."""
        return np.cumsum(self.noisy[::-1])[::-1]

    def at_least(self) -> Integers:
        ordered = in_order(self._raw_at_least(), self.count)
        return np.concatenate([[self.count], ordered])

    def at_least_ends(self, confidence: float) -> Ends:
        raw, margins, found = (
            self._raw_at_least(),
            self._margins(confidence),
            self.at_least(),
        )
        low = np.maximum.accumulate(np.ceil(raw - margins)[::-1])[::-1]
        high = np.minimum.accumulate(np.floor(raw + margins))
        most = high if self.capped else np.full(high.size, self.count)
        return (
            np.minimum(self._with_zero(low), found),
            np.maximum(self._with_zero(most), found),
        )

    def _margins(self, confidence: float) -> Reals:
        """How far the sums of all bins from 1 on, from 2 on, … go, all at once. Sums of
        more noises go farther, so it is enough to know some sizes.
        """
        each = (1 - confidence) / 2 / self.noisy.size
        _, sizes = grid(self.noisy.size)
        law = self.mechanism.law
        known = np.array(
            [law.copies(max(1, one)).quantile(each) for one in sizes.tolist()]
        )
        terms = np.arange(self.noisy.size, 0, -1)
        return known[np.searchsorted(sizes, terms)]

    def _with_zero(self, ends: Reals) -> Integers:
        """All vertices have at least 0; shares stay what they may be at all."""
        held = np.clip(ends, 0, self.count).astype(np.int64)
        return np.concatenate([[self.count], held])

    def histogram(self) -> Integers:
        return np.concatenate([[self.count - int(self.noisy.sum())], self.noisy])

    def histogram_ends(self, confidence: float) -> Ends:
        value = self.histogram()
        if not self.capped:
            return np.zeros_like(value), np.full_like(value, self.count)
        missed = (1 - confidence) / 2
        margins = np.full(value.size, self.mechanism.law.quantile(missed))
        margins[0] = self.mechanism.law.copies(self.noisy.size).quantile(missed)
        low, high = np.ceil(value - margins), np.floor(value + margins)
        held = (np.clip(end, 0, self.count).astype(np.int64) for end in (low, high))
        first, last = held
        return first, last
