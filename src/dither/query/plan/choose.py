"""The ways in which a question's cost can be spent, and which of them answers best: by
public scales only (rule R16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dither.errors import ArgumentError, QueryError
from dither.ledger.terms import Terms
from dither.mechanisms import Additive, KeyThreshold
from dither.mechanisms.sums import root_up
from dither.query.catalogue.limits import MOST_NUMBERS, PRUNED
from dither.query.operations.expressions import Ref
from dither.query.plan.plan import HEAVIEST, TOO_SMALL, Measurement, Plan, Spend
from dither.query.plan.public_error import log_error
from dither.query.plan.request import Request
from dither.query.plan.spend import afford
from dither.query.plan.vectors import ROOM, Kind, Vector, one_row_each, vectors_of
from dither.query.sql.question import Question

__all__ = ["plan_of", "plans_of"]

KEYS_PART = Fraction(1, 2)
MOST_KEYS = 16
"""For how many private keys one unit counts at most, where that is not stated."""
RADIUS_PART = Fraction(1, 6)
"""The part of the cost for the choice of a radius if there is no cap and noise is
Laplace's; half of it if noise is Gaussian.
"""
VALUES = 16
"""For how many different values one unit counts where nothing else is stated or
declared.
"""
REFITS = 3
"""Number of times that steps are made coarser. Once is enough for all that is
proportional to a row.
"""
MOST_ROOM = 1 << 40
DEARER = 1.25
"""Ratio of two public errors from which on the smaller one is worth a higher cost."""
REFUSED = 1 << 100
CLOSE = 0.05
SAME = Fraction(101, 100)
"""Costs that differ by rounding only are the same."""


@dataclass(frozen=True)
class Parts:
    """The parts of a measurement's cost that go to what clipping cuts off, and to the
    choice of a radius; the estimate gets the rest (docs/proofs/intervals.md).
    """

    hiding: Fraction
    choosing: Fraction


LAPLACE = Parts(Fraction(31, 200), Fraction(4, 25))
LAPLACE_SIGNED = Parts(Fraction(1, 5), Fraction(3, 25))
LAPLACE_MEANS = Parts(Fraction(6, 25), Fraction(2, 25))
"""Means and sums of values of both signs have what was cut off on both sides of their
intervals.
"""
GAUSSIAN = Parts(Fraction(1, 4), Fraction(1, 12))
GAUSSIAN_BOTH_SIDES = Parts(Fraction(7, 24), Fraction(1, 12))


def plan_of(
    question: Question,
    request: Request,
    terms: Terms,
    plugin: Callable[..., Additive] | None = None,
    most: int | None = None,
) -> Plan:
    """The plan with the smaller public error, of the ways in which the cost can be
    spent; one that costs the account more must be better by a quarter (rule R16).

    `most` is how many rows one unit has at most, where more is known than the relation
    says by itself.
    """
    return plans_of(question, request, terms, plugin, most)[0]


def plans_of(
    question: Question,
    request: Request,
    terms: Terms,
    plugin: Callable[..., Additive] | None = None,
    most: int | None = None,
) -> list[Plan]:
    """A plan for each kind of noise that the cost can be spent on; the best one first."""
    vectors = vectors_of(question, most)
    private = question.private_keys
    kept = _kept_keys(question, request, most) if private else 0
    ways = [
        way
        for way in afford(request.cost, terms, keys=private)
        if plugin is None or not (way.gaussian or private)
    ]
    if not ways:
        raise ArgumentError(
            "mechanism",
            "cannot be chosen for a question with private keys, or with rho, which needs "
            "Gaussian noise; leave it out",
        )
    if not vectors and not private:
        raise ArgumentError(
            "sql",
            "the question selects only declared keys, which are public; add an "
            "aggregate such as COUNT(*)",
        )
    plans = [_plan(question, request, way, vectors, kept, plugin) for way in ways]
    _check_size(plans[0])
    fitting = [plan for plan in plans if plan.fits()]
    if not fitting:
        raise ArgumentError("epsilon", TOO_SMALL)
    return _by_error(fitting, terms)


def _by_error(plans: Sequence[Plan], terms: Terms) -> list[Plan]:
    """The plans by their public errors; the first one says why it is the first. The error
    of a plan that costs the account more is taken to be a quarter larger, so the first is
    never both wider and more expensive than another.
    """
    if len(plans) < 2:
        return list(plans)
    losses = [_loss(plan, terms) for plan in plans]
    least = min(losses) * SAME
    dearer = [math.log(DEARER) if loss > least else 0.0 for loss in losses]
    errors = [log_error(plan) for plan in plans]
    best, *others = sorted(range(len(plans)), key=lambda at: errors[at] + dearer[at])
    other, larger = others[0], math.exp(errors[others[0]] - errors[best])
    why = _why(plans[other].noise_name, larger, Fraction(losses[other], losses[best]))
    return [replace(plans[best], why=why), *(plans[at] for at in others)]


def _loss(plan: Plan, terms: Terms) -> int:
    """The loss that a plan costs an account; a very large one if no account grants it."""
    try:
        return terms.cost(plan.guarantee).loss
    except ArgumentError:
        return REFUSED


def _why(other: str, larger: float, cost: Fraction) -> str:
    """Why another noise is not taken that costs so many times as much, with a public
    error so many times as large.
    """
    error = f"public error {larger:.2g} times as large"
    if abs(larger - 1) < CLOSE:
        error = "public error that is about the same"
    if 1 / SAME <= cost <= SAME:
        return f"{other} noise at the same cost would have a {error}"
    if cost > 1:
        much = f"{float(cost):.2g} times as much"
        return f"{other} noise would cost the account {much}, with a {error}"
    return (
        f"it costs the account {float(1 / cost):.2g} times as much as {other} noise, "
        f"which would have a {error}"
    )


def _check_size(plan: Plan) -> None:
    """Refuse beforehand what would not fit into memory after it was charged."""
    groups = plan.publics
    numbers = groups * sum(measurement.numbers for measurement in plan.measurements)
    if numbers > MOST_NUMBERS:
        raise QueryError(
            f"the {groups:,} groups of this question need {numbers:,} noisy numbers, and "
            f"the limit is {MOST_NUMBERS:,}; ask for fewer groups or columns at a time"
        )


def _plan(
    question: Question,
    request: Request,
    spend: Spend,
    vectors: Sequence[Vector],
    kept: int,
    plugin: Callable[..., Additive] | None,
) -> Plan:
    """A plan for one kind of noise. Private keys get a part of the cost, and all that
    the vectors would get which the numbers that name keys answer as well (rule R14).
    """
    public = math.prod(
        len(key.values) for key in question.keys if key.values is not None
    )
    left = Fraction(1) - (KEYS_PART if kept and vectors else 0)
    pairs = list(zip(vectors, _weights(question, request, spend, vectors), strict=True))
    counted = [one for one in vectors if kept and public == 1 and _is_named_by(one)]
    others = [(one, weight * left) for one, weight in pairs if one not in counted]
    part = 1 - sum((weight for _, weight in others), Fraction(0))
    threshold = _threshold(spend, part, kept) if kept else None

    def planned(vectors: Sequence[Vector]) -> Plan:
        measurements = tuple(
            _measurement(question, vector, weight, request, spend)
            for vector, (_, weight) in zip(vectors, others, strict=True)
        )
        return Plan(
            question,
            request,
            spend,
            measurements,
            threshold,
            public,
            plugin,
            tuple(counted),
        )

    found = planned([_roomy(question, vector, request) for vector, _ in others])
    for _ in range(REFITS):
        excess = [found.excess(one) for one in found.measurements]
        if not any(excess):
            break
        # The less is spent, the wider the noise, and the less fine steps matter
        wide = zip(found.measurements, excess, strict=True)
        found = planned([one.vector.coarser(bits) for one, bits in wide])
    if request.fixed or found.fits():
        return found
    # So much is declared that what is cut off needs wider noise than 64 bits hold
    fixed = replace(request, fixed=True)
    return _plan(question, fixed, spend, vectors, kept, plugin)


def _roomy(question: Question, vector: Vector, request: Request) -> Vector:
    """The vector, with room for units as large as a radius that was stated."""
    size = _stated_for(question, vector, dict(request.radius))
    if size is None or vector.most is not None or vector.function == "count":
        return vector
    row = vector.args[0].range.largest if vector.kind is Kind.TOTAL else 1
    rows = math.ceil(Fraction(size) / Fraction(row)) if row else 1
    return replace(vector, room=min(max(ROOM, rows), MOST_ROOM))


def _kept_keys(question: Question, request: Request, most: int | None) -> int:
    """For how many private keys one unit counts: as stated, else no more than it has
    rows (R14).
    """
    if one_row_each(question.rows):
        return 1
    rows = question.rows.most if most is None else most
    return request.groups or min(MOST_KEYS, max(rows or MOST_KEYS, 1))


def _is_named_by(vector: Vector) -> bool:
    """Whether a vector has the numbers of units by which private keys are named: that
    of distinct units, or of rows where a unit has one.
    """
    if vector.args:
        return False
    alone = vector.sure or vector.most == 1
    return vector.kind is Kind.UNITS or (vector.function == "count" and alone)


def _threshold(spend: Spend, part: Fraction, kept: int) -> KeyThreshold:
    """Which private keys are named. Those of few units are left out inside the engine,
    for a slightly higher threshold: there can be millions of them, and hardly one would
    ever be named (docs/proofs/mechanisms.md)."""
    size = spend.part(part)
    lowest = KeyThreshold(
        groups=kept,
        mu=size if spend.gaussian else None,
        epsilon=None if spend.gaussian else size,
        delta=spend.delta,
        unit=spend.guarantee.unit,
    )
    return replace(lowest, at_least=1 + lowest.threshold // PRUNED)


def _measurement(
    question: Question, vector: Vector, weight: Fraction, request: Request, spend: Spend
) -> Measurement:
    """A measure's part of the cost, split over an estimate, what clipping hides, and
    the choice of a radius (R30).
    """
    cap = _cap_of(question, vector, spend)
    radius = _radius_without_choice(question, vector, request, cap)
    largest = _largest_of(question, vector, spend)
    measured = cap is not None and vector.kind is not Kind.DISTINCT and not vector.sure
    parts = _parts(vector, spend) if measured else None
    if radius is not None:
        below = parts is not None and radius < (cap or 0)
        hiding = weight * parts.hiding if parts and below else Fraction(0)
        return Measurement(
            vector, weight - hiding, radius, hiding=hiding, cap=cap, largest=largest
        )
    choosing = weight * (
        parts.choosing
        if parts is not None
        else RADIUS_PART / (2 if spend.gaussian else 1)
    )
    hiding = Fraction(0) if parts is None else weight * parts.hiding
    return Measurement(
        vector, weight - choosing - hiding, None, choosing, hiding, cap, largest
    )


def _parts(vector: Vector, spend: Spend) -> Parts:
    mean = vector.kind is Kind.MOMENTS
    if spend.gaussian:
        return GAUSSIAN if vector.sign and not mean else GAUSSIAN_BOTH_SIDES
    if vector.kind in (Kind.MOMENTS, Kind.TREE):
        return LAPLACE_MEANS
    return LAPLACE if vector.sign else LAPLACE_SIGNED


def _weights(
    question: Question, request: Request, spend: Spend, vectors: Sequence[Vector]
) -> list[Fraction]:
    """Parts of the cost that make the sum of the squared errors, in rows, smallest; or
    those that were stated.
    """
    stated = dict(request.shares)
    if stated:
        sizes = [_stated_for(question, vector, stated) or 0.0 for vector in vectors]
        if not all(size > 0 for size in sizes):
            raise ArgumentError(
                "shares",
                "must name each measured column of the answer, with a positive number; "
                'pass for example {"n": 2, "mean": 1}',
            )
    else:
        power = 1.0 if spend.gaussian else 2 / 3
        sizes = [_factor(vector, spend, request) ** power for vector in vectors]
    whole = [max(1, round(1_000_000 * size / sum(sizes))) for size in sizes]
    return [Fraction(size, sum(whole)) for size in whole]


def _factor(vector: Vector, spend: Spend, request: Request) -> float:
    """How noisy a vector is for one row's radius, beside a count."""
    match vector.kind:
        case Kind.TREE:
            return 2 * (math.sqrt(vector.levels) if spend.gaussian else vector.levels)
        case Kind.MOMENTS:
            return math.sqrt(2)
        case Kind.DISTINCT:
            return 1.0 if vector.sure else float(request.values or VALUES)
    return 1.0


def _cap_of(question: Question, vector: Vector, spend: Spend) -> int | None:
    """The most that one unit can have, in steps, by what was declared; None if nothing
    was.
    """
    if vector.sure:
        return vector.row
    if vector.kind is Kind.DISTINCT:
        return _different(question, vector)
    rows, root = vector.most, spend.gaussian and vector.kind is Kind.UNITS
    if vector.kind is Kind.UNITS and not question.private_keys:
        groups = math.prod(len(key.values or ()) for key in question.keys)
        rows = groups if rows is None else min(rows, groups)
    found = None if rows is None else (root_up(rows) if root else rows) * vector.row
    total = vector.total
    if total is not None:
        found = total if found is None else min(found, total)
    if found is None or vector.too_many:
        return None
    cap = math.ceil(found) + vector.slack
    return None if cap > vector.limit else cap


def _radius_without_choice(
    question: Question, vector: Vector, request: Request, cap: int | None
) -> int | None:
    """The radius that needs no choosing: sure by construction, stated, or all that
    units have; in steps.

    A chosen one is often far smaller than what units have at most, unless that is one
    row; even then if rows are values, which may be far below their bounds.
    """
    if vector.kind is Kind.DISTINCT:
        return min(
            n
            for n in (request.values or VALUES, cap, _listed(question, vector))
            if n is not None
        )
    if vector.sure:
        return vector.row
    size = _stated_for(question, vector, dict(request.radius))
    if size is not None:
        steps = (
            int(Fraction(size) / vector.step)
            if vector.kind is Kind.TOTAL
            else int(size * vector.row)
        )
        return min(max(steps, 1), vector.limit if cap is None else cap)
    if cap is None:
        return None
    alone = vector.function != "sum" and cap <= vector.row + vector.slack
    return cap if alone or request.fixed else None


def _different(question: Question, vector: Vector) -> int | None:
    """Largest number of distinct values of one unit in all groups; None if that is open
    or very many.
    """
    values = vector.different
    if values is not None and not question.private_keys:
        values *= math.prod(len(key.values or ()) for key in question.keys)
    found = [
        most
        for most in (values if not question.private_keys else None, vector.most)
        if most is not None
    ]
    return min(found) if found else None


def _listed(question: Question, vector: Vector) -> int | None:
    """Number of distinct values that were declared, in all groups. Others may be there
    too, but more is rarely worth it.
    """
    (arg,) = vector.args
    keys = arg.column.keys if isinstance(arg, Ref) else None
    if keys is None or question.private_keys:
        return None
    return len(keys) * math.prod(len(key.values or ()) for key in question.keys)


def _stated_for(
    question: Question, vector: Vector, stated: dict[str, float]
) -> float | None:
    """The value that was stated for an output that needs this vector, or for all ("")."""
    for output in question.outputs:
        if output.name in stated and output.needs & set(vector.aggregates):
            return stated[output.name]
    return stated.get("")


def _largest_of(question: Question, vector: Vector, spend: Spend) -> int:
    """The largest radius worth choosing, in rows; a unit is in each public group once."""
    if vector.kind is not Kind.UNITS or any(
        key.values is None for key in question.keys
    ):
        return HEAVIEST
    groups = math.prod(len(key.values or ()) for key in question.keys)
    return min(
        HEAVIEST, math.isqrt(max(groups - 1, 0)) + 1 if spend.gaussian else groups
    )
