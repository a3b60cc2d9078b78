"""Counts of a synthetic table's real rows by one column or two: the noisy ones where
they were measured, the model's otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.privacy import ROW
from dither.release import Around, Inside, Spread, clamped
from dither.science.synth.names import places_of
from dither.table import Cells, TableRelease

if TYPE_CHECKING:
    from dither.science.synth.model import Model
    from dither.science.synth.result import Synthetic

__all__ = ["direct", "marginal"]

MODELLED = (
    "these counts are computed from the model of the measured pairs, and do not have "
    "intervals"
)
MEASURED = "these are the noisy counts; each interval holds by itself"


class ModelledTable(TableRelease):
    """Counts that come from a model, without intervals."""

    def about(self, left: str = "") -> list[str]:
        return super().about(left)[1:]


@dataclass(frozen=True, eq=False)
class CountSpread:
    """Where the true counts lie, after the keys of each row."""

    inner: Spread
    keys: int

    def __call__(self, confidence: float) -> Cells:
        low, high = (np.asarray(end) for end in self.inner.ends(confidence))
        before = [None] * self.keys
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return [[*before, pair] for pair in ends]


@dataclass(frozen=True)
class NoSpread:
    """Nothing is known about how far off the counts are."""

    rows: int
    columns: int

    def __call__(self, confidence: float) -> Cells:  # noqa: ARG002
        return [[None] * self.columns] * self.rows


def direct(model: Model, places: tuple[int, ...]) -> tuple[Any, Additive] | None:
    """The noisy counts of a table and their noise, if it was measured."""
    plan = model.plan
    if len(places) == 1:
        if places[0] not in plan.measured:
            return None
        return model.ones.tables[plan.measured.index(places[0])], plan.ones
    first, second = sorted(places)
    if (first, second) not in model.edges or plan.twos is None:
        return None
    table = model.twos.tables[model.edges.index((first, second))]
    return (table if (first, second) == places else table.T), plan.twos


def marginal(release: Synthetic, columns: Sequence[str]) -> TableRelease:
    places = places_of(release.domain, columns, "columns")
    names = tuple(release.columns[place] for place in places)
    keys = list(product(*(release.domain.columns[name].labels for name in names)))
    measured = direct(release.model, places)
    if measured is None:
        shares: Any = release.model.marginal(*places)
        return _modelled(release, names, keys, shares.reshape(-1) * release.total)
    counts = measured[0].reshape(-1)
    limits = (0, np.inf)
    shown = clamped(counts, limits)
    around = Around(counts, measured[1], integer=True)
    return TableRelease(
        columns=(*names, "count"),
        rows=_rows(keys, shown),
        sources=release.sources,
        spread=CountSpread(Inside(around, shown, limits), len(names)),
        notes=(MEASURED, *release.notes),
        keys=names,
        first=_first(release),
    )


def _modelled(
    release: Synthetic,
    names: tuple[str, ...],
    keys: list[tuple[Any, ...]],
    counts: NDArray[np.float64],
) -> TableRelease:
    return ModelledTable(
        columns=(*names, "count"),
        rows=_rows(keys, np.round(counts, 1)),
        sources=release.sources,
        spread=NoSpread(len(keys), len(names) + 1),
        notes=(MODELLED, *release.notes),
        keys=names,
        first=_first(release),
    )


def _first(release: Synthetic) -> str:
    most, unit = release.model.plan.rows, release.guarantee.unit.name
    each = "" if unit == ROW.name else f", at most {most} of each {unit}"
    return f"counts of rows in the domain{each}"


def _rows(
    keys: list[tuple[Any, ...]], counts: NDArray[Any]
) -> tuple[tuple[Any, ...], ...]:
    found = zip(keys, counts.tolist(), strict=True)
    return tuple((*key, count) for key, count in found)
