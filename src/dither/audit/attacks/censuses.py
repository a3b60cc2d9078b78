"""A census that was released, as an attacker on its blocks sees it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.people import are_people, array, counted, histograms
from dither.audit.attacks.published import domain
from dither.errors import ArgumentError
from dither.science.census import Census

__all__ = ["categories", "people_of", "scales", "shown"]

Counts = NDArray[np.int64]

FAR = 12
"""Number of standard deviations that the error of a total exceeds with a probability
below 1e-7, with either noise.
"""
WAY_OUT = "pass the people that were counted"


def categories(released: Census) -> dict[str, tuple[Any, ...]]:
    """The declared attributes; one with a single category if there are none."""
    named = released.attributes.named
    return {name: one.labels for name, one in named.items()} or {"person": (True,)}


def _everything(released: Census) -> tuple[int, ...]:
    return tuple(range(len(released.attributes.names)))


def shown(released: Census, counts: Counts) -> dict[tuple[str, ...], Any]:
    """The fitted cells of each block, and how many people live there."""
    cells = released.fit.marginal(len(released.levels) - 1, _everything(released))
    return {tuple(categories(released)): cells, (): counts.sum(axis=1)}


def scales(released: Census) -> dict[tuple[str, ...], float]:
    """The error of a fitted cell of a middling block; sizes are known."""
    last = len(released.levels) - 1
    variances = released.fit.variance(last, _everything(released))
    middling = float(np.median(variances))
    if not math.isfinite(middling):
        raise ArgumentError(
            "published",
            "does not measure the cells of blocks; pass a census whose workload has the "
            "table of all attributes together",
        )
    return {tuple(categories(released)): math.sqrt(middling), (): 0.0}


def people_of(truth: Any, released: Census) -> Counts:
    """Number of people in each block and cell, as the release counts them: counts, or
    the people.
    """
    shape = (released.geography.blocks, released.attributes.cells)
    if are_people(truth):
        exact = max((one.level for one in released.known), default=None)
        found = counted(truth, released.geography, released.attributes, exact)
    else:
        found = array(truth)
        if found.ndim < 2 or len(found) != shape[0] or found.size != math.prod(shape):
            raise ArgumentError(
                "truth",
                f"must be the people, or an array of {shape[0]:,} blocks by "
                f"{shape[1]:,} counts in the order of the table of blocks",
            )
        found = histograms(found.reshape(shape), domain(categories(released), None))
    _check_size(found, released)
    return found


def _check_size(counts: Counts, released: Census) -> None:
    """Refuse people whom the release was not made of, as far as totals tell. Anyone who
    runs an audit holds the people, so that this gives nothing away.
    """
    totals = released.geography.tree.counts_up(counts.sum(axis=1))
    for level, known in released.known:
        wrong = np.flatnonzero(totals[level] != known)
        if wrong.size:
            place = int(wrong[0])
            path = released.geography.path(level, place)
            raise ArgumentError(
                "truth",
                f"has {totals[level][place]:,} people in {path!r:.60}, but the exact "
                f"count of the release is {known[place]:,}; {WAY_OUT}",
            )
    total = float(released.fit.marginal(0, ()).sum())
    spread = math.sqrt(float(np.sum(released.fit.variance(0, ()))))
    people = int(counts.sum())
    if abs(people - total) > FAR * spread + 0.5:
        raise ArgumentError(
            "truth",
            f"has {people:,} people, but the count of the release is {total:,.0f} with "
            f"a standard deviation of {spread:.2g}; {WAY_OUT}",
        )
