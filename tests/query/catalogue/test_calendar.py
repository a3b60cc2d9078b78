"""Calendar arithmetic, within the years 1 to 9999."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from dither.query.catalogue import calendar
from dither.query.catalogue.calendar import DAY, DAYS, MICROSECONDS


def test_ranges_are_the_whole_calendar() -> None:
    assert (DAYS.low, DAYS.high) == (calendar.place(date.min), calendar.place(date.max))
    assert calendar.moment(int(MICROSECONDS.low or 0)) == datetime(1, 1, 1)
    assert calendar.moment(int(MICROSECONDS.high or 0)) == (
        datetime(9999, 12, 31, 23, 59, 59, 999_999)
    )


@pytest.mark.parametrize("value", [date(2024, 2, 29), date.min, date.max])
def test_places_of_dates(value: date) -> None:
    assert calendar.day(calendar.place(value)) == value
    assert calendar.place(calendar.midnight(value)) == calendar.place(value) * DAY


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        (" 2024-2-9 ", date(2024, 2, 9)),
        ("2024-02-29 10:20", datetime(2024, 2, 29, 10, 20)),
        ("2024-02-29T10:20:30.5Z", datetime(2024, 2, 29, 10, 20, 30, 500_000)),
        ("2023-02-29", None),
        ("2024-02-29 25:00", None),
        ("29.02.2024", None),
    ],
)
def test_iso_texts(text: str, value: date | None) -> None:
    assert calendar.parse(text) == value


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("year", 2021), ("quarter", 1), ("month", 1), ("day", 3), ("dow", 0)),
        *(("isodow", 7), ("doy", 3), ("week", 53), ("isoyear", 2020), ("hour", 4)),
        *(("decade", 202), ("century", 21), ("epoch", 1609646400.0)),
    ],
)
def test_parts(name: str, found: float) -> None:
    assert calendar.part(datetime(2021, 1, 3, 4), name) == found


@pytest.mark.parametrize(
    ("unit", "start"),
    [
        ("year", datetime(2021, 1, 1)),
        ("quarter", datetime(2021, 7, 1)),
        ("week", datetime(2021, 8, 9)),
        ("day", datetime(2021, 8, 15)),
        ("hour", datetime(2021, 8, 15, 9)),
    ],
)
def test_starts_of_units(unit: str, start: datetime) -> None:
    assert calendar.truncate(datetime(2021, 8, 15, 9, 30), unit) == start


def test_differences_count_starts() -> None:
    new_year = date(2020, 12, 31), date(2021, 1, 1)
    assert [calendar.difference(unit, *new_year) for unit in ("year", "day")] == [1, 1]
    assert calendar.difference("week", date(2021, 1, 20), date(2021, 1, 1)) == -2
    assert calendar.difference("hour", date(2021, 1, 1), date(2021, 1, 2)) == 24


def test_later_and_out_of_reach() -> None:
    assert calendar.later_months(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert calendar.later_months(date(2024, 1, 31), 12 * 8000) is None
    assert calendar.later_days(date(2024, 2, 28), 1) == date(2024, 2, 29)
    assert calendar.later_days(date.max, 1) is None
