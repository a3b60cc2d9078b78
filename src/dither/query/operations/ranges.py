"""Interval arithmetic over public ranges: where the value of an operation lies, given
where its arguments lie.

An open side is no limit, but every value is finite: 0 times an open side is 0. For
reals, +, -, *, / and the square root need no widening: rounding to nearest is monotone,
so the rounded corners bound every rounded value inside. The other functions are widened
by some units in the last place, since libraries differ there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from dither.query.catalogue.types import Range

__all__ = [
    "INT64",
    "absolute",
    "add",
    "clipped",
    "exponential",
    "floats",
    "greatest",
    "hull",
    "increasing",
    "least",
    "logarithm",
    "multiply",
    "negate",
    "of",
    "power",
    "quotient",
    "remainder",
    "rounded",
    "sides",
    "square_root",
    "subtract",
    "truncated",
    "within",
]

Number = int | float
INT64 = Range(-(2**63), 2**63 - 1)
TINIEST = math.ulp(0.0)
LARGEST = math.nextafter(math.inf, 0.0)


def sides(range_: Range) -> tuple[Number, Number]:
    """Both ends, open sides as infinities."""
    return (
        -math.inf if range_.low is None else range_.low,
        math.inf if range_.high is None else range_.high,
    )


def of(low: Number, high: Number) -> Range:
    """A range from its ends; what is not finite is an open side."""
    return Range(_end(low), _end(high))


def _end(value: Number) -> Number | None:
    return value if isinstance(value, int) or math.isfinite(value) else None


def floats(range_: Range) -> Range:
    """The range of a conversion to double, which rounds to nearest."""
    low, high = sides(range_)
    return of(float(low), float(high))


def clipped(range_: Range, limits: Range) -> Range:
    """The range of values clipped to the limits; an open side takes the limit."""
    (low, high), (least, most) = sides(range_), sides(limits)
    return of(min(max(low, least), most), max(min(high, most), least))


def within(range_: Range, limits: Range) -> bool:
    (low, high), (least, most) = sides(range_), sides(limits)
    return least <= low and high <= most


def hull(ranges: Iterable[Range]) -> Range:
    """The smallest range that holds them all."""
    ends = [sides(one) for one in ranges]
    return of(min(low for low, _ in ends), max(high for _, high in ends))


def add(a: Range, b: Range) -> Range:
    (low, high), (least, most) = sides(a), sides(b)
    return of(low + least, high + most)


def negate(a: Range) -> Range:
    low, high = sides(a)
    return of(-high, -low)


def subtract(a: Range, b: Range) -> Range:
    return add(a, negate(b))


def _corners(
    operation: Callable[[Number, Number], Number], a: Range, b: Range
) -> Range:
    values = [operation(x, y) for x in sides(a) for y in sides(b)]
    return of(min(values), max(values))


def _product(x: Number, y: Number) -> Number:
    return 0 if x == 0 or y == 0 else x * y


def multiply(a: Range, b: Range) -> Range:
    return _corners(_product, a, b)


def absolute(a: Range) -> Range:
    low, high = sides(a)
    if low >= 0:
        return a
    return negate(a) if high <= 0 else of(0, max(-low, high))


def _nonzero(divisor: Range, step: Number) -> list[Range]:
    """The negative and the positive part of a divisor whose smallest magnitude is one
    step.
    """
    low, high = sides(divisor)
    negative = [of(low, min(high, -step))] if low < 0 else []
    return negative + ([of(max(low, step), high)] if high > 0 else [])


def _ratio(x: Number, y: Number) -> Number:
    return (
        0.0
        if math.isinf(y) or x == 0
        else float(x) * math.copysign(1, y)
        if math.isinf(x)
        else _divide(x, y)
    )


def _divide(x: Number, y: Number) -> float:
    try:
        return float(x) / float(y)
    except OverflowError:
        return math.copysign(math.inf, x) * math.copysign(1, y)


def quotient(a: Range, b: Range, whole: bool = False) -> Range:
    """A real quotient; a divisor of zero gives NULL, and `whole` divisors are at least
    1 otherwise.
    """
    parts = [_corners(_ratio, a, part) for part in _nonzero(b, 1 if whole else TINIEST)]
    return hull(parts) if parts else Range(0.0, 0.0)


def _whole_ratio(x: Number, y: Number) -> Number:
    if math.isinf(y) or x == 0:
        return 0
    return (
        x * math.copysign(1, y)
        if math.isinf(x)
        else math.trunc(Fraction(x) / Fraction(y))
    )


def truncated(a: Range, b: Range) -> Range:
    """A quotient of whole numbers, rounded toward zero."""
    parts = [_corners(_whole_ratio, a, part) for part in _nonzero(b, 1)]
    return hull(parts) if parts else Range(0, 0)


def remainder(a: Range, b: Range, whole: bool = False) -> Range:
    """The remainder of a division toward zero: it has the sign of the dividend."""
    (low, high), most = sides(a), max(map(abs, sides(b)))
    most = max(most - 1, 0) if whole else most
    return of(max(min(low, 0), -most), min(max(high, 0), most))


def increasing(function: Callable[[Number], Number], a: Range) -> Range:
    """The range of a function that never falls; an open side stays open."""
    low, high = sides(a)
    return of(
        low if math.isinf(low) else function(low),
        high if math.isinf(high) else function(high),
    )


def _widen(low: float, high: float, units: int = 4) -> Range:
    """Some units in the last place further out. Zeros are exact: ln 1, or what was too
    small.
    """
    for _ in range(units):
        low, high = (
            low and math.nextafter(low, -math.inf),
            high and math.nextafter(high, math.inf),
        )
    return of(low, high)


def rounded(function: Callable[[float], float], a: Range) -> Range:
    """A range for rounding to decimal digits, which is monotone except for the last
    place.
    """
    low, high = sides(increasing(lambda x: function(float(x)), a))
    return _widen(float(low), float(high))


def square_root(a: Range) -> Range:
    """Of the part that is not negative."""
    low, high = sides(a)
    return of(math.sqrt(max(low, 0)), math.sqrt(max(high, 0)))


def logarithm(
    function: Callable[[float], float], a: Range, whole: bool = False
) -> Range:
    """Of the positive part; positive doubles have a smallest and a largest logarithm."""
    low, high = sides(a)
    floor = max(low, 1 if whole else TINIEST)
    return _widen(
        function(min(floor, LARGEST)), function(min(max(high, floor), LARGEST))
    )


def exponential(a: Range) -> Range:
    low, high = sides(a)
    result = _widen(_safely(math.exp, low), _safely(math.exp, high))
    return of(max(sides(result)[0], 0.0), sides(result)[1])


def _safely(function: Callable[..., float], *values: Number) -> float:
    try:
        return function(*values)
    except OverflowError:
        return math.inf


def power(a: Range, b: Range) -> Range:
    """Of the results that are numbers at all: a negative base has whole exponents only."""
    low, high = sides(a)
    if low >= 0:
        return _positive_power(a, b)
    size = _positive_power(absolute(a), b)
    if b.low == b.high and b.low is not None and b.low % 2 == 0:
        return size
    if b.low == b.high and b.low is not None and b.low % 2 == 1 and b.low > 0:
        return hull(
            [
                negate(_positive_power(of(0.0, -low), b)),
                _positive_power(of(0.0, max(high, 0.0)), b),
            ]
        )
    return hull([negate(size), size])


def _positive_power(a: Range, b: Range) -> Range:
    """Monotone in each argument while the other is fixed, so the extremes are at the
    corners.
    """
    values = [_pow(float(x), float(y)) for x in sides(a) for y in sides(b)]
    low, high = sides(_widen(min(values), max(values)))
    return of(max(low, 0.0), high)


def _pow(x: float, y: float) -> float:
    if x == 0 and y < 0:
        return math.inf
    return _safely(math.pow, x, y)


def least(ranges: Iterable[Range], certain: Iterable[Range]) -> Range:
    """LEAST leaves out NULLs: only arguments that are certainly there cap it from
    above.
    """
    every, caps = hull(ranges), [sides(one)[1] for one in certain]
    low, high = sides(every)
    return of(low, min([high, *caps]))


def greatest(ranges: Iterable[Range], certain: Iterable[Range]) -> Range:
    """GREATEST leaves out NULLs: only arguments that are certainly there lift it from
    below.
    """
    every, floors = hull(ranges), [sides(one)[0] for one in certain]
    low, high = sides(every)
    return of(max([low, *floors]), high)
