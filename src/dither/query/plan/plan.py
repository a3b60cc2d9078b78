"""The plan of a question: what is measured, with what noise, at what cost. Pure: no
data, no budget, no clock.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from dither.errors import ArgumentError
from dither.mechanisms import Additive, Gaussian, KeyThreshold, Laplace
from dither.mechanisms.sums import root_up
from dither.mechanisms.tree import TreeMechanism
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import Guarantee, Relation
from dither.privacy.numbers import at_most, float_down, float_up
from dither.query.catalogue.limits import MOST_GROUPS, MOST_NUMBERS
from dither.query.catalogue.types import Keys
from dither.query.plan.request import Request
from dither.query.plan.vectors import MANY, Bins, Kind, Vector
from dither.query.sql.question import Question

__all__ = [
    "HEAVIEST",
    "TOO_SMALL",
    "Clipping",
    "Measurement",
    "Plan",
    "Spend",
    "root_down",
]

HEAVIEST = 1 << 14
"""Number of rows up to which a radius is chosen."""
TOO_SMALL = (
    "is too small: the noise would not fit into 64-bit integers; pass a larger one, or "
    "narrower bounds"
)


def root_down(weight: Fraction) -> Fraction:
    """The square root, rounded down."""
    scaled = weight * (1 << 128)
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator), 1 << 64)


@dataclass(frozen=True)
class Spend:
    """The noise to use: Laplace with an ε in total, or Gaussian with a μ in total, and
    a δ where keys are private.
    """

    gaussian: bool
    total: float
    delta: float
    guarantee: Guarantee

    def part(self, weight: Fraction) -> float:
        """The ε or μ of a part of the cost, rounded down; parts that add up to 1 never
        cost more than the whole.
        """
        exact = (
            Fraction(self.total) * root_down(weight)
            if self.gaussian
            else at_most(self.total) * weight
        )
        found = float_down(exact)
        if not found:
            raise ArgumentError("epsilon", TOO_SMALL)
        return found

    def additive(
        self,
        sensitivity: int,
        weight: Fraction,
        plugin: Callable[..., Additive] | None = None,
    ) -> Additive:
        """Noise for integers that one unit moves by so much, in L1 for Laplace and L2
        for Gaussian noise.
        """
        # Beyond 2^53 not every integer is a float
        unit, size = self.guarantee.unit, float_up(Fraction(sensitivity))
        if plugin is not None:
            return plugin(sensitivity=size, epsilon=self.part(weight), unit=unit)
        if self.gaussian:
            return Gaussian(sensitivity=size, mu=self.part(weight), unit=unit)
        return Laplace(sensitivity=size, epsilon=self.part(weight), unit=unit)


@dataclass(frozen=True)
class Measurement:
    """A vector with its part of the cost. Without a radius, it is chosen privately for
    another part, `choosing`.

    `cap` is the norm that no unit exceeds, as the curator declared; None if that is
    open. If the radius can be less, what clipping cuts off is measured too, for the
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
        vector, row = self.vector, self.vector.row
        first = max(1, row >> 6) if vector.function == "sum" else row
        if vector.shift:
            # A whole number of the steps in which norms are computed, no less than
            # that of a unit with one row
            first = ((-(-first >> vector.shift)) + vector.size) << vector.shift
        most = vector.limit if self.cap is None else self.cap
        return Bins(first, min(row * self.largest, vector.limit - 1, most))

    @property
    def whole(self) -> Fraction:
        """All of its cost."""
        return self.weight + self.choosing + self.hiding

    @property
    def numbers(self) -> int:
        """Number of noisy numbers in a group. If the part that is cut off is measured,
        there are twice as many.
        """
        return self.vector.noisy_size * (2 if self.hiding else 1)

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
class Clipping:
    """A measurement that is clipped to a radius: `clips` says whether units may have
    more than that. `noise` is added to each number, and `hidden` to what is cut off;
    None if that is not measured.
    """

    clips: bool
    noise: Additive
    hidden: Additive | None


@dataclass(frozen=True)
class Plan:
    """What a question will do and cost. `publics` is how many groups the public keys
    make, for each private key. `counted` are the vectors that are not measured by
    themselves: the noisy numbers by which private keys are named answer them. `why` is
    the reason for its noise, if there was a choice.
    """

    question: Question
    request: Request
    spend: Spend
    measurements: tuple[Measurement, ...]
    keys: KeyThreshold | None
    publics: int
    plugin: Callable[..., Additive] | None = None
    counted: tuple[Vector, ...] = ()
    why: str = ""

    @cached_property
    def guarantee(self) -> Guarantee:
        return self.spend.guarantee

    @property
    def noise_name(self) -> str:
        return "Gaussian" if self.spend.gaussian else "Laplace"

    @property
    def groups(self) -> int | None:
        """Number of groups; None if keys are private."""
        return self.publics if self.keys is None else None

    def is_counted(self, aggregate: int) -> bool:
        """Whether the numbers by which keys are named answer an aggregate."""
        return any(aggregate in vector.aggregates for vector in self.counted)

    @property
    def counted_rows(self) -> int:
        """The declared rows of a unit in what the numbers that name keys answer; 0 if
        they are not declared.
        """
        return max((one.most or 0 for one in self.counted), default=0)

    @property
    def gives_up_keys(self) -> bool:
        """Whether a unit may have more private keys than it contributes to."""
        return self.keys is not None and any(
            not vector.sure and (vector.most is None or vector.most > self.keys.groups)
            for vector in self.counted
        )

    @cached_property
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
        than a step for each part of each of its groups, and what its own integer norm
        is rounded up by (docs/proofs/intervals.md). Over e groups that is a step for
        each in L1, and √e of them in L2. Leaf counts are clipped in L1.
        """
        vector = measurement.vector
        assert measurement.cap is not None
        rows, tree = vector.most or MANY, vector.kind is Kind.TREE
        squares = self.spend.gaussian and not tree
        spread = math.isqrt(rows) + 1 if squares else rows
        rounding = rows if tree else vector.size * spread
        rounded_up = (spread + 2) << vector.shift if vector.shift else 0
        return measurement.cap - radius + rounding + rounded_up + 1

    def hidden(self, measurement: Measurement, radius: int) -> Additive:
        """The noise of each number of what clipping cut off."""
        if measurement.vector.kind is Kind.TREE:
            return self.hidden_tree(measurement, radius).noise
        return self.spend.additive(
            self.sensitivity(self.hidden_radius(measurement, radius)),
            measurement.hiding,
        )

    def tree(self, measurement: Measurement, radius: int) -> TreeMechanism:
        return self._tree(measurement, radius, measurement.part(radius))

    def hidden_tree(self, measurement: Measurement, radius: int) -> TreeMechanism:
        """The tree over the leaf counts that clipping cut off."""
        cut = self.hidden_radius(measurement, radius)
        return self._tree(measurement, cut, measurement.hiding)

    def _tree(
        self, measurement: Measurement, radius: int, weight: Fraction
    ) -> TreeMechanism:
        part, unit = self.spend.part(weight), self.guarantee.unit
        promise = {"mu": part} if self.spend.gaussian else {"epsilon": part}
        return TreeMechanism(
            tree=measurement.vector.leaves.tree,
            radius=self.sensitivity(radius),
            unit=unit,
            **promise,
        )

    def clipping(self, measurement: Measurement, radius: int) -> Clipping:
        """What becomes of a measurement at a radius."""
        hides = measurement.hides(radius)
        return Clipping(
            measurement.clips(radius),
            self.noise(measurement, radius),
            self.hidden(measurement, radius) if hides else None,
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

    def fits(self) -> bool:
        """Whether 64-bit integers can hold the noise, for the largest radius that may be
        chosen.
        """
        try:
            return all(
                noise.scale <= LARGEST_SCALE
                for measurement in self.measurements
                for noise in self._largest_noises(measurement)
            )
        except ArgumentError:
            return False  # not even floats could hold it

    def excess(self, measurement: Measurement) -> int:
        """By how many bits the noise of a measurement is too wide for 64-bit integers,
        where coarser steps make it narrower. It is the same whether neighbours replace
        a unit or not, so that steps are.
        """
        try:
            widest = max(noise.scale for noise in self._largest_noises(measurement))
        except ArgumentError:
            return 0  # not even floats could hold it
        twice = 1 if self.replacing else 2
        return max(0, math.ceil(math.log2(twice * widest / LARGEST_SCALE)))

    def _largest_noises(self, measurement: Measurement) -> Iterator[Additive]:
        """The noise of a measurement at its most."""
        radius, cap = measurement.radius, measurement.cap
        if radius is None:
            yield self.choosing(measurement)
        if measurement.hiding:
            yield self.hidden(measurement, radius or 1)
        if measurement.hiding and radius is None and cap is not None:
            yield self.noise(measurement, cap - 1)
        yield self.noise(measurement, radius or cap or measurement.bins.edges[-1])

    def deviation(self, part: Fraction, levels: int = 1) -> float:
        """The standard deviation of the noise that a part of the cost buys for a radius
        of 1: of one number, or of each node of a tree with `levels` levels.
        """
        size, twice = self.spend.part(part), 1 + self.replacing
        return twice * (
            math.sqrt(levels) / size
            if self.spend.gaussian
            else levels * math.sqrt(2) / size
        )

    @cached_property
    def most_named(self) -> int:
        """How many private keys an answer can have."""
        each = sum(one.numbers for one in self.measurements)
        return max(1, min(MOST_GROUPS, MOST_NUMBERS // max(each, 1)) // self.publics)

    @cached_property
    def identity(self) -> str:
        """The same where the same is measured at the same cost, and different
        otherwise.

        Names, HAVING, ORDER BY, LIMIT and arithmetic over aggregates only say how that
        is shown.
        """
        limits = (self.request.values, self.request.mechanism)
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
            self.counted,
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
