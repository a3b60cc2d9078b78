"""A private table: its intervals, its arithmetic, what it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

import dither
from dither.privacy import Composed, PureDP
from dither.release import Source
from dither.table import TableRelease

WARDS = (("A", 1023, 51.5), ("B", 7, 30.25), ("C", 0, None))


def spread(confidence: float) -> Sequence[Sequence[tuple[Any, Any] | None]]:
    wide = 10 * (1 if confidence <= 0.95 else 2)
    return [
        [None, (n - wide, n + wide), None if mean is None else (mean - 1, mean + 2)]
        for _, n, mean in WARDS
    ]


def by_ward(**more: Any) -> TableRelease:
    source = Source(PureDP(0.5))
    return TableRelease(
        ("ward", "n", "mean"),
        WARDS,
        (source,),
        spread,
        ("values were clipped",),
        **more,
    )


def one(value: Any = 42, ends: Any = (40, 44), **more: Any) -> TableRelease:
    return TableRelease(
        ("n",), ((value,),), (Source(PureDP(1.0)),), lambda _: [[ends]], **more
    )


def test_rows_and_columns() -> None:
    release = by_ward()
    assert len(release) == 3
    assert list(release) == list(WARDS)
    assert (release.is_key(0), release.is_key(1)) == (True, False)
    assert release.guarantee == PureDP(0.5)
    assert release.receipt is None


def test_several_sources_promise_together() -> None:
    sources = (Source(PureDP(0.5)), Source(PureDP(0.25)))
    release = TableRelease(("n",), ((1,),), sources, lambda _: [[(0, 2)]])
    assert isinstance(release.guarantee, Composed)
    assert release.receipt is None


def test_one_value() -> None:
    assert one().value == 42
    assert one().interval() == (40, 44)
    single = TableRelease(
        ("ward", "n"), (("A", 3),), (Source(PureDP(1.0)),), lambda _: [[None, (1, 5)]]
    )
    assert (single.value, single.interval(0.9)) == (3, (1, 5))
    assert one("text", None).value == "text"


def test_many_values_are_no_value() -> None:
    with pytest.raises(
        dither.ArgumentError, match=r"this one has 3 and 2.*release\['column'\]"
    ):
        _ = by_ward().value


def test_intervals_of_all_cells() -> None:
    found = by_ward().interval(0.99)
    assert found[0] == [None, (1003, 1043), (50.5, 53.5)]
    assert found[2][2] is None
    assert by_ward().interval()[0][1] == (1013, 1033)
    assert by_ward(confidence=0.99).interval()[0][1] == (1003, 1043)
    assert by_ward().at(0.99).interval() == found


@pytest.mark.parametrize("confidence", [0, 1, -1, math.nan, 2, "0.95x"])
def test_bad_confidence(confidence: Any) -> None:
    with pytest.raises(dither.ArgumentError, match="confidence"):
        by_ward().interval(confidence)
    with pytest.raises(dither.ArgumentError, match="confidence"):
        by_ward().at(confidence)


def test_a_column_is_a_release() -> None:
    column = by_ward()["n"]
    assert column.value.tolist() == [1023, 7, 0]
    assert column.keys == ("A", "B", "C")
    assert column["B"].interval() == (-3, 17)
    double = 2 * column
    assert np.asarray(double.interval()).tolist() == [[2026, -6, -20], [2066, 34, 20]]
    assert double.sources == column.sources


def test_a_missing_value_may_be_anything() -> None:
    column = by_ward()["mean"]
    assert math.isnan(column.value[2])
    assert column["C"].interval() == (-math.inf, math.inf)


def test_columns_of_one_table_share_their_source() -> None:
    release = by_ward()
    total = release["n"] * release["mean"]
    assert total.sources == release.sources
    assert total["A"].interval() == (1003 * 50.5, 1043 * 53.5)


def test_one_row_without_keys_gives_numbers() -> None:
    half = one()["n"] / 2
    assert (half.value, half.interval()) == (21, (20, 22))
    assert one()["n"].round().value == 42


def test_several_keys_name_a_row_together() -> None:
    rows = (("A", 2024, 5), ("B", 2024, 6))
    release = TableRelease(
        ("ward", "year", "n"),
        rows,
        (Source(PureDP(1.0)),),
        lambda _: [[None, None, (0, 9)]] * 2,
        keys=("ward", "year"),
    )
    assert release["n"].keys == (("A", 2024), ("B", 2024))
    assert release["year"].interval()[1].tolist() == [2024, 2024]
    assert "2024" in str(release)
    assert "2,024" not in str(release)


def test_wide_integers_are_numbers_too() -> None:
    assert one(1 << 70, (0, 1 << 71))["n"].value == float(1 << 70)


def test_unknown_and_unusable_columns() -> None:
    with pytest.raises(dither.ArgumentError, match="did you mean 'mean'"):
        by_ward()["meen"]
    with pytest.raises(dither.ArgumentError, match="name one of: 'ward', 'n', 'mean'"):
        by_ward()["zzz"]
    with pytest.raises(dither.ArgumentError, match="does not hold numbers"):
        by_ward()["ward"]


def test_round_leaves_keys_and_intervals_which_hold_the_rounded_values() -> None:
    release = by_ward().round(-1)
    assert release.rows == (("A", 1020, 50.0), ("B", 10, 30.0), ("C", 0, None))
    (_, count, mean), *others = by_ward().interval()
    assert mean == (50.5, 53.5)
    assert release.interval() == [[None, count, (50.0, 53.5)], *others]
    years = TableRelease(
        ("year", "n"), ((2024, 5),), (Source(PureDP(1.0)),), lambda _: [[None, (0, 9)]]
    )
    assert years.round(-1).rows == ((2024, 0),)
    assert by_ward().round(1).rows[1] == ("B", 7, 30.2)


def test_what_it_shows() -> None:
    assert str(by_ward()).splitlines() == [
        "ward          n                 mean",
        "A     1,023 ±10  51.5 (50.5 to 53.5)",
        "B         7 ±10  30.2 (29.2 to 32.3)",
        "C         0 ±10                 NULL",
        "95 % intervals for the true values, clamped to their declared bounds",
        "guarantee: ε = 0.5 (pure), protects one row (add/remove)",
        "cost: not charged to any account",
        "note: values were clipped",
    ]
    assert repr(by_ward()) == "<TableRelease ward, n, mean: 3 rows × 3 columns>"
    one = replace(by_ward(), columns=("n",), rows=((1,),))
    assert repr(one) == "<TableRelease n: 1 row × 1 column>"


def test_a_replay_says_so() -> None:
    assert "cost: nothing, this is the stored answer" in str(by_ward(replayed=True))
    assert "stored answer" not in str(by_ward())


def test_what_remains_may_come_from_the_account() -> None:
    """A table that does not know it is told: a replay at the command line."""
    lines = by_ward(replayed=True).about("80 %, for example …")
    assert lines[2:4] == [
        "cost: nothing, this is the stored answer",
        "remaining: 80 %, for example …",
    ]


def test_many_rows_are_cut() -> None:
    rows = tuple((key, key) for key in range(1045))
    release = TableRelease(
        ("k", "n"), rows, (Source(PureDP(1.0)),), lambda _: [[None, (0, 1)]] * 1045
    )
    assert "… and 1,005 more rows" in str(release)
    assert len(str(release).splitlines()) == 1 + 40 + 4
    assert release._repr_html_().count("<tr>") == 41


def test_no_rows_still_print() -> None:
    release = TableRelease(
        ("k", "n"), (), (Source(PureDP(1.0)),), lambda _: [], keys=("k",)
    )
    assert str(release).splitlines()[0] == "k  n"
    assert release["n"].value.tolist() == []
    assert len(release) == 0


def test_html_is_escaped_and_controls_written_out() -> None:
    release = TableRelease(
        ("<i>", "n"),
        (("<b>\x1b[0m", 1),),
        (Source(PureDP(1.0)),),
        lambda _: [[None, (0, 2)]],
        ("<u>note</u>",),
    )
    page = release._repr_html_()
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>", "\x1b"))
    assert "&lt;b&gt;" in page
    assert "\x1b" not in str(release)


def test_dates_are_shown() -> None:
    ends = (date(2024, 1, 1), date(2024, 1, 9))
    assert "2024-01-05 (2024-01-01 to 2024-01-09)" in str(one(date(2024, 1, 5), ends))


def test_plots() -> None:
    picture = by_ward().plot("n")
    assert picture.svg() == picture._repr_svg_()
    with pytest.raises(dither.ArgumentError, match="pass the name of the one to plot"):
        by_ward().plot()
    assert "42 ±2" in one().plot().svg()


def test_words_stand_where_a_value_is_missing() -> None:
    release = TableRelease(
        ("ward", "top"),
        (("A", 7), ("B", None)),
        (Source(PureDP(1.0)),),
        lambda _: [[None, (5, 9)], [None, (0, 9)]],
        words=((None, None), (None, "not enough rows: at most 9, declared")),
    )
    assert release.shown() == [
        ["A", "7 ±2"],
        ["B", "not enough rows: at most 9, declared"],
    ]
    assert release.round(1).shown() == release.shown()
    assert math.isnan(release["top"].value[1])
