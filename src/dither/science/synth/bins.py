"""Numbers in public bins. A synthetic value is drawn inside its bin from a public
density, never from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import exact
from dither.noise import random_words
from dither.science.synth.arrays import Reals, reals
from dither.science.synth.columns import (
    INFERRED,
    NOWHERE,
    check_flag,
    masked,
)
from dither.science.synth.limits import check_size, length_of
from dither.science.synth.values import EXACT, Codes, number_of

__all__ = ["Numbers", "between", "numbers"]

LARGEST = 1e150
"""So that the width of a bin is a float."""
Density = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Numbers:
    """Numbers in bins between public edges; the last edge belongs to the last bin."""

    edges: tuple[float, ...]
    whole: bool = False
    density: Density | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        check_flag("whole", self.whole)
        check_flag("missing", self.missing)
        _set(self, "edges", _edges("edges", self.edges, self.whole))
        check_size("edges", self.size)
        if self.density is not None:
            _set(self, "density", self._checked(self.density))

    @property
    def kind(self) -> str:
        """ "whole" or "real"."""
        return "whole" if self.whole else "real"

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    @property
    def size(self) -> int:
        return self.bins + self.missing

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The ends of each bin; None for missing."""
        found = [self._words(low, high) for low, high in pairwise(self.edges)]
        return (*found, *([None] if self.missing else []))

    def _words(self, low: float, high: float) -> str:
        last = high == self.edges[-1]
        if not self.whole:
            return f"{_written(low)} to {_written(high)}"
        high = high if last else high - 1
        return _written(low) if low == high else f"{_written(low)} to {_written(high)}"

    @cached_property
    def _inner(self) -> Reals:
        return np.array(self.edges[1:-1], np.float64)

    @property
    def _nothing(self) -> int:
        return self.bins if self.missing else NOWHERE

    def place(self, item: Any) -> int:
        """The bin of one record; one beyond the edges is in the first or last bin."""
        value = number_of(item)
        if math.isnan(value):
            return self._nothing
        return sum(edge <= value for edge in self.edges[1:-1])

    def code(self, values: Any) -> Codes:
        """The bin of each record of a column."""
        held = reals(values)
        found = np.searchsorted(self._inner, held, side="right").astype(np.int32)
        found[np.isnan(held)] = self._nothing
        return found

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """A value for each code, drawn inside its bin; NaN or masked where missing."""
        bins = np.minimum(codes, self.bins - 1).astype(np.intp)
        piece = self._pieces.drawn(bins)
        drawn = between(self._pieces.low[piece], self._pieces.high[piece])
        if not self.whole:
            drawn[codes >= self.bins] = np.nan
            return drawn
        return masked(np.floor(drawn).astype(np.int64), self, codes)

    @cached_property
    def _pieces(self) -> Pieces:
        return pieces(self.edges, self.whole, self.density)

    def _checked(self, density: Any) -> Density:
        """A density over the range of the edges, with something in every bin."""
        way_out = (
            "pass (edges, weights) with edges from the first to the last edge of the "
            "column, and the public weight of each interval between them"
        )
        if not isinstance(density, list | tuple) or len(density) != 2:
            raise ArgumentError("density", f"must be a pair of lists; {way_out}")
        points = _edges("density", density[0], self.whole)
        weights = _floats("density", density[1])
        outside = points[0] != self.edges[0] or points[-1] != self.edges[-1]
        if outside or len(weights) != len(points) - 1:
            raise ArgumentError(
                "density", f"must fit the edges of the column; {way_out}"
            )
        total = sum(weights)
        if min(weights) < 0 or not 0 < total <= LARGEST:
            raise ArgumentError(
                "density",
                "must have weights of 0 or more, and at least one above 0; pass "
                "points and weights such as ([0, 65, 110], [2, 1])",
            )
        found = points, tuple(weight / total for weight in weights)
        empty = pieces(self.edges, self.whole, found).empty
        if empty.size:
            words = f"must be above 0 in the bin {self.labels[int(empty[0])]}, because"
            raise ArgumentError(
                "density",
                f"{words} values are drawn there; give it a weight, or merge it with "
                "another bin",
            )
        return found


@dataclass(frozen=True)
class Pieces:
    """Intervals on which the density is constant. Bin i has the pieces from `first[i]`
    to before `first[i + 1]`; `upto` is the weight up to and with each piece.
    """

    low: Reals
    high: Reals
    upto: Reals
    first: NDArray[np.intp]

    @property
    def empty(self) -> NDArray[np.intp]:
        """The bins without any weight."""
        weight = np.diff(np.concatenate([[0.0], self.upto])[self.first])
        return np.flatnonzero(~(weight > 0))

    def drawn(self, bins: NDArray[np.intp]) -> NDArray[np.intp]:
        """A piece of each bin, by its share of the bin's weight."""
        first, after = self.first[bins], self.first[bins + 1]
        if self.low.size == self.first.size - 1:
            return first
        before = np.concatenate([[0.0], self.upto])
        wanted = between(before[first], before[after])
        found = np.searchsorted(self.upto, wanted, side="right")
        return np.clip(found, first, after - 1)


def pieces(edges: Sequence[float], whole: bool, density: Density | None) -> Pieces:
    """The pieces of a column; each bin is one where no density is declared."""
    ends = np.array(edges, np.float64)
    points, weights = (ends, np.ones(ends.size - 1))
    if density is not None:
        points, weights = (np.array(one, np.float64) for one in density)
    if whole:  # the last edge belongs to the last bin
        ends = np.append(ends[:-1], ends[-1] + 1)
        points = np.append(points[:-1], points[-1] + 1)
    every = np.union1d(ends, points)
    low, high = every[:-1], every[1:]
    place = np.searchsorted(points, low, side="right") - 1
    weight = weights[place] * ((high - low) / np.diff(points)[place])
    return Pieces(low, high, np.cumsum(weight), np.searchsorted(every, ends))


def numbers(
    edges: Sequence[float],
    *,
    whole: bool = False,
    density: tuple[Sequence[float], Sequence[float]] | None = None,
    missing: bool = False,
) -> Numbers:
    """A column of numbers in bins between public edges:
    `numbers([0, 18, 65, 110], whole=True)` has the bins 0 to 17, 18 to 64, 65 to 110.

    A bin holds its lower edge; the last one holds both. A record beyond the edges counts
    in the first or last bin. Synthetic values are drawn inside a bin, each as likely
    (whole numbers too, with `whole=True`), or from a public `density`: edges, and the
    weight of each interval between them. With `missing=True`, what is missing or is no
    number has a place of its own, and comes out as NaN; without it, its row counts for
    nobody.
    """
    return Numbers(edges, whole, density, missing)  # type: ignore[arg-type]


def _edges(argument: str, given: Any, whole: bool) -> tuple[float, ...]:
    found = _floats(argument, given)
    rising = all(low < high for low, high in pairwise(found))
    if len(found) < 2 or not rising:
        raise ArgumentError(
            argument,
            "must list two or more increasing numbers; pass edges such as "
            "[0, 18, 65, 110]",
        )
    if whole and not all(edge.is_integer() and abs(edge) < EXACT - 1 for edge in found):
        raise ArgumentError(
            argument,
            "must have whole numbers below 2**53 with whole=True; round them, or leave "
            "whole out",
        )
    return found


def _floats(argument: str, given: Any) -> tuple[float, ...]:
    plain = isinstance(given, list | tuple | range)
    plain = plain or (isinstance(given, np.ndarray) and given.ndim == 1)
    if not plain:
        kind = type(given).__name__
        raise ArgumentError(
            argument, f"cannot be of type {kind}: {INFERRED} [0, 18, 65, 110]"
        )
    check_size(argument, length_of(given) - 1)
    found = [_float(argument, one) for one in given]
    return tuple(found)


def _float(argument: str, given: Any) -> float:
    odd = isinstance(given, bool | np.bool_)
    number = None if odd else exact(given)
    if number is None or not -LARGEST <= number <= LARGEST or float(number) != number:
        raise ArgumentError(
            argument,
            "must have numbers within ±1e150 that floats represent exactly; pass "
            "rounded ones such as 0.5",
        )
    return float(number)


def between(low: Reals, high: Reals) -> Reals:
    """A uniform float of [low, high), 53 bits fine."""
    words = random_words(2 * low.size).view(np.uint64) >> np.uint64(11)
    part = words.astype(np.float64) * 2.0**-53
    drawn = low + part * (high - low)
    # rounding may reach the upper end, or leave at the lower one
    found: Reals = np.clip(drawn, low, np.nextafter(high, low))
    return found


def _written(value: float) -> str:
    whole = value.is_integer() and abs(value) < EXACT
    return f"{int(value):,}" if whole else repr(value)


def _set(value: Any, name: str, to: Any) -> None:
    object.__setattr__(value, name, to)
