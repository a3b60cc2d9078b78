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
from dither.science.synth.report import NOISE, PRIVATELY, PUBLIC, Report, TableError
from dither.science.synth.targets import against

if TYPE_CHECKING:
    from dither.science.synth.model import Model
    from dither.science.synth.result import Synthetic

__all__ = ["report"]


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
        rows=len(release),
        edges=release.edges,
        asked=release.asked,
        basis=basis,
        errors=tuple(errors),
        means=means,
        notes=tuple(_must_not(release)),
    )


def _of_check(release: Synthetic, held: Checked) -> Iterator[TableError]:
    total = max(release.total, 1.0)
    width = held.mechanism.error(0.95, integer=True)
    for places, distance in zip(held.places, held.distances.tolist(), strict=True):
        ends = (
            min(max(end / total, 0.0), 2.0)
            for end in (distance - width, distance + width)
        )
        low, high = ends
        value = min(max(distance / total, 0.0), 2.0)
        yield _line(release, places, value, low, high)


def _checked_means(release: Synthetic) -> tuple[Any, Any]:
    held, total = release.checked, max(release.total, 1.0)
    assert held is not None
    found: list[Any] = []
    for ways in (1, 2):
        if not any(len(one) == ways for one in held.places):
            found.append(None)
            continue
        mean = max(held.mean(ways), 0.0) / total
        found.append((mean, held.mean_error(ways, 0.95) / total))
    return found[0], found[1]


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
        found.append((float(np.mean(whole)), None) if complete else None)
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
    faint = math.ceil(twos.error(0.95, integer=True))
    yield "looking anybody up or linking with other data: no row is a person"
    yield (
        f"groups below about {faint:,} real rows in a measured table: there the counts "
        "are mostly noise"
    )
    yield (
        "dependence of three or more columns: only single columns and the pairs above "
        "were measured, and all else follows from these as if nothing else mattered"
    )
    yield (
        "standard errors and p-values as if rows were people: they leave out the noise "
        "and the model; marginal() has intervals"
    )
    yield (
        "outliers, extremes and values within a bin: those are drawn from the declared "
        "domain, not from people"
    )
    yield "what one person's rows share, their order or repeats: rows are independent"
    yield (
        "proving privacy by distances from made-up rows to real ones: they do not "
        "measure it, and publishing them leaks"
    )
