"""Private columns, read record by record: what becomes of one never depends on another (rule R1).

Missing records (None, NaN, masked, null, and what is no number) are taken out first, so that they cannot change the
type in which the others are read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Kind
from dither.mechanisms.values import HIGH, LOW, ODD, real

__all__ = ["count_present", "items_of", "numbers_of"]

Numbers = NDArray[np.int64] | NDArray[np.float64]

DROPS = ("dropna", "drop_nulls", "drop_null")  # pandas, Polars, Arrow
LISTS = ("tolist", "to_list", "to_pylist")


def items_of(column: Any) -> list[Any]:
    """The column as plain Python objects."""
    convert = next((getattr(column, name) for name in LISTS if hasattr(column, name)), None)
    return list(convert() if convert is not None else column)


def numbers_of(column: Any, kind: Kind) -> tuple[Numbers, int]:
    """The numbers that are there, and how many are not.

    They are int64 where the column is declared to hold integers or truths, and float64 otherwise. Integers beyond 64
    bits count as the nearest 64-bit integer.
    """
    total = len(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = kind in (Kind.INTEGERS, Kind.TRUTHS)
        values = _from_array(column, whole)
        if values is None:
            values = _integers(items_of(column)) if whole else _reals(items_of(column))
    return values, total - values.size


def _from_array(column: Any, whole: bool) -> Numbers | None:
    """The fast way, for columns of a numeric type; None for all others."""
    array = _without_missing(column)
    if array is None or array.ndim != 1 or array.dtype.kind not in ("biu" if whole else "biuf"):
        return None
    if not whole:
        reals = array.astype(np.float64)
        return reals[~np.isnan(reals)]
    return (np.minimum(array, np.array(HIGH, np.uint64)) if array.dtype.kind == "u" else array).astype(np.int64)


def _without_missing(column: Any) -> NDArray[Any] | None:
    if isinstance(column, np.ma.MaskedArray):
        return np.asarray(column.compressed())
    if isinstance(column, np.ndarray):
        return np.asarray(column)
    drop = next((getattr(column, name) for name in DROPS if hasattr(column, name)), None)
    return None if drop is None else np.asarray(drop())


def _reals(items: Iterable[Any]) -> NDArray[np.float64]:
    reals = np.array([real(item) for item in items], np.float64)
    return reals[~np.isnan(reals)]


def _integers(items: Iterable[Any]) -> NDArray[np.int64]:
    found = [item for item in items if isinstance(item, int | np.integer | np.bool_) and not isinstance(item, ODD)]
    return np.array([max(LOW, min(HIGH, int(item))) for item in found], np.int64)


def count_present(column: Any) -> int:
    """How many records are there: None, NaN, nulls and False are not."""
    if type(column) is np.ndarray and column.dtype.kind in "biuf":
        return int(column.sum()) if column.dtype.kind == "b" else column.size - int(np.isnan(column).sum())
    return sum(not _absent(item) for item in items_of(column))


def _absent(item: Any) -> bool:
    if item is None or isinstance(item, bool | np.bool_):
        return not item
    if type(item).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    if isinstance(item, float | np.floating | Decimal):
        return math.isnan(real(item)) if not isinstance(item, Decimal) else item.is_nan()
    return False
