"""What is released: noisy integers and named keys. It is all that is stored, and all
that answers are made from.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, KeyThreshold
from dither.query.catalogue.model import Table
from dither.query.collect.runner import Runner, running
from dither.query.engines.protocol import Engine
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.radius import radius_of
from dither.query.plan.vectors import Kind

__all__ = [
    "Noisy",
    "NoisyVector",
    "measure",
    "noisy_hidden",
    "noisy_values",
    "with_noise",
]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyVector:
    """The noisy numbers of one measurement, a row for each group, and the radius they were
    clipped to.

    `units` are the noisy counts of units from which the radius was chosen; None if it
    was not. `hidden` are the same numbers of what clipping cut off, with noise of their
    own; None if that was not measured.
    """

    radius: int
    values: Integers
    units: tuple[int, ...] | None = None
    hidden: Integers | None = None

    def to_json(self) -> dict[str, Any]:
        found = {
            "radius": self.radius,
            "values": self.values.tolist(),
            "units": self.units,
        }
        return (
            found if self.hidden is None else found | {"hidden": self.hidden.tolist()}
        )

    @classmethod
    def from_json(cls, found: dict[str, Any], measurement: Measurement) -> NoisyVector:
        units, hidden = found["units"], found.get("hidden")
        return cls(
            found["radius"],
            _array(found["values"], measurement),
            None if units is None else tuple(units),
            None if hidden is None else _array(hidden, measurement),
        )


@dataclass(frozen=True)
class Noisy:
    """The private keys that were named, in order, and what was measured for each measurement.

    `counts` are the noisy numbers of units by which these keys were named, if they
    answer an aggregate. `left_out` is the largest one of a named key that is not
    among `keys`, because an answer may hold no more; None if all are.
    """

    keys: tuple[tuple[Any, ...], ...]
    vectors: tuple[NoisyVector, ...]
    counts: tuple[int, ...] = ()
    left_out: int | None = None

    def to_json(self) -> str:
        keys = [[_plain(value) for value in key] for key in self.keys]
        found: dict[str, Any] = {
            "keys": keys,
            "items": [one.to_json() for one in self.vectors],
        }
        if self.counts:
            found |= {"counts": self.counts, "left_out": self.left_out}
        return json.dumps(found)

    @classmethod
    def from_json(cls, text: str, plan: Plan) -> Noisy:
        found = json.loads(text)
        keys = tuple(tuple(_value(value) for value in key) for key in found["keys"])
        items = (
            NoisyVector.from_json(one, measurement)
            for one, measurement in zip(found["items"], plan.measurements, strict=True)
        )
        counts = tuple(found.get("counts", ()))
        return cls(keys, tuple(items), counts, found.get("left_out"))


def _array(values: list[list[int]], measurement: Measurement) -> Integers:
    return _held(values).reshape(len(values), measurement.vector.noisy_size)


def _held(values: Any) -> Integers:
    """Integers as an array, of Python's own where 64 bits are too few."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


def with_noise(mechanism: Additive, exact: Integers) -> Integers:
    """Exact sums with noise. The sums may be beyond 64 bits; noise never is."""
    noise = mechanism.release(np.zeros(exact.shape, np.int64))
    return _held((exact.astype(object) + noise).tolist()).reshape(exact.shape)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return (
        datetime.fromisoformat(value["timestamp"])
        if "timestamp" in value
        else date.fromisoformat(value["date"])
    )


def measure(
    plan: Plan, engine: Engine, table: Callable[[str], Table], salt: str
) -> Noisy:
    """Read the data and add the noise that was charged: first keys, then a radius where
    one is chosen, then sums.
    """
    with running(plan, engine, table, salt) as runner:
        named = Noisy((), ())
        if plan.keys is not None:
            named = _named(plan.keys, plan.most_named, runner)
        vectors = [
            _measured(plan, m, one, runner) for m, one in enumerate(plan.measurements)
        ]
    if not plan.counted:
        named = Noisy(named.keys, ())
    return replace(named, vectors=tuple(vectors))


def _named(threshold: KeyThreshold, most: int, runner: Runner) -> Noisy:
    """The private keys that are named, in order, with their noisy counts. If they are
    too many, those with the largest noisy counts are.

    That looks at named keys and their noisy counts alone, so it is post-processing;
    true counts must not decide.
    """
    released, noisy = threshold.release_counts(runner.candidates())
    numbers = np.flatnonzero(released).tolist()
    found = sorted(zip(runner.keys_of(numbers), numbers, strict=True))
    left_out: int | None = None
    if len(found) > most:
        ranked = sorted(found, key=lambda one: -int(noisy[one[1]]))
        found, left_out = sorted(ranked[:most]), int(noisy[ranked[most][1]])
    runner.name([number for _, number in found])
    counts = tuple(int(noisy[number]) for _, number in found)
    return Noisy(tuple(key for key, _ in found), (), counts, left_out)


def _measured(plan: Plan, m: int, one: Measurement, runner: Runner) -> NoisyVector:
    units: tuple[int, ...] | None = None
    radius = one.radius
    if radius is None:
        units = tuple(map(int, plan.choosing(one).release(runner.units(m))))
        radius = radius_of(plan, one, units, runner.groups).value
    hidden: Integers | None = None
    if one.hides(radius):
        hidden = noisy_hidden(plan, one, radius, runner.hidden(m, radius))
    values = noisy_values(plan, one, radius, runner.totals(m, radius))
    return NoisyVector(radius, values, units, hidden)


def noisy_values(
    plan: Plan, one: Measurement, radius: int, exact: Integers
) -> Integers:
    """The exact numbers of each group with their noise; of a tree, of all its nodes."""
    if one.vector.kind is Kind.TREE:
        return plan.tree(one, radius).noisy(exact)
    return with_noise(plan.additive(one, radius), exact)


def noisy_hidden(
    plan: Plan, one: Measurement, radius: int, exact: Integers
) -> Integers:
    """Noisy numbers of what clipping cut off."""
    if one.vector.kind is Kind.TREE:
        return plan.hidden_tree(one, radius).noisy(exact)
    return with_noise(plan.hidden(one, radius), exact)
