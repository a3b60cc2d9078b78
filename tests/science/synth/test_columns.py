"""Declared columns: what they refuse, how they read each record by itself, and what
they draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import ArgumentError
from dither.science.synth import booleans, categories, dates, numbers
from dither.science.synth.columns import Column
from dither.science.synth.limits import MOST_SIZE
from tests.chance import chance

WEST = timezone(timedelta(hours=-5))


class Pretender:
    """Equals everything, and raises where it is looked at."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("a")

    def __float__(self) -> float:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


class Bytes(bytes):
    def decode(self, *_: Any) -> Any:
        raise ValueError("a value of the data")


class Hidden:
    @property
    def __class__(self) -> Any:
        raise ValueError("a value of the data")


def test_records_of_odd_classes_do_not_raise() -> None:
    named = categories(["a", "x"], other="x", missing=True)
    odd = ["a", Bytes(b"a"), Hidden()]
    assert named.code(odd).tolist() == [0, 0, 2]
    assert booleans().code([True, Bytes(b"true"), Hidden()]).tolist() == [1, 1, -1]
    assert numbers([0, 1, 2]).code([1, Bytes(b"1"), Hidden()]).tolist() == [1, 1, -1]
    whole = dates("2020-01-01", "2020-12-31", by="year")
    assert whole.code([date(2020, 1, 1), Bytes(b"2020-02-01"), Hidden()]).tolist() == [
        *(0, 0, -1)
    ]


def test_a_length_of_time_does_not_change_how_numbers_are_read() -> None:
    held = np.array([1, 0, np.timedelta64(1, "D"), np.timedelta64("NaT")])
    assert held.dtype.kind == "m"
    assert numbers([0, 1, 2], missing=True).code(held).tolist() == [1, 0, 1, 2]
    assert booleans().code(held).tolist() == [1, 0, 1, -1]
    hidden = np.ma.MaskedArray(held, [True, False, False, False])
    assert categories([0, 1]).code(hidden).tolist() == [-1, 0, 1, -1]


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError

    def strip(self, *_: Any) -> str:
        raise RuntimeError


ODD: list[Any] = [
    *(None, np.nan, np.inf, -np.inf, pd.NA, pd.NaT, True, np.True_, 1j, 1 + 0j),
    *(Decimal(1), Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"), Fraction(1, 3)),
    *(np.float32(0.1), np.int8(3), np.longdouble("0.1"), 2**53 + 1, 2**64, 10**400),
    *("3", "x", "", b"a", "nan", "inf", "true", "9" * 5000, "\ud800", Loud("a")),
    *(date(2021, 3, 4), datetime(2021, 3, 4, 23, 30, tzinfo=WEST)),
    *("2021-03-04", "2021-03-04T23:30:00-05:00", "2021-13-04", "2021-03-04T25:00"),
    *(pd.Timestamp("2021-03-04", tz="Asia/Tokyo"), np.datetime64("NaT")),
    *(np.datetime64("2021-03-04T01", "h"), np.datetime64("99999", "Y")),
    *([1], {"a": 1}, (1,), np.array([1, 2]), np.array(3), object(), Pretender()),
]
BASES: dict[str, tuple[Column, list[Any]]] = {
    "texts": (
        categories(["a", "b", "1.5", "7"], other="else", missing=True),
        ["a", "b", "zz", "7"],
    ),
    "wholes": (categories([1, 2, 3], missing=True), [1, 2, 3, 9]),
    "numbers": (numbers([0, 1, 2.5, 10], missing=True), [0, 1, 2, 2, 10, 11]),
    "reals": (numbers([0, 1, 2.5, 10], missing=True), [0.5, 1.0, 2.0, 2.5, 1e300]),
    "booleans": (booleans(missing=True), [True, False, True]),
    "days": (
        dates("2021-01-01", "2021-12-31", missing=True),
        [date(2021, 1, 31), date(2021, 2, 1), date(1, 1, 1), date(9999, 12, 31)],
    ),
    "times": (
        dates("2021-01-01", "2021-12-31", missing=True),
        [datetime(2021, 1, 31, 23, 59), datetime(2021, 2, 1), datetime(1900, 12, 31)],
    ),
}
MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy": np.array,
    "objects": lambda items: pd.Series(items, dtype=object).to_numpy(),
    "pandas": pd.Series,
    "pandas objects": lambda items: pd.Series(items, dtype=object),
    "pandas types": lambda items: pd.Series(items, dtype=object).convert_dtypes(),
    "index": pd.Index,
}


def made(make: Callable[[list[Any]], Any], items: list[Any]) -> Any:
    """A column as a reader would hold these; None where it cannot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = make(items)
    except Exception:
        return None
    flat = getattr(held, "ndim", 1) == 1 and len(held) == len(items)
    return held if flat else None


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("base", BASES)
def test_one_odd_record_never_changes_how_others_are_read(base: str, make: str) -> None:
    """Whatever type a reader then holds them all in."""
    column, items = BASES[base]
    want = [column.place(one) for one in items]
    looked = 0
    for odd in ODD:
        for at in (0, len(items)):
            held = made(MAKERS[make], [*items[:at], odd, *items[at:]])
            if held is None:
                continue
            found = column.code(held).tolist()
            del found[at]
            assert found == want
            looked += 1
    assert looked > len(ODD)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("base", BASES)
def test_an_odd_record_is_read_alike_everywhere(base: str, odd: Any) -> None:
    """By itself, in a list, and among objects."""
    column = BASES[base][0]
    want = column.place(odd)
    assert -1 <= want < column.size
    assert column.code([odd]).tolist() == [want]
    held = np.empty(1, object)
    held[0] = odd
    assert column.code(held).tolist() == [want]


COLUMNS: list[Column] = [
    categories(["a", "b", "1", "2.5"]),
    categories(["a", "b", "1"], other="b", missing=True),
    categories([0, 1, 2, -7], other=2),
    categories([5], missing=True),
    booleans(),
    numbers([-1.5, 0, 2, 100]),
    numbers([0, 3, 50], whole=True, missing=True),
    dates("2020-01-15", "2021-06-30", by="month"),
    dates(edges=["1999-12-31", "2020-02-29", "2022-01-01"], missing=True),
]
DTYPES = ["?", "i1", "u2", "i8", "u8", "f2", "f4", "f8", "c16", "longdouble"]
TIMES = ["D", "s", "ms", "us", "ns", "h", "W", "M", "Y"]
SMALL = st.lists(st.integers(-10, 120) | st.sampled_from([2**53 + 1, -(2**60)]))
REAL = st.lists(st.floats() | st.sampled_from([0.5, 1.0, 2.0, -7.0, 2.5, 1e16]))


def same_as_slow(column: Column, held: Any, items: list[Any]) -> None:
    want = [column.place(one) for one in items]
    assert column.code(held).tolist() == want
    assert column.code(held).dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(
    items=SMALL | REAL, column=st.sampled_from(COLUMNS), dtype=st.sampled_from(DTYPES)
)
def test_numbers_are_read_fast_as_they_are_read_one_by_one(
    items: list[Any], column: Column, dtype: str
) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.array(items, np.float64).astype(dtype)
    same_as_slow(column, array, list(array))
    masked = np.ma.MaskedArray(array, np.arange(array.size) % 3 == 0)
    same_as_slow(column, masked, masked.tolist())
    if dtype not in ("longdouble", "c16", "f2"):
        same_as_slow(column, pl.Series(array), list(array))
        same_as_slow(column, pa.array(array), list(array))
        same_as_slow(column, pd.Series(array), list(array))


@settings(max_examples=40, deadline=None)
@given(
    items=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)),
    column=st.sampled_from(COLUMNS),
)
def test_whole_numbers_with_gaps_are_read_alike(
    items: list[Any], column: Column
) -> None:
    same_as_slow(column, pd.Series(items, dtype="Int64"), items)
    same_as_slow(column, pd.Series(items, dtype="int64[pyarrow]"), items)
    same_as_slow(column, pl.Series(items, dtype=pl.Int64), items)
    same_as_slow(column, pa.chunked_array([pa.array(items, pa.int64())]), items)


TEXTS = st.lists(
    st.none()
    | st.text(max_size=4)
    | st.sampled_from(["a", "b", "1", " 1 ", "01", "2.50", "TRUE", "2020-03-05", "-7"])
)


@settings(max_examples=40, deadline=None)
@given(items=TEXTS, column=st.sampled_from(COLUMNS))
def test_texts_are_read_fast_as_they_are_read_one_by_one(
    items: list[Any], column: Column
) -> None:
    same_as_slow(column, items, items)
    same_as_slow(column, pd.Series(items, dtype="str"), items)
    same_as_slow(column, pd.Series(items, dtype=object).astype("category"), items)
    same_as_slow(column, pl.Series(items, dtype=pl.String), items)
    same_as_slow(column, pl.Series(items, dtype=pl.String).cast(pl.Categorical), items)
    same_as_slow(column, pa.array(items, pa.string()), items)
    same_as_slow(column, pa.array(items, pa.string()).dictionary_encode(), items)
    halves = [pa.array(items[:2], pa.string()), pa.array(items[2:], pa.string())]
    same_as_slow(column, pa.chunked_array(halves), items)


@settings(max_examples=40, deadline=None)
@given(
    days=st.lists(st.none() | st.integers(-100_000, 100_000)),
    unit=st.sampled_from(TIMES),
    column=st.sampled_from(COLUMNS),
)
def test_times_are_read_fast_as_they_are_read_one_by_one(
    days: list[int | None], unit: str, column: Column
) -> None:
    held = np.array([np.datetime64("NaT") if d is None else d for d in days], "M8[D]")
    array = held.astype(f"M8[{unit}]")
    same_as_slow(column, array, list(array))
    if unit in ("s", "ms", "us", "ns"):
        same_as_slow(column, pd.Series(array), list(array))
        same_as_slow(column, pa.array(array), list(array))
        zoned = pd.Series(array).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
        same_as_slow(column, zoned, list(array))


def test_days_are_those_of_utc_where_there_is_a_zone() -> None:
    column = dates("2021-03-01", "2021-03-31", by="day")
    late = datetime(2021, 3, 4, 23, 30, tzinfo=WEST)
    for one in (late, str(late), pd.Timestamp(late), late.astimezone(UTC)):
        assert column.labels[column.place(one)] == "2021-03-05"
    zoned = pd.Series([late, None])
    assert column.code(zoned).tolist() == [4, -1]
    assert column.code(pl.Series([late]).dt.convert_time_zone("Asia/Tokyo")) == [4]
    assert column.code(pa.array([late])).tolist() == [4]


def test_times_before_1970_and_far_away_have_their_day() -> None:
    column = dates("1960-01-01", "1979-12-31", by="day")
    times = np.array(["1969-12-31T23:59:59.9", "1970-01-01"], "M8[ns]")
    assert np.diff(column.code(times)).tolist() == [1]
    far = np.array([2**59, -(2**59)], np.int64)
    for unit in ("Y", "M", "W", "D", "s"):
        assert column.code(far.view(f"M8[{unit}]")).tolist() == [column.size - 1, 0]


def test_numbers_beyond_the_edges_count_at_the_edges() -> None:
    column = numbers([0, 18, 65, 110], whole=True)
    items = [-5, 0, 17.5, 18, 64, 65, 110, 111, np.inf, -np.inf, "1e3", 10**400]
    assert column.code(items).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2, 0, 2, 2]
    assert column.code([None, np.nan, "x", object()]).tolist() == [-1] * 4


def test_what_is_unknown_is_other_and_what_is_missing_is_missing() -> None:
    both = categories(["a", "b"], other="other", missing=True)
    assert both.labels == ("a", "b", "other", None)
    assert both.code(["b", "zz", None, np.nan, "other"]).tolist() == [1, 2, 3, 3, 2]
    folded = categories(["a", "else"], other="else")
    assert folded.code(["zz", None]).tolist() == [1, -1]
    neither = categories(["a", "b"])
    assert neither.code(["zz", None, "a"]).tolist() == [-1, -1, 0]


def test_numbers_texts_and_truths_are_one_label() -> None:
    column = categories([0, 1, 12])
    items = [True, "1", 1.0, "TRUE", " 01 ", Decimal(1), np.bool_(False), 12, "1.2e1"]
    assert column.code(items).tolist() == [1, 1, 1, 1, 1, 1, 0, 2, 2]


WRONG = [
    (lambda: categories([]), "1 to"),
    (lambda: categories("abc"), "write the values down"),
    (lambda: categories({"a", "b"}), "write the values down"),  # type: ignore[arg-type]
    (lambda: categories(np.array(["a"])), "write the values down"),  # type: ignore[arg-type]
    (lambda: categories(pd.Series(["a"])), "write the values down"),  # type: ignore[arg-type]
    (lambda: categories(["a", 1]), "all strings"),
    (lambda: categories([1, True]), "all strings"),
    (lambda: categories([0.5]), "numbers"),
    (lambda: categories(["a", None]), "all strings"),
    (lambda: categories(["nan"]), "all strings"),
    (lambda: categories([2**53]), "below 2"),
    (lambda: categories(["a", "a"]), "list each value once"),
    (lambda: categories(["1", "01"]), "list each value once"),
    (lambda: categories(["a"], other=3), "all strings"),
    (lambda: categories(["a"], missing=1), "True or False"),  # type: ignore[arg-type]
    (lambda: categories(range(MOST_SIZE + 1)), "1,000,000"),
    (lambda: categories(range(10**30)), "1,000,000"),
    (lambda: numbers(range(10**30)), "1,000,000"),
    (lambda: numbers([0, 1], density=(range(10**30), [1])), "1,000,000"),
    (lambda: numbers([1]), "two or more increasing numbers"),
    (lambda: numbers([1, 1]), "two or more increasing numbers"),
    (lambda: numbers([2, 1]), "two or more increasing numbers"),
    (lambda: numbers([0, np.nan]), "floats"),
    (lambda: numbers([0, np.inf]), "floats"),
    (lambda: numbers([0, 2**53 + 1]), "floats"),
    (lambda: numbers([0, "1"]), "floats"),  # type: ignore[list-item]
    (lambda: numbers([0, True]), "floats"),
    (lambda: numbers(pd.Series([0, 1])), "write the values down"),  # type: ignore[arg-type]
    (lambda: numbers([0, 0.5], whole=True), "whole"),
    (lambda: numbers([0, 1], density=3), "must be a pair of lists"),  # type: ignore[arg-type]
    (lambda: numbers([0, 1, 2], density=([0, 1], [1])), "fit"),
    (lambda: numbers([0, 1, 2], density=([0, 2], [1, 1])), "fit"),
    (lambda: numbers([0, 1, 2], density=([0, 1, 2], [1, -1])), "0 or more"),
    (lambda: numbers([0, 1, 2], density=([0, 1, 2], [0, 0])), "0 or more"),
    (lambda: numbers([0, 1, 2], density=([0, 1, 2], [0, 1])), "bin 0 to 1"),
    (dates, "start"),
    (lambda: dates("2020-01-01", "2019-01-01"), "before"),
    (lambda: dates("2020-01-01", "x"), "end"),
    (lambda: dates("2020-01-01", "2021-01-01", by="hour"), "one of"),
    (lambda: dates(edges=["2020-01-01"]), "two or more"),
    (lambda: dates(edges=["2020-01-01", "2020-01-01"]), "two or more increasing dates"),
    (lambda: dates("2020-01-01", edges=["2020-01-01"]), "leave"),
    (lambda: dates(edges=pd.Series(["2020-01-01"])), "write the values down"),
    (lambda: dates(date.min, date.max, by="day"), "1,000,000"),
    (lambda: dates(datetime(2020, 1, 1), "2021-01-01"), "start"),
]


@pytest.mark.parametrize(("make", "words"), WRONG)
def test_wrong_declarations_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column)[:40])
def test_what_is_drawn_lies_where_it_was_drawn(column: Column) -> None:
    """Coding what was decoded gives the codes again."""
    codes = np.repeat(np.arange(column.size, dtype=np.int32), 200)
    drawn = column.decode(codes)
    assert len(drawn) == codes.size
    again = column.code(drawn)
    assert (again == codes).all()


def test_values_have_the_declared_types() -> None:
    codes = np.array([0, 1, 2])
    assert categories(["a", "b"], missing=True).decode(codes).tolist() == [
        "a",
        "b",
        None,
    ]
    wholes = categories([7, 8], missing=True).decode(codes)
    assert wholes.dtype == np.int64
    assert wholes.tolist() == [7, 8, None]
    yes = booleans(missing=True).decode(codes)
    assert yes.dtype == np.bool_
    assert yes.tolist() == [False, True, None]
    assert booleans().decode(codes[:2]).tolist() == [False, True]
    reals = numbers([0, 1, 2], missing=True).decode(codes)
    assert reals.dtype == np.float64
    assert np.isnan(reals).tolist() == [False, False, True]
    assert numbers([0, 1, 2], whole=True).decode(codes[:1]).dtype == np.int64
    days = dates(edges=["2020-01-01", "2020-01-02", "2020-01-03"], missing=True)
    assert days.decode(codes).dtype == np.dtype("M8[D]")
    assert np.isnat(days.decode(codes)).tolist() == [False, False, True]


def shares_fit(drawn: Any, expected: dict[Any, float]) -> None:
    """Each share within 6 standard errors."""
    values, counts = np.unique(drawn, return_counts=True)
    assert set(values.tolist()) <= set(expected)
    found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    for value, share in expected.items():
        error = (share * (1 - share) * drawn.size) ** 0.5
        assert abs(found.get(value, 0) - share * drawn.size) <= 6 * error + 1e-9


@chance(5e-8)
def test_whole_numbers_and_days_are_drawn_evenly() -> None:
    codes = np.ones(50_000, np.int32)
    ages = numbers([0, 18, 21], whole=True).decode(codes)
    shares_fit(ages, dict.fromkeys((18, 19, 20, 21), 0.25))
    days = dates("2020-01-30", "2020-02-03").decode(codes)
    shares_fit(days, {date(2020, 2, i): 1 / 3 for i in (1, 2, 3)})


@chance(5e-8)
def test_reals_follow_the_declared_density() -> None:
    codes = np.zeros(50_000, np.int32)
    column = numbers([0, 3, 4], density=([0, 1, 2, 4], [3, 0, 2]))
    shares_fit(np.floor(column.decode(codes)), {0.0: 0.75, 1.0: 0.0, 2.0: 0.25})
    shares_fit(
        np.floor(4 * column.decode(codes + 1)), dict.fromkeys((12, 13, 14, 15), 0.25)
    )
    whole = numbers([0, 3, 5], whole=True, density=([0, 1, 5], [1, 5]))
    shares_fit(whole.decode(codes), dict.fromkeys((0, 1, 2), 1 / 3))


def test_calendar_bins_begin_where_the_calendar_does() -> None:
    weeks = dates("2024-01-03", "2024-01-16", by="week")
    assert weeks.labels == (
        "2024-01-03 to 2024-01-07",
        "2024-01-08 to 2024-01-14",
        "2024-01-15 to 2024-01-16",
    )
    quarters = dates("2024-02-10", "2024-10-01", by="quarter")
    assert [str(day) for day in quarters.starts] == [
        *("2024-02-10", "2024-04-01", "2024-07-01", "2024-10-01"),
    ]
    assert dates("9999-12-30", "9999-12-31", by="year").size == 1
    assert dates("2024-05-05", "2024-05-05", by="day").labels == ("2024-05-05",)
    edges = dates(edges=["2020-01-01", "2020-06-01", "2021-01-01"])
    assert edges.labels[-1] == "2020-06-01 to 2021-01-01"


def test_empty_columns_have_no_codes() -> None:
    held: list[Any] = [[], np.array([]), pd.Series([]), pl.Series([]), pa.array([])]
    held += [pd.Series([], dtype="str"), pa.chunked_array([], pa.string())]
    for column in COLUMNS:
        for one in held:
            assert column.code(one).shape == (0,)
