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
from dither.science.census.attributes import Attributes, attributes_of
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
ROWS = "pass how many rows per unit are used at most, such as 3"
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
    rows: int | None = None,
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
    `owner` says whose each is (a column or ids): then at most `rows` of each count,
    which must be stated unless the dataset declares it.

    `invariants` are levels whose totals are published exactly. They belong to the
    account, which must have been opened with `census.unit(name, invariants)`. Totals
    are then counts by that level's labels alone; whoever has one, but is not declared
    otherwise, counts in the first block and the first categories there, and a unit with
    several rows counts for nobody. Of several such levels the lowest decides, and those
    above are its sums. What is in memory must be the whole table, with the same owners,
    in every release that an account with invariants pays for: exact totals of a part of
    it would be another fact.

    Guarantee: ρ-zero-concentrated differential privacy for one unit, given the exact
    totals; for a cost that is stated as epsilon, Gaussian at the account's δ where that
    is less noise, and else pure (Laplace).
    Why: a unit of k rows moves each (level, marginal) histogram by k in L1 and L2, by 2k
    and √2·k if it is replaced; their costs add up, and all that follows is
    post-processing (docs/proofs/census.md).
    Assumes: `keys`, `attributes` and `edges` are public and not read off the people.
    """
    if not isinstance(cost.get("by"), str | None):
        raise ArgumentError(
            "by",
            "must be a string that names who asks; declare categories in attributes=, "
            "and pass by= to .table() of the release",
        )
    places = _places(keys, levels)
    dataset = people if _is_dataset(people) else None
    cross = attributes_of(attributes, dataset)
    source = source_of(people, places, cross, owner=owner, table=table)
    exact = invariant_levels(invariants, places)
    most = _most(rows, source, owner, table, bool(exact))
    question = question_of(
        cost, source.dataset, unit, [places.levels[level] for level in exact], owner
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
    several = owner is not None if dataset is None else not dataset.single
    notes = _notes(places, cross, plan, several, provenance)
    # Odd numbers must not warn, or fail where warnings are errors (rule R1).
    with question.paying(plan.guarantee) as paid, np.errstate(all="ignore"):
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
            "must be declared; pass the public list of all blocks, with a label for each "
            "level: keys=geography(blocks, levels=…)",
        )
    if not isinstance(keys, Geography):
        return geography(keys, levels=levels)
    if levels is not None and level_names(levels) != keys.levels:
        raise ArgumentError(
            "levels",
            f"must be those of the geography, {list(keys.levels)}; leave levels out, or "
            "make a geography with the levels that you want",
        )
    return keys


def _most(
    rows: int | None, source: Source, owner: Any, table: str | None, exact: bool
) -> int:
    """How many rows of a unit count: stated, or declared for a dataset."""
    several = owner is not None if source.dataset is None else not source.dataset.single
    if rows is None:
        return _usual(source, table) if several and not exact else 1
    most = whole("rows", rows, ROWS)
    if most > MANY:
        raise ArgumentError("rows", f"must be at most {MANY:,}; {ROWS}")
    if most > 1 and not several:
        raise ArgumentError(
            "rows",
            "must be 1, because each row is one unit; leave rows out, or pass owner=",
        )
    if most > 1 and exact:
        raise ArgumentError(
            "rows",
            "must be 1 with invariants, because exact totals count units with one row; "
            "leave rows out, or leave invariants out",
        )
    return most


def _usual(source: Source, table: str | None) -> int:
    caps = {} if source.dataset is None else source.dataset.caps
    only = next(iter(caps.values())) if len(caps) == 1 else None
    found = caps.get(table or "", only)
    if found is None:
        raise ArgumentError(
            "rows", f"must be declared, because a unit may have several rows; {ROWS}"
        )
    return found


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
    several: bool,
    provenance: str | None,
) -> tuple[str, ...]:
    cells = "1 cell" if cross.cells == 1 else f"{cross.cells:,} cells"
    said = [note(f"{places} with {cells} each", provenance)]
    if plan.exact:
        said += _said_exactly(places, plan.exact)
    else:
        said.append("people without a declared place or category are left out")
    return (*said, _said_of_rows(plan, several))


def _said_exactly(places: Geography, exact: tuple[int, ...]) -> list[str]:
    names = ", ".join(places.levels[level] for level in exact)
    said = [f"published exactly, without noise: total of each {names}"]
    lowest = places.levels[exact[-1]]
    if len(exact) > 1:
        said.append(
            f"totals of higher levels are sums over the labels of {lowest}; people without "
            "a declared label there are in none of them"
        )
    said.append(
        f"people with a declared {lowest}, but without another declared label, are counted "
        "in its first block and first categories"
    )
    return said


def _said_of_rows(plan: Plan, several: bool) -> str:
    name = plan.guarantee.unit.name
    if not several:
        return f"each row is one {name}"
    if plan.exact:
        return f"each {name} with several rows is left out"
    rows = "1 row" if plan.rows == 1 else f"{plan.rows:,} rows"
    used = f"at most {rows} of each {name} {'is' if plan.rows == 1 else 'are'} counted"
    return f"{used}; intervals hold if no {name} has more"
