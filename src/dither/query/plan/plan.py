"""The plan of a question: what is measured, with what noise, at what cost. Pure: no
data, no budget, no clock.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from dither.mechanisms import Additive, Gaussian, KeyThreshold
from dither.mechanisms.sums import root_up
from dither.mechanisms.tree import TreeMechanism
from dither.privacy import Guarantee, Relation
from dither.privacy.numbers import float_up
from dither.query.catalogue.limits import MOST_GROUPS, MOST_NUMBERS
from dither.query.catalogue.types import Keys
from dither.query.plan.radius import Bins
from dither.query.plan.request import Request
from dither.query.plan.spend import Spend
from dither.query.plan.vectors import CAP, Kind, Vector
from dither.query.sql.question import Question

__all__ = ["HEAVIEST", "Measurement", "Plan"]

HEAVIEST = 1 << 14
"""A radius is chosen up to so many rows."""
MANY = 1 << 12
"""Over how many groups a unit is spread at most where that is not declared, as far as
rounding goes.
"""


@dataclass(frozen=True)
class Measurement:
    """A vector with its part of the cost. Without a radius, it is chosen privately for
    another part, `choosing`.

    `cap` is the norm that no unit exceeds, as the curator declared; None if that is
    open. Where the radius can be less, what clipping cuts off is measured too, for the
    part `hiding` of the cost. `largest` is the largest radius that is worth choosing,
    in rows.
    """

    vector: Vector
    weight: Fraction
    radius: int | None
    choosing: Fraction = Fraction(0)
    hiding: Fraction = Fraction(0)
    cap: int | None = None
    largest: int = HEAVIEST

    @cached_property
    def bins(self) -> Bins:
        """The norms by which units are counted to choose a radius: from one row (a
        small sum: less) upwards.
        """
        row = self.vector.row
        first = max(1, row >> 6) if self.vector.function == "sum" else row
        return Bins(first, min(row * self.largest, CAP - 1, self.cap or CAP))

    @property
    def whole(self) -> Fraction:
        """All of its cost."""
        return self.weight + self.choosing + self.hiding

    def clips(self, radius: int) -> bool:
        """Whether units may have more than the radius."""
        return not self.vector.sure and (self.cap is None or radius < self.cap)

    def hides(self, radius: int) -> bool:
        """Whether what clipping to this radius cuts off is measured."""
        return self.hiding > 0 and self.clips(radius)

    def part(self, radius: int) -> Fraction:
        """The part of the cost that the estimate gets: where nothing can be cut off,
        what measuring that costs too.
        """
        return self.weight if self.clips(radius) else self.weight + self.hiding


@dataclass(frozen=True)
class Plan:
    """What a question will do and cost. `groups` is how many groups there are; None
    where keys are private.
    """

    question: Question
    request: Request
    spend: Spend
    measurements: tuple[Measurement, ...]
    keys: KeyThreshold | None
    groups: int | None
    plugin: Callable[..., Additive] | None = None

    @property
    def guarantee(self) -> Guarantee:
        return self.spend.guarantee

    @property
    def replacing(self) -> bool:
        return self.guarantee.unit.relation is Relation.REPLACE

    def sensitivity(self, radius: int) -> int:
        """How far one unit moves a vector that is clipped to a radius."""
        return radius * (2 if self.replacing else 1)

    def additive(self, measurement: Measurement, radius: int) -> Additive:
        """The noise of a vector clipped to a radius."""
        return self.spend.additive(
            self.sensitivity(radius), measurement.part(radius), self.plugin
        )

    def hidden_radius(self, measurement: Measurement, radius: int) -> int:
        """To what the vector that clipping cut off one unit is clipped itself.

        A unit with norm N of at most `cap` loses N − C, and what rounding adds: less
        than a step for each part of each of its groups (docs/proofs/intervals.md).
        """
        assert measurement.cap is not None
        rows = measurement.vector.most or MANY
        rounding = (
            rows
            if measurement.vector.kind is Kind.TREE
            else measurement.vector.size * (math.isqrt(rows) + 1)
        )
        return measurement.cap - radius + rounding + 1

    def hidden(self, measurement: Measurement, radius: int) -> Additive:
        """The noise of what clipping cut off."""
        return self.spend.additive(
            self.sensitivity(self.hidden_radius(measurement, radius)),
            measurement.hiding,
        )

    def tree(self, measurement: Measurement, radius: int) -> TreeMechanism:
        part, unit = self.spend.part(measurement.part(radius)), self.guarantee.unit
        promise = {"mu": part} if self.spend.gaussian else {"epsilon": part}
        return TreeMechanism(
            tree=measurement.vector.leaves.tree,
            radius=self.sensitivity(radius),
            unit=unit,
            **promise,
        )

    def noise(self, measurement: Measurement, radius: int) -> Additive:
        """What is added to each number of a measurement."""
        return (
            self.tree(measurement, radius).noise
            if measurement.vector.kind is Kind.TREE
            else self.additive(measurement, radius)
        )

    def choosing(self, measurement: Measurement) -> Additive:
        """The noise of the histogram from which a radius is chosen: each unit is in one
        bin.
        """
        if not self.replacing:
            return self.spend.additive(1, measurement.choosing)
        if self.spend.gaussian:
            moved = float_up(root_up(2))
            return Gaussian(
                sensitivity=moved,
                mu=self.spend.part(measurement.choosing),
                unit=self.guarantee.unit,
            )
        return self.spend.additive(2, measurement.choosing)

    def per_radius(self, measurement: Measurement) -> float:
        """The standard deviation of a measurement's noise for a radius of 1."""
        twice, levels = 1 + self.replacing, measurement.vector.levels
        part = self.spend.part(measurement.weight + measurement.hiding)
        return twice * (
            math.sqrt(levels) / part
            if self.spend.gaussian
            else levels * math.sqrt(2) / part
        )

    @property
    def publics(self) -> int:
        """How many groups the public keys make, for each private key."""
        return math.prod(
            len(key.values) for key in self.question.keys if key.values is not None
        )

    @property
    def most_named(self) -> int:
        """How many private keys an answer can have."""
        each = sum(one.vector.noisy_size for one in self.measurements)
        return max(1, min(MOST_GROUPS, MOST_NUMBERS // max(each, 1)) // self.publics)

    @cached_property
    def identity(self) -> str:
        """The same where the same is measured at the same cost, and different
        otherwise.

        Names, HAVING, ORDER BY, LIMIT and arithmetic over aggregates only say how that
        is shown.
        """
        limits = (self.request.groups, self.request.values, self.request.mechanism)
        keys = [(key.expr, key.values) for key in self.question.keys]
        aggregates = [
            (one.function, one.args, one.level) for one in self.question.aggregates
        ]
        about = (
            self.question.rows,
            keys,
            aggregates,
            self.spend,
            self.measurements,
            self.keys,
            limits,
        )
        return _fingerprint(about)


def _fingerprint(value: Any) -> str:
    """A hash of a value that is made of frozen dataclasses, tuples, lists and
    constants, found by looking at each shared part once.

    A question can name one long list of keys in many places, or one query many times:
    written out, a plan would be far larger than what it is made of.
    """
    # A part is kept beside its hash, so that its place in memory is not given to
    # another one meanwhile.
    return _hash(value, {}).hex()


def _hash(value: Any, known: dict[int, tuple[Any, bytes]]) -> bytes:
    found = known.get(id(value))
    if found is not None:
        return found[1]
    if isinstance(value, Keys):
        return value.digest
    if isinstance(value, tuple | list):
        hashed = hashlib.sha256(b"(%d" % len(value))
        parts = value
    elif is_dataclass(value):
        kind: Any = type(value)
        hashed = hashlib.sha256(kind.__qualname__.encode())
        parts = [getattr(value, name) for name in _compared(kind)]
    else:
        return hashlib.sha256(
            f"{type(value).__qualname__} {value!r}".encode("utf-8", "surrogatepass")
        ).digest()
    for part in parts:
        hashed.update(_hash(part, known))
    known[id(value)] = value, hashed.digest()
    return known[id(value)][1]


@lru_cache(maxsize=256)
def _compared(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.compare)
