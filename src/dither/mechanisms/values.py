"""What a mechanism does with the value it is handed, the same for every value (rule R1).

Ints stay ints, everything else becomes float64. Single Python ints may have any size. In arrays and lists, integers
beyond 64 bits count as the nearest 64-bit integer; moving a value to the nearest end of a fixed range never increases
a sensitivity. NaN, and what is no number at all, counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = ["Integers", "Reals", "as_objects", "numbers", "place_of", "plus", "present", "real"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

LOW, HIGH = -(1 << 63), (1 << 63) - 1


def numbers(value: Any, argument: str = "value", *, missing: float = 0.0) -> int | float | Integers | Reals:
    """A scalar as int or float; a list or array as int64 or float64. Decided by type, never by what the values are.

    What is no number, among the items of a list, becomes `missing`.
    """
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return int(value)
    if isinstance(value, str | bytes | complex) or value is None:
        raise ArgumentError(argument, f"must be a number or an array of numbers, not {type(value).__name__}")
    if isinstance(value, list | tuple):
        return _from_objects(as_objects(value), missing)
    if not isinstance(value, np.ndarray) and hasattr(value, "__float__") and not hasattr(value, "__len__"):
        return real(value, missing)
    array = np.asarray(value)
    plain = _from_array(array, argument, missing)
    return plain if array.ndim else plain.item()


def _from_array(array: NDArray[Any], argument: str, missing: float) -> Integers | Reals:
    kind = array.dtype.kind
    if kind == "u":
        held: Integers = np.minimum(array, np.array(HIGH, np.uint64)).astype(np.int64)
        return held
    if kind in "bi":
        return array.astype(np.int64, copy=False)
    if kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    if kind == "O":
        return _from_objects(array, missing)
    raise ArgumentError(argument, f"must be numbers, but the array holds {array.dtype}; convert it first")


def as_objects(items: Sequence[Any]) -> NDArray[Any]:
    """An array of Python objects; a ragged list of lists becomes one dimension."""
    try:
        return np.array(items, dtype=object)
    except ValueError:
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array


def _from_objects(array: NDArray[Any], missing: float) -> Integers | Reals:
    items: Iterable[Any] = array.reshape(-1).tolist()
    if float(missing).is_integer():  # gaps say nothing about the kind of the others
        items = [int(missing) if math.isnan(real(item)) else item for item in items]
    if all(isinstance(item, int | np.integer) and not isinstance(item, ODD) for item in items):
        return np.array([max(LOW, min(HIGH, int(item))) for item in items], np.int64).reshape(array.shape)
    return np.array([real(item, missing) for item in items], np.float64).reshape(array.shape)


ODD = (str, bytes, complex, np.complexfloating, np.timedelta64, np.datetime64, type(np.ma.masked))


def real(item: Any, missing: float = math.nan) -> float:
    """One item as a float; `missing` if it is no number, whatever it is instead."""
    if isinstance(item, ODD) or not (hasattr(type(item), "__float__") or hasattr(type(item), "__index__")):
        return missing
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf
    except Exception:
        return missing


def present(value: Any) -> Any:
    """The value, or 0 in place of one that is missing: None, NaN or masked. Whether one is missing is private too."""
    if value is None or value is np.ma.masked or (isinstance(value, float | np.floating) and math.isnan(value)):
        return 0
    return value


def place_of(item: Any, places: Mapping[Any, int]) -> int:
    """Where an item stands in a list of public ones; −1 if it does not, or cannot be looked up, for whatever reason."""
    try:
        return places.get(item, -1)
    except Exception:
        return -1


def plus(values: Integers, noise: Integers) -> Integers:
    """The sum, held at the ends of the 64-bit range instead of wrapping round."""
    with np.errstate(over="ignore"):
        total = values + noise
    wrapped = ((values ^ total) & (noise ^ total)) < 0
    return np.where(wrapped, np.where(values < 0, LOW, HIGH), total)
