"""The reconstruction attack: rebuilding the records of the people of a small block
from its published tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.censuses import categories, people_of, scales, shown
from dither.audit.attacks.guessing import proportional
from dither.audit.attacks.nearest import Nearest
from dither.audit.attacks.people import array, counts_of
from dither.audit.attacks.published import Domain, Table, domain
from dither.audit.attacks.rebuilt import NONE, Reconstruction
from dither.audit.attacks.solving import MOST_STEPS, Solution, Solver
from dither.errors import ArgumentError
from dither.mechanisms.values import real
from dither.noise import uniform_integers
from dither.privacy import Guarantee
from dither.privacy.numbers import whole
from dither.science.census import Census

__all__ = ["reconstruction"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]

LARGEST = 1e12


def reconstruction(
    published: Any,
    truth: Any,
    *,
    attributes: Any = None,
    recodes: Any = None,
    keys: Any = None,
    levels: Sequence[str] | None = None,
    noise: Any = None,
    prior: Any = None,
    others: bool = False,
    guarantee: Guarantee | None = None,
    steps: int = MOST_STEPS,
) -> Reconstruction:
    """The reconstruction attack (Dinur & Nissim 2003; Garfinkel, Abowd & Martindale
    2018) on tables of blocks, or on a census that was released.

    `published` maps tuples of names to arrays of blocks by entries, such as
    `{("sex", "age"): …, ("race",): …, (): totals}`. `truth` are the people, with the
    list of all blocks as `keys`, or counts of each block in each cell of the declared
    `attributes`. `recodes` are coarser categories (see `tables`). Without `noise`
    tables are exact, and all tables of records that agree with them are counted, in up
    to `steps` steps for a block; where more are needed, one that is likely and nearly
    agrees is taken. With `noise` (standard deviations by table, or one for all) the
    likeliest table is taken. `prior` is what the attacker knows of records in general:
    a chance for each cell, by default the shares of all people together. With `others`
    they know all people of each block but one, who is drawn.

    A census brings its attributes, blocks, noise and guarantee; `truth` may then be the
    people that it was made of. The attacker knows how many people live in each block.
    """
    most = whole("steps", steps, "pass how many steps a block may take, such as 20_000")
    if guarantee is not None and not isinstance(guarantee, Guarantee):
        raise ArgumentError("guarantee", "must be a guarantee, such as PureDP(1.0)")
    if isinstance(published, Census):
        counts = people_of(truth, published)
        return reconstruction(
            shown(published, counts),
            counts,
            attributes=categories(published),
            keys=published.geography,
            noise=scales(published),
            prior=prior,
            others=others,
            guarantee=published.guarantee,
        )
    over = domain(attributes, recodes)
    counts, places = counts_of(truth, over, attributes, keys, levels)
    chances = _prior(prior, counts, over)
    tables, values = _published(published, len(counts), over)
    if noise is None and not others:
        found = _solve(values, Solver(tables, chances, over.cells, most))
        solutions = tuple(one.count for one in found)
        rebuilt = _rebuilt(found, tables, values, chances)
        return Reconstruction(
            over, counts, rebuilt, chances, solutions, guarantee, places=places
        )
    known = _all_but_one(counts) if others else None
    scales_of = _noise(0 if noise is None else noise, tables)
    nearest = Nearest(tables, scales_of, _means(chances, values))
    rebuilt = (
        nearest.solve(values)
        if known is None
        else _one_more(nearest, known, values, counts)
    )
    return Reconstruction(
        over, counts, rebuilt, chances, None, guarantee, known, places
    )


def _means(chances: Reals, values: Sequence[Reals]) -> Reals:
    """Number of people of a median block in each cell."""
    sizes = [np.mean(one.sum(axis=1)) if len(one) else 0.0 for one in values]
    return chances * max(float(np.mean(sizes)), 1e-9)


def _one_more(
    nearest: Nearest, known: Counts, values: Sequence[Reals], counts: Counts
) -> Counts:
    """The people whom the attacker knows, and a guess at the one whom they do not."""
    rebuilt = known.copy()
    places = np.flatnonzero(counts.sum(axis=1))
    rebuilt[places, nearest.one_more(known, values)[places]] += 1
    return rebuilt


def _all_but_one(counts: Counts) -> Counts:
    """The blocks without one person each, drawn among all of the block."""
    ends = counts.cumsum(axis=1)
    known = counts.copy()
    for block in np.flatnonzero(ends[:, -1]):
        person = int(uniform_integers(int(ends[block, -1]), (1,))[0])
        known[block, int(np.searchsorted(ends[block], person, side="right"))] -= 1
    return known


def _solve(values: Sequence[Reals], solver: Solver) -> list[Solution]:
    exact = [np.rint(one).astype(np.int64) for one in values]
    if any((a != b).any() or (a < 0).any() for a, b in zip(exact, values, strict=True)):
        raise ArgumentError(
            "published",
            "must hold whole numbers from 0 on if noise is 0; pass noise= for noisy counts",
        )
    return [
        solver.solve([one[block] for one in exact]) for block in range(len(exact[0]))
    ]


def _rebuilt(
    found: Sequence[Solution],
    tables: Sequence[Table],
    values: Sequence[Reals],
    chances: Reals,
) -> Counts:
    """The most likely tables. If there are too many to look through, the prior is
    scaled to what is published.
    """
    rebuilt = np.full((len(found), chances.size), NONE, np.int64)
    for block, one in enumerate(found):
        if one.table is not None:
            rebuilt[block] = one.table
    large = [block for block, one in enumerate(found) if one.count is None]
    if large:
        some = [one[large] for one in values]
        nearest = Nearest(tables, [0.0] * len(tables), _means(chances, some))
        rebuilt[large] = nearest.solve(some, proportional(tables, some, chances))
    return rebuilt


def _published(
    published: Any, blocks: int, over: Domain
) -> tuple[list[Table], list[Reals]]:
    if not isinstance(published, Mapping) or not published:
        raise ArgumentError(
            "published",
            'must map tables to counts; pass one such as {("sex", "age"): counts}',
        )
    tables = [over.table(names) for names in published]
    values = []
    for table, given in zip(tables, published.values(), strict=True):
        found = array(given)
        fine = found.dtype.kind in "iuf" and found.size == blocks * table.size
        if not fine or not (np.abs(found) <= LARGEST).all():
            raise ArgumentError(
                "published",
                f"the table {table.names} must have {table.size:,} numbers for each of "
                f"{blocks:,} blocks, up to {LARGEST:,.0f}; pass an array of this size",
            )
        values.append(found.reshape(blocks, table.size).astype(np.float64))
    return tables, values


def _noise(noise: Any, tables: Sequence[Table]) -> list[float]:
    if isinstance(noise, Mapping):
        plain = {_names(names): scale for names, scale in noise.items()}
        listed = [plain.get(one.names, math.nan) for one in tables]
    else:
        listed = [noise for _ in tables]
    scales = [real(one) for one in listed]
    if not all(0 <= one < math.inf for one in scales):
        raise ArgumentError(
            "noise", "must be a standard deviation, or a list with one for each table"
        )
    return scales


def _names(names: Any) -> tuple[Any, ...]:
    return tuple(names) if isinstance(names, tuple | list | frozenset) else (names,)


def _prior(prior: Any, counts: Counts, over: Domain) -> Reals:
    if prior is None:
        together = counts.sum(axis=0) + 0.0
        total = together.sum()
        even = np.full(over.cells, 1 / over.cells)
        return np.asarray(together / total) if total else even
    found = array(prior).ravel()
    fine = found.dtype.kind in "iuf" and found.size == over.cells
    sums = fine and math.isclose(found.sum(), 1, rel_tol=1e-6)
    if not sums or not (found >= 0).all():
        raise ArgumentError(
            "prior",
            f"must be {over.cells:,} probabilities, one per cell, that sum to 1",
        )
    return np.asarray(found / found.sum())
