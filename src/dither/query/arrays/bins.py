"""Public bins and keys to count in."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Column
from dither.errors import ArgumentError
from dither.mechanisms.values import place_of
from dither.privacy.numbers import whole
from dither.query.arrays.ask import PaidColumn, check_bounds, check_numeric
from dither.query.arrays.columns import items_of

__all__ = ["Binning", "binning"]

Counts = NDArray[np.int64]


class Binning(Protocol):
    """How elements are sorted into named bins, each into one at most."""

    @property
    def names(self) -> tuple[Any, ...]: ...

    def counts(self, paid: PaidColumn) -> Counts: ...


@dataclass(frozen=True)
class Keys:
    """Public keys; elements with other keys are left out."""

    names: tuple[Any, ...]

    def counts(self, paid: PaidColumn) -> Counts:
        places = {key: i for i, key in enumerate(self.names)}
        found = (place_of(item, places) for item in items_of(paid.read()))
        return np.bincount(
            np.array([i for i in found if i >= 0], np.int64), minlength=len(self.names)
        )


@dataclass(frozen=True)
class Edges:
    """Bins between public edges. Each holds its lower edge; values outside count in the
    first or the last bin.
    """

    edges: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            f"{low:.12g} to {high:.12g}" for low, high in itertools.pairwise(self.edges)
        )

    def counts(self, paid: PaidColumn) -> Counts:
        edges, bins = np.array(self.edges), len(self.edges) - 1
        places = paid.numbers().each(
            lambda values: np.searchsorted(edges, values, side="right"),
            lambda value: bisect_right(self.edges, value),
        )
        return np.bincount(np.clip(places - 1, 0, bins - 1), minlength=bins)


def binning(
    x: Any,
    keys: Sequence[Any] | None,
    bins: int | None,
    bounds: tuple[float, float] | None,
    edges: Sequence[float] | None,
) -> Binning:
    """The bins that were asked for, in one of three ways; a column's declared keys if
    none were.
    """
    if keys is None and bins is None and edges is None and isinstance(x, Column):
        keys = x.facts.keys
    if [keys is None, bins is None, edges is None].count(False) != 1:
        raise ArgumentError(
            "keys", "pass exactly one of keys, bins (with bounds) or edges"
        )
    if isinstance(keys, str | bytes):
        raise ArgumentError(
            "keys",
            f"must be a list of keys, not one string; pass [{keys!r:.40}], or a list "
            "of all keys",
        )
    if keys is not None:
        return _keys(tuple(keys))
    check_numeric(x)
    if edges is not None:
        return _edges(edges)
    number = whole("bins", bins or 0, "pass the number of bins, such as 10")
    low, high = check_bounds(x, bounds)
    return Edges(tuple(np.linspace(float(low), float(high), number + 1).tolist()))


def _keys(keys: tuple[Any, ...]) -> Keys:
    if (
        not keys
        or not all(isinstance(key, Hashable) for key in keys)
        or len(set(keys)) != len(keys)
    ):
        raise ArgumentError(
            "keys", "must be a list of at least one public key, and list each key once"
        )
    return Keys(keys)


def _edges(edges: Sequence[float]) -> Edges:
    try:
        numbers = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    rising = all(a < b for a, b in itertools.pairwise(numbers))
    if (
        len(numbers) < 2
        or not rising
        or not all(math.isfinite(edge) for edge in numbers)
    ):
        raise ArgumentError(
            "edges", "must be at least two finite numbers in increasing order"
        )
    return Edges(numbers)
