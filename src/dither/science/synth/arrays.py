"""Columns of a synthetic table at once, where their type is known: each record as by
itself (`values`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.arrays import array_of, items_of, named, numeric, quietly
from dither.science.synth.values import (
    NOT_A_TIME,
    Codes,
    coded,
    day_of,
    days,
    number_of,
)

__all__ = ["day_numbers", "label_codes", "reals"]

Reals = NDArray[np.float64]
Days = NDArray[np.int64]


def reals(values: Any) -> Reals:
    """Each record as the nearest float, NaN where it is not a number."""
    with quietly():
        found = _numbers(values)
        if found is not None:
            return found
        known = named(values)
        if known is not None:
            places, names = known
            return np.array([np.nan, *map(number_of, names)])[places + 1]
        items = items_of(values)
        return np.fromiter(map(number_of, items), np.float64, len(items))


def day_numbers(values: Any) -> Days:
    """Each record as days since 1970, `NOT_A_TIME` where it is not a date."""
    with quietly():
        times = _times(values)
        if times is not None:
            return days(times)
        items = items_of(values)
        found = (day_of(one) for one in items)
        each = (NOT_A_TIME if day is None else day for day in found)
        return np.fromiter(each, np.int64, len(items))


def label_codes(
    values: Any, place: Callable[[Any], int], numbers: Reals, codes: Codes, unknown: int
) -> Codes:
    """The code of each record's label. `numbers` are the declared labels that are
    numbers, in order, and `codes` are theirs.
    """
    with quietly():
        held = _numbers(values)
        if held is not None:
            return _found(held, place, numbers, codes, unknown)
        known = named(values)
        if known is not None:
            places, names = known
            return np.array([place(None), *map(place, names)], np.int32)[places + 1]
        return coded(items_of(values), place)


def _found(
    held: Reals, place: Callable[[Any], int], numbers: Reals, codes: Codes, unknown: int
) -> Codes:
    """Numbers have the same label where they are equal."""
    found = np.full(held.size, unknown, np.int32)
    if numbers.size:
        near = np.searchsorted(numbers, held)
        near[near == numbers.size] = 0
        same = numbers[near] == held
        found[same] = codes[near[same]]
    found[~np.isfinite(held)] = place(None)
    return found


def _numbers(values: Any) -> Reals | None:
    """The numbers of a column that is declared to hold such."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "m":
        # what numpy makes of whole numbers beside a length of time
        whole = np.asarray(values.view(np.int64))
        missing = np.ma.getmaskarray(values) | (whole == NOT_A_TIME)
        return numeric(np.ma.MaskedArray(whole, missing))
    return numeric(values)


def _times(values: Any) -> NDArray[np.datetime64] | None:
    """The times of a column that is declared to hold them; those with a zone in UTC."""
    array, missing = array_of(values), None
    if isinstance(array, np.ma.MaskedArray):
        array, missing = np.asarray(array.data), np.ma.getmaskarray(array)
    if array is None or array.dtype.kind != "M":
        return None
    found: NDArray[np.datetime64] = array
    if missing is not None:
        found = found.copy()
        found[missing] = np.datetime64("NaT")
    return found
