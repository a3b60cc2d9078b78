"""What a mechanism does with the value it is handed, the same for every value (rules R1
and R33).

What kind of number a value is, and whether it is one at all, is decided by types, which
are public: a number, a list or an array of numbers is taken, anything else is refused.
Ints stay ints and floats stay floats; Decimal, Fraction, longdouble and lists that mix
kinds become exact fractions, so that no value passes through a type that rounds it: two
values that differ by 1 would then differ by more, and the noise was made for 1.

The items of a list are data, and data is never refused. Integers beyond 64 bits are
treated as the nearest 64-bit integer (moving a value to the nearest end of a fixed
range never increases a sensitivity). NaN, and what is not a number at all, is treated
as 0 and leaves the others alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = [
    "Exact",
    "Integers",
    "Number",
    "Reals",
    "as_objects",
    "exact",
    "numbers",
    "place_of",
    "plus",
    "present",
    "real",
    "unmasked",
]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Exact = NDArray[np.object_]
"""Fractions."""
Number = int | float | Fraction

LOW, HIGH = -(1 << 63), (1 << 63) - 1
WIDEST = Fraction(np.finfo(np.float64).max.item())
DIGITS = 400
"""A decimal with its first digit farther than this from the point is beyond all floats,
or nearer to 0 than any.
"""


def numbers(
    value: Any, argument: str = "value", *, missing: float = 0.0
) -> int | float | Fraction | Integers | Reals | Exact:
    """A scalar as int, float or Fraction; a list or array as int64, float64 or
    Fractions.

    What is not a number, among the items of a list, becomes `missing`, which is finite.
    """
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.ma.MaskedArray):
        value = unmasked(value)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        array = _array(value)
        return (
            _from_array(array, argument, missing)
            if array.ndim
            else numbers(array[()], argument, missing=missing)
        )
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return _from_objects(as_objects(list(value)), missing)
    return _scalar(value, argument)


def unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """The items as objects, None if they are masked. (`filled(None)` writes the array's
    own fill value, such as 1e20 or "?", which somebody could have meant.)
    """
    found = np.asarray(array.data).astype(object)
    found[np.ma.getmaskarray(array)] = None
    return found


def _array(value: Any) -> NDArray[Any]:
    """An array of a numpy type as it is; others item by item, because one null would
    turn integers into floats.
    """
    listed = next(
        (
            getattr(value, name)
            for name in ("to_pylist", "to_list")
            if hasattr(value, name)
        ),
        None,
    )
    if listed is None or isinstance(getattr(value, "dtype", None), np.dtype):
        return np.asarray(value)
    return as_objects(listed())


def _scalar(value: Any, argument: str) -> Number:
    """One number, by its type; NaN is a number here."""
    found = None if value is None else exact(value)
    if found is not None:
        return found
    if isinstance(value, float | np.floating | Decimal):
        return math.nan
    raise ArgumentError(
        argument,
        "must be a number or an array of numbers, not "
        f"{type(value).__name__}; pass an int, float or list",
    )


def _from_array(
    array: NDArray[Any], argument: str, missing: float
) -> Integers | Reals | Exact:
    kind = array.dtype.kind
    if kind == "u":
        held: Integers = np.minimum(array, np.array(HIGH, np.uint64)).astype(np.int64)
        return held
    if kind in "bi":
        return array.astype(np.int64, copy=False)
    if kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    if kind in "fO":
        return _from_objects(array.astype(object), missing)
    raise ArgumentError(
        argument,
        f"must hold numbers, not {array.dtype}; convert the array first",
    )


def as_objects(items: Sequence[Any]) -> NDArray[Any]:
    """An array of Python objects; a ragged list of lists becomes one dimension."""
    try:
        return np.array(items, dtype=object)
    except ValueError:
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array


def _from_objects(array: NDArray[Any], missing: float) -> Integers | Reals | Exact:
    """Gaps do not depend on the kind of the others."""
    found = [exact(item) for item in array.reshape(-1).tolist()]
    kinds = {type(item) for item in found if item is not None}
    if kinds <= {int} and float(missing).is_integer():
        whole = [
            max(LOW, min(HIGH, int(missing if item is None else item)))
            for item in found
        ]
        return np.array(whole, np.int64).reshape(array.shape)
    items = [missing if item is None else item for item in found]
    if kinds <= {float}:
        return np.array(items, np.float64).reshape(array.shape)
    fractions = np.empty(len(items), object)
    fractions[:] = [_fraction(item) for item in items]
    return fractions.reshape(array.shape)


def _fraction(item: Number) -> Fraction:
    """The number as a fraction; beyond the largest float, that one."""
    if isinstance(item, float) and math.isinf(item):
        return WIDEST if item > 0 else -WIDEST
    return max(-WIDEST, min(WIDEST, Fraction(item)))


ODD = (
    str,
    bytes,
    complex,
    np.complexfloating,
    np.timedelta64,
    np.datetime64,
    type(np.ma.masked),
)


def exact(item: Any) -> Number | None:
    """The number itself, of whatever type, without rounding it; None if it is NaN, or
    no number.
    """
    if type(item) is float:  # most are
        return None if math.isnan(item) else item
    if isinstance(item, ODD):
        return None
    try:
        found = _number(item)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    return None if isinstance(found, float) and math.isnan(found) else found


def _number(item: Any) -> Number | None:
    if isinstance(item, int | np.integer | np.bool_):
        return int(item)
    if isinstance(item, float) or (
        isinstance(item, np.floating) and (item.itemsize <= 8 or not np.isfinite(item))
    ):
        return float(item)
    if isinstance(item, Decimal):
        return _decimal(item)
    if isinstance(item, Rational):
        return Fraction(int(item.numerator), int(item.denominator))
    return _other(item)


def _other(item: Any) -> Number | None:
    """What has an exact value in one of the ways that Python and numpy know; a mere
    `__float__` rounds.
    """
    if hasattr(type(item), "as_integer_ratio"):
        return Fraction(*item.as_integer_ratio())
    if hasattr(type(item), "__array__"):
        array = np.asarray(item)
        return (
            exact(array[()]) if array.ndim == 0 and not array.dtype.hasobject else None
        )
    return int(item.__index__()) if hasattr(type(item), "__index__") else None


def _decimal(item: Decimal) -> Number:
    """A decimal with a huge exponent would take as many digits to write out."""
    if not item.is_finite():
        return float(item)
    if abs(item.adjusted()) > DIGITS and item:
        return math.copysign(math.inf if item.adjusted() > 0 else 0.0, item)
    return Fraction(item)


def real(item: Any, missing: float = math.nan) -> float:
    """One item as the nearest float; `missing` if it is not a number, whatever it is
    instead.
    """
    found = exact(item)
    if found is None:
        return missing
    try:
        return float(found)
    except OverflowError:
        return math.inf if found > 0 else -math.inf


def present(value: Any) -> Any:
    """The value, or 0 in place of one that is missing: None, NaN or masked. Whether one
    is missing is private too.
    """
    if (
        value is None
        or value is np.ma.masked
        or (isinstance(value, float | np.floating) and math.isnan(value))
    ):
        return 0
    return value


def place_of(item: Any, places: Mapping[Any, int]) -> int:
    """The position of an item in a list of public ones; −1 if it is not there, or
    cannot be looked up, for any reason.
    """
    try:
        return places.get(item, -1)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return -1


def plus(values: Integers, noise: Integers) -> Integers:
    """The sum, clamped to the ends of the 64-bit range instead of wrapping round."""
    with np.errstate(over="ignore"):
        total = values + noise
    wrapped = ((values ^ total) & (noise ^ total)) < 0
    return np.where(wrapped, np.where(values < 0, LOW, HIGH), total)
