"""How far a synthetic table is off: by the private check, against public targets, or as
far as noise alone says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.mechanisms import Additive, Gaussian
from dither.mechanisms.sums import noise_variance
from dither.science.synth.checking import Checked, Places, tables_of
from dither.science.synth.counts import direct
from dither.science.synth.report import (
    MOST,
    NOISE,
    PRIVATELY,
    PUBLIC,
    Mean,
    Report,
    TableError,
)
from dither.science.synth.targets import against

if TYPE_CHECKING:
    from dither.science.synth.model import Model
    from dither.science.synth.result import Synthetic

__all__ = ["report"]

EACH = 0.975
"""Two intervals at this confidence hold together at 95 %."""


def report(release: Synthetic, targets: Any = None) -> Report:
    """The report of a release, from what was measured or against public targets."""
    if targets is not None:
        found = _of_targets(release, targets)
        return _made(release, PUBLIC, found, _plain_means(found))
    if release.checked is not None:
        errors = list(_of_check(release, release.checked))
        return _made(release, PRIVATELY, errors, _checked_means(release))
    found = list(_of_noise(release))
    return _made(release, NOISE, found, _plain_means(found))


def _made(release: Synthetic, basis: str, errors: Any, means: Any) -> Report:
    return Report(
        columns=release.columns,
        rows=len(release) if basis == PUBLIC else release.first or len(release),
        again=basis == PRIVATELY and release.first > 0,
        edges=release.edges,
        asked=release.asked,
        basis=basis,
        errors=tuple(errors),
        means=means,
        notes=tuple(_must_not(release)),
    )


def _of_check(release: Synthetic, held: Checked) -> Iterator[TableError]:
    total, unsure = release.total, _unsure(release.model)
    widths = (held.error(EACH) + unsure).tolist()
    lines = zip(held.places, held.rows.tolist(), widths, strict=True)
    for places, distance, width in lines:
        yield _line(release, places, *_within(distance, width, total))


def _within(distance: float, width: float, total: float) -> tuple[float, float, float]:
    """An error with its interval. If noise took all of it beyond what an error can
    be, nothing is known: a point at the limit would look exact.
    """
    value, low, high = (
        min(max(end / total, 0.0), MOST)
        for end in (distance, distance - width, distance + width)
    )
    return (value, low, high) if low < high else (value, 0.0, MOST)


def _unsure(model: Model) -> float:
    """The ± of the released number of rows, a weighted sum of the noise of all columns'
    counts (see `total_of`). With it, errors relative to that number are near those
    relative to the true one: Σ|t/T − m/M| and Σ|t/N − m/M| differ by |N − T|/T at most.
    """
    sizes = np.array([table.size for table in model.ones.tables], np.float64)
    each = 1 / sizes / (1 / sizes).sum()
    squares, fourths = (np.array([(sizes * each**power).sum()]) for power in (2, 4))
    return float(model.plan.ones.law.reaches(squares, fourths, EACH)[0])


def _checked_means(release: Synthetic) -> tuple[Any, Any]:
    held = release.checked
    assert held is not None
    return _checked_mean(release, held, 1), _checked_mean(release, held, 2)


def _checked_mean(release: Synthetic, held: Checked, ways: int) -> Mean | None:
    """None if there is no such table, or if nothing is known."""
    if not any(len(one) == ways for one in held.places):
        return None
    width = held.mean_error(ways, EACH) + _unsure(release.model)
    value, low, high = _within(held.mean(ways), width, release.total)
    return None if (low, high) == (0.0, MOST) else (value, low, high)


def _of_noise(release: Synthetic) -> Iterator[TableError]:
    """What noise alone adds to the tables that were measured."""
    model = release.model
    for places in tables_of(range(len(release.columns))):
        measured = direct(model, places)
        error = None if measured is None else _expected(*measured, model)
        yield _line(release, places, error, None, None)


def _expected(counts: Any, mechanism: Additive, model: Model) -> float:
    """The mean absolute noise of all cells, over the number of rows."""
    return min(_mean_noise(mechanism) * int(counts.size) / max(model.total, 1.0), 2.0)


def _mean_noise(mechanism: Additive) -> float:
    sd = math.sqrt(noise_variance(mechanism))
    return sd * math.sqrt(2 / math.pi if isinstance(mechanism, Gaussian) else 1 / 2)


def _of_targets(release: Synthetic, targets: Any) -> list[TableError]:
    found = against(release, targets)
    return [_line(release, places, error, None, None) for places, error in found]


def _plain_means(errors: Sequence[TableError]) -> tuple[Any, Any]:
    """Means where every table is known."""
    found: list[Any] = []
    for ways in (1, 2):
        known = [one.error for one in errors if len(one.columns) == ways]
        whole = [one for one in known if one is not None]
        complete = whole and len(whole) == len(known)
        found.append((float(np.mean(whole)), None, None) if complete else None)
    return found[0], found[1]


def _line(
    release: Synthetic,
    places: Places,
    error: float | None,
    low: float | None,
    high: float | None,
) -> TableError:
    names = tuple(release.columns[place] for place in places)
    known = direct(release.model, places) is not None
    return TableError(names, error, low, high, known)


def _must_not(release: Synthetic) -> Iterator[str]:
    twos = release.model.plan.twos or release.model.plan.ones
    faint = max(math.ceil(twos.error(0.95, integer=True)), 1)
    yield "looking up people or linking with other data: no row is a person"
    yield (
        f"groups below about {faint:,} real rows in a measured table: there the counts "
        "are mostly noise"
    )
    yield (
        "dependence of three or more columns: only single columns and the pairs above "
        "were measured, and all other dependence comes from the model"
    )
    yield (
        "standard errors and p-values as if rows were people: they leave out the noise "
        "and the model; marginal() has intervals"
    )
    yield (
        "outliers, extremes and values within a bin: those are drawn from the declared "
        "domain, not from people"
    )
    yield "links between a person's rows, their order or repeats: rows are independent"
    yield (
        "proving privacy by distances from made-up rows to real ones: such distances do "
        "not measure privacy, and publishing them leaks"
    )
