"""Places that a caller names: by their labels from the top, or by one label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.arrays import items_of
from dither.science.census.geography import Geography
from dither.science.census.labels import Coding
from dither.science.census.listing import known_columns

__all__ = ["blocks_of", "nodes_of"]

WAY_OUT = 'name places by their labels from the top, such as [("01", "003")]'


def nodes_of(
    named: Any, places: Geography, level: str | None = None
) -> list[tuple[int, int]]:
    """The (level, node) of each named place."""
    stated = None if level is None else places.place(level)
    listed = _listed(named, places, stated)
    if not listed:
        raise ArgumentError("blocks", f"must name at least one place; {WAY_OUT}")
    paths = [one for one in listed if isinstance(one, tuple)]
    labels = [one for one in listed if not isinstance(one, tuple)]
    return [*_by_path(paths, places, stated), *_by_label(labels, places, stated)]


def _listed(named: Any, places: Geography, level: int | None) -> list[Any]:
    if isinstance(named, Mapping) or hasattr(named, "columns"):
        last = len(places.levels) - 1 if level is None else level
        wanted = places.levels[: last + 1]
        known = list(known_columns(named))
        missing = next((name for name in wanted if name not in known), None)
        if missing is not None:
            raise ArgumentError(
                "blocks", f"have no column {missing!r}; pass level=, or {WAY_OUT}"
            )
        columns = [items_of(named[name]) for name in wanted]
        return list(zip(*columns, strict=True))
    if isinstance(named, str | bytes | tuple) or not isinstance(named, Iterable):
        return [named]
    return list(items_of(named))


def _by_path(
    paths: list[tuple[Any, ...]], places: Geography, level: int | None
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for length in sorted({len(path) for path in paths}):
        some = [path for path in paths if len(path) == length]
        if not 0 < length <= len(places.levels) or level not in (None, length - 1):
            raise ArgumentError(
                "blocks",
                f"the place {some[0]!r:.60} does not have one label for each level; "
                f"{WAY_OUT}",
            )
        columns = zip(*some, strict=True)
        codes = [
            coding.codes(list(column))
            for coding, column in zip(places.codings(), columns, strict=False)
        ]
        nodes = places.found(codes)
        if (nodes < 0).any():
            _refuse(some[int(np.argmax(nodes < 0))])
        found += [(length - 1, node) for node in nodes.tolist()]
    return found


def _by_label(
    labels: list[Any], places: Geography, level: int | None
) -> list[tuple[int, int]]:
    """One place for each label, which must not name several."""
    if not labels:
        return []
    within = range(len(places.levels)) if level is None else [level]
    found = [(-1, -1)] * len(labels)
    for one in within:
        codes = Coding(places.names[one]).codes(labels)
        order = np.argsort(places.codes[one], kind="stable")
        sorted_ = places.codes[one][order]
        first = np.searchsorted(sorted_, codes)
        last = np.searchsorted(sorted_, codes, side="right")
        for place in np.flatnonzero(codes >= 0).tolist():
            if found[place] != (-1, -1) or last[place] - first[place] > 1:
                raise ArgumentError(
                    "blocks",
                    f"several places have the label {labels[place]!r:.40}; {WAY_OUT}",
                )
            found[place] = (one, int(order[first[place]]))
    if (-1, -1) in found:
        _refuse(labels[found.index((-1, -1))])
    return found


def _refuse(named: Any) -> None:
    raise ArgumentError(
        "blocks", f"the place {named!r:.60} is not in the geography; {WAY_OUT}"
    )


def blocks_of(nodes: Sequence[tuple[int, int]], places: Geography) -> NDArray[np.bool_]:
    """The blocks of some places; refused where two of them overlap."""
    times_ = np.zeros(places.blocks, np.int64)
    by_level: dict[int, list[int]] = {}
    for level, node in nodes:
        by_level.setdefault(level, []).append(node)
    for level, some in by_level.items():
        one = np.bincount(some, minlength=places.tree.sizes[level])
        for below in range(level + 1, places.tree.levels):
            one = places.tree.scattered(below, one)
        times_ += one
    if (times_ > 1).any():
        block = places.path(len(places.levels) - 1, int(np.argmax(times_ > 1)))
        raise ArgumentError(
            "blocks",
            f"must not overlap, and {block!r:.80} is in two of the places; name each "
            "block once",
        )
    return times_ > 0
