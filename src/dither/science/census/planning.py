"""What a census measures, and with which noise: from public facts alone, before
anything is charged.

One person lies in one cell of each histogram, so each (level, marginal) is a histogram
of sensitivity 1, or √2 where a person is replaced; the costs of all of them add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.mechanisms.sums import noise_variance, root_up
from dither.mechanisms.values import plus
from dither.noise import discrete_gaussian
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import Guarantee, PureDP
from dither.privacy.numbers import at_most, float_down, float_up
from dither.question import Question
from dither.science.census.attributes import Attributes
from dither.science.census.geography import Geography
from dither.science.census.shape import Tree
from dither.science.census.workload import Marginal, Workload, weight_of

__all__ = ["Measure", "Plan", "plan_of"]

Integers = NDArray[np.int64]

KINDS = ("rounded", "discrete")
MOST_BYTES = 4 * 2**30
"""What the counts of one release may take in memory."""
BYTES = 8
ROOT = 1 << 128
LEAST_COST = 1e-300


@dataclass(frozen=True)
class Measure:
    """One histogram with noise: a marginal of all places of a level, and its share of
    the whole cost.

    Guarantee: ρ-zero-concentrated differential privacy (ρ is its share of the whole)
    where the cost is stated as rho, else what `mechanism` promises.
    Why: rounded Gaussian noise is post-processing of Gaussian noise; discrete Gaussian
    noise on integers of L2 sensitivity Δ is (Δ² / 2σ²)-zero-concentrated (Canonne,
    Kamath & Steinke 2020, theorem 4).
    Assumes: one unit moves the histogram by no more than the mechanism's sensitivity.
    """

    level: int
    marginal: Marginal
    share: Fraction
    mechanism: Additive
    discrete: bool = False

    @property
    def variance(self) -> float:
        """That of the noise of each number; a discrete Gaussian's is a little less."""
        return noise_variance(self.mechanism)

    @property
    def scale(self) -> float:
        return self.mechanism.integer_scale

    def release(self, counts: Integers) -> Integers:
        if self.discrete:
            return plus(counts, discrete_gaussian(self.scale, counts.shape))
        noisy: Integers = self.mechanism.release(counts)
        return noisy


@dataclass(frozen=True)
class Plan:
    """All that is measured, what it costs together, and which levels are exact."""

    guarantee: Guarantee
    measures: tuple[Measure, ...]
    workload: Workload
    exact: tuple[int, ...]
    rows: int

    def variances(self, levels: int) -> list[list[float]]:
        """The variance of each level's marginals; infinite if nothing is measured."""
        found = [[math.inf] * len(self.workload.marginals) for _ in range(levels)]
        for one in self.measures:
            found[one.level][self._place(one)] = one.variance
        return found

    def _place(self, measure: Measure) -> int:
        return self.workload.marginals.index(measure.marginal)

    def measure(self, tree: Tree, leaves: Integers, sizes: Sequence[int]) -> list[Any]:
        """Each measure's histogram with noise, in their order."""
        return [
            one.release(_marginal(level, one.marginal, sizes))
            for one, level in _by_level(self.measures, tree.counts_up(leaves))
        ]

    def sorted_out(self, levels: int, noisy: Sequence[Any]) -> list[list[Any]]:
        """The measurements, by level and marginal; None if nothing was measured."""
        found: list[list[Any]] = [
            [None] * len(self.workload.marginals) for _ in range(levels)
        ]
        for one, values in zip(self.measures, noisy, strict=True):
            found[one.level][self._place(one)] = values
        return found


def _by_level(
    measures: Iterable[Measure], levels: Sequence[Any]
) -> Iterable[tuple[Measure, Integers]]:
    return ((one, levels[one.level]) for one in measures)


def _marginal(cells: Integers, marginal: Marginal, sizes: Sequence[int]) -> Integers:
    """Sums over the attributes that a marginal leaves out."""
    table = cells.reshape(len(cells), *sizes)
    gone = tuple(1 + a for a in range(len(sizes)) if a not in marginal)
    found: Integers = table.sum(axis=gone, dtype=np.int64)
    return found.reshape(len(cells), -1)


def plan_of(
    question: Question,
    geography: Geography,
    attributes: Attributes,
    workload: Workload,
    *,
    exact: tuple[int, ...] = (),
    shares: Any = None,
    rows: int = 1,
    mechanism: str = KINDS[0],
) -> Plan:
    """The parts of the cost, and the noise of each; refused if the counts would not fit
    into memory.
    """
    _check_memory(geography, attributes, workload)
    if mechanism not in KINDS:
        raise ArgumentError("mechanism", f"must be {KINDS[0]!r} or {KINDS[1]!r}")
    parts = _shared(geography, workload, exact, shares)
    guarantee, mechanisms = _mechanisms(question, list(parts.values()), rows)
    discrete = mechanism == KINDS[1]
    if discrete and question.rho is None:
        raise ArgumentError(
            "mechanism",
            "can be 'discrete' only if the cost is a rho; pass rho=, or leave mechanism "
            "out",
        )
    measures = tuple(
        Measure(level, marginal, share, one, discrete)
        for ((level, marginal), share), one in zip(
            parts.items(), mechanisms, strict=True
        )
    )
    return Plan(guarantee, measures, workload, exact, rows)


def _check_memory(
    geography: Geography, attributes: Attributes, workload: Workload
) -> None:
    sizes, cells = attributes.sizes, attributes.cells
    measured = sum(
        math.prod(sizes[a] for a in marginal) for marginal in workload.marginals
    )
    kinds = 1 << len(sizes)
    each = 4 * cells + 2 * measured + 4 * kinds
    needed = BYTES * each * sum(geography.tree.sizes)
    if needed > MOST_BYTES:
        raise ArgumentError(
            "attributes",
            f"need too much memory: {cells:,} cells in each of "
            f"{sum(geography.tree.sizes):,} places take about "
            f"{needed / 2**30:,.1f} GiB, and the limit is {MOST_BYTES / 2**30:.0f} GiB; "
            "merge categories, or release parts of the geography",
        )


def _shared(
    geography: Geography,
    workload: Workload,
    exact: tuple[int, ...],
    shares: Any,
) -> dict[tuple[int, Marginal], Fraction]:
    """The share of each histogram that has noise. Totals that are exact, and those
    above them, need none.
    """
    levels = _level_weights(geography, shares)
    lowest = max(exact, default=-1)
    found = {
        (level, marginal): levels[level] * weight
        for level in range(len(geography.levels))
        for marginal, weight in zip(workload.marginals, workload.weights, strict=True)
        if levels[level] * weight and (marginal or level > lowest)
    }
    total = sum(found.values())
    if not total:
        raise ArgumentError(
            "shares",
            "must leave something to measure; give a positive weight to a level and a "
            "marginal that are not published exactly",
        )
    return {key: weight / total for key, weight in found.items()}


def _level_weights(geography: Geography, shares: Any) -> list[Fraction]:
    if shares is None:
        return [Fraction(1)] * len(geography.levels)
    if not isinstance(shares, Mapping):
        raise ArgumentError(
            "shares",
            'must be weights by level, such as {"state": 1, "county": 2, "block": 2}',
        )
    stated = {
        geography.place(name, "shares"): weight_of("shares", one)
        for name, one in shares.items()
    }
    return [stated.get(level, Fraction(0)) for level in range(len(geography.levels))]


def _share_of(share: Fraction, whole: Fraction) -> float:
    found = float_down(whole * share)
    if found < LEAST_COST:
        raise ArgumentError(
            "shares",
            "cannot be this uneven: the smallest part of the cost rounds to 0; give that "
            "level or marginal a larger weight, or 0",
        )
    return found


def _mechanisms(
    question: Question, shares: list[Fraction], rows: int
) -> tuple[Guarantee, list[Additive]]:
    """One mechanism for each share, and what all of them cost together: no more than
    was stated, since every part is rounded down.
    """
    l1, l2 = _moved(question, rows)
    if question.rho is not None:
        whole = question.guarantee
        rho = at_most(question.rho)
        parts: list[Additive] = [
            Gaussian(sensitivity=l2, rho=_share_of(share, rho), unit=question.unit)
            for share in shares
        ]
        return whole, _fitting(parts)
    count = len(shares)
    length = float_up(root_up(count) * Fraction(l2))
    chosen = question.vector(l1 * count, length)
    if isinstance(chosen, Gaussian):
        mu = Fraction(chosen.guarantee.mu)
        parts = [
            Gaussian(sensitivity=l2, mu=_share_of(_root(share), mu), unit=question.unit)
            for share in shares
        ]
        return chosen.guarantee, _fitting(parts)
    epsilon = at_most(PureDP(question.epsilon or 0.0).epsilon)
    parts = [
        Laplace(sensitivity=l1, epsilon=_share_of(share, epsilon), unit=question.unit)
        for share in shares
    ]
    return question.guarantee, _fitting(parts)


def _moved(question: Question, rows: int) -> tuple[float, float]:
    """How far one unit moves one histogram, in L1 and in L2. Of a unit that is
    replaced, the rows that go and those that come lie in different cells at worst.
    """
    if not question.replacing:
        return float(rows), float(rows)
    return 2.0 * rows, float_up(root_up(2) * Fraction(rows))


def _root(share: Fraction) -> Fraction:
    """A number just below the square root."""
    square = share * ROOT * ROOT
    return Fraction(math.isqrt(square.numerator // square.denominator), ROOT)


def _fitting(parts: list[Additive]) -> list[Additive]:
    if any(one.scale > LARGEST_SCALE for one in parts):
        raise ArgumentError(
            "epsilon",
            "the cost is too small: the noise would not fit into 64-bit integers; pass "
            "a larger epsilon or rho",
        )
    return parts
