"""Counts of people by block and cell, or the people themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Domain, domain
from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.science.census import Geography, geography
from dither.science.census.attributes import Attributes, attributes_of
from dither.science.census.reading import filled, source_of

__all__ = ["are_people", "array", "counted", "counts_of", "histograms", "tables"]

Counts = NDArray[np.int64]

MOST_NUMBERS, MOST_PEOPLE = 1 << 24, 10_000_000


def are_people(truth: Any) -> bool:
    """Whether there is one row for each person, and not one for each block."""
    if isinstance(truth, Dataset):
        raise ArgumentError(
            "truth",
            "must hold the people themselves, and a dataset only gives noisy answers; "
            "pass a data frame",
        )
    return isinstance(truth, Mapping) or hasattr(truth, "columns")


def counted(
    people: Any, places: Geography, cross: Attributes, exact: int | None = None
) -> Counts:
    """Number of people in each block in each cell. `exact` is the lowest level with
    exact totals, as a release counts them.
    """
    source = source_of(people, places, cross)
    # The curator's own people: this is no release, and nobody is charged.
    found = source.counted(None, 1, exact)  # type: ignore[arg-type]
    return found.leaves if exact is None else filled(found, places, exact)


def counts_of(
    truth: Any, over: Domain, attributes: Any, keys: Any, levels: Any
) -> tuple[Counts, Geography | None]:
    """Counts of blocks by cells, and the blocks, if they are known."""
    people = are_people(truth)
    places = _places(keys, levels)
    if not people:
        found = histograms(truth, over)
        if places is not None and places.blocks != len(found):
            raise ArgumentError(
                "truth",
                f"has {len(found):,} blocks, but keys lists {places.blocks:,}; pass one "
                "row for each listed block",
            )
        return found, places
    if places is None:
        raise ArgumentError(
            "keys",
            "are missing; pass the list of all blocks that people live in: "
            "census.geography(blocks, levels=…)",
        )
    if places.blocks * over.cells > MOST_NUMBERS:
        raise ArgumentError(
            "truth",
            f"has more than {MOST_NUMBERS:,} counts; take fewer blocks or attributes",
        )
    return counted(truth, places, attributes_of(attributes)), places


def _places(keys: Any, levels: Any) -> Geography | None:
    if keys is None or isinstance(keys, Geography):
        return keys
    return geography(keys, levels=levels)


def histograms(truth: Any, over: Domain) -> Counts:
    """Counts of blocks by cells, as whole numbers."""
    found = array(truth)
    wanted = (over.cells,), over.sizes
    if found.ndim < 2 or found.shape[1:] not in wanted or found.size > MOST_NUMBERS:
        raise ArgumentError(
            "truth",
            f"must be an array of blocks by {' × '.join(map(str, over.sizes))} counts, "
            f"up to {MOST_NUMBERS:,} numbers, or the people with keys=",
        )
    if (
        found.dtype.kind not in "iuf"
        or not ((found >= 0) & (found <= MOST_PEOPLE)).all()
    ):
        raise ArgumentError(
            "truth",
            f"must hold whole numbers from 0 to {MOST_PEOPLE:,}; pass the true counts",
        )
    whole = found.astype(np.int64)
    if (whole != found).any():
        raise ArgumentError("truth", "must hold whole numbers; pass exact counts")
    return whole.reshape(len(found), math.prod(over.sizes))


def array(truth: Any) -> NDArray[Any]:
    """An array, or an empty one for any other value."""
    try:
        return np.asarray(truth)
    except ValueError:  # lines of several lengths
        return np.zeros(0)


def tables(
    truth: Any,
    wanted: Sequence[Any],
    *,
    attributes: Any,
    recodes: Any = None,
    keys: Any = None,
    levels: Sequence[str] | None = None,
) -> dict[tuple[str, ...], Counts]:
    """The exact tables of each block, as they used to be published.

    `truth` are the people (a frame or a mapping of columns), with the list of all
    blocks as `keys`, as in `census.release`; or it counts the people of each block in
    each cell of the attributes. A table is a tuple of names, of attributes or of
    `recodes`: {"adult": ("age", [False, True])} names the coarser category of each
    category of age.
    """
    over = domain(attributes, recodes)
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise ArgumentError(
            "wanted", 'must be a list of tables, such as [("sex", "age"), ("group",)]'
        )
    found = [over.table(names) for names in wanted]
    counts, _ = counts_of(truth, over, attributes, keys, levels)
    return {one.names: one.of(counts) for one in found}
