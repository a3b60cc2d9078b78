"""Tables of a census: counts of one level with their intervals, and what was measured.

They are made when they are asked for; a table of all blocks is long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dither import frames
from dither.release import Source, Spread
from dither.science.census.attributes import Attributes
from dither.science.census.geography import Geography
from dither.science.census.planning import Measure
from dither.table import Cells, TableRelease
from dither.wording import noted, paid

__all__ = ["Measurements", "counts_table"]

COUNT = "count"


def counts_table(
    places: Geography,
    cross: Attributes,
    level: int,
    marginal: Sequence[int],
    values: Any,
    spread: Spread,
    sources: tuple[Source, ...],
    notes: tuple[str, ...],
    alone: Spread | None = None,
) -> TableRelease:
    """A row for each place of a level and each cell of a marginal; `alone` is how far
    noise alone reaches.
    """
    names = (*places.levels[: level + 1], *(cross.names[a] for a in marginal))
    labels = product(zip(*places.columns(level), strict=True), cross.labels(marginal))
    rows = tuple(
        (*place, *cell, value)
        for (place, cell), value in zip(
            labels, np.asarray(values).ravel().tolist(), strict=True
        )
    )
    return TableRelease(
        columns=(*names, _unused(COUNT, names)),
        rows=rows,
        sources=sources,
        spread=_Cells(spread, len(names)),
        notes=notes,
        keys=names,
        noise=None if alone is None else _Cells(alone, len(names)),
        clipped=False,
    )


def _unused(name: str, taken: Sequence[str]) -> str:
    return frames.unused(name, set(taken))


@dataclass(frozen=True, eq=False)
class _Cells:
    """The interval of each row's count, beside keys that have none."""

    spread: Spread
    keys: int

    def __call__(self, confidence: float) -> Cells:
        blank = (None,) * self.keys
        low, high = (np.ravel(end).tolist() for end in self.spread.ends(confidence))
        return [(*blank, pair) for pair in zip(low, high, strict=True)]


@dataclass(frozen=True, eq=False)
class Measurements:
    """The noisy measurements themselves: unbiased, independent, and all that the
    release knows of the people. Whoever wants to can fit them again.

    `values[i]` are those of `measures[i]`, one row for each place of its level and one
    column for each cell of its marginal; their noise has its `scale` and `variance` (a
    bound above it, where the scale is below ½).
    """

    places: Geography
    cross: Attributes
    measures: tuple[Measure, ...]
    values: tuple[Any, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return sum(one.size for one in self.values)

    @property
    def columns(self) -> tuple[str, ...]:
        """Labels of levels and attributes (None where a measurement is of all of
        them), the level and the marginal, the noise, and the measured value.
        """
        named = (*self.places.levels, *self.cross.names)
        about = ("level", "marginal", "scale", "variance", "value")
        taken = set(named)
        return (*named, *(frames.unused(one, taken) for one in about))

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One after the other, measure by measure."""
        for measure, values in zip(self.measures, self.values, strict=True):
            yield from self._of(measure, values)

    def _of(self, measure: Measure, values: Any) -> Iterator[tuple[Any, ...]]:
        levels, names = self.places.levels, self.cross.names
        below = (None,) * (len(levels) - measure.level - 1)
        shown = "×".join(names[a] for a in measure.marginal) or "total"
        noise = (measure.scale, measure.variance)
        cells = [
            self._cell(measure, one) for one in self.cross.labels(measure.marginal)
        ]
        paths = zip(*self.places.columns(measure.level), strict=True)
        for (path, cell), value in zip(
            product(paths, cells), values.ravel().tolist(), strict=True
        ):
            yield (*path, *below, *cell, levels[measure.level], shown, *noise, value)

    def _cell(self, measure: Measure, labels: tuple[Any, ...]) -> tuple[Any, ...]:
        held = dict(zip(measure.marginal, labels, strict=True))
        return tuple(held.get(a) for a in range(len(self.cross.names)))

    def _by_column(self) -> dict[str, list[Any]]:
        columns = zip(*self.rows, strict=True)
        return dict(zip(self.columns, map(list, columns), strict=True))

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each measured number."""
        return frames.package("pandas").DataFrame(self._by_column())

    def to_polars(self) -> Any:
        """A Polars frame, one row for each measured number."""
        return frames.package("polars").DataFrame(self._by_column(), strict=False)

    def to_arrow(self) -> Any:
        """An Arrow table, one row for each measured number."""
        return frames.package("pyarrow").table(self._by_column())

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text, or a file of it, one row for each measured number."""
        return frames.csv_of(self.columns, self.rows, path)

    def __str__(self) -> str:
        lines = [f"{len(self):,} measurements with noise"]
        for one in self.measures:
            names = "×".join(self.cross.names[a] for a in one.marginal) or "total"
            level = self.places.levels[one.level]
            lines.append(f"{level}, {names}: scale {one.scale:.4g}")
        return "\n".join([*lines, *paid(self.sources), *noted(self.notes)])

    __repr__ = __str__
