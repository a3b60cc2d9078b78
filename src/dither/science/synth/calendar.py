"""Dates in public bins: days, weeks, months, quarters, years, or declared edges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.synth.arrays import day_numbers
from dither.science.synth.bins import between
from dither.science.synth.columns import INFERRED, NOWHERE, check_flag
from dither.science.synth.limits import check_size
from dither.science.synth.values import NOT_A_TIME, Codes, day_of

__all__ = ["LONGEST_STEPS", "STEPS", "Dates", "dates", "starts_of"]

EPOCH = date(1970, 1, 1)
WAY_OUT = 'pass two dates, such as dates("2020-01-01", "2024-12-31", by="month")'


@dataclass(frozen=True)
class Dates:
    """Days in bins. `starts` are the first days of the bins, `end` the last of all."""

    starts: tuple[date, ...]
    end: date
    missing: bool = False

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_size("dates", self.size)
        if not self.starts or not (np.diff(self._days) > 0).all():
            raise ArgumentError("dates", f"must increase; {WAY_OUT}")

    @property
    def kind(self) -> str:
        """ "date"."""
        return "date"

    @property
    def bins(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        return self.bins + self.missing

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The first and last day of each bin; None for missing."""
        after = [start - timedelta(days=1) for start in self.starts[1:]]
        pairs = zip(self.starts, [*after, self.end], strict=True)
        found = [f"{a}" if a == b else f"{a} to {b}" for a, b in pairs]
        return (*found, *([None] if self.missing else []))

    @cached_property
    def _days(self) -> NDArray[np.int64]:
        """The first days of the bins since 1970, and the day after the end."""
        found = [(day - EPOCH).days for day in (*self.starts, self.end)]
        return np.array([*found[:-1], found[-1] + 1], np.int64)

    @property
    def _nothing(self) -> int:
        return self.bins if self.missing else NOWHERE

    def place(self, item: Any) -> int:
        """The bin of one record; a day outside is in the first or last bin."""
        day = day_of(item)
        if day is None:
            return self._nothing
        return bisect_right(self._days[1:-1].tolist(), day)

    def code(self, values: Any) -> Codes:
        """The bin of each record of a column."""
        days = day_numbers(values)
        found = np.searchsorted(self._days[1:-1], days, side="right").astype(np.int32)
        found[days == NOT_A_TIME] = self._nothing
        return found

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """A day for each code, each of its bin as likely; NaT where it is missing."""
        bins = np.minimum(codes, self.bins - 1)
        low, high = (self._days[bins + i].astype(np.float64) for i in (0, 1))
        found = np.floor(between(low, high)).astype("datetime64[D]")
        found[codes >= self.bins] = np.datetime64("NaT")
        return found


def dates(
    start: Any = None,
    end: Any = None,
    *,
    by: str = "month",
    edges: Sequence[Any] | None = None,
    missing: bool = False,
) -> Dates:
    """A column of dates: `dates("2020-01-01", "2024-12-31", by="month")`.

    Bins are calendar days, weeks (from Monday), months, quarters or years between two
    days, both included; or lie between `edges`, of which the last belongs to the last
    bin. A record outside counts in the first or last bin. Of a time the day counts, in
    UTC if it has a zone; texts are read where they are ISO dates or times.

    Synthetic dates are drawn inside a bin, each day as likely. With `missing=True`,
    what is missing or is no date has a place of its own, and comes out as NaT; without
    it, its row counts for nobody.
    """
    if edges is not None:
        if start is not None or end is not None:
            raise ArgumentError(
                "edges",
                "cannot be combined with start and end; leave start and end out",
            )
        return _between_edges(edges, missing)
    if by not in STEPS:
        raise ArgumentError("by", f"must be one of {', '.join(map(repr, STEPS))}")
    first, last = _date("start", start), _date("end", end)
    if first > last:
        raise ArgumentError("end", f"must not be before start; {WAY_OUT}")
    check_size("dates", (last - first).days // LONGEST_STEPS[by])
    return Dates(tuple(starts_of(first, last, by)), last, missing)


def _between_edges(edges: Any, missing: bool) -> Dates:
    if not isinstance(edges, list | tuple):
        kind = type(edges).__name__
        words = f'cannot be of type {kind}: {INFERRED} ["2020-01-01", "2022-01-01"]'
        raise ArgumentError("edges", words)
    check_size("edges", len(edges) - 1)
    found = [_date("edges", one) for one in edges]
    rising = all(low < high for low, high in pairwise(found))
    if len(found) < 2 or not rising:
        raise ArgumentError(
            "edges",
            'must be two or more increasing dates, such as ["2020-01-01", "2022-01-01"]',
        )
    return Dates(tuple(found[:-1]), found[-1], missing)


def _date(argument: str, given: Any) -> date:
    if isinstance(given, str):
        try:
            return date.fromisoformat(given)
        except ValueError:
            pass
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    raise ArgumentError(argument, f"must be given as ISO dates; {WAY_OUT}")


def _next_month(day: date, months: int) -> date:
    """The first day of the run of so many months after the one that the day is in."""
    month = (day.month - 1) // months * months + months
    return date(day.year + month // 12, month % 12 + 1, 1)


STEPS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day + timedelta(days=1),
    "week": lambda day: day + timedelta(days=7 - day.weekday()),
    "month": lambda day: _next_month(day, 1),
    "quarter": lambda day: _next_month(day, 3),
    "year": lambda day: date(day.year + 1, 1, 1),
}
"""The first day of the next bin, for each length of bins."""
LONGEST_STEPS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
"""Days of the longest bin."""


def starts_of(first: date, last: date, by: str) -> list[date]:
    """The first day of each bin."""
    found = [first]
    while True:
        try:
            following = STEPS[by](found[-1])
        except (OverflowError, ValueError):  # beyond the year 9999
            return found
        if following > last:
            return found
        found.append(following)
