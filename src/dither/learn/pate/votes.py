"""Votes as counts: for each query, how many teachers name each class.

What a teacher says is that teacher's data. A vote that is missing, or for a class that
was not declared, is not a vote: the teacher abstains there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.items import items_of
from dither.learn.encoding import Keyed, floats
from dither.text import quantity

__all__ = ["Counts", "Ready", "counted", "votes_of"]

Integers = NDArray[np.int64]
Codes = NDArray[np.int16]
MATRIX = "pass a row for each teacher and a column for each query"
LINES = "pass a row for each query and a column for each class"


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts that somebody else made of votes: a line for each query and a column for
    each class, in the order of `classes`.

    Counts that are missing or negative are 0, fractions are rounded down, and counts
    above the number of teachers are that number.

    Assumes: one unit moves one teacher, whose vote counts once in each line. Nothing
    here can check that.
    """

    values: Any

    def __repr__(self) -> str:
        return "<Counts, which are private>"


@dataclass(frozen=True, eq=False)
class Ready:
    """Votes that were passed: how many queries there are, and how they are counted."""

    queries: int
    held: Any
    counts: bool

    def read(self, classes: Keyed, teachers: int) -> Integers:
        """A line for each query and a column for each class; nothing fails here."""
        if not self.counts:
            return counted(_codes(self.held, classes, self.queries), classes.width)
        with np.errstate(all="ignore"):
            lines = [floats(_column(self.held, one)) for one in range(classes.width)]
            clean = np.clip(np.nan_to_num(np.stack(lines, axis=1)), 0, teachers)
            return np.asarray(np.floor(clean)).astype(np.int64)


def votes_of(votes: Any, classes: Keyed, teachers: int) -> Ready:
    """Votes that were passed, by their shape alone."""
    if isinstance(votes, Counts):
        queries, width = _shape(votes.values, LINES)
        if width != classes.width:
            raise ArgumentError(
                "votes",
                f"have {quantity(width, 'column')}, but {classes.width:,} classes are "
                f"declared; {LINES}",
            )
        return Ready(queries, _plain(votes.values, LINES), counts=True)
    found, queries = _shape(votes, MATRIX)
    if found != teachers:
        raise ArgumentError(
            "votes",
            f"have {quantity(found, 'row')}, but {teachers:,} teachers are declared; "
            f"{MATRIX}",
        )
    return Ready(queries, _plain(votes, MATRIX), counts=False)


def counted(codes: Codes, width: int) -> Integers:
    """Number of teachers that vote for each class; -1 is not a vote."""
    queries = codes.shape[1]
    found = np.zeros((queries, width), np.int64)
    places = np.arange(queries)
    for line in codes:
        named = (line >= 0) & (line < width)
        found[places[named], line[named]] += 1
    return found


def _shape(values: Any, way_out: str) -> tuple[int, int]:
    shape = getattr(values, "shape", None)
    if shape is None and isinstance(values, list | tuple):
        widths = {len(one) if hasattr(one, "__len__") else -1 for one in values}
        texts = any(isinstance(one, str | bytes) for one in values)
        shape = () if len(widths) != 1 or texts else (len(values), widths.pop())
    if shape is None or len(shape) != 2 or min(shape) < 1:
        raise ArgumentError("votes", f"must be a matrix; {way_out}")
    return int(shape[0]), int(shape[1])


def _plain(values: Any, way_out: str) -> Any:
    """Frames and tensors as arrays; lists stay, because one odd item would change all
    others in an array.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values):
        return np.asarray(values)  # a line of a np.matrix would be a matrix again
    if isinstance(values, list | tuple | np.ndarray):
        return values
    # An Arrow table goes through its columns, where lines are meant: one teacher would
    # then have all votes of one query.
    raise ArgumentError("votes", f"must be an array, a frame or lists; {way_out}")


def _codes(held: Any, classes: Keyed, queries: int) -> Codes:
    found: Codes = np.full((len(held), queries), -1, np.int16)
    for place, line in enumerate(held):
        found[place] = classes.numbers(line)
    return found


def _column(held: Any, place: int) -> Any:
    if isinstance(held, np.ndarray):
        return held[:, place]
    return [items_of(line)[place] for line in held]
