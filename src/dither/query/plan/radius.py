"""A private histogram of how much units contribute, from which a clip radius is chosen
(`weighing`).

Units are counted by the norm of their whole contribution, in bins whose edges grow by
√2, with noise that is charged as a small share of the answer's cost. What is made of
the noisy counts is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, reach

__all__ = ["Bins", "Units", "seen"]

WINDOWS = (1, 2, 4, 8)
FALSE_ALARM = 0.02
"""How often noise alone may pass for units in the lowest bin; in others, by their size,
less often.
"""
BEYOND = 3
"""How many bins above the last one that surely has units a radius may lie."""
NEXT = 2.5
"""In standard deviations: what neighbouring bins need to count as a continuation of a
bin that surely has units.
"""
SLOWEST = 0.4
"""How many units, at most, a bin of the tail that is not seen has beside the bin below
it.
"""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Bins:
    """Bins of a unit's norm in steps: up to `first`, then up to first · √2, first · 2,
    …, and at last `largest`.

    The bin of a norm, as an engine computes it, is ceil(2 · log2(norm / first)), held
    from 0 to count − 1.
    """

    first: int
    largest: int

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The largest norm in each bin."""
        found = [self.first]
        while found[-1] < self.largest:
            found.append(math.isqrt(self.first**2 << len(found)))
        return (*found[:-1], max(self.largest, self.first))

    @property
    def count(self) -> int:
        return len(self.edges)

    @cached_property
    def middles(self) -> Counts:
        """The norm that the units of each bin are taken to have."""
        edges = np.array(self.edges, np.float64)
        return np.concatenate([edges[:1], (edges[:-1] + edges[1:]) / 2])

    def bin(self, norm: int) -> int:
        """The bin of a norm: the reference for what engines compute."""
        return next(
            (b for b, edge in enumerate(self.edges) if norm <= edge), self.count - 1
        )


@dataclass(frozen=True)
class Units:
    """How many units have their norm in each bin, as far as noisy counts tell; `top` is
    the last bin that is seen.
    """

    bins: Bins
    counts: Counts
    top: int

    @property
    def radii(self) -> list[int]:
        """The radii worth a thought: up to a few bins above the last one that is seen."""
        return list(self.bins.edges[: self.top + 1 + BEYOND])

    def above(self, radius: int) -> float:
        """How many units lie above a radius."""
        return float(self.counts[self.bins.middles > radius].sum())

    def lost(self, radius: int) -> float:
        """How much of all norms a radius cuts off."""
        return float(self.counts @ np.maximum(self.bins.middles - radius, 0))


def seen(noisy: Sequence[int], bins: Bins, mechanism: Additive) -> Units | None:
    """What noisy counts tell about units; None where noise is all there is to see."""
    counts = np.asarray(noisy, np.float64)
    top = _top(counts, mechanism)
    return None if top < 0 else Units(bins, _units(counts, top), top)


def _units(noisy: Counts, top: int) -> Counts:
    """Units in each bin. Above the last that noise lets see, they go on falling as in
    the last two, or faster.

    Where they did not fall up to there, they are taken to end there.
    """
    units = np.maximum(noisy, 0)
    last, before = units[top], units[max(top - 2, 0)]
    ratio = min(math.sqrt(last / before), SLOWEST) if last < before else 0.0
    units[top + 1 :] = last * ratio ** np.arange(1, units.size - top)
    return units


def _top(noisy: Counts, mechanism: Additive) -> int:
    """The last bin at or above which there are units: surely, or as a continuation of
    one where surely are. −1 if none.

    A far bin that noise alone filled would let the radius explode, so that must be the
    rarer the farther; a continuation is looked for next to the last sure bin only,
    where a mistake costs little.
    """
    top = next(
        (
            b
            for b in range(noisy.size - 1, -1, -1)
            if _filled(noisy[b:], _sure(mechanism, b))
        ),
        -1,
    )
    enough = [NEXT * math.sqrt(width * noise_variance(mechanism)) for width in WINDOWS]
    while 0 <= top < noisy.size - 1 and _filled(noisy[top + 1 :], enough):
        top += 1
    return top


@lru_cache(maxsize=1024)
def _sure(mechanism: Additive, place: int) -> tuple[float, ...]:
    """What is surely not noise at a bin, for each window. Noise may pass for units
    where the bin is low, and costs little; the higher the bin, the rarer, so that the
    radius grows little on average."""
    alarm = FALSE_ALARM / (len(WINDOWS) * math.sqrt(2) ** place)
    return tuple(reach(mechanism, [1.0] * width, 1 - 2 * alarm) for width in WINDOWS)


def _filled(noisy: Counts, bounds: Sequence[float]) -> bool:
    """Whether the first bins hold more than noise explains, taken one, two, four or
    eight at a time.
    """
    sums = np.cumsum(noisy)
    return any(
        sums[min(width, sums.size) - 1] > bound
        for width, bound in zip(WINDOWS, bounds, strict=True)
    )
