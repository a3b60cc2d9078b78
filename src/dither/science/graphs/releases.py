"""What questions about graphs return."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.picture import Picture, Text
from dither.release import TRUTH, Ends, Release, Spread
from dither.science.graphs.distribution import DegreeCounts, OfDegrees

__all__ = ["CountRelease", "DegreesRelease", "DistributionRelease", "MixingRelease"]

WIDE, HIGH = 520, 340


@dataclass(frozen=True, eq=False, repr=False)
class GraphRelease(Release):
    """A private answer about a graph. What is derived from it is a plain release."""

    def _derived(self, **changes: Any) -> Release:
        fields = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**({name: getattr(self, name) for name in fields} | changes))


class CountRelease(GraphRelease):
    """A private number about a graph."""

    def interval(self, confidence: float = 0.95, *, of: str = TRUTH) -> Ends:
        """The ends between which the true number lies with this probability."""
        if self.spread is None:
            raise ArgumentError(
                "interval",
                "is not available after interval=False; ask again without interval=False",
            )
        return super().interval(confidence, of=of)


@dataclass(frozen=True, eq=False, repr=False)
class DistributionRelease(GraphRelease):
    """How many vertices have each degree, or which share has at least that degree."""

    cumulative: bool = False

    def plot(self, confidence: float = 0.95) -> Any:
        """A picture on logarithmic axes for shares, with the band that holds the true
        value; bars for counts.
        """
        if self.cumulative:
            return _ccdf_picture(self, confidence)
        return super().plot(confidence)


@dataclass(frozen=True, eq=False, repr=False)
class DegreesRelease(GraphRelease):
    """Degrees: the sorted sequence under edge privacy, their histogram under node
    privacy. `counts` tells both as a histogram and as shares.
    """

    counts: DegreeCounts | None = None

    def histogram(self) -> DistributionRelease:
        """How many vertices have 0, 1, 2, … neighbours, as networkx.degree_histogram
        counts them. Free.
        """
        return self._shown("vertices", "histogram", cumulative=False)

    def ccdf(self) -> DistributionRelease:
        """The share of vertices that have at least 0, 1, 2, … neighbours. Its interval
        holds all of them at once. Free.
        """
        return self._shown("share of vertices", "ccdf", cumulative=True)

    def _shown(self, what: str, kind: str, *, cumulative: bool) -> DistributionRelease:
        assert self.counts is not None
        value = getattr(self.counts, kind)()
        return DistributionRelease(
            what,
            value,
            self.sources,
            OfDegrees(self.counts, kind),
            keys=tuple(range(len(value))),
            notes=self.notes,
            cumulative=cumulative,
        )

    def plot(self, confidence: float = 0.95) -> Any:
        """The share of vertices by degree on logarithmic axes, with a band."""
        return self.ccdf().plot(confidence)

    def _lines(self) -> list[str]:
        assert self.counts is not None
        return self.counts.lines()

    def _repr_html_(self) -> str:
        """The picture and what is said about it: there may be a million degrees."""
        said = html.escape("\n".join(self._below()))
        return f"{self.plot().svg()}<pre>{said}</pre>"

    def __repr__(self) -> str:
        return f"<DegreesRelease: {len(self.value):,} numbers>"


@dataclass(frozen=True, eq=False, repr=False)
class MixingRelease(GraphRelease):
    """Ends of edges between public groups: a symmetric matrix, with groups in `keys`."""

    def between(self, first: Any, second: Any) -> Release:
        """How many edges lie between two groups, or within one. Free."""
        row, column = (self._index(one) for one in (first, second))
        ends = 2 if row == column else 1
        spread = self._inside and _Entry(self._inside, row, column, ends)
        return self._derived(
            what=f"edges {first}–{second}",
            value=int(self.value[row, column]) // ends,
            spread=spread,
            keys=None,
        )

    def __getitem__(self, key: Any) -> Release:
        """The edges between two groups: `mixing["a", "b"]`."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise ArgumentError("key", 'must be two groups, such as mixing["a", "b"]')
        return self.between(*key)

    def _derived(self, **changes: Any) -> Release:
        """What is made of the whole matrix is told pair by pair, in ends of edges."""
        value, spread = np.asarray(changes["value"]), changes.get("spread")
        if value.shape != self.value.shape:
            return super()._derived(**changes)
        rows, columns = np.triu_indices(len(self._groups))
        places = zip(rows.tolist(), columns.tolist(), strict=True)
        names = tuple(self._pair(i, j) for i, j in places)
        pairs = {"value": value[rows, columns], "keys": names}
        held = spread and _Upper(spread, rows, columns)
        return super()._derived(**changes | pairs | {"spread": held})

    def _pair(self, i: int, j: int) -> str:
        return f"{self._groups[i]}–{self._groups[j]}"

    def rows(self, confidence: float = 0.95) -> list[tuple[Any, Any, Any, Any]]:
        """(groups, edges, low, high) for each pair of groups."""
        low, high = self.interval(confidence)
        places = (side.tolist() for side in np.triu_indices(len(self._groups)))
        pairs = zip(*places, strict=True)
        return [self._row(i, j, low, high) for i, j in pairs]

    def _row(self, i: int, j: int, low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
        ends = 2 if i == j else 1
        least = low[i, j] // ends
        most = high[i, j] // ends
        return self._pair(i, j), int(self.value[i, j]) // ends, int(least), int(most)

    @property
    def _groups(self) -> tuple[Any, ...]:
        return self.keys or ()

    def matrix(self, *, normalized: bool = False) -> Any:
        """The symmetric matrix of networkx.attribute_mixing_matrix, groups in the order
        of `keys`: both ends of an edge count, so edges within a group count twice.
        """
        total = self.value.sum()
        return self.value / total if normalized and total > 0 else self.value

    def plot(self, confidence: float = 0.95) -> Any:
        """Bars with their intervals, one for each pair of groups."""
        from dither.chart import Chart

        rows = self.rows(confidence)
        ends = [(low, high) for _, _, low, high in rows]
        return Chart.of(self.what, [row[0] for row in rows], [r[1] for r in rows], ends)

    def __repr__(self) -> str:
        return f"<MixingRelease: {len(self._groups)} groups>"


@dataclass(frozen=True)
class _Upper:
    """Where the entries of a symmetric matrix lie, each pair once."""

    matrix: Spread
    rows: Any
    columns: Any

    def ends(self, confidence: float) -> Ends:
        size = int(self.rows.max()) + 1
        # where nothing is known, an end is one infinity for all entries
        low, high = (
            np.broadcast_to(end, (size, size)) for end in self.matrix.ends(confidence)
        )
        return low[self.rows, self.columns], high[self.rows, self.columns]


@dataclass(frozen=True)
class _Entry:
    """Where one entry of a matrix lies, counted in edges."""

    matrix: Spread
    row: int
    column: int
    ends_each: int

    def ends(self, confidence: float) -> Ends:
        low, high = self.matrix.ends(confidence)
        place = self.row, self.column
        return low[place] // self.ends_each, high[place] // self.ends_each


def _ccdf_picture(release: Release, confidence: float) -> Picture:
    shares = np.asarray(release.value, np.float64)
    low, high = (np.asarray(end, np.float64) for end in release.interval(confidence))
    degrees = np.arange(len(shares))
    least = _floor(shares, high)
    axes = Axes(
        70,
        40,
        WIDE - 90,
        HIGH - 95,
        Scale(1, max(2, len(shares) - 1), log=True),
        Scale(least, 1.0, log=True),
    )
    shown = _changes(shares, low, high)
    xs = _twice(degrees[shown].tolist())[1:]
    step = [_twice(one[shown].tolist())[:-1] for one in (shares, low, high)]
    shapes = [
        axes.band(xs, step[1], step[2]),
        *axes.frame("degree", "share of vertices of that degree or more"),
        axes.line(xs, step[0]),
        Text(70, 24, f"Degrees, with a {100 * confidence:.4g} % band", 14, bold=True),
    ]
    return Picture.of(WIDE, HIGH, shapes, "degrees")


def _changes(*lines: Any) -> Any:
    """The degrees from 1 on where a line has a step, and the last one."""
    moves = np.any([np.diff(line, prepend=2.0) != 0 for line in lines], axis=0)
    moves[[min(1, moves.size - 1), -1]] = True
    places = np.flatnonzero(moves)
    return places[places > 0]


def _twice(values: Sequence[float]) -> list[float]:
    """Each value twice: the corners of steps."""
    return [value for value in values for _ in (0, 1)]


def _floor(shares: Any, high: Any) -> float:
    """The smallest share that is drawn."""
    positive = [one for one in (*shares, *high) if one > 0]
    return float(min([0.5, *positive])) / 2
