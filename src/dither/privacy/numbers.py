"""Arguments checked, and floats rounded towards safety.

Every figure of this room is an upper bound on a cost or a lower bound on a permitted
parameter, in floats as well as on paper. The functions of the C library (`exp`,
`log1p`, `erfc`, …) are assumed to be within a relative `LIBM`; a test checks that on
the running platform. A formula of at most 32 such steps that subtracts no like
quantities is then within `SLACK` of the true value, and `up`/`down` move it past that.
Formulas that do subtract carry their own bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, SupportsFloat, SupportsIndex

from dither.errors import ArgumentError

LIBM = 2.0**-46
SLACK = 2.0**-40
TINY = 5e-324
SMALLEST_DELTA = 2.0**-1000
"""No δ but 0 is smaller: below, floats lose digits, and no rounding here would be to
the safe side any more.
"""

Number = SupportsFloat | SupportsIndex
Rounding = Callable[[Fraction], float]


def up(value: float) -> float:
    """The value, moved up past the accumulated rounding of a short formula."""
    return math.nextafter(value + abs(value) * SLACK, math.inf)


def down(value: float) -> float:
    """The value, moved down past the accumulated rounding of a short formula."""
    return math.nextafter(value - abs(value) * SLACK, -math.inf)


def float_up(exact: Fraction) -> float:
    """The smallest float that is at least the fraction."""
    near = float(exact)
    return near if exact <= Fraction(near) else math.nextafter(near, math.inf)


def float_down(exact: Fraction) -> float:
    """The largest float that is at most the fraction."""
    near = float(exact)
    return near if exact >= Fraction(near) else math.nextafter(near, -math.inf)


def written(value: float) -> Fraction:
    """A float as people write it: 0.1 is a tenth. Budgets count so, or ten charges of
    0.1 would not fit into 1.
    """
    return Fraction(repr(float(value)))


def written_up(exact: Fraction) -> float:
    """The smallest float that, as written, is at least the fraction."""
    near = float(exact)
    return near if exact <= written(near) else math.nextafter(near, math.inf)


def at_most(value: float) -> Fraction:
    """What a mechanism may lose so that neither the float nor the number as written is
    exceeded.
    """
    return min(Fraction(value), written(value))


def gap(larger: float, smaller: float) -> float:
    """Largest distance between two numbers, whether they mean the floats or what is
    written; rounded up.
    """
    return float_up(max(Fraction(larger), written(larger)) - at_most(smaller))


def fraction(
    argument: str, value: Number, way_out: str = "pass a finite number"
) -> Fraction:
    """The argument as an exact fraction, or an `ArgumentError` that names it."""
    if (
        isinstance(value, str | bytes)
        or not hasattr(value, "__float__")
        or _is_truth(value)
    ):
        raise ArgumentError(
            argument, f"must be a number, not {type(value).__name__}; {way_out}"
        )
    try:
        return _exactly(value)
    except (OverflowError, ValueError, TypeError):
        raise ArgumentError(
            argument, f"must be a finite number, not {value}; {way_out}"
        ) from None


def _is_truth(value: object) -> bool:
    """Whether it is true or false, of Python or numpy: `epsilon=True` is a mistake, and
    not ε = 1.
    """
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _exactly(value: Number) -> Fraction:
    """The number itself, of whatever type, without rounding it to a float first."""
    if hasattr(value, "as_integer_ratio"):
        return Fraction(*value.as_integer_ratio())
    return (
        Fraction(value.__index__())
        if hasattr(value, "__index__")
        else Fraction(float(value))
    )


def positive(
    argument: str, value: Number, way_out: str, rounding: Rounding = float_up
) -> float:
    """A finite float above zero; a value between two floats goes up, which only weakens
    a promise that is made.

    Of a promise that is asked for, the value goes down: pass `float_down`.
    """
    exact = fraction(argument, value, way_out)
    if exact <= 0:
        raise ArgumentError(argument, f"must be above 0, not {value}; {way_out}")
    return _finite(argument, exact, value, way_out, rounding)


def not_negative(
    argument: str, value: Number, way_out: str, rounding: Rounding = float_up
) -> float:
    exact = fraction(argument, value, way_out)
    if exact < 0:
        raise ArgumentError(argument, f"must be 0 or more, not {value}; {way_out}")
    return _finite(argument, exact, value, way_out, rounding)


def _finite(
    argument: str, exact: Fraction, value: Number, way_out: str, rounding: Rounding
) -> float:
    try:
        rounded = rounding(exact)
    except OverflowError:
        rounded = math.inf
    if math.isinf(rounded):
        raise ArgumentError(
            argument, f"is beyond the range of floats ({value}); {way_out}"
        )
    return rounded


def small_probability(
    argument: str, value: Number, *, zero: bool, rounding: Rounding = float_up
) -> float:
    """A δ: in [0, 1), or in (0, 1) where the question has no answer at 0."""
    way_out = "pass a small probability such as 1e-6"
    exact = fraction(argument, value, way_out)
    if not 0 <= exact < 1 or (exact == 0 and not zero):
        raise ArgumentError(
            argument, f"must lie in {'[' if zero else '('}0, 1), not {value}; {way_out}"
        )
    if 0 < exact < SMALLEST_DELTA:
        raise ArgumentError(
            argument,
            f"is too small to compute with ({value}); pass 0, or at least 1e-300",
        )
    return min(rounding(exact), 1.0 - 2.0**-53)


def spare_delta(exact: Fraction) -> float:
    """The rest of a δ, rounded down; nothing, if floats cannot say how much."""
    return float_down(exact) if exact >= SMALLEST_DELTA else 0.0


def usual_delta(population: int) -> float:
    """The largest power of ten that is at most 1/(1000·population) (rule R6)."""
    return float(f"1e-{len(str(1000 * population - 1))}")


def share(argument: str, value: Number, way_out: str) -> float:
    """A sampling rate: in (0, 1]."""
    exact = fraction(argument, value, way_out)
    if not 0 < exact <= 1:
        raise ArgumentError(argument, f"must lie in (0, 1], not {value}; {way_out}")
    return float_up(exact)


def confidence_level(argument: str, value: Number) -> Fraction:
    exact = fraction(argument, value, "pass a probability such as 0.95")
    if not 0 < exact < 1:
        raise ArgumentError(
            argument,
            f"must lie strictly between 0 and 1, not {value}; pass a "
            "probability such as 0.95",
        )
    return exact


def whole(argument: str, value: SupportsIndex, way_out: str) -> int:
    """An integer of at least 1."""
    try:
        count = None if _is_truth(value) else value.__index__()
    except AttributeError:
        count = None
    if count is None:
        # a list may be private data in the wrong place
        told = repr(value) if isinstance(value, float) else type(value).__name__
        raise ArgumentError(argument, f"must be a whole number, not {told}; {way_out}")
    if count < 1:
        raise ArgumentError(argument, f"must be at least 1, not {count}; {way_out}")
    return count


def pair(argument: str, value: Any) -> tuple[Any, Any]:
    """Two ends, low before high."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise ArgumentError(
            argument, "must be two numbers, low before high; pass (0, 110) for example"
        ) from None
    return low, high


def renyi_order(value: Number, rounding: Rounding = float_up) -> float:
    exact = fraction("order", value, "pass a number above 1, such as 2 or 8")
    if exact <= 1:
        raise ArgumentError(
            "order", f"must be above 1, not {value}; pass a number such as 2 or 8"
        )
    return _finite("order", exact, value, "pass a number such as 2 or 8", rounding)
