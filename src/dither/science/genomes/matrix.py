"""Genotypes in memory: a matrix of people by variants with 0, 1 or 2 copies, a frame of
it, or calls of two alleles as scikit-allel and sgkit hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import (
    MISSING,
    Counts,
    Tally,
    counted,
    dosages,
    groups,
    plain,
)
from dither.science.genomes.panel import Panel, known_at

__all__ = ["Calls", "Frame", "Matrix"]

STEP, CALLS = 65_536, 1024


@dataclass(frozen=True)
class Matrix:
    """People by variants. `variants` names the columns; without it they are the panel
    in its order.
    """

    data: Any
    variants: Sequence[Any] | None = None

    def check(self, roster: Roster) -> None:
        _check_rows(roster)

    def count(self, panel: Panel, roster: Roster) -> Counts:
        data = _array(self.data)
        rows = groups(roster.places(data.shape[0], roster.rows), roster)
        at = np.array(known_at(panel, self.variants, data.shape[1]))
        tally = Tally(len(panel), len(roster.names))
        for start in range(0, len(panel), STEP):
            part = _columns(data, at[start : start + STEP])
            tally.put(start, start + part.shape[1], counted(plain(part), rows))
        return tally.done()


@dataclass(frozen=True)
class Frame:
    """A pandas frame: its columns are variants, and its index may name the people."""

    data: Any
    variants: Sequence[Any] | None = None

    def check(self, roster: Roster) -> None:
        """The index says who the rows are."""

    def count(self, panel: Panel, roster: Roster) -> Counts:
        ids = roster.rows if roster.rows is not None else self.data.index
        names = self.data.columns if self.variants is None else self.variants
        rows = groups(roster.places(len(self.data), ids), roster)
        tally = Tally(len(panel), len(roster.names))
        at = np.array(known_at(panel, names, self.data.shape[1]))
        there = np.flatnonzero((at >= 0) & (at < self.data.shape[1]))
        for start in range(0, there.size, CALLS):
            some = there[start : start + CALLS]
            part = plain(self.data.iloc[:, at[some]].to_numpy())
            tally.add(some, counted(part, rows))
        return tally.done()


@dataclass(frozen=True)
class Calls:
    """Variants by people by two alleles, each the number of an allele or negative."""

    data: Any
    variants: Sequence[Any] | None = None

    def check(self, roster: Roster) -> None:
        _check_rows(roster)

    def count(self, panel: Panel, roster: Roster) -> Counts:
        calls = plain(_array(getattr(self.data, "values", self.data)))
        rows = groups(roster.places(calls.shape[1], roster.rows), roster)
        tally = Tally(len(panel), len(roster.names))
        at = np.array(known_at(panel, self.variants, calls.shape[0]))
        for start in range(0, len(panel), CALLS):
            part = _rows(calls, at[start : start + CALLS])
            # without the list of alleles, one beyond the first alternative is unknown
            copies = dosages(part)
            tally.put(start, start + part.shape[0], counted(copies.T, rows))
        return tally.done()


def _check_rows(roster: Roster) -> None:
    if roster.ids is not None and roster.rows is None:
        raise ArgumentError(
            "samples",
            "is missing: clusters go by id, and a matrix has none; pass samples= with "
            "the ids of its rows, or the clusters in the rows' order",
        )


def _array(data: Any) -> NDArray[Any]:
    """The data as an array; masked entries and rows that are too short are missing."""
    if isinstance(data, np.ma.MaskedArray):
        known = data.dtype.kind in "iuf"
        return np.ma.filled(data if known else data.astype(object), MISSING)
    if hasattr(data, "ndim"):
        return np.asarray(data)
    rows = [list(row) if hasattr(row, "__len__") else [row] for row in data]
    width = max(map(len, rows), default=0)
    filled = np.full((len(rows), width), None, object)
    for at, row in enumerate(rows):
        filled[at, : len(row)] = row
    return filled


def _columns(data: NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """Some columns; those that are not there are missing calls."""
    if _side_by_side(at) or data.strides[0] < data.strides[1]:
        return _rows(data.T, at).T
    there = at >= 0
    found = np.full((data.shape[0], at.size), MISSING, _kind(data))
    found[:, there] = data[:, at[there]]
    return found


def _rows(data: NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """Some rows; those that are not there are missing calls."""
    if _side_by_side(at):
        return data[at[0] : at[0] + at.size]
    there = at >= 0
    found = np.full((at.size, *data.shape[1:]), MISSING, _kind(data))
    found[there] = data[at[there]]
    return found


def _side_by_side(at: NDArray[Any]) -> bool:
    return bool(at[0] >= 0 and (np.diff(at) == 1).all())


def _kind(data: NDArray[Any]) -> Any:
    """The type of the data if it holds numbers; truths are 0 and 1."""
    if data.dtype.kind in "iuf":
        return data.dtype
    return np.int8 if data.dtype.kind == "b" else object
