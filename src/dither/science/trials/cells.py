"""What a person counts for in a study of survival: one cell of arm, time bin, and died
or censored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.privacy.numbers import fraction
from dither.science.trials.columns import Integers, Reals
from dither.science.trials.sizes import at_most

__all__ = ["MOST_BINS", "MOST_CELLS", "counted", "edges_of", "placed"]

MOST_BINS = 500
MOST_CELLS = 10_000
MOST_TIME = 10**300
WAY_OUT = "pass increasing times, such as (0, 4, 8, 12)"


def edges_of(edges: Any) -> tuple[float, ...]:
    """Public ends of time bins: two or more finite numbers that rise."""
    listed = isinstance(edges, Sequence) and not isinstance(edges, str | bytes)
    if not listed and not hasattr(edges, "tolist"):
        raise ArgumentError("edges", f"must be a list of times; {WAY_OUT}")
    found = tuple(_time(one) for one in list(edges))
    if not 2 <= len(found) <= MOST_BINS + 1:
        words = f"must be a list of 2 to {MOST_BINS + 1} times; {WAY_OUT}"
        raise ArgumentError("edges", words)
    if any(late <= early for early, late in pairwise(found)):
        raise ArgumentError("edges", f"must increase; {WAY_OUT}")
    return found


def _time(value: Any) -> float:
    exact = fraction("edges", value, WAY_OUT)
    if abs(exact) > MOST_TIME:
        raise ArgumentError("edges", f"must lie within ±1e300; {WAY_OUT}")
    return float(exact)


def placed(time: Reals, event: Reals, edges: Sequence[float]) -> Reals:
    """The cell of each person: its bin for one who died, that and the number of bins
    for one who was censored, twice their number for one who was still there at the last
    edge, NaN for one who is ignored.

    A bin holds the times after its start up to its end, and the first one its start
    too. What happens after the last edge is not seen. Nobody: no time, a time before
    the first edge, or an event that is neither 0 nor 1.
    """
    bins = len(edges) - 1
    ends = np.asarray(edges[1:], np.float64)
    place = np.searchsorted(ends, time, side="left")
    stayed = (time > ends[-1]) | ((time == ends[-1]) & (event == 0))
    usable = (time >= edges[0]) & ((event == 0) | (event == 1))
    cell = np.where(stayed, 2 * bins, place + bins * (event == 0))
    return np.where(usable, cell, np.nan)


def counted(
    cells: Reals, arms: Integers, count: int, bins: int, sizes: Sequence[int] | None
) -> Integers:
    """People in each cell, a row for each arm: deaths by bin, censored by bin, and
    those who were there to the end.

    With public sizes, each arm has exactly this number of people and one more cell, for
    those who are ignored: missing people are there too, and if there are too many, a
    random part is kept.
    """
    nobody = 2 * bins + 1
    rows = [cells[arms == arm] for arm in range(count)]
    if sizes is None:
        return np.stack([_histogram(row[~np.isnan(row)], nobody) for row in rows])
    kept = (at_most(row, size) for row, size in zip(rows, sizes, strict=True))
    full = [np.where(np.isnan(row), nobody, row) for row in kept]
    found = np.stack([_histogram(row, nobody + 1) for row in full])
    # those who are missing are not laid out one by one: sizes may be huge
    found[:, nobody] += np.array(sizes, np.int64) - found.sum(axis=1)
    return found


def _histogram(cells: Reals, count: int) -> Integers:
    return np.bincount(cells.astype(np.int64), minlength=count).astype(np.int64)
