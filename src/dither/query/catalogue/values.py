"""Declared values: bounds and keys as a curator writes them, checked and in one form.

Bounds of dates and times are kept as days and microseconds since 1970 (`Range`), keys
as Python values of their type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import ANY, Range, Type

__all__ = [
    "bounds_of",
    "checked_range",
    "keys_of",
    "place_of",
    "type_of_bounds",
    "type_of_keys",
    "value_at",
    "value_of",
]

LARGEST_INTEGER = 1 << 56
LARGEST_REAL = 1e150
LARGEST_KEY = (1 << 63) - 1
MOST_KEYS = 100_000

WRITTEN = {
    Type.INTEGER: "a whole number",
    Type.REAL: "a number",
    Type.TEXT: "a string",
    Type.BOOLEAN: "true or false",
    Type.DATE: "a date such as 2024-12-31",
    Type.TIMESTAMP: "a time such as 2024-12-31T18:30:00",
}


def value_of(argument: str, value: Any, type_: Type) -> Any:
    """A declared value in the one form of its type; refused where it is not of that
    type.
    """
    found = _READERS[type_](value)
    if found is None:
        raise ArgumentError(
            argument,
            f"cannot contain {value!r:.60}; write {WRITTEN[type_]}, as the type "
            f"{type_} requires",
        )
    return found


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        return None


def _real(value: Any) -> float | None:
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        found = float(value)
    except (OverflowError, ValueError, TypeError):
        return None
    return found if math.isfinite(found) else None


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return (
        str(value)
        if value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)
        else None
    )


def _truth(value: Any) -> bool | None:
    return (
        bool(value)
        if isinstance(value, bool) or type(value).__name__ == "bool"
        else None
    )


def _date(value: Any) -> date | None:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    return (
        value if isinstance(value, date) and not isinstance(value, datetime) else None
    )


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    if not isinstance(value, datetime) or type(value).__name__ == "NaTType":
        return None
    return _in_utc(value)


def _in_utc(value: datetime) -> datetime | None:
    """Without a zone, in UTC; a value of a subclass becomes a plain one."""
    try:
        moment = value if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None
    return datetime.combine(
        date(moment.year, moment.month, moment.day), moment.time().replace(tzinfo=None)
    )


_READERS = {
    Type.INTEGER: _integer,
    Type.REAL: _real,
    Type.TEXT: _text,
    Type.BOOLEAN: _truth,
    Type.DATE: _date,
    Type.TIMESTAMP: _moment,
}


def place_of(value: Any, type_: Type) -> int | float:
    """A value in the numbers of a range: days and microseconds since 1970 for dates and
    times.
    """
    return dates.place(value) if type_ in (Type.DATE, Type.TIMESTAMP) else value


def value_at(place: float, type_: Type) -> Any:
    """The inverse of `place_of`."""
    if type_ is Type.DATE:
        return dates.day(int(place))
    return dates.moment(int(place)) if type_ is Type.TIMESTAMP else place


def bounds_of(argument: str, low: Any, high: Any, type_: Type) -> Range:
    """Bounds as written, as a range; None is not a bound on that side."""
    if type_ in (Type.TEXT, Type.BOOLEAN):
        raise ArgumentError(
            argument,
            f"cannot be given for the type {type_}; declare the column as a number "
            "or a date, or declare keys instead",
        )
    ends = (
        None if end is None else place_of(value_of(argument, end, type_), type_)
        for end in (low, high)
    )
    return checked_range(argument, Range(*ends), type_)


LIMITS = {
    Type.INTEGER: (Range(-LARGEST_INTEGER, LARGEST_INTEGER), "±2^56"),
    Type.REAL: (Range(-LARGEST_REAL, LARGEST_REAL), "±1e150"),
    Type.DATE: (dates.DAYS, "the years 1 to 9999"),
    Type.TIMESTAMP: (dates.MICROSECONDS, "the years 1 to 9999"),
}


def checked_range(argument: str, range_: Range, type_: Type) -> Range:
    """A range that a column of this type can have."""
    if range_ == ANY:
        return range_
    if type_ not in LIMITS:
        raise ArgumentError(
            argument,
            f"cannot have bounds, because its type is {type_}; leave them out, or "
            "declare keys instead",
        )
    limits, words = LIMITS[type_]
    for end in (range_.low, range_.high):
        whole = type_ is Type.REAL or isinstance(end, int)
        if end is not None and not (whole and limits.low <= end <= limits.high):  # type: ignore[operator]
            raise ArgumentError(
                argument, f"must be within {words}; declare narrower bounds"
            )
    if range_.low is not None and range_.high is not None and range_.low > range_.high:
        raise ArgumentError(
            argument, "cannot have a low bound above the high one; swap them"
        )
    return range_


def keys_of(
    argument: str, keys: Iterable[Any], type_: Type, range_: Range = ANY
) -> tuple[Any, ...]:
    """Public values in the one form of their type; None stands for NULL and comes last."""
    if isinstance(keys, str | bytes):
        raise ArgumentError(
            argument,
            'must be a list of values, not one string; write ["A", "B"]',
        )
    read = [None if key is None else value_of(argument, key, type_) for key in keys]
    found = tuple(sorted(read, key=lambda key: key is None))
    if not 0 < len(found) <= MOST_KEYS:
        raise ArgumentError(
            argument,
            f"must have between 1 and {MOST_KEYS:,} keys, not {len(found):,}; leave "
            "keys out if the values are not public",
        )
    if len(set(found)) < len(found):
        raise ArgumentError(
            argument, "must list each value once; remove the duplicates"
        )
    for key in found:
        _check_key(argument, key, type_, range_)
    return found


def _check_key(argument: str, key: Any, type_: Type, range_: Range) -> None:
    if key is None or type_ not in LIMITS:
        return
    place = place_of(key, type_)
    largest = LARGEST_KEY if type_ is Type.INTEGER else math.inf
    below = range_.low is not None and place < range_.low
    if (
        below
        or (range_.high is not None and place > range_.high)
        or not -largest <= place <= largest
    ):
        raise ArgumentError(
            argument,
            f"cannot have the key {key!s:.60}, which is outside the bounds and never "
            "occurs; leave it out",
        )


BOUND_TYPES = (Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP)
KEY_TYPES = (Type.BOOLEAN, Type.INTEGER, Type.DATE, Type.TIMESTAMP)


def type_of_bounds(argument: str, low: Any, high: Any) -> Type:
    """The type that two written bounds imply for their column: whole numbers, numbers,
    dates or times (rule R6).
    """
    ends = [end for end in (low, high) if end is not None]
    fits = (Type.REAL,) if any(isinstance(end, float) for end in ends) else BOUND_TYPES
    for type_ in fits:
        if ends and all(_READERS[type_](end) is not None for end in ends):
            return type_
    written = f"({low!r:.40}, {high!r:.40})"
    raise ArgumentError(
        argument,
        f"must be two numbers or two dates, not {written}; pass a low and a high one",
    )


def type_of_keys(argument: str, keys: Iterable[Any]) -> Type:
    """The type that written keys imply for their column: booleans, whole numbers,
    dates, times or strings (rule R6).
    """
    found = {_type_of(key) for key in keys if key is not None}
    type_ = found.pop() if len(found) == 1 else None
    if type_ is not None:
        return type_
    raise ArgumentError(
        argument,
        "must be all strings, all whole numbers, all dates or all booleans; "
        "declare the type if they are not",
    )


def _type_of(key: Any) -> Type | None:
    if isinstance(key, str):
        return Type.TEXT
    if isinstance(key, float):
        return None
    return next(
        (type_ for type_ in KEY_TYPES if _READERS[type_](key) is not None), None
    )
