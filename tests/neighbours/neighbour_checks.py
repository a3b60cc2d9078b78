"""What one unit moves, against what the plan says that it moves at most; exactly, in
integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from random import Random  # allowed: it chooses test data, and its seeds are fixed
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import EngineFailed
from dither.ledger import Ledger
from dither.ledger.terms import Terms
from dither.mechanisms import Additive
from dither.privacy import Unit
from dither.query.collect.runner import running
from dither.query.plan.choose import plans_of
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.request import request_of
from dither.query.plan.vectors import Kind
from dither.query.sql.bind import bind
from tests.neighbours.neighbour_engines import PLACES
from tests.neighbours.neighbour_place import IDS, NUMBERED, ROWS, Place, replacing
from tests.neighbours.neighbour_questions import CLINIC, SURVEY, question
from tests.neighbours.neighbours import world

__all__ = [
    "Asking",
    "Found",
    "campaign",
    "check",
    "collected",
    "explore",
    "planned",
    "radii_of",
]

Key = tuple[Any, ...]
Integers = NDArray[np.int64]
Groups = Mapping[Key, Integers]
"""For each private key (or for none) the integers of all its groups in a row."""


@lru_cache
def _terms(unit: Unit, delta: float) -> Terms:
    return (
        Ledger.open(":memory:")
        .account("test", epsilon=100.0, delta=delta, unit=unit)
        .terms
    )


def planned(
    place: Place,
    sql: str,
    unit: Unit,
    *,
    gaussian: bool,
    at_least: int = 1,
    cap: int = 0,
    **stated: Any,
) -> Plan:
    """The plan of a question with the noise that is asked for.

    `at_least` is how many units a private key needs to be a candidate, so few that tiny
    databases have such keys. `cap` is how many rows a unit is taken to have at most,
    which may well be wrong.
    """
    bound = bind(sql, place.catalogue)
    cost: dict[str, Any] = {"rho": 0.5} if gaussian else {"epsilon": 1.0}
    terms = _terms(unit, 1e-6 if gaussian or bound.private_keys else 0.0)
    plans = plans_of(bound, request_of({**cost, **stated}), terms)
    plan = next(one for one in plans if one.spend.gaussian is gaussian)
    plan = replace(
        plan,
        measurements=tuple(
            _capped(measurement, cap) for measurement in plan.measurements
        ),
    )
    return (
        plan
        if plan.keys is None
        else replace(plan, keys=replace(plan.keys, at_least=at_least))
    )


def _capped(measurement: Measurement, cap: int) -> Measurement:
    """A measurement of which what clipping hides is measured too."""
    if (
        not cap
        or measurement.vector.sure
        or measurement.vector.kind is Kind.DISTINCT
        or measurement.hiding
    ):
        return measurement
    quarter = measurement.weight / 4
    return replace(
        measurement,
        cap=cap * measurement.vector.row,
        hiding=quarter,
        weight=measurement.weight - quarter,
    )


@dataclass(frozen=True)
class Found:
    """The exact integers of one database: units of each private key, norms of units,
    and for each measurement and radius the integers of every group, and what clipping hid of
    them. Groups of private keys are found by the key."""

    candidates: dict[Key, int]
    norms: dict[int, list[int]]
    totals: dict[tuple[int, int], Groups]
    hidden: dict[tuple[int, int], Groups]


def collected(
    place: Place,
    plan: Plan,
    radii: dict[int, Sequence[int]],
    named: Sequence[Key] | None = None,
) -> Found:
    """All that the plan collects. `named` are the private keys that count, if the
    database has them; None: all.
    """
    with running(plan, place.engine, place.catalogue.table, "salt") as runner:
        candidates: dict[Key, int] = {}
        keys: list[Key] = [()]
        if plan.keys is not None:
            found = runner.every_key()
            candidates = dict(zip(found, runner.candidates().tolist(), strict=True))
            keys = (
                sorted(candidates)
                if named is None
                else [key for key in named if key in candidates]
            )
            runner.name([found.index(key) for key in keys])
        norms = {
            m: runner.units(m).tolist()
            for m, measurement in enumerate(plan.measurements)
            if _chosen(measurement)
        }
        totals: dict[tuple[int, int], Groups] = {}
        hidden: dict[tuple[int, int], Groups] = {}
        for m, sizes in radii.items():
            for radius in sizes:
                totals[m, radius] = _by_key(keys, runner.totals(m, radius))
                if plan.measurements[m].hides(radius):
                    hidden[m, radius] = _by_key(keys, runner.hidden(m, radius))
    return Found(candidates, norms, totals, hidden)


def _by_key(keys: Sequence[Key], found: Integers) -> Groups:
    return dict(
        zip(keys, np.split(found.ravel(), max(len(keys), 1)), strict=bool(keys))
    )


def _chosen(measurement: Measurement) -> bool:
    return measurement.radius is None


def radii_of(plan: Plan, random: Random | None = None) -> dict[int, Sequence[int]]:
    """For each measurement: one step, a part of a row, a row, several, more than anyone has;
    two of these if at random.
    """
    found: dict[int, Sequence[int]] = {}
    for m, measurement in enumerate(plan.measurements):
        row, limit = measurement.vector.row, measurement.vector.limit
        sizes = {
            1,
            row // 3 + 1,
            row,
            2 * row,
            7 * row + 1,
            50 * row,
            limit,
            measurement.radius or row,
        }
        if measurement.vector.sure:
            sizes, limit = {measurement.radius or row}, row
        elif measurement.vector.kind is Kind.DISTINCT:
            sizes = {1, 2, measurement.radius or 1}
        held = sorted({min(size, limit) for size in sizes})
        found[m] = held if random is None else random.sample(held, min(2, len(held)))
    return found


def check(plan: Plan, one: Found, two: Found) -> None:
    """Neighbours differ by no more than each noise was made for."""
    if plan.keys is not None:
        _check_keys(plan, one.candidates, two.candidates)
    for m in one.norms:
        moved = np.array(one.norms[m], object) - np.array(two.norms[m], object)
        assert _size(moved, l2=plan.spend.gaussian) <= _allowed(
            plan.choosing(plan.measurements[m]), l2=plan.spend.gaussian
        )
        assert abs(moved).sum() <= 1 + plan.replacing
    for m, radius in one.totals:
        _check_totals(
            plan,
            plan.measurements[m],
            radius,
            one.totals[m, radius],
            two.totals[m, radius],
        )
    for m, radius in one.hidden:
        measurement = plan.measurements[m]
        most = plan.sensitivity(plan.hidden_radius(measurement, radius))
        noise = plan.hidden(measurement, radius)
        cut = one.hidden[m, radius], two.hidden[m, radius]
        _check_vector(plan, measurement, noise, most, *cut)


def _check_keys(plan: Plan, one: dict[Key, int], two: dict[Key, int]) -> None:
    """At most so many keys move, each by one; a key that only one side has just reached
    what a candidate needs.
    """
    assert plan.keys is not None
    twice, least = 1 + plan.replacing, plan.keys.at_least
    assert min([*one.values(), *two.values()], default=least) >= least
    moved = {
        key: abs(one.get(key, least - 1) - two.get(key, least - 1))
        for key in one.keys() | two.keys()
    }
    assert max(moved.values(), default=0) <= 1
    assert sum(moved.values()) <= plan.keys.groups * twice
    sizes = np.array(list(moved.values()), object)
    l2 = plan.spend.gaussian
    assert _size(sizes, l2=l2) <= _allowed(plan.keys.noise, l2=l2)
    for mine, others in ((one, two), (two, one)):
        alone = [count for key, count in mine.items() if key not in others]
        assert set(alone) <= {least}
        assert len(alone) <= plan.keys.groups


def _check_totals(
    plan: Plan, measurement: Measurement, radius: int, one: Groups, two: Groups
) -> None:
    """Leaves and distinct values are bounded in L1, whatever the noise; the nodes of a
    tree as its mechanism says.
    """
    noise, most = plan.noise(measurement, radius), plan.sensitivity(radius)
    _check_vector(plan, measurement, noise, most, one, two)


def _check_vector(
    plan: Plan,
    measurement: Measurement,
    noise: Additive,
    most: int,
    one: Groups,
    two: Groups,
) -> None:
    """`most` is how far one unit may move the vector by what it was clipped to."""
    l2, moved = plan.spend.gaussian, _difference(one, two)
    if measurement.vector.kind is Kind.TREE:
        nodes = _difference(_nodes(measurement, one), _nodes(measurement, two))
        levels = measurement.vector.leaves.tree.levels
        assert _size(nodes, l2=l2) <= min(
            _allowed(noise, l2=l2), most ** (1 + l2) * levels
        )
    else:
        assert _size(moved, l2=l2) <= min(_allowed(noise, l2=l2), most ** (1 + l2))
    if measurement.vector.kind in (Kind.TREE, Kind.DISTINCT):
        assert _size(moved, l2=False) <= most


def _nodes(measurement: Measurement, groups: Groups) -> dict[Key, Integers]:
    tree = measurement.vector.leaves.tree
    return {
        key: tree.sums(leaves.reshape(-1, tree.leaves)).ravel()
        for key, leaves in groups.items()
    }


def _difference(one: Groups, two: Groups) -> Any:
    """All that differs, in whole numbers without limit. A key that one side does not
    have is zero there.
    """
    found = [np.zeros(0, object)]
    for key in one.keys() | two.keys():
        a, b = (side.get(key, np.zeros(1, np.int64)) for side in (one, two))
        differ = a != b
        sides = np.broadcast_arrays(a, b)
        found.append(sides[0][differ].astype(object) - sides[1][differ].astype(object))
    return np.concatenate(found)


def _size(moved: Any, *, l2: bool) -> int:
    """The L1 norm, or the square of the L2 norm."""
    return int((moved * moved).sum() if l2 else abs(moved).sum())


def _allowed(noise: Additive, *, l2: bool) -> Fraction:
    return Fraction(noise.sensitivity) ** (2 if l2 else 1)


EVERY = 16
"""No unit of these worlds has more keys."""


@dataclass(frozen=True)
class Asking:
    """A question with its plans for both relations, and the radii to try."""

    sql: str
    plan: Plan
    replacing: Plan
    radii: dict[int, Sequence[int]]

    @classmethod
    def at(cls, place: Place, sql: str, random: Random) -> Asking:
        stated = {
            "groups": random.choice([1, 2, EVERY]),
            "values": random.choice([1, 3, 16]),
        }
        stated["at_least"] = random.choice([1, 1, 2, 3])
        stated["cap"] = random.choice([0, 1, 2, 5, 60])
        gaussian = random.random() < 0.5
        plan = planned(place, sql, place.catalogue.unit, gaussian=gaussian, **stated)
        other = planned(
            place, sql, replacing(place.catalogue), gaussian=gaussian, **stated
        )
        return cls(sql, plan, other, radii_of(plan, random))

    def collected(self, place: Place, first: Found | None) -> Found:
        """What this collects. Where a key's units decide whether it is a candidate, or
        distinct values are counted, all databases count for the keys of the first,
        which they all have."""
        counted = any(
            measurement.vector.kind is Kind.DISTINCT
            for measurement in self.plan.measurements
        )
        pruned = self.plan.keys is not None and (
            self.plan.keys.at_least > 1 or self.plan.keys.groups < EVERY
        )
        named = (
            sorted(first.candidates)
            if first is not None and (counted or pruned)
            else None
        )
        return collected(place, self.plan, self.radii, named)

    def check(self, found: Sequence[Found]) -> int:
        """All pairs: the first has nothing of the unit, the others have it in several
        versions.
        """
        pairs = list(combinations(range(len(found)), 2))
        for one, two in pairs:
            check(self.replacing if one else self.plan, found[one], found[two])
        return len(pairs)


def explore(random: Random, place: Place, *, questions: int, versions: int) -> int:
    """Some questions to a world's neighbouring databases. Returns how many pairs of
    databases were compared.
    """
    sources = SURVEY if place.catalogue is ROWS else CLINIC
    asked = [
        Asking.at(place, question(random, random.choice(sources)), random)
        for _ in range(questions)
    ]
    found: list[list[Found]] = [[] for _ in asked]
    scene = world(random, place.catalogue, versions, dense=random.random() < 0.3)
    place.hold(scene.others)
    for rows in ({}, *scene.versions):
        place.version(rows)
        for one, results in zip(asked, found, strict=True):
            first = results[0] if results else None
            results.append(_told(one.sql, _collected, one, place, first))
    if place.catalogue is not ROWS and random.random() < 0.3:
        place.shuffle(random.randrange(1000))
        for one, results in zip(asked, found, strict=True):
            assert _same(one.collected(place, results[0]), results[-1]), (
                f"another order of rows: {one.sql}"
            )
    return sum(
        _told(one.sql, one.check, results)
        for one, results in zip(asked, found, strict=True)
    )


def _collected(one: Asking, place: Place, first: Found | None) -> Found:
    """A failure of the engine together with its own words."""
    try:
        return one.collected(place, first)
    except EngineFailed as problem:
        problem.add_note("\n".join(place.engine.failures))
        raise


def _told(sql: str, function: Callable[..., Any], *args: Any) -> Any:
    """A failure together with the question."""
    try:
        return function(*args)
    except Exception as problem:
        problem.add_note(sql)
        raise


def _same(one: Found, two: Found) -> bool:
    both = [(one.totals, two.totals), (one.hidden, two.hidden)]
    return (one.candidates, one.norms) == (two.candidates, two.norms) and all(
        not _difference(groups, others[place]).size
        for mine, others in both
        for place, groups in mine.items()
    )


def campaign(
    seeds: Sequence[int], *, engine: str, questions: int, versions: int
) -> int:
    """Worlds from seeds, one after the other; how many pairs were compared."""
    places = [PLACES[engine](catalogue) for catalogue in (IDS, NUMBERED, ROWS)]
    pairs = 0
    for seed in seeds:
        random = Random(seed)
        place = random.choice([places[0], *places])
        pairs += _told(
            f"seed {seed}",
            lambda *args: explore(*args, questions=questions, versions=versions),
            random,
            place,
        )
    return pairs
