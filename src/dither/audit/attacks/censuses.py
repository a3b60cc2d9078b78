"""A census that was released, as an attacker on its blocks sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.science.census import Census
from dither.science.census.reading import source_of

__all__ = ["categories", "people_of", "scales", "shown"]

Counts = NDArray[np.int64]


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
            "does not measure the cells of blocks; release one whose workload has the "
            "cross of all attributes",
        )
    return {tuple(categories(released)): math.sqrt(middling), (): 0.0}


def people_of(truth: Any, released: Census) -> Counts:
    """How many people there are in each block and cell: counts, or the people."""
    if isinstance(truth, Dataset):
        raise ArgumentError(
            "truth",
            "must be the people themselves; a dataset answers for a charge only",
        )
    shape = (released.geography.blocks, released.attributes.cells)
    if isinstance(truth, Mapping) or hasattr(truth, "columns"):
        source = source_of(truth, released.geography, released.attributes)
        # The curator's own people: this is no release, and nobody is charged.
        return source.counted(None, 1, None).leaves  # type: ignore[arg-type]
    found = np.asarray(truth)
    if found.ndim < 2 or found.shape[0] != shape[0] or found.size != math.prod(shape):
        raise ArgumentError(
            "truth",
            f"must be the people, or {shape[0]:,} blocks by {shape[1]:,} counts in the "
            "order of the table of blocks",
        )
    return found.reshape(shape)
