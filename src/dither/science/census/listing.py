"""The list of blocks as people hold it: a frame, a mapping of columns, tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from dither.errors import ArgumentError
from dither.science.arrays import items_of

__all__ = ["columns_of", "known_columns", "level_names"]

MOST_LEVELS = 12
MOST_BLOCKS = 20_000_000
EXAMPLE = 'levels=["state", "county", "tract", "block"]'


def level_names(levels: Any) -> tuple[str, ...]:
    """The names of levels, from the top."""
    listed = () if isinstance(levels, str | bytes) else levels
    wrong = not isinstance(listed, Iterable) or isinstance(listed, Mapping)
    found = () if wrong else tuple(listed)
    texts = all(isinstance(one, str) and one.strip() for one in found)
    if not found or not texts or len(found) > MOST_LEVELS:
        raise ArgumentError(
            "levels",
            f"must name 1 to {MOST_LEVELS} levels from the top; pass {EXAMPLE}",
        )
    double = next((one for one in found if found.count(one) > 1), None)
    if double is not None:
        raise ArgumentError(
            "levels",
            f"must name each level once, and {double!r} is there twice; drop one",
        )
    return found


def columns_of(
    blocks: Any, levels: Sequence[str] | None
) -> tuple[tuple[str, ...], list[list[Any]]]:
    names = None if levels is None else level_names(levels)
    if isinstance(blocks, Mapping) or hasattr(blocks, "columns"):
        known = list(known_columns(blocks))
        names = level_names(known) if names is None else names
        missing = next((one for one in names if one not in known), None)
        if missing is not None:
            listed = ", ".join(map(repr, known[:12]))
            raise ArgumentError(
                "levels",
                f"the level {missing!r} is not a column of the list of blocks, which has "
                f"{listed}; add the column, or leave the level out of levels",
            )
        columns = [list(items_of(blocks[name])) for name in names]
        _check_size(columns)
        return names, columns
    if isinstance(blocks, str | bytes) or not isinstance(blocks, Iterable):
        raise ArgumentError(
            "keys",
            f"must be a list of blocks, not {type(blocks).__name__}; pass a frame, a "
            'mapping of columns, or tuples such as [("01", "003", "0101", "1000")]',
        )
    if names is None:
        raise ArgumentError(
            "levels",
            f"must be declared, because tuples have no column names; pass {EXAMPLE}",
        )
    columns = _of_tuples(blocks, names)
    _check_size(columns)
    return names, columns


def known_columns(blocks: Any) -> Iterable[Any]:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    if isinstance(blocks, Mapping):
        return blocks
    names = getattr(blocks, "column_names", None)  # of pandas, a column so called
    found: Iterable[Any] = names if isinstance(names, list) else blocks.columns
    return found


def _of_tuples(blocks: Any, names: tuple[str, ...]) -> list[list[Any]]:
    lines = [one if isinstance(one, Sequence) else (one,) for one in blocks]
    for line in lines:
        if isinstance(line, str | bytes) or len(line) != len(names):
            raise ArgumentError(
                "keys",
                f"the line {line!r:.60} does not have a label for each of the levels "
                f"{', '.join(names)}; write one for each, from the top",
            )
    return [list(column) for column in zip(*lines, strict=True)] or [[] for _ in names]


def _check_size(columns: Sequence[Sized]) -> None:
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ArgumentError(
            "keys",
            "must have columns of equal length; pass one label per block in each column",
        )
    (size,) = lengths
    if not size:
        raise ArgumentError(
            "keys",
            "must contain at least one block; list all blocks, including empty ones",
        )
    if size > MOST_BLOCKS:
        raise ArgumentError(
            "keys",
            f"must list at most {MOST_BLOCKS:,} blocks, not {size:,}; release parts of "
            "the geography, or leave out the lowest level",
        )
