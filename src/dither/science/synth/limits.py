"""How large a domain may be. What is counted must fit memory, so a larger one is refused
by its declared size, before anything is charged or made (rule R31).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from dither.errors import ArgumentError
from dither.science.synth.marginals import pair_cells

__all__ = [
    "MOST_CELLS",
    "MOST_COLUMNS",
    "MOST_PAIR",
    "MOST_SIZE",
    "check_columns",
    "check_size",
    "check_sizes",
    "length_of",
]

MOST_COLUMNS = 256
MOST_SIZE = 1_000_000
"""Codes of one column."""
MOST_PAIR = 1 << 22
"""Cells of two columns together, whose counts are held at once."""
MOST_CELLS = 1 << 25
"""Cells of all pairs of columns, each of which is looked at."""


def check_size(argument: str, size: int) -> None:
    """Whether one column may have so many codes."""
    if size > MOST_SIZE:
        raise ArgumentError(
            argument,
            f"must be at most {MOST_SIZE:,} per column, not {size:,}; declare fewer",
        )


def length_of(values: Any) -> int:
    """How many values somebody wrote down; a range may have more than `len` can say."""
    try:
        return len(values)
    except OverflowError:
        return sys.maxsize


def check_columns(count: int) -> None:
    if not 0 < count <= MOST_COLUMNS:
        words = f"has {count} columns; declare 1 to {MOST_COLUMNS} columns"
        raise ArgumentError("domain", words)


def check_sizes(names: Sequence[str], sizes: Sequence[int]) -> None:
    """Whether columns of these sizes, of 1 or more codes each, can be counted."""
    check_columns(len(sizes))
    places = sorted(range(len(sizes)), key=sizes.__getitem__)
    _check_one(names[places[-1]], sizes[places[-1]])
    if len(places) > 1:
        first, second = sorted(places[-2:])
        _check_pair(names[first], names[second], sizes[first], sizes[second])
    total = pair_cells(sizes)
    if total > MOST_CELLS:
        raise ArgumentError(
            "domain",
            f"is too large: all pairs of columns have {total:,} cells together, and the "
            f"limit is {MOST_CELLS:,}; declare fewer columns, wider bins or fewer "
            "categories",
        )


def _check_one(name: str, size: int) -> None:
    if size > MOST_SIZE:
        raise ArgumentError(
            "domain",
            f"is too large: {name!r} has {size:,} values, and the limit per column is "
            f"{MOST_SIZE:,}; declare wider bins or fewer categories",
        )


def _check_pair(one: str, other: str, first: int, second: int) -> None:
    cells = first * second
    if cells > MOST_PAIR:
        raise ArgumentError(
            "domain",
            f"is too large: {one!r} and {other!r} have {first:,} × {second:,} = "
            f"{cells:,} cells together, and the limit per pair is {MOST_PAIR:,}; declare "
            "wider bins or fewer categories",
        )
