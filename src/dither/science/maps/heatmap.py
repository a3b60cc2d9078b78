"""A map of how many points lie where: counts with noise in the cells of a public box."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.dataset import Account
from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.privacy.numbers import whole
from dither.question import AskingError, Question
from dither.science.declared import note
from dither.science.maps.counting import held
from dither.science.maps.density import HeatMap
from dither.science.maps.fitting import CellSpread
from dither.science.maps.places import Place, place_of
from dither.science.maps.planning import plan_of
from dither.science.maps.reading import Source, source_of

__all__ = ["heatmap"]

MANY = 10**12
SITE = Unit("site")
OWNER = Unit("owner")
EXAMPLE = "heatmap(points, bounds=(west, south, east, north), epsilon=1)"


@by_name(EXAMPLE, AskingError)
def heatmap(
    points: Any,
    *,
    bounds: Any = None,
    crs: Any = 4326,
    x: str | None = None,
    y: str | None = None,
    owner: Any = None,
    rows: int | None = None,
    method: str = "adaptive",
    cells: Any = None,
    expect: int | None = None,
    table: str | None = None,
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> HeatMap:
    """How many points lie in each cell of a public box or polygon, with intervals.

    `points` are an array of (lon, lat) rows, a pair of columns, a frame with `x` and `y`,
    a GeoDataFrame or a dataset. Points outside of `bounds`, and those that are no points,
    are dropped. Every point is a unit of its own, unless `owner` says whose it is (a
    column or ids): then at most `rows` points of each owner count, which must be said. An adaptive map is
    finer where more points lie, a uniform one equally fine; `cells` or `expect` (a public
    number of points) say how fine, and without them a noisy count of all points does.
    "privtree" divides cells into four again and again, as deep as the points are dense:
    for boxes that are empty but for a few places. `cells` are then the first ones.

    Guarantee: ε-differential privacy (Laplace noise) or ρ-zero-concentrated (Gaussian)
    for one unit: a site, or an owner with all of its points.
    Why: a point lies in one cell of a partition, so an owner of k kept points moves all
    counts together by k, in L1 and in L2 (all k may lie in one cell); trees are divided
    by PrivTree for k points; the parts of the cost add up (docs/proofs/science.md).
    Assumes: `bounds`, `cells` and `expect` are public and not read off the data. That no
    owner has more than `rows` points inside matters for the intervals only.
    """
    place = place_of(bounds, crs)
    source = source_of(points, place.system, x=x, y=y, owner=owner, table=table)
    question = _question(source, cost)
    most = _most(source, rows, table)
    notes = _notes(place, source, most, provenance)
    plan = plan_of(question, place, most, method, cells, expect)
    # Odd numbers must not warn, or fail where warnings are errors (rule R1).
    with plan.question.paying() as paid, np.errstate(all="ignore"):
        counted = held(source.read(paid.receipt), place, most)
        partition, value = plan.measure(counted)
    spread = CellSpread(value, partition.siblings[partition.parent], plan.noises)
    return HeatMap(
        what="count",
        value=value,
        sources=(paid.source,),
        spread=spread,
        notes=notes,
        partition=partition,
        noises=plan.noises,
    )


def _most(source: Source, rows: int | None, table: str | None) -> int:
    """How many points of an owner count: stated, or declared for the dataset."""
    if not source.owned:
        if rows not in (None, 1):
            raise ArgumentError(
                "rows",
                "must be 1, because each point is one unit; leave rows out, or pass owner=",
            )
        return 1
    caps = {} if source.dataset is None else source.dataset.caps
    only = next(iter(caps.values())) if len(caps) == 1 else None
    declared = caps.get(table, only) if table is not None else only
    way_out = "pass how many points per owner are used at most, such as 3"
    stated = declared if rows is None else rows
    if stated is None:
        raise ArgumentError(
            "rows",
            f"must be declared, because an owner may have several points; {way_out}",
        )
    most = whole("rows", stated, way_out)
    if most > MANY:
        raise ArgumentError("rows", f"must be at most {MANY:,}; {way_out}")
    return most


def _question(source: Source, cost: AskingError) -> Question:
    budget = cost.get("budget")
    return Question.of(
        "heat map", cost, unit=_unit(source, budget), dataset=source.dataset
    )


def _unit(source: Source, budget: Account | None) -> Unit:
    """Whom the map protects. An account's own unit, where that is the same: of a list
    of sites, a row is a site.
    """
    terms = getattr(budget, "terms", None)
    held: Unit | None = None if terms is None else terms.total.unit
    if not source.owned:
        fits = held is not None and held.name in (ROW.name, SITE.name)
        return held if fits and held is not None else SITE
    if source.owner is None:  # ids of whatever the account is about
        return held if held is not None and held.name != ROW.name else OWNER
    # a column of that name holds owners, and not one for each row
    named = OWNER if source.owner == ROW.name else Unit(source.owner)
    return held if held is not None and held.name == named.name else named


def _notes(
    place: Place, source: Source, most: int, provenance: str | None
) -> tuple[str, ...]:
    said = [note(f"bounds ({place.size}) in {place.system}", provenance)]
    if source.owned:
        points = "1 point" if most == 1 else f"{most} points"
        used = f"at most {points} of each owner {'is' if most == 1 else 'are'} counted"
        said.append(f"{used}; intervals hold if no owner has more")
    if source.dataset is not None:
        said.append("coordinates are clamped to the bounds of their columns")
    return tuple(said)
