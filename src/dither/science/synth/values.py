"""What one private record holds, read by itself: a number, a label or a day.

One odd record can change the type in which a reader holds all others (numbers become
reals, or strings), so the interpretation of a record must not depend on that type (rule
R1): a string of a number or a boolean is read as that, a boolean is 0 or 1, and every
number is the nearest float.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms.values import real

__all__ = [
    "EXACT",
    "NOT_A_TIME",
    "Codes",
    "coded",
    "day_of",
    "days",
    "label_of",
    "number_of",
    "text_of",
]

Codes = NDArray[np.int32]

EXACT = 2**53
"""Floats below it are the whole numbers that they seem to be."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DAY = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?",
    re.ASCII,
)
TRUTHS = {"true": 1.0, "false": 0.0}
INFINITE = ("inf", "infinity")
PLAIN = frozenset({str, bytes, int, float, bool, type(None), date})
"""Types whose equal values are read alike, whatever else a column holds. (Not all
decimals can be looked up: a signalling NaN raises.)
"""
EPOCH = date(1970, 1, 1)


def number_of(item: Any) -> float:
    """One record as the nearest float; NaN where it is not a number."""
    try:
        if isinstance(item, str | bytes):
            return _number_in(_text(item))
        if isinstance(item, complex | np.complexfloating):
            return float(item.real) if item.imag == 0 else math.nan
        return real(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return math.nan


def _text(item: str | bytes) -> str:
    if isinstance(item, bytes):
        return bytes.decode(item, "utf-8", "replace")
    return str.__str__(item)  # whatever a class of its own says


def _number_in(text: str) -> float:
    word = text.strip().casefold()
    if word in TRUTHS:
        return TRUTHS[word]
    if NUMBER.fullmatch(word):
        return float(word)
    unsigned = word[1:] if word[:1] in ("+", "-") else word
    if unsigned in INFINITE:
        return -math.inf if word.startswith("-") else math.inf
    return math.nan


def label_of(item: Any) -> str | None:
    """One record as it is compared with declared categories; None if it is missing or
    has no label.
    """
    try:
        return _label_of(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return None


def _label_of(item: Any) -> str | None:
    value = number_of(item)
    if math.isfinite(value):
        whole = value.is_integer() and abs(value) < EXACT
        return str(int(value)) if whole else repr(value)
    if not isinstance(item, str | bytes):
        return None
    text = _text(item)
    word = text.strip().casefold().lstrip("+-")
    return None if word in (*INFINITE, "nan") else text


def text_of(item: Any) -> str | None:
    """One record as it is written, if it is a text; else its label."""
    try:
        return _text(item) if isinstance(item, str | bytes) else label_of(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return None


def day_of(item: Any) -> int | None:
    """One record as days since 1970; None if it is not a date. A time with a zone is
    the day that it is in UTC.
    """
    try:
        if isinstance(item, str | bytes):
            return _day_in(_text(item))
        if isinstance(item, np.datetime64):
            return None if np.isnat(item) else int(days(np.array([item]))[0])
        if isinstance(item, datetime):
            return _of_moment(item)
        return (item - EPOCH).days if isinstance(item, date) else None
    except KeyboardInterrupt:
        raise
    except BaseException:  # a missing time, a class of its own
        return None


def _of_moment(item: datetime) -> int:
    zone = item.utcoffset()
    day = (date(item.year, item.month, item.day) - EPOCH).days
    if zone is None:
        return day
    passed = timedelta(hours=item.hour, minutes=item.minute, seconds=item.second)
    return day + (passed - zone) // timedelta(days=1)


def _day_in(text: str) -> int | None:
    found = DAY.fullmatch(text.strip())
    if found is None:
        return None
    day = date(int(found[1]), int(found[2]), int(found[3]))
    if found[4] is None:
        return (day - EPOCH).days
    hours, minutes = int(found[4][1:3]), int(found[4][4:6])
    moment = datetime(day.year, day.month, day.day, hours, minutes, tzinfo=UTC)
    return _of_moment(moment.replace(tzinfo=_zone(found[7])))


def _zone(written: str | None) -> timezone:
    if written is None or written == "Z":
        return UTC
    sign = -1 if written[0] == "-" else 1
    digits = written[1:].replace(":", "").ljust(4, "0")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(sign * length)


UNITS = {"Y": 60_000, "M": 700_000, "W": 3_000_000}
"""How many units from 1970 a time in years, months or weeks may lie, so that its days
fit 64 bits; a later one is clamped to a bound anyway.
"""
NOT_A_TIME = np.iinfo(np.int64).min


def days(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Days since 1970 of numpy's times; `NOT_A_TIME` stays what it is."""
    unit = np.datetime_data(times.dtype)[0]
    if unit == "generic":
        return np.full(times.size, NOT_A_TIME)
    if unit in UNITS:
        whole = times.astype(f"datetime64[{unit}]").view(np.int64)
        most = UNITS[unit]
        near = np.where(whole == NOT_A_TIME, whole, np.clip(whole, -most, most))
        times = near.view(f"datetime64[{unit}]")
    found: NDArray[np.int64] = times.astype("datetime64[D]").view(np.int64)
    return found


class _Seen(dict[Any, int]):
    """The codes of values that were seen already."""

    def __init__(self, place: Callable[[Any], int]) -> None:
        self.place = place

    def __missing__(self, item: Any) -> int:
        code = self[item] = self.place(item)
        return code


def coded(items: Sequence[Any], place: Callable[[Any], int]) -> Codes:
    """The code of each item. Values of plain types are looked at once; an object of
    another class could pretend to equal them, so each is looked at by itself.
    """
    seen = _Seen(place)
    if set(map(type, items)) <= PLAIN:
        return _codes(map(seen.__getitem__, items), len(items))
    each = (seen[one] if type(one) in PLAIN else place(one) for one in items)
    return _codes(each, len(items))


def _codes(found: Iterable[int], count: int) -> Codes:
    return np.fromiter(found, np.int32, count)
