"""The public cells into which the values of a column are sorted: the leaves of a tree,
or the candidates of a private choice.

Each value lies in one leaf. A leaf has edges, so that an interval can end on the outer
edges of leaves and hold the plain answer, and it has a value that is shown for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms.tree import Tree

__all__ = ["Leaves", "Places"]

MOST = 4096
WIDER = 1 << 20
"""Bounds may be this many times too wide before leaves near zero are equally wide."""
NARROWEST = 2.0**-900
"""Bounds of reals that are closer have one leaf: below, floats lose their digits."""
LARGEST = 1e300
"""Numbers beyond this are not rounded to fewer digits, which could leave the floats."""
HALVINGS = 80
INEXACT = 2.0**-30
"""Part of a leaf by which a printed edge is moved outwards: the engines' logarithms may
differ in the last bit, so a value this close to an edge may lie in either leaf. Bounds
are at least this far from the ends of the first and the last leaf.
"""
UNITS_IN_LAST_PLACE = 2.0**-51
"""Part of itself by which a printed edge is moved outwards, too: integers above 2^53
and fractions are rounded to the nearest real first.
"""

Reals = NDArray[np.float64]
Number = int | float


@dataclass(frozen=True)
class Places:
    """The place p(x) of a real, whose whole part is its leaf: the same share of the
    leaves is spread evenly over the bounds, and evenly over the logarithm of |x|, so
    that bounds that are far too wide cost little accuracy.

    p(x) = (x − low + step) / step + times · G(x) − less, where G(x) is sign(x) ·
    ln((size + |x|) / size). Without `times`, there is no G. Nothing here is too small
    or too large for a real, so that no engine raises.
    """

    low: float
    step: float
    less: float
    size: float = 1.0
    times: float = 0.0

    def __call__(self, x: Any) -> Any:
        """The places of an array: the reference for what engines compute."""
        found = (x - self.low + self.step) / self.step
        if self.times:
            found = found + self.times * _logarithm(x, self.size)
        return found - self.less


def _logarithm(x: Any, size: float) -> Any:
    return np.sign(x) * np.log((size + np.abs(x)) / size)


@dataclass(frozen=True)
class Leaves:
    """At most `most` leaves from `low` to `high`.

    Integers have a leaf each, if these are few enough. Other numbers are sorted by
    `Places`: leaves are narrower near zero. An integer x fills the reals from x − 1/2 to
    x + 1/2, and each leaf holds at least one.
    If zero has no meaning, or is far away, leaves are equally wide. `units`, for
    dates and timestamps, are the sizes of round values, the largest first: such leaves
    are equally wide, and computed in whole numbers.
    """

    low: Number
    high: Number
    integer: bool
    most: int = MOST
    units: tuple[int, ...] = ()

    @cached_property
    def step(self) -> int | None:
        """Number of integers in each leaf; None if leaves are not exact integers."""
        if not self.integer or self.places is not None:
            return None
        return -(-(int(self.high) - int(self.low) + 1) // self.most)

    @cached_property
    def places(self) -> Places | None:
        """How values are sorted into leaves; None for equal leaves of whole numbers."""
        low, high = float(self.low), float(self.high)
        far = max(abs(low), abs(high)) < 2 * min(abs(low), abs(high)) and low * high > 0
        if self.integer:
            few = int(self.high) - int(self.low) < 2 * self.most
            return None if few or far or self.units else _places(self, self._whole_size)
        if not high - low > NARROWEST:
            return Places(low, 1.0, 1.0)
        if far:
            step = (high - low) / (self.most - 2 * INEXACT)
            return Places(low, step, 1 - INEXACT)
        return _places(self, (high - low) / WIDER)

    @property
    def _whole_size(self) -> float:
        """The smallest size at which no leaf is narrower than one integer."""
        low, high = self._ends
        nearest = min(max(0.0, low), high)
        least, most = (high - low) / WIDER, high - low

        def fits(size: float) -> bool:
            there = _places(self, size)
            return 1 / there.step + there.times / (size + abs(nearest)) <= 1

        if fits(least):
            return least
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            least, most = (least, middle) if fits(middle) else (middle, most)
        return most

    @cached_property
    def count(self) -> int:
        if self.step is not None:
            return (int(self.high) - int(self.low)) // self.step + 1
        assert self.places is not None
        last: float = self.places(float(self.high))
        return math.floor(last) + 1

    @property
    def tree(self) -> Tree:
        return Tree(self.count)

    def leaf(self, x: Number | Fraction) -> int:
        """The leaf of a value, clamped to the bounds."""
        inside = min(max(x, self.low), self.high)
        if self.step is not None:
            return (math.floor(inside) - int(self.low)) // self.step
        return int(self.sorted(np.array([float(inside)]))[0])

    def sorted(self, values: Reals) -> NDArray[np.int64]:
        """The leaves of many reals, of which each is clamped to the bounds."""
        inside = np.clip(values, float(self.low), float(self.high))
        if self.step is not None:
            found = (np.floor(inside) - float(self.low)) // self.step
        else:
            assert self.places is not None
            found = np.floor(self.places(inside))
        clipped: NDArray[np.int64] = np.clip(found, 0, self.count - 1).astype(np.int64)
        return clipped

    def start(self, leaf: int) -> Number:
        """No value in this leaf or a later one is smaller."""
        leaf = self._held(leaf)
        if self.step is not None:
            return int(self.low) + leaf * self.step
        return self._bound(self.low) if leaf == 0 else _outward(self)[0][leaf]

    def end(self, leaf: int) -> Number:
        """No value in this leaf or an earlier one is larger."""
        leaf = self._held(leaf)
        if self.step is not None:
            return min(int(self.low) + (leaf + 1) * self.step - 1, int(self.high))
        if leaf == self.count - 1:
            return self._bound(self.high)
        return _outward(self)[1][leaf]

    def value(self, leaf: int) -> Number:
        """The number that is shown for a leaf: a bound for the first and the last one,
        else the one with the fewest digits, and of these the one nearest the middle.
        Data on a coarse grid, such as prices, are shown as people write them.
        """
        leaf = self._held(leaf)
        if leaf in (0, self.count - 1):
            return self._bound(self.high if leaf else self.low)
        if self.integer:
            return self._round(int(self.start(leaf)), int(self.end(leaf)))
        low, high = _edges(self)[leaf : leaf + 2].tolist()
        return _short(low, high)

    def _round(self, low: int, high: int) -> int:
        """A round whole number from low to high."""
        digits = len(str(max(abs(low), abs(high))))
        for unit in self.units or (10**k for k in range(digits, 0, -1)):
            nearest = (low + high + unit) // (2 * unit) * unit
            if low <= nearest <= high:
                return nearest
        return (low + high) // 2

    def shares(self) -> Reals:
        """The share of the bounds that each leaf covers."""
        if self.step is not None:
            starts = np.arange(self.count, dtype=np.float64) * self.step
            width = float(int(self.high) - int(self.low) + 1)
            return np.diff(np.append(starts, width)) / width
        if self.count == 1:
            return np.ones(1)
        found: Reals = np.diff(_edges(self)) / (self._ends[1] - self._ends[0])
        return found

    def _held(self, leaf: int) -> int:
        return min(max(leaf, 0), self.count - 1)

    def _bound(self, x: Number) -> Number:
        return int(x) if self.integer else float(x)

    @property
    def _ends(self) -> tuple[float, float]:
        """The ends of all leaves together."""
        beyond = 0.5 if self.integer else 0.0
        return float(self.low) - beyond, float(self.high) + beyond


def _places(leaves: Leaves, size: float) -> Places:
    low, high = leaves._ends
    first, last = (float(_logarithm(x, size)) for x in (low, high))
    half = (leaves.most - 1) / 2
    step, times = (high - low) / half, half / (last - first)
    # Zero, which many values may be, lies in the middle of its leaf
    zero = -low / step - times * first if low <= 0 <= high else 0.0
    moved = min(max((0.5 - zero) % 1, INEXACT), 1 - INEXACT)
    places = Places(low, step, 1 + times * first - moved, size, times)
    skipped = math.floor(places(float(leaves.low)))  # no integer lies in these
    return replace(places, less=places.less + skipped)


@lru_cache(maxsize=64)
def _edges(leaves: Leaves) -> Reals:
    """The starts of all leaves, and the end of the last one: the smallest reals whose
    place is whole, found by halving.
    """
    assert leaves.places is not None
    wanted = np.arange(1, leaves.count, dtype=np.float64)
    first, last = leaves._ends
    low, high = np.full(wanted.size, first), np.full(wanted.size, last)
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        above = leaves.places(middle) >= wanted
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.concatenate([[first], high, [last]])


@lru_cache(maxsize=64)
def _outward(leaves: Leaves) -> tuple[list[Number], list[Number]]:
    """The start and the end of each leaf, both moved outwards by what logarithms and
    rounded numbers may be off; whole for integers.
    """
    edges = _edges(leaves)
    widths = np.diff(edges)
    wider = np.maximum(np.append(widths[:1], widths), np.append(widths, widths[-1:]))
    moved = INEXACT * wider + UNITS_IN_LAST_PLACE * np.abs(edges)
    low = np.maximum(edges - moved, edges[0])[:-1].tolist()
    high = np.minimum(edges + moved, edges[-1])[1:].tolist()
    if not leaves.integer:
        return low, high
    return [math.ceil(end) for end in low], [math.ceil(end) - 1 for end in high]


def _short(low: float, high: float) -> float:
    """The decimal with the fewest digits in a leaf, nearest its middle."""
    middle = low + (high - low) / 2
    if not low < high or abs(middle) > LARGEST:
        return middle
    first = math.ceil(math.log10(max(abs(low), abs(high)))) + 1
    for digits in range(-first, 2 - math.floor(math.log10(high - low))):
        nearest = round(middle, digits)
        if low <= nearest < high:
            return nearest + 0.0
    return middle
