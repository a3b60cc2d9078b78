"""Private answers for someone with an array and no table: count, sum, mean, variance,
quantile, histogram.

Each element is one unit's value. Odd data never changes whether or how a question is
answered (rule R1): values outside the bounds are treated as the nearest bound, missing
ones (None, NaN, what is not a number) are left out.

The cost is stated as `epsilon` (pure), `rho` (zero-concentrated), `share` of the budget
or, where the error does not depend on the data, the wanted `error` (± at 95 %). It is
charged to `budget` before the data is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.dataset import Kind
from dither.errors import ArgumentError
from dither.mechanisms import Additive
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
from dither.query.statistics.rounding import Moved
from dither.release import Around, Release, Spread

__all__ = ["count", "histogram", "mean", "quantile", "sum", "variance"]

Bounds = tuple[float, float]

WIDEST = 1e150  # bounds this far apart still have a square among the floats
MOST = 1 << 62
NEVER_NEGATIVE = (0, math.inf)


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
    """Checks of mean and variance before anything is charged. A public n means that
    neighbours replace an element.
    """
    ask = Ask.about(what, x, cost)
    check_numeric(x)
    low, high = check_bounds(x, bounds)
    if high - low > WIDEST:
        raise ArgumentError(
            "bounds",
            f"must be at most {WIDEST:g} apart; use larger units",
        )
    if n is not None:
        n = whole("n", n, "pass the public number of elements, or leave it out")
        if n > MOST:
            raise ArgumentError(
                "n", "must be at most 2**62; pass the public number of elements"
            )
        ask = replace(ask, unit=ask.unit.replacing())
    elif ask.replacing:
        raise ArgumentError(
            "n",
            "is missing; if neighbours replace one element, the number of elements is "
            "public: pass it as n",
        )
    return ask, low, high, n


def _part_sums(
    paid: PaidColumn, low: float, high: float, degree: int, steps: int, n: int | None
) -> list[int]:
    """The exact sums of all records' parts. With a public n it is the first n records,
    missing ones in the middle.
    """
    with np.errstate(all="ignore"):
        values = paid.numbers(n)
        sums = [
            moments.exact_sum(part)
            for part in moments.parts(moments.scaled(values, low, high), degree, steps)
        ]
    if n is None:
        return sums
    middle = moments.parts(np.array([0.5]), degree, steps)
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
    counts where it holds. A negative noisy count is shown as 0.

    Guarantee: the stated cost, for one element.
    Why: one element moves the count by 1 at most; integer noise (`Laplace`, or
    `Gaussian` for rho).
    Assumes: each unit has one element.
    """
    ask = Ask.about("count", x, cost).for_error(1)
    mechanism = ask.additive(1)
    with ask.paying(mechanism.guarantee) as paid:
        noisy = mechanism.release(count_present(paid.read()))
    spread = Around(noisy, mechanism, integer=True)
    return paid.release(noisy, spread, mechanism, limits=NEVER_NEGATIVE)


@by_name("sum(x, bounds=(0, 110), epsilon=0.5)", ErrorCost)
def sum(
    x: Any,
    *,
    bounds: Bounds | None = None,
    **cost: Unpack[ErrorCost],
) -> Release:
    """The sum of values clipped to public bounds; an int for integers with whole
    bounds. If no value can be negative, a negative noisy sum is shown as 0.

    Guarantee: the stated cost, for one element.
    Why: values are rounded to steps and clipped as integers, so the sum is exact and
    one element moves it by the larger bound at most (by the width of the bounds, where
    neighbours replace one).
    Assumes: each unit has one element.
    """
    ask = Ask.about("sum", x, cost)
    check_numeric(x)
    low, high = check_bounds(x, bounds)
    grid, ask, mechanism = _summed(ask, low, high, _whole(x, low, high))
    with ask.paying(mechanism.guarantee) as paid, np.errstate(all="ignore"):
        noisy = grid.value(mechanism.release(grid.total(paid.numbers())))
    spread: Spread = Around(noisy, mechanism, integer=True, step=float(grid.size))
    if grid.rounding:
        spread = Moved(spread, grid.rounding)
    return paid.clipped(
        noisy,
        spread,
        (low, high),
        mechanism,
        limits=(0 if low >= 0 else -math.inf, 0 if high <= 0 else math.inf),
    )


def _summed(
    ask: Ask, low: float, high: float, integer: bool
) -> tuple[SumGrid, Ask, Additive]:
    """The finest grid whose noise fits 64 bits, the question at its cost, and the noise."""

    def priced(grid: SumGrid) -> tuple[SumGrid, Ask, Additive]:
        paying = ask.for_error(grid.sensitivity, float(grid.size))
        return grid, paying, paying.additive(grid.sensitivity)

    *finer, last = SumGrid.grids(low, high, integer=integer, replacing=ask.replacing)
    for grid in finer:
        with suppress(ArgumentError):
            return priced(grid)
    return priced(last)


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
    steps, mechanism = moments.finest(
        lambda steps: ask.additive(*moments.sensitivities(False, steps))
    )
    with ask.paying(mechanism.guarantee) as paid:
        sums = _part_sums(paid, low, high, 1, steps, None)
        noisy = [mechanism.release(one) for one in sums]
    found = Sums(moments.described(low, high, 1, steps), noisy, mechanism).mean()
    spread = Moved(
        found.spread, moments.rounding(low, high, 1, steps), _reals(low, high)
    )
    return paid.clipped(
        found.value, spread, (low, high), mechanism, limits=_reals(low, high)
    )


def _reals(low: float, high: float) -> Bounds:
    return float(low), float(high)


def _mean_of_n(ask: Ask, low: float, high: float, n: int) -> Release:
    steps, mechanism = moments.finest(ask.additive)
    step = (high - low) / (n * steps)
    with ask.paying(mechanism.guarantee) as paid:
        noisy = low + step * mechanism.release(
            _part_sums(paid, low, high, 1, steps, n)[1]
        )
    spread = Moved(
        Around(noisy, mechanism, integer=True, step=step),
        moments.rounding(low, high, 1, steps),
    )
    return paid.clipped(noisy, spread, (low, high), mechanism, limits=(low, high))


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
    steps, mechanism = moments.finest(
        lambda steps: ask.additive(*moments.sensitivities(n is not None, steps))
    )
    with ask.paying(mechanism.guarantee) as paid:
        exact = _part_sums(paid, low, high, 2, steps, n)
        noisy = [mechanism.release(one) for one in exact]
    sums = Sums(moments.described(low, high, 2, steps), noisy, mechanism)
    found = sums.variance() if n is None else sums.variance_of(n)
    limits = 0.0, (float(high) - float(low)) ** 2 / 4
    spread = Moved(found.spread, moments.rounding(low, high, 2, steps), limits)
    return paid.clipped(found.value, spread, (low, high), mechanism, limits=limits)


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

    Values are sorted into public leaves between the bounds, which are narrower near 0;
    integers with whole, not too wide bounds have one each. The answer is a short number
    in one of them, and the interval ends on edges of leaves, so it holds the plain
    quantile.

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
    leaves = quantiles.leaves_of(low, high, integer=_whole(x, low, high))
    rho = ask.cost.rho
    choices = quantiles.mechanisms(ask.epsilon, rho, wanted, ask.replacing, ask.unit)
    with (
        ask.paying(quantiles.promise(ask.epsilon, rho, ask.unit)) as paid,
        np.errstate(all="ignore"),
    ):
        counts = quantiles.counts_of(leaves, paid.numbers())
        found, least, most = quantiles.choose(counts, wanted, choices, confidence)
    spread = quantiles.QuantileSpread(leaves.start(least), leaves.end(most), confidence)
    limits = leaves.start(0), leaves.end(leaves.count - 1)
    return paid.clipped(
        leaves.value(found), spread, (low, high), *choices, limits=limits
    )


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
    Values outside the bins count in the nearest one. Negative noisy counts are shown as
    0, so a sum of many of them is too large: ask for it by its own count.

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
    spread = Around(noisy, mechanism, integer=True)
    return paid.release(
        noisy, spread, mechanism, keys=sorted_by.names, limits=NEVER_NEGATIVE
    )
