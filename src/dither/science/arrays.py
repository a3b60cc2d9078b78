"""Whole columns at once, where their type is known: each record as by itself.

The fast ways are for types that numpy, pandas, Arrow or Polars declare. A column of
objects, or of a type that is not known here, is read record by record.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.items import items_of

__all__ = [
    "array_of",
    "booleans",
    "integers",
    "items_of",
    "named",
    "numeric",
    "quietly",
]

Reals = NDArray[np.float64]

NUMBERS = "?bhilqBHILQefdFD"
"""Types whose numbers are floats of 64 bits, or rounded to such as whole numbers are;
longer ones are read one by one.
"""


@contextmanager
def quietly() -> Iterator[None]:
    """Odd numbers must not warn, or fail where warnings are errors (rule R1)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def numeric(values: Any) -> Reals | None:
    """The nearest floats of a column that is declared to hold numbers or booleans."""
    array, missing = array_of(values), None
    if isinstance(array, np.ma.MaskedArray):
        array, missing = np.asarray(array.data), np.ma.getmaskarray(array)
    if array is None or array.dtype.char not in NUMBERS:
        return None
    if array.dtype.kind == "c":  # what numpy makes of reals beside a complex number
        array = np.where(array.imag == 0, array.real, np.nan)
    found = array.astype(np.float64)
    if missing is not None:
        found[missing] = np.nan
    return found


def booleans(values: Any) -> bool:
    """Whether a column is declared to hold booleans."""
    dtype = getattr(values, "dtype", getattr(values, "type", None))
    declared = str(dtype).lower().startswith("bool")
    return declared or getattr(dtype, "kind", "") == "b"


def integers(values: Any) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """A column that is declared to hold whole numbers of at most 64 bits, and which of
    its records are missing.
    """
    dtype: Any = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "-") in "iu" and hasattr(dtype, "numpy_dtype"):
        array = values.to_numpy(dtype.numpy_dtype, na_value=0)  # pandas' own
        return array, np.asarray(values.isna())
    array = array_of(values)
    if array is None or array.dtype.kind not in "iu":
        return None
    return np.asarray(array.data), np.ma.getmaskarray(array)


def array_of(values: Any) -> NDArray[Any] | None:
    """A column of numbers or times as an array of numpy; None for all others."""
    if isinstance(values, np.ndarray):
        return values if values.ndim == 1 else None
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


def named(values: Any) -> tuple[NDArray[np.int64], Sequence[Any]] | None:
    """A column of strings that its own library can number: places in a list, -1 if
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
    return np.asarray(places, np.int64), items_of(chunks[0].dictionary)
