"""Whole columns at once, where their type is known: each record as by itself.

The fast ways are for types that numpy, pandas, Arrow or Polars declare. A column of
objects, or of a type that is not known here, is read record by record.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.synth.values import (
    NOT_A_TIME,
    Codes,
    coded,
    day_of,
    days,
    number_of,
)

__all__ = ["day_numbers", "integers", "items_of", "label_codes", "reals"]

Reals = NDArray[np.float64]
Days = NDArray[np.int64]

LISTS = ("to_pylist", "to_list", "tolist")  # Arrow, pandas and Polars, numpy


@contextmanager
def _quietly() -> Iterator[None]:
    """Odd numbers must not warn, or fail where warnings are errors (rule R1)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def reals(values: Any) -> Reals:
    """Each record as the nearest float, NaN where it is no number."""
    with _quietly():
        found = _numeric(values)
        if found is not None:
            return found
        named = _named(values)
        if named is not None:
            places, names = named
            return np.array([np.nan, *map(number_of, names)])[places + 1]
        items = items_of(values)
        return np.fromiter(map(number_of, items), np.float64, len(items))


def day_numbers(values: Any) -> Days:
    """Each record as days since 1970, `NOT_A_TIME` where it is no date."""
    with _quietly():
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
    with _quietly():
        held = _numeric(values)
        if held is not None:
            return _found(held, place, numbers, codes, unknown)
        named = _named(values)
        if named is not None:
            places, names = named
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


def items_of(values: Any) -> Sequence[Any]:
    """The records of a column as objects; those that are masked are None."""
    if isinstance(values, list | tuple):
        return values
    if isinstance(values, np.ma.MaskedArray):
        # `filled(None)` would fill in the array's own fill value, such as "?"
        pairs = zip(items_of(values.data), np.ma.getmaskarray(values), strict=True)
        return [None if missing else item for item, missing in pairs]
    if isinstance(values, np.ndarray):
        return list(values) if values.dtype.kind in "Mm" else list(values.tolist())
    ways = (getattr(values, name) for name in LISTS if hasattr(values, name))
    way = next(ways, None)
    try:
        return list(values) if way is None else list(way())
    except Exception:  # a time that Python's own types cannot hold
        return [_alone(values, place) for place in range(len(values))]


def _alone(values: Any, place: int) -> Any:
    try:
        item = values[place]
        return item.as_py() if hasattr(item, "as_py") else item
    except Exception:
        return None


def _numeric(values: Any) -> Reals | None:
    """The nearest floats of a column that is declared to hold numbers or truths."""
    array, missing = _array(values), None
    if isinstance(array, np.ma.MaskedArray):
        array, missing = np.asarray(array.data), np.ma.getmaskarray(array)
    if isinstance(values, np.ndarray) and values.dtype.kind == "m":
        # what numpy makes of whole numbers beside a length of time
        array, missing = _lengths(np.asarray(values.view(np.int64)), missing)
    if array is None or array.dtype.kind not in "biufc":
        return None
    if array.dtype.kind == "c":  # what numpy makes of reals beside a complex number
        array = np.where(array.imag == 0, array.real, np.nan)
    found = array.astype(np.float64)
    if missing is not None:
        found[missing] = np.nan
    return found


def _lengths(
    held: NDArray[np.int64], missing: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    nothing = held == NOT_A_TIME
    return held, nothing if missing is None else nothing | missing


def integers(values: Any) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """A column that is declared to hold whole numbers of at most 64 bits, and which of
    its records are missing.
    """
    dtype: Any = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "-") in "iu" and hasattr(dtype, "numpy_dtype"):
        array = values.to_numpy(dtype.numpy_dtype, na_value=0)  # pandas' own
        return array, np.asarray(values.isna())
    array = _array(values)
    if array is None or array.dtype.kind not in "iu":
        return None
    return np.asarray(array.data), np.ma.getmaskarray(array)


def _times(values: Any) -> NDArray[np.datetime64] | None:
    """The times of a column that is declared to hold them; those with a zone in UTC."""
    array, missing = _array(values), None
    if isinstance(array, np.ma.MaskedArray):
        array, missing = np.asarray(array.data), np.ma.getmaskarray(array)
    if array is None or array.dtype.kind != "M":
        return None
    found: NDArray[np.datetime64] = array
    if missing is not None:
        found = found.copy()
        found[missing] = np.datetime64("NaT")
    return found


def _array(values: Any) -> NDArray[Any] | None:
    """A column of numbers or times as an array of numpy; None for all others."""
    if isinstance(values, np.ndarray):
        return values
    room = type(values).__module__.partition(".")[0]
    way = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}.get(room)
    return None if way is None else way(values)


def _of_pandas(values: Any) -> NDArray[Any] | None:
    dtype: Any = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return None if dtype.kind == "O" else np.asarray(values)
    kind, name = getattr(dtype, "kind", "O"), type(dtype).__name__
    if name == "ArrowDtype":
        return _of_arrow(values.array.__arrow_array__())
    if name == "DatetimeTZDtype":
        found: NDArray[Any] = values.to_numpy(f"datetime64[{dtype.unit}]")
        return found
    if name == "SparseDtype":
        return np.asarray(values) if kind in "biuf" else None
    if name == "CategoricalDtype" or kind not in "biuf":
        return None
    # pandas' own numbers with a place for what is missing
    array: NDArray[Any] = values.to_numpy(np.float64, na_value=np.nan)
    return array


def _of_polars(values: Any) -> NDArray[Any] | None:
    dtype = str(values.dtype)
    if dtype.startswith(("Int", "UInt", "Float", "Boolean")) and "128" not in dtype:
        array = np.asarray(values.fill_null(0).to_numpy())
        return _with_nothing(array, values.is_null().to_numpy())
    if dtype.startswith(("Datetime", "Date")):
        found: NDArray[Any] = values.to_numpy()
        return found
    return None


def _of_arrow(values: Any) -> NDArray[Any] | None:
    declared = str(values.type)
    if declared.startswith(("int", "uint", "float", "double", "halffloat", "bool")):
        array = np.asarray(values.fill_null(False if declared == "bool" else 0))
        return _with_nothing(array, np.asarray(values.is_null()))
    if declared.startswith(("timestamp", "date")):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return None


def _with_nothing(array: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    return np.ma.MaskedArray(array, missing.astype(np.bool_))


def _named(values: Any) -> tuple[NDArray[np.int64], Sequence[Any]] | None:
    """A column of texts that its own library can number: places in a list, -1 where
    there is none. Columns of objects are not, as these may pretend to be equal.
    """
    room = type(values).__module__.partition(".")[0]
    if room == "pandas":
        return _named_by_pandas(values)
    if room == "pyarrow":
        return _named_by_arrow(values)
    return None


def _named_by_pandas(values: Any) -> tuple[NDArray[np.int64], Sequence[Any]] | None:
    name = type(values.dtype).__name__
    if name == "CategoricalDtype":
        plain = values.array if hasattr(values, "array") else values
        return np.asarray(plain.codes, np.int64), items_of(plain.categories)
    if name not in ("StringDtype", "ArrowDtype") or values.dtype.kind not in "OU":
        return None
    places, names = values.factorize()
    return np.asarray(places, np.int64), items_of(names)


def _named_by_arrow(values: Any) -> tuple[NDArray[np.int64], Sequence[Any]] | None:
    declared = str(values.type)
    if declared not in ("string", "large_string", "string_view"):
        return None
    plain = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    encoded = plain.dictionary_encode()
    chunks = getattr(encoded, "chunks", [encoded])
    if len(chunks) != 1:
        return None
    places = chunks[0].indices.fill_null(-1)
    return np.asarray(places, np.int64), chunks[0].dictionary.to_pylist()
