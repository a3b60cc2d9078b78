"""Calendar arithmetic on Python values as the engine does it, within the years 1 to
9999. Times have no zone.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, time, timedelta
from typing import Any, TypeVar

from dither.query.catalogue.types import Range

__all__ = [
    "DAY",
    "DAYS",
    "LENGTHS",
    "MICROSECONDS",
    "UNITS",
    "day",
    "difference",
    "later_days",
    "later_months",
    "midnight",
    "moment",
    "parse",
    "part",
    "place",
    "truncate",
]

Moment = TypeVar("Moment", date, datetime)

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times have no zone
DAY = 86_400_000_000
DAYS = Range((date.min - EPOCH.date()).days, (date.max - EPOCH.date()).days)
MICROSECONDS = Range(
    (date.min - EPOCH.date()).days * DAY, (date.max - EPOCH.date()).days * DAY + DAY - 1
)
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
MONTHS = {"year": 12, "quarter": 3, "month": 1}
LENGTHS = {"hour": DAY // 24, "minute": DAY // 1440, "second": DAY // 86400}
ISO = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?Z?)?",
    re.ASCII,
)


def day(number: int) -> date:
    """The date this number of days after 1970-01-01."""
    return EPOCH.date() + timedelta(days=number)


def moment(number: int) -> datetime:
    """The time this number of microseconds after 1970-01-01."""
    return EPOCH + timedelta(microseconds=number)


def place(value: date) -> int:
    """The inverse of `day` and `moment`: days, or microseconds for a time."""
    if isinstance(value, datetime):
        return (value - EPOCH) // timedelta(microseconds=1)
    return (value - EPOCH.date()).days


def midnight(value: date) -> datetime:
    return datetime.combine(value, time())


def parse(text: str) -> date | datetime | None:
    """An ISO date, or a date with a time; None if the text is neither."""
    found = ISO.fullmatch(text.strip())
    if found is None:
        return None
    *numbers, fraction = found.groups()
    try:
        if numbers[3] is None:
            return date(*map(int, numbers[:3]))
        year, month, day_, hour, minute, second = (
            int(number or 0) for number in numbers
        )
        return datetime(  # noqa: DTZ001 - times have no zone
            year,
            month,
            day_,
            hour,
            minute,
            second,
            int((fraction or "0").ljust(6, "0")),
        )
    except ValueError:
        return None


def part(value: date, name: str) -> int | float:
    """EXTRACT: a part of a date; `epoch` is in seconds since 1970."""
    if name in ("year", "month", "day"):
        return int(getattr(value, name))
    if name in ("hour", "minute", "second"):
        return int(getattr(value, name, 0))
    year, week, weekday = value.isocalendar()
    seconds = (
        place(value) / 1e6 if isinstance(value, datetime) else place(value) * 86400.0
    )
    return {
        "quarter": (value.month + 2) // 3,
        "dow": weekday % 7,
        "isodow": weekday,
        "doy": value.timetuple().tm_yday,
        "week": week,
        "isoyear": year,
        "decade": value.year // 10,
        "century": (value.year + 99) // 100,
        "epoch": seconds,
    }[name]


def truncate(value: Moment, unit: str) -> Moment:
    """DATE_TRUNC: the start of the year, quarter, month, week (Monday), day, hour,
    minute or second.
    """
    if unit in LENGTHS:
        return (
            moment(place(value) // LENGTHS[unit] * LENGTHS[unit])
            if isinstance(value, datetime)
            else value
        )
    start = value.date() if isinstance(value, datetime) else value
    if unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit in MONTHS:
        start = start.replace(
            month=(start.month - 1) // MONTHS[unit] * MONTHS[unit] + 1, day=1
        )
    return midnight(start) if isinstance(value, datetime) else start


def difference(unit: str, start: date, end: date) -> int:
    """DATE_DIFF: how many starts of the unit lie between; for weeks, how many whole
    weeks of days.
    """
    if unit in MONTHS:
        return _months(end) // MONTHS[unit] - _months(start) // MONTHS[unit]
    if unit in LENGTHS:
        return _count(end, LENGTHS[unit]) - _count(start, LENGTHS[unit])
    days = _count(end, DAY) - _count(start, DAY)
    return days if unit == "day" else (abs(days) // 7) * (1 if days > 0 else -1)


def _months(value: date) -> int:
    return value.year * 12 + value.month - 1


def _count(value: date, length: int) -> int:
    return (
        place(value) if isinstance(value, datetime) else place(value) * DAY
    ) // length


def later_days(value: Moment, days: int) -> Moment | None:
    """The date or time this number of days later; None outside of the years 1 to 9999."""
    try:
        return value + timedelta(days=days)
    except OverflowError:
        return None


def later_months(value: Moment, months: int) -> Moment | None:
    """The date or time this number of months later, on the month's last day if it has
    no such day; None if out of reach.
    """
    year, month = divmod(_months(value) + months, 12)
    if not 1 <= year <= 9999:
        return None
    fields: dict[str, Any] = {
        "day": min(value.day, calendar.monthrange(year, month + 1)[1])
    }
    return value.replace(year=year, month=month + 1, **fields)
