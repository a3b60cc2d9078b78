"""The clip radius, chosen from a private histogram of how much units contribute.

Units are counted by the norm of their whole contribution, in bins whose edges grow by √2, with noise that is charged as
a small share of the answer's cost. A larger radius adds noise to the answer, a smaller one cuts off more of what heavy
units contribute; the one chosen makes the sum of both over all groups, as far as the histogram tells, smallest. (Noise
is the same in every group, and what is cut off is spread over them.) What it cuts off is shown beside the answer. All
of it is post-processing of the noisy counts.
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

__all__ = ["Bins", "Radius", "choose"]

WINDOWS = (1, 2, 4, 8)
FALSE_ALARM = 0.02
"""How often noise alone may pass for units in the lowest bin; in others, by their size, less often."""
BEYOND = 3
"""How many bins above the last one that surely has units a radius may lie."""
DOUBTFUL = 0.1
"""A share of all that cannot be told is not told."""
UNSEEN = 8
"""How many bins above the last one that surely has units may have some that noise hides."""
NEXT = 2.5
"""In standard deviations: what neighbouring bins need to count as a continuation of a bin that surely has units."""
SLOWEST = 0.4
"""How many units, at most, a bin of the tail that is not seen has beside the bin below it."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Bins:
    """Bins of a unit's norm in steps: up to `first`, then up to first · √2, first · 2, …, and at last `largest`.

    The bin of a norm, as an engine computes it, is ceil(2 · log2(norm / first)), held from 0 to count − 1.
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
        return next((b for b, edge in enumerate(self.edges) if norm <= edge), self.count - 1)


@dataclass(frozen=True)
class Radius:
    """A clip radius in steps, and by the histogram's noisy counts: how many units lie above it, how much of their
    norms it cuts off, and how much all norms are together. `doubt` is the ± at 95 % of what it cuts off.
    """

    value: int
    units_above: float = 0.0
    lost: float = 0.0
    mass: float = 0.0
    doubt: float = 0.0

    @property
    def lost_share(self) -> float:
        """The share of all contributions that is cut off."""
        return min(self.lost / self.mass, 1.0) if self.mass > 0 else 0.0

    def in_words(self, *, weighs: bool) -> str:
        """What is cut off, or only weighs less, as far as the histogram tells."""
        what = "heavier units weigh less" if weighs else "heavier units are cut off"
        if not self.mass or self.doubt > DOUBTFUL * self.mass:
            return f"{what}, by how much cannot be told at this cost: state radius, or declare rows"
        return f"{what}, about {self.lost_share:.1%} of all"


def choose(
    noisy: Sequence[int],
    bins: Bins,
    mechanism: Additive,
    *,
    noise: float,
    groups: int = 1,
    smallest: int | None = None,
) -> Radius:
    """The radius at which what is cut off and the answer's noise are least together.

    `noisy` are the counts of units, with the mechanism's noise; `noise` is the standard deviation of the answer's noise
    for a radius of 1 (1 / mu, or √2 / epsilon); `groups` is how many numbers of the answer get it. Where noise is all
    there is to see, the radius is the smallest sensible one: `smallest`, or the first bin's edge.
    """
    least = min(max(smallest or bins.first, 1), bins.edges[-1])
    counts = np.asarray(noisy, np.float64)
    top = _top(counts, mechanism)
    if top < 0:
        return Radius(least)
    units, price = _units(counts, top), noise * groups
    candidates = sorted({max(least, edge) for edge in bins.edges[: top + 1 + BEYOND]})
    best = min(candidates, key=lambda radius: _lost(units, bins, radius) + price * radius)
    above = float(units[bins.middles > best].sum())
    doubt = _doubt(bins, best, top, mechanism)
    return Radius(best, above, _lost(units, bins, best), float(units @ bins.middles), doubt)


def _doubt(bins: Bins, radius: int, top: int, mechanism: Additive) -> float:
    """The ± of what is cut off: noise in the bins above the radius, and in the next ones, where units may be unseen."""
    seen = max(top, bins.bin(radius)) + 1
    cut = np.maximum(bins.middles[: seen + UNSEEN] - radius, 0)
    return reach(mechanism, cut.tolist(), 0.95) if cut.any() else 0.0


def _lost(units: Counts, bins: Bins, radius: int) -> float:
    return float(units @ np.maximum(bins.middles - radius, 0))


def _units(noisy: Counts, top: int) -> Counts:
    """Units in each bin. Above the last that noise lets see, they go on falling as in the last two, or faster.

    Where they did not fall up to there, they are taken to end there.
    """
    units = np.maximum(noisy, 0)
    last, before = units[top], units[max(top - 2, 0)]
    ratio = min(math.sqrt(last / before), SLOWEST) if last < before else 0.0
    units[top + 1 :] = last * ratio ** np.arange(1, units.size - top)
    return units


def _top(noisy: Counts, mechanism: Additive) -> int:
    """The last bin at or above which there are units: surely, or as a continuation of one where surely are. −1 if none.

    A far bin that noise alone filled would let the radius explode, so that must be the rarer the farther; a
    continuation is looked for next to the last sure bin only, where a mistake costs little.
    """
    top = next((b for b in range(noisy.size - 1, -1, -1) if _filled(noisy[b:], _sure(mechanism, b))), -1)
    enough = [NEXT * math.sqrt(width * noise_variance(mechanism)) for width in WINDOWS]
    while 0 <= top < noisy.size - 1 and _filled(noisy[top + 1 :], enough):
        top += 1
    return top


@lru_cache(maxsize=1024)
def _sure(mechanism: Additive, place: int) -> tuple[float, ...]:
    """What is surely not noise at a bin, for each window. Noise may pass for units where the bin is low, and costs
    little; the higher the bin, the rarer, so that the radius grows little on average."""
    alarm = FALSE_ALARM / (len(WINDOWS) * math.sqrt(2) ** place)
    return tuple(reach(mechanism, [1.0] * width, 1 - 2 * alarm) for width in WINDOWS)


def _filled(noisy: Counts, bounds: Sequence[float]) -> bool:
    """Whether the first bins hold more than noise explains, taken one, two, four or eight at a time."""
    sums = np.cumsum(noisy)
    return any(sums[min(width, sums.size) - 1] > bound for width, bound in zip(WINDOWS, bounds, strict=True))
