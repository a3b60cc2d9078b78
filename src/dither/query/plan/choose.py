"""The ways in which a question's cost can be spent, and which of them answers best: by
public scales only (rule R16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from dither.errors import ArgumentError, QueryError
from dither.ledger.terms import Terms
from dither.mechanisms import Additive, KeyThreshold
from dither.noise.shapes import LARGEST_SCALE
from dither.query.catalogue.limits import MOST_NUMBERS, PRUNED
from dither.query.plan.caps import (
    cap_of,
    largest_of,
    radius_without_choice,
    stated_for,
)
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.request import Request
from dither.query.plan.spend import (
    HIDDEN_PART,
    KEYS_PART,
    RADIUS_PART,
    SIGNED_PART,
    TOO_SMALL,
    VALUES,
    Spend,
    afford,
)
from dither.query.plan.vectors import Kind, Vector, vectors_of
from dither.query.sql.question import Question

__all__ = ["plan_of", "plans_of"]

DEARER = 1.25
"""Laplace noise must be so much better than Gaussian noise to be chosen: it costs an
account with a δ more.
"""


def plan_of(
    question: Question,
    request: Request,
    terms: Terms,
    plugin: Callable[..., Additive] | None = None,
    most: int | None = None,
) -> Plan:
    """The plan with the smaller public error, of the ways in which the cost can be
    spent (rule R16).

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
    """A plan for each kind of noise that the cost can be spent on; the one with the
    smallest public error first.
    """
    vectors = vectors_of(question, most)
    private = question.private_keys
    ways = [
        way
        for way in afford(request.cost, terms, keys=private)
        if plugin is None or not way.gaussian
    ]
    if not ways:
        raise ArgumentError(
            "mechanism",
            "promises a pure ε, which this question or its account has no use for",
        )
    if not vectors and not private:
        raise ArgumentError(
            "sql",
            (
                "asks for nothing but declared keys, which are public; look at "
                "the tables instead"
            ),
        )
    plans = [_plan(question, request, way, vectors, private, plugin) for way in ways]
    _check_size(plans[0])
    fitting = [plan for plan in plans if _noise_fits(plan)]
    if not fitting:
        raise ArgumentError("epsilon", TOO_SMALL)
    return sorted(fitting, key=_badness)


def _check_size(plan: Plan) -> None:
    """Refuse beforehand what would not fit into memory after it was charged."""
    groups = plan.publics
    numbers = groups * sum(
        measurement.vector.noisy_size for measurement in plan.measurements
    )
    if numbers > MOST_NUMBERS:
        raise QueryError(
            f"its {groups:,} groups would be made of {numbers:,} numbers, and "
            f"{MOST_NUMBERS:,} is the most; "
            "ask for fewer groups or columns at a time"
        )


def _noise_fits(plan: Plan) -> bool:
    """Whether 64-bit integers can hold the noise, for the largest radius that may be
    chosen.
    """
    try:
        return all(
            noise.scale <= LARGEST_SCALE
            for measurement in plan.measurements
            for noise in _noises(plan, measurement)
        )
    except ArgumentError:
        return False  # not even floats could hold it


def _noises(plan: Plan, measurement: Measurement) -> list[Additive]:
    """The noise of a measurement at its most."""
    chosen = [plan.choosing(measurement)] if measurement.radius is None else []
    hidden = (
        [plan.hidden(measurement, measurement.radius or 1)]
        if measurement.hiding
        else []
    )
    if (
        measurement.hiding
        and measurement.radius is None
        and measurement.cap is not None
    ):
        hidden.append(plan.noise(measurement, measurement.cap - 1))
    return [
        *chosen,
        *hidden,
        plan.noise(
            measurement,
            measurement.radius or measurement.cap or measurement.bins.edges[-1],
        ),
    ]


def _plan(
    question: Question,
    request: Request,
    spend: Spend,
    vectors: Sequence[Vector],
    private: bool,
    plugin: Callable[..., Additive] | None,
) -> Plan:
    left = Fraction(1) - (KEYS_PART if private and vectors else 0)
    weights = _weights(question, request, spend, vectors)
    measurements = tuple(
        _measurement(question, vector, weight * left, request, spend)
        for vector, weight in zip(vectors, weights, strict=True)
    )
    threshold = (
        _threshold(request, spend, KEYS_PART if vectors else Fraction(1))
        if private
        else None
    )
    public = math.prod(
        len(key.values) for key in question.keys if key.values is not None
    )
    return Plan(
        question,
        request,
        spend,
        measurements,
        threshold,
        None if private else public,
        plugin,
    )


def _threshold(request: Request, spend: Spend, part: Fraction) -> KeyThreshold:
    """Which private keys are named. Those of few units are left out inside the engine,
    for a slightly higher threshold: there can be millions of them, and hardly one would
    ever be named (docs/proofs/mechanisms.md)."""
    lowest = KeyThreshold(
        groups=request.groups,
        mu=spend.part(part),
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
    cap = cap_of(question, vector, spend)
    radius = radius_without_choice(question, vector, request, spend, cap)
    largest = largest_of(question, vector, spend)
    measured = (
        spend.gaussian
        and cap is not None
        and vector.kind is not Kind.DISTINCT
        and not vector.sure
    )
    if radius is not None:
        hiding = (
            weight * _hidden_part(vector)
            if measured and radius < (cap or 0)
            else Fraction(0)
        )
        return Measurement(
            vector, weight - hiding, radius, hiding=hiding, cap=cap, largest=largest
        )
    choosing = weight * (RADIUS_PART if spend.gaussian else 2 * RADIUS_PART)
    hiding = weight * _hidden_part(vector) if measured else Fraction(0)
    return Measurement(
        vector, weight - choosing - hiding, None, choosing, hiding, cap, largest
    )


def _hidden_part(vector: Vector) -> Fraction:
    return HIDDEN_PART[vector.kind] if vector.sign else SIGNED_PART


def _weights(
    question: Question, request: Request, spend: Spend, vectors: Sequence[Vector]
) -> list[Fraction]:
    """Parts of the cost that make the sum of the squared errors, in rows, smallest; or
    those that were stated.
    """
    stated = dict(request.shares)
    if stated:
        sizes = [stated_for(question, vector, stated) or 0.0 for vector in vectors]
        if not all(size > 0 for size in sizes):
            raise ArgumentError(
                "shares",
                "must name every answer column that is measured, with positive numbers",
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


def _badness(plan: Plan) -> float:
    """The noise of all measurements, on a logarithmic scale, for the largest radius that they
    may have.

    A unit in several groups has a larger norm in L1 than in L2; what no unit exceeds is
    the same in both. At the same stated ε, Laplace noise costs an account with a δ a
    multiple of what Gaussian noise does, so it has to be better by a quarter.
    """
    dearer = (
        1.0 if plan.spend.gaussian or plan.request.cost.share is not None else DEARER
    )
    longer = 2.0 if plan.question.keys and not plan.spend.gaussian else 1.0
    norms = [
        longer if measurement.cap is None else measurement.cap / measurement.vector.row
        for measurement in plan.measurements
    ]
    return sum(
        math.log(plan.per_radius(measurement) * dearer * norm)
        for measurement, norm in zip(plan.measurements, norms, strict=True)
    )
