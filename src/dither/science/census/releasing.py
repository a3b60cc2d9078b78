"""A census: tables of a nesting geography, all levels measured and made consistent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.privacy.numbers import whole
from dither.question import Asking
from dither.science.census.asking import invariant_levels, question_of
from dither.science.census.attributes import Attributes, Edges, attributes_of
from dither.science.census.fitting import fit
from dither.science.census.geography import Geography, geography
from dither.science.census.listing import level_names
from dither.science.census.planning import Plan, plan_of
from dither.science.census.reading import Source, filled, source_of
from dither.science.census.result import Census, Known
from dither.science.census.stored import Counted
from dither.science.census.workload import workload_of
from dither.science.declared import note

__all__ = ["release"]

MANY = 10**9
EXAMPLE = 'release(people, levels=["state", "county", "block"], keys=blocks, rho=0.5)'


@by_name(EXAMPLE, Asking)
def release(
    people: Any,
    *,
    levels: Sequence[str] | None = None,
    keys: Any = None,
    attributes: Mapping[str, Any] | Sequence[str] | None = None,
    workload: Iterable[Any] | None = None,
    invariants: Iterable[str] | None = None,
    shares: Mapping[str, float] | None = None,
    owner: Any = None,
    rows: int = 1,
    unit: str | Unit | None = None,
    table: str | None = None,
    mechanism: str = "rounded",
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Census:
    """Counts of people for every place of a geography and every category, with
    intervals, so that all levels add up.

    `people` are a frame, a mapping of columns, or a dataset, whose engine then counts.
    `keys` is the public list of all blocks (`geography`, or what it takes), and
    `attributes` are declared categories by name, or `edges` of numbers. `workload` lists
    the marginals that every level has, as tuples of attributes; if left out, the total
    and the cross of all. The cost is split evenly over levels and marginals: in trees
    of 3 to 5 levels, that is within 0.5 % of the split with the least error over all
    levels, and within 8 % of the one whose worst level is best. `shares` gives levels
    other weights (0 leaves one out), and a `workload` that is a mapping gives marginals
    theirs.

    Whoever has a label that is not declared counts for nobody. A unit has one row, or
    `owner` says whose each is (a column or ids): then at most `rows` of each count.

    `invariants` are levels whose totals are published exactly. They belong to the
    account, which must have been opened with `census.unit(name, invariants)`. Totals
    are then counts by that level's labels alone; whoever has one, but is not declared
    otherwise, counts in the first block and the first categories there, and a unit with
    several rows counts for nobody.

    Guarantee: ρ-zero-concentrated differential privacy for one unit, given the exact
    totals; for a cost that is stated as epsilon, Gaussian at the account's δ where that
    is less noise, and else pure (Laplace).
    Why: a unit of k rows moves each (level, marginal) histogram by k in L1 and L2, by 2k
    and √2·k if it is replaced; their costs add up, and all that follows is
    post-processing (docs/proofs/census.md).
    Assumes: `keys`, `attributes` and `edges` are public and not read off the people.
    """
    places = _places(keys, levels)
    dataset = people if _is_dataset(people) else None
    cross = attributes_of(attributes, dataset)
    source = source_of(people, places, cross, owner=owner, table=table)
    exact = invariant_levels(invariants, places)
    most = _most(rows, source, owner, bool(exact))
    question = question_of(
        cost, source.dataset, unit, [places.levels[level] for level in exact]
    )
    plan = plan_of(
        question,
        places,
        cross,
        workload_of(workload, cross),
        exact=exact,
        shares=shares,
        rows=most,
        mechanism=mechanism,
    )
    notes = _notes(places, cross, plan, source, provenance)
    # Odd numbers must not warn, or fail where warnings are errors (rule R1).
    with plan.question.paying(plan.guarantee) as paid, np.errstate(all="ignore"):
        counted = source.counted(paid, most, max(exact, default=None))
        leaves, known = _exactly(counted, places, exact)
        noisy = plan.measure(places.tree, leaves, cross.sizes)
    return _fitted(plan, places, cross, noisy, known, (paid.source,), notes)


def _is_dataset(people: Any) -> bool:
    from dither.dataset import Dataset

    return isinstance(people, Dataset)


def _places(keys: Any, levels: Sequence[str] | None) -> Geography:
    if keys is None:
        raise ArgumentError(
            "keys",
            "is missing; pass the public list of all blocks, with a label for each "
            "level: geography(blocks, levels=…)",
        )
    if not isinstance(keys, Geography):
        return geography(keys, levels=levels)
    if levels is not None and level_names(levels) != keys.levels:
        raise ArgumentError(
            "levels",
            f"must be those of the geography, {list(keys.levels)}; leave them out, or "
            "make a geography of the levels that you want",
        )
    return keys


def _most(rows: int, source: Source, owner: Any, exact: bool) -> int:
    way_out = "pass how many rows of a unit count at most, such as 3"
    most = whole("rows", rows, way_out)
    if most > MANY:
        raise ArgumentError("rows", f"is more than any unit has; {way_out}")
    several = owner is not None if source.dataset is None else not source.dataset.single
    if most > 1 and not several:
        raise ArgumentError("rows", "is per owner; pass owner=, or leave rows out")
    if most > 1 and exact:
        raise ArgumentError(
            "rows",
            "must be 1 with invariants: exact totals count units with one row; leave "
            "rows out, or leave invariants out",
        )
    return most


def _exactly(
    counted: Counted, places: Geography, exact: tuple[int, ...]
) -> tuple[Any, tuple[Known, ...]]:
    """The leaves, and the exact totals of all levels that have them; those above the
    lowest one are its sums.
    """
    if not exact:
        return counted.leaves, ()
    leaves = filled(counted, places, exact[-1])
    totals = places.tree.counts_up(leaves.sum(axis=1))
    return leaves, tuple(Known(level, totals[level]) for level in exact)


def _fitted(
    plan: Plan,
    places: Geography,
    cross: Attributes,
    noisy: Sequence[Any],
    known: tuple[Known, ...],
    sources: Any,
    notes: tuple[str, ...],
) -> Census:
    levels = len(places.levels)
    exact: list[Any] = [None] * levels
    for one in known:
        exact[one.level] = one.totals
    found = fit(
        places.tree,
        cross.sizes,
        plan.workload.marginals,
        plan.sorted_out(levels, noisy),
        plan.variances(levels),
        exact,
    )
    return Census.of(places, cross, plan, found, tuple(noisy), known, sources, notes)


def _notes(
    places: Geography,
    cross: Attributes,
    plan: Plan,
    source: Source,
    provenance: str | None,
) -> tuple[str, ...]:
    said = [note(f"{places} with {cross.cells:,} cells each", provenance)]
    if plan.exact:
        names = ", ".join(places.levels[level] for level in plan.exact)
        said.append(f"published exactly, without noise: total of each {names}")
        said.append(
            "whoever has a declared label there, but is not declared otherwise, counts "
            "in its first block and first categories"
        )
    else:
        said.append("whoever is in no declared place or category counts for nobody")
    rows = "row counts" if plan.rows == 1 else "rows count"
    said.append(f"of each {plan.question.unit.name} at most {plan.rows} {rows}")
    if source.dataset is not None and any(
        isinstance(one, Edges) for one in cross.named.values()
    ):
        said.append("numbers beyond their column's bounds count at these bounds")
    return tuple(said)
