"""Where a value lies: bins with public edges, or whole numbers of a public domain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import real

__all__ = ["Bins", "bins_of"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

MOST = 1 << 20
LARGEST = 2**53
EDGES = "must be two or more increasing numbers, such as [0, 18, 65, 110]"
DOMAIN = "must be a range of consecutive whole numbers, such as range(0, 4096)"


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins from each edge up to the next, which belongs to the next bin; `closed` says
    that the last edge belongs to the last bin. `whole` says that only whole numbers
    are in any.
    """

    edges: Reals
    closed: bool = True
    whole: bool = False

    @property
    def number(self) -> int:
        return self.edges.size - 1

    def places(self, values: Reals) -> Integers:
        """The bin of each value; -1 for none."""
        found = np.searchsorted(self.edges, values, side="right") - 1
        if self.closed:
            found = np.where(values == self.edges[-1], self.number - 1, found)
        # What is no number is sorted behind everything else.
        inside = (found >= 0) & (found < self.number)
        if self.whole:
            inside &= values == np.floor(values)
        return np.where(inside, found, -1).astype(np.int64)

    def place(self, argument: str, edge: Any) -> int:
        """Which edge this is."""
        value = _number(edge)
        found = int(np.searchsorted(self.edges, value))
        if found < self.edges.size and self.edges[found] == value:
            return found
        first, last = (_written(self.edges[end]) for end in (0, -1))
        kind = "a whole number" if self.whole else "one of the edges"
        raise ArgumentError(argument, f"must be {kind} from {first} to {last}")

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """What the bins are called: whole numbers, or their two ends."""
        if self.whole:
            return tuple(int(edge) for edge in self.edges[:-1])
        names = [
            f"[{low}, {high})" for low, high in pairwise(map(_written, self.edges))
        ]
        names[-1] = names[-1][:-1] + "]"
        return tuple(names)


def bins_of(edges: Any, domain: Any) -> Bins:
    """Bins from edges, or from a domain of whole numbers."""
    if (edges is None) == (domain is None):
        raise ArgumentError(
            "edges",
            "pass exactly one of edges and domain, which declare the public bins: "
            "edges=[0, 18, 65, 110], or domain=range(0, 4096)",
        )
    return _of_edges(edges) if domain is None else _of_domain(domain)


def _of_domain(domain: Any) -> Bins:
    if not isinstance(domain, range) or domain.step != 1 or not len(domain):
        raise ArgumentError("domain", DOMAIN)
    _check_number("domain", len(domain))
    if max(abs(domain.start), abs(domain.stop)) > LARGEST:
        raise ArgumentError("domain", "must lie within ±2**53; pass a smaller range")
    edges = np.arange(domain.start, domain.stop + 1, dtype=np.float64)
    return Bins(edges, closed=False, whole=True)


def _of_edges(edges: Any) -> Bins:
    if isinstance(edges, str | bytes | Mapping) or not hasattr(edges, "__len__"):
        raise ArgumentError("edges", EDGES)
    _check_number("edges", len(edges) - 1)
    found = np.array([_number(edge) for edge in edges], np.float64)
    if found.size < 2 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise ArgumentError("edges", EDGES)
    return Bins(found)


def _check_number(argument: str, number: int) -> None:
    if number > MOST:
        raise ArgumentError(
            argument,
            f"must make at most {MOST:,} bins, not {number:,}; pass wider bins as edges=",
        )


def _number(edge: Any) -> float:
    try:
        return math.nan if isinstance(edge, str | bytes) else float(real(edge))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return math.nan


def _written(edge: float) -> str:
    return str(int(edge)) if float(edge).is_integer() else repr(float(edge))
