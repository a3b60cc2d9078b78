"""Private columns, read record by record: what becomes of one never depends on another
(rule R1).

Missing records (None, NaN, masked, null, and what is not a number) are taken out first,
so that they cannot change the type in which the others are read. A record that is not
exactly a float (a Decimal, a Fraction, a longdouble, a large integer) is kept as the
fraction it is (rule R33), apart from the others.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Kind
from dither.items import items_of as one_by_one
from dither.mechanisms.values import HIGH, LOW, ODD, WIDEST, exact, real

__all__ = ["Numbers", "are_floats", "count_present", "items_of", "numbers_of"]

Plain = NDArray[np.int64] | NDArray[np.float64]

DROPS = ("dropna", "drop_nulls", "drop_null")  # pandas, Polars, Arrow
LISTS = ("tolist", "to_list", "to_pylist")
FLOATS_COUNT = 1 << 53
"""Every integer up to this is a float."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of a column: those that an array holds, those that only a fraction
    does, and how many are missing.
    """

    plain: Plain
    exact: tuple[Fraction, ...] = ()
    missing: int = 0

    @property
    def size(self) -> int:
        return self.plain.size + len(self.exact)

    def each(
        self,
        floats: Callable[[NDArray[np.float64]], NDArray[Any]] | None,
        one: Callable[[Fraction], float],
    ) -> NDArray[Any]:
        """What becomes of every number as a real: a function of arrays for the floats,
        one of fractions for the others.

        Without the former, floats are fractions too.
        """
        reals = self.reals()
        exact = [one(item) for item in reals.exact]
        if floats is None:
            held = np.nan_to_num(reals.plain)  # infinities count as the largest float
            return np.array([*(one(Fraction(item)) for item in held.tolist()), *exact])
        found = floats(reals.plain.astype(np.float64, copy=False))
        return np.concatenate([found, np.array(exact, found.dtype)])

    def reals(self) -> Numbers:
        """Like the fast way, but integers that are not floats are treated as fractions."""
        if self.plain.dtype != np.int64:
            return self
        large = (self.plain > FLOATS_COUNT) | (self.plain < -FLOATS_COUNT)
        more = tuple(map(Fraction, self.plain[large].tolist()))
        return Numbers(
            self.plain[~large].astype(np.float64), self.exact + more, self.missing
        )


def are_floats(*bounds: float) -> bool:
    """Whether public bounds are floats exactly, so that arrays of floats can be
    compared with them.
    """
    return all(
        abs(bound) <= FLOATS_COUNT or isinstance(bound, float) for bound in bounds
    )


def items_of(column: Any) -> list[Any]:
    """The column as plain Python objects. A record that Python cannot hold, such as a
    date after the year 9999, is None, and changes nothing about the others (rule R1).
    """
    convert = next(
        (getattr(column, name) for name in LISTS if hasattr(column, name)), None
    )
    if convert is None:
        return list(column)
    try:
        return list(convert())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return list(one_by_one(column))


def numbers_of(column: Any, kind: Kind) -> Numbers:
    """The numbers that are there, and how many are not.

    The plain ones are int64 where the column is declared to hold integers or booleans,
    and float64 otherwise. Integers beyond 64 bits are treated as the nearest 64-bit
    integer in the former, and numbers beyond all floats as the largest one.
    """
    total = len(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = kind in (Kind.INTEGERS, Kind.TRUTHS)
        plain = _from_array(column, whole)
        if plain is not None:
            return Numbers(plain, (), total - plain.size)
        found = (
            Numbers(_integers(items_of(column))) if whole else _reals(items_of(column))
        )
    return Numbers(found.plain, found.exact, total - found.size)


def _from_array(column: Any, whole: bool) -> Plain | None:
    """The fast way, for columns of a numeric type; None for all others."""
    array = _without_missing(column)
    if (
        array is None
        or array.ndim != 1
        or array.dtype.kind not in ("biu" if whole else "bif")
    ):
        return None
    if array.dtype.itemsize > 8:
        return None
    if array.dtype.kind == "f":
        reals = array.astype(np.float64)
        return reals[~np.isnan(reals)]
    return (
        np.minimum(array, np.array(HIGH, np.uint64))
        if array.dtype.kind == "u"
        else array
    ).astype(np.int64)


def _without_missing(column: Any) -> NDArray[Any] | None:
    if isinstance(column, np.ma.MaskedArray):
        return np.asarray(column.compressed())
    if isinstance(column, np.ndarray):
        return np.asarray(column)
    drop = next(
        (getattr(column, name) for name in DROPS if hasattr(column, name)), None
    )
    return None if drop is None else np.asarray(drop())


def _reals(items: Iterable[Any]) -> Numbers:
    found = [number for item in items if (number := exact(item)) is not None]
    plain = [float(number) for number in found if _is_float(number)]
    others = [
        max(-WIDEST, min(WIDEST, Fraction(number)))
        for number in found
        if not _is_float(number)
    ]
    return Numbers(np.array(plain, np.float64), tuple(others))


def _is_float(number: float | Fraction) -> bool:
    return isinstance(number, float) or (
        isinstance(number, int) and abs(number) <= FLOATS_COUNT
    )


def _integers(items: Iterable[Any]) -> NDArray[np.int64]:
    found = [
        item
        for item in items
        if isinstance(item, int | np.integer | np.bool_) and not isinstance(item, ODD)
    ]
    return np.array([max(LOW, min(HIGH, int(item))) for item in found], np.int64)


def count_present(column: Any) -> int:
    """Number of records that are present: None, NaN, nulls and False are not."""
    if type(column) is np.ndarray and column.dtype.kind in "biuf":
        return (
            int(column.sum())
            if column.dtype.kind == "b"
            else column.size - int(np.isnan(column).sum())
        )
    return sum(not _absent(item) for item in items_of(column))


def _absent(item: Any) -> bool:
    if item is None or isinstance(item, bool | np.bool_):
        return not item
    if type(item).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    if isinstance(item, float | np.floating | Decimal):
        return (
            math.isnan(real(item)) if not isinstance(item, Decimal) else item.is_nan()
        )
    return False
