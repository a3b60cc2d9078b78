"""Private answers for someone with an array and no table: count, sum, mean, variance,
quantile, histogram.

Each element is one unit's value. Odd data never changes whether or how a question is
answered (rule R1): values outside the bounds count as the nearest bound, missing ones
(None, NaN, what is no number) are left out.

The cost is stated as `epsilon` (pure), `rho` (zero-concentrated), `share` of the budget
or, where the error does not depend on the data, the wanted `error` (± at 95 %). It is
charged to `budget` before the data is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.dataset import Kind
from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.query.arrays import moments, quantiles
from dither.query.arrays.ask import (
    ArrayCost,
    Ask,
    ErrorCost,
    PaidColumn,
    check_bounds,
    check_confidence,
    check_numeric,
    declared_kind,
)
from dither.query.arrays.bins import binning
from dither.query.arrays.columns import count_present
from dither.query.arrays.sums import SumGrid
from dither.query.statistics.estimates import Sums
from dither.release import Around, Release

__all__ = ["count", "histogram", "mean", "quantile", "sum", "variance"]

Bounds = tuple[float, float]

WIDEST = 1e150  # bounds this far apart still have a square among the floats
MOST = 1 << 62


def _whole(x: Any, low: float, high: float) -> bool:
    """Whether answers are integers: the column is declared to hold integers, and both
    bounds are whole.
    """
    return (
        declared_kind(x) in (Kind.INTEGERS, Kind.TRUTHS)
        and float(low).is_integer()
        and float(high).is_integer()
    )


def _moment(
    what: str, x: Any, bounds: Bounds | None, n: int | None, cost: ArrayCost
) -> tuple[Ask, float, float, int | None]:
    """What mean and variance check before anything is charged. A public n means that
    neighbours replace an element.
    """
    ask = Ask.about(what, x, cost)
    check_numeric(x)
    low, high = check_bounds(x, bounds)
    if high - low > WIDEST:
        raise ArgumentError(
            "bounds",
            f"must not lie farther apart than {WIDEST:g}; measure in larger units",
        )
    if n is not None:
        n = whole("n", n, "pass the public number of elements, or leave it out")
        if n > MOST:
            raise ArgumentError(
                "n", "is beyond 2**62; pass the public number of elements"
            )
        ask = replace(ask, unit=ask.unit.replacing())
    elif ask.replacing:
        raise ArgumentError(
            "n",
            "is missing: where neighbours replace one element, their number "
            "is public; pass it",
        )
    return ask, low, high, n


def _part_sums(
    paid: PaidColumn, low: float, high: float, degree: int, n: int | None
) -> list[int]:
    """The exact sums of all records' parts. With a public n it is the first n records,
    missing ones in the middle.
    """
    with np.errstate(all="ignore"):
        values = paid.numbers(n)
        sums = [
            moments.exact_sum(part)
            for part in moments.parts(moments.scaled(values, low, high), degree)
        ]
    if n is None:
        return sums
    middle = moments.parts(np.array([0.5]), degree)
    return [
        total + (n - values.size) * int(half[0])
        for total, half in zip(sums, middle, strict=True)
    ]


@by_name("count(x, epsilon=0.5)", ErrorCost)
def count(
    x: Any,
    **cost: Unpack[ErrorCost],
) -> Release:
    """How many elements there are. None, NaN and False do not count, so a condition
    counts where it holds.

    Guarantee: the stated cost, for one element.
    Why: one element moves the count by 1 at most; integer noise (`Laplace`, or
    `Gaussian` for rho).
    Assumes: each unit has one element.
    """
    ask = Ask.about("count", x, cost).for_error(1)
    mechanism = ask.additive(1)
    with ask.paying(mechanism.guarantee) as paid:
        noisy = mechanism.release(count_present(paid.read()))
    return paid.release(
        noisy,
        Around(noisy, mechanism, integer=True, within=(0, math.inf)),
        mechanism,
    )


@by_name("sum(x, bounds=(0, 110), epsilon=0.5)", ErrorCost)
def sum(
    x: Any,
    *,
    bounds: Bounds | None = None,
    **cost: Unpack[ErrorCost],
) -> Release:
    """The sum of values clipped to public bounds; an int for integers with whole
    bounds.

    Guarantee: the stated cost, for one element.
    Why: values are rounded to steps and clipped as integers, so the sum is exact and
    one element moves it by the larger bound at most (by the width of the bounds, where
    neighbours replace one).
    Assumes: each unit has one element.
    """
    ask = Ask.about("sum", x, cost)
    check_numeric(x)
    low, high = check_bounds(x, bounds)
    grid = SumGrid.between(
        low, high, integer=_whole(x, low, high), replacing=ask.replacing
    )
    ask = ask.for_error(grid.sensitivity, float(grid.size))
    mechanism = ask.additive(grid.sensitivity)
    with ask.paying(mechanism.guarantee) as paid, np.errstate(all="ignore"):
        noisy = grid.value(mechanism.release(grid.total(paid.numbers())))
    return paid.clipped(
        noisy,
        Around(noisy, mechanism, integer=True, step=float(grid.size)),
        (low, high),
        mechanism,
    )


@by_name("mean(x, bounds=(0, 110), epsilon=0.5)", ArrayCost)
def mean(
    x: Any,
    *,
    bounds: Bounds | None = None,
    n: int | None = None,
    **cost: Unpack[ArrayCost],
) -> Release:
    """The mean of values clipped to public bounds.

    Pass `n` only if the number of elements is public: neighbours then replace one
    element and the mean moves by (high − low) / n at most. Missing values then count as
    the middle of the bounds, elements beyond n not at all.

    Guarantee: the stated cost, for one element.
    Why: two sums that together have the sensitivity of one count give both
    (`query/arrays/moments.py`).
    Assumes: each unit has one element.
    """
    ask, low, high, n = _moment("mean", x, bounds, n, cost)
    if n is not None:
        return _mean_of_n(ask, low, high, n)
    mechanism = ask.additive(*moments.sensitivities(replacing=False))
    with ask.paying(mechanism.guarantee) as paid:
        noisy = [mechanism.release(one) for one in _part_sums(paid, low, high, 1, None)]
    found = Sums(moments.described(low, high, 1), noisy, mechanism).mean()
    return paid.clipped(found.value, found.spread, (low, high), mechanism)


def _mean_of_n(ask: Ask, low: float, high: float, n: int) -> Release:
    mechanism = ask.additive(moments.STEPS)
    step = (high - low) / (n * moments.STEPS)
    with ask.paying(mechanism.guarantee) as paid:
        value = min(
            high,
            max(
                low,
                low + step * mechanism.release(_part_sums(paid, low, high, 1, n)[1]),
            ),
        )
    return paid.clipped(
        value,
        Around(value, mechanism, integer=True, step=step, within=(low, high)),
        (low, high),
        mechanism,
    )


@by_name("variance(x, bounds=(0, 110), epsilon=0.5)", ArrayCost)
def variance(
    x: Any,
    *,
    bounds: Bounds | None = None,
    n: int | None = None,
    **cost: Unpack[ArrayCost],
) -> Release:
    """The variance (mean squared distance from the mean) of values clipped to public
    bounds; `n` as for `mean`.

    Guarantee: the stated cost, for one element.
    Why: three sums that together have the sensitivity of one count give count, sum and
    sum of squares (`query/arrays/moments.py`); twice that where neighbours replace one.
    Assumes: each unit has one element.
    """
    ask, low, high, n = _moment("variance", x, bounds, n, cost)
    mechanism = ask.additive(*moments.sensitivities(replacing=n is not None))
    with ask.paying(mechanism.guarantee) as paid:
        noisy = [mechanism.release(one) for one in _part_sums(paid, low, high, 2, n)]
    sums = Sums(moments.described(low, high, 2), noisy, mechanism)
    found = sums.variance() if n is None else sums.variance_of(n)
    return paid.clipped(found.value, found.spread, (low, high), mechanism)


@by_name("quantile(x, 0.5, bounds=(0, 110), epsilon=0.5)", ArrayCost)
def quantile(
    x: Any,
    q: float,
    *,
    bounds: Bounds | None = None,
    confidence: float = 0.95,
    **cost: Unpack[ArrayCost],
) -> Release:
    """The value below which a part q of the elements lies (0.5 is the median), with an
    interval for one confidence.

    The answer is a point of a public grid between the bounds: an integer for integers
    with whole, not too wide bounds.

    Guarantee: the stated cost, for one element.
    Why: three private choices by rank (`query/arrays/quantiles.py`) that share the cost
    by basic composition.
    Assumes: each unit has one element.
    """
    ask = Ask.about("quantile", x, cost)
    check_numeric(x)
    low, high = check_bounds(x, bounds)
    wanted = quantiles.level(q)
    confidence = check_confidence(confidence)
    grid = quantiles.Grid(low, high, _whole(x, low, high))
    rho = ask.cost.rho
    choices = quantiles.mechanisms(ask.epsilon, rho, wanted, ask.replacing, ask.unit)
    with (
        ask.paying(quantiles.promise(ask.epsilon, rho, ask.unit)) as paid,
        np.errstate(all="ignore"),
    ):
        counts = grid.counts(paid.numbers())
        value, least, most = map(
            grid.point, quantiles.choose(counts, wanted, choices, confidence)
        )
    spread = quantiles.QuantileSpread(least, most, confidence)
    return paid.clipped(value, spread, (low, high), *choices)


@by_name('histogram(x, keys=["A", "B"], epsilon=0.5)', ErrorCost)
def histogram(
    x: Any,
    *,
    keys: Sequence[Any] | None = None,
    bins: int | None = None,
    bounds: Bounds | None = None,
    edges: Sequence[float] | None = None,
    **cost: Unpack[ErrorCost],
) -> Release:
    """How many elements have each public key, or fall into each bin: `bins` of one
    width between bounds, or `edges`.

    Every key is answered, absent ones too; elements with other keys are left out.
    Values outside the bins count in the nearest one.

    Guarantee: the stated cost, for one element.
    Why: one element is in one bin, so the vector of counts moves by 1; where neighbours
    replace one, by 2 in L1 and √2 in L2.
    Assumes: each unit has one element; keys and edges are public, not read off the
    data.
    """
    sorted_by = binning(x, keys, bins, bounds, edges)
    ask = Ask.about("count", x, cost)
    ask = ask.for_error(2 if ask.replacing else 1)
    l2 = math.nextafter(math.sqrt(2), 2) if ask.replacing else 1
    mechanism = ask.additive(2 if ask.replacing else 1, l2)
    with ask.paying(mechanism.guarantee) as paid, np.errstate(all="ignore"):
        noisy = mechanism.release(sorted_by.counts(paid))
    spread = Around(noisy, mechanism, integer=True, within=(0, math.inf))
    return paid.release(noisy, spread, mechanism, keys=sorted_by.names)
