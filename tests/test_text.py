"""Numbers as people read them: enough digits, none too many, and nothing that a
terminal obeys.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from dither.text import (
    aligned,
    cell,
    clean,
    finite,
    number,
    percent,
    width_in_words,
    with_interval,
)

INF = math.inf


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (1023, (1011, 1035), "1,023 ±12"),
        (np.int64(7), (np.int64(5), np.int64(9)), "7 ±2"),
        (7, (4.7, 9.3), "7 ±3"),
        (51.5109, (51.1046, 51.9172), "51.51 ±0.41"),
        (268, (234, 301), "268 ±34"),
        (3, (0, 11), "3 (0 to 11)"),
        (2, (1.0, 2.0), "2 (1 to 2)"),
        (-18, (0.0, 11.0), "-18 (0 to 11)"),
        (-2103, (0.0, 0.0), "-2,103 (0 to 0)"),
        (2, (-math.inf, 2.5), "≈ 2, at most 2.5"),
        (0.5, (0.0, 0.6), "0.50 (0.00 to 0.60)"),
        (1234567.891, (1234000.0, 1235135.782), "1,234,568 ±568"),
        (0.00123, (0.0011, 0.00136), "0.00123 ±0.00013"),
        (1e20, (9e19, 1.1e20), "1e+20 ±1e+19"),
        (5.0, (-INF, INF), "≈ 5, no interval: declare rows"),
        (5, (5, 5), "5 ±0"),
        (2.5, (0.5, INF), "≈ 2.5, at least 0.5"),
        (None, (0.0, 1.0), "NULL (0 to 1)"),
        (math.nan, None, "NULL"),
        (True, None, "true"),
        (False, None, "false"),
        ("A", None, "A"),
        (
            date(2024, 2, 1),
            (date(2024, 1, 1), date(2024, 3, 1)),
            "2024-02-01 (2024-01-01 to 2024-03-01)",
        ),
        (datetime(2024, 2, 1, 10, 30, tzinfo=UTC), None, "2024-02-01T10:30:00+00:00"),
        (date(2024, 2, 1), (None, None), "≈ 2024-02-01, no interval: declare rows"),
        (1180, (1134, INF), "≈ 1,180, at least 1,134"),
        (118902.0, (113470.0, INF), "≈ 118,902, at least 113,470"),
        (5, (-INF, INF), "≈ 5, no interval: declare rows"),
    ],
)
def test_a_cell(value: Any, ends: Any, text: str) -> None:
    assert cell(value, ends) == text


def test_a_cell_whose_interval_was_cut_to_a_point_is_not_certain() -> None:
    assert cell(0, (0.0, 0.0)) == "0 ±0"
    assert cell(0, (0.0, 0.0), (-23.0, -3.0)) == "0 (0 to 0)"


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((8039, 9406), "8,298 (8,039 to 9,406)"),
        ((8039, 8298 + 777), "8,298 ±777"),
        ((8039, 8298 + 778), "8,298 (8,039 to 9,076)"),
    ],
)
def test_a_cell_is_lopsided_from_three_times_the_noise_on(ends: Any, text: str) -> None:
    assert cell(8298, ends, (8039, 8557)) == text


@pytest.mark.parametrize("show", [with_interval, cell])
def test_a_printed_interval_is_never_narrower(show: Any) -> None:
    for step in range(1, 2000):
        size = 10.0 ** (step % 13 - 4)
        value, below, above = size * math.sin(step), size / step, size / (step % 17 + 1)
        ends = value - below, value + above
        found = re.search(r"\((.*) to (.*)\)", show(value, ends))
        if found is None:
            assert show is cell  # one ± for both sides
            continue
        low, high = (float(end.replace(",", "")) for end in found.groups())
        room = 1e-5 * max(below, above)
        assert low <= ends[0] + room
        assert high >= ends[1] - room
        assert high - low <= 1.2 * (below + above)


def test_whole_reals_keep_their_zeros() -> None:
    assert number(113470.0) == "113,470"
    assert number(1e6) == "1,000,000"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-2.5, "-2.5"),
        (1 / 3, "0.333333"),
        (123456.789, "123,457"),
        (1e-20, "1e-20"),
        (-INF, "-∞"),
    ],
)
def test_a_real_alone_has_six_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_what_is_left_of_a_float_beside_its_error_is_zero() -> None:
    assert number(1.84857e-16, 3.0) == "0.0"
    assert number(-1.84857e-16, 3.0) == number(-0.04, 3.0) == "0.0"
    assert number(1e-16, 1e-16) == "1e-16"


@pytest.mark.parametrize("width", [0.1, 0.123, 1.0, 9.99, 10.001, 12345.6, 3e-7, 1e-12])
def test_an_error_is_never_shown_smaller_than_it_is(width: float) -> None:
    shown = float(width_in_words(width)[1:].replace(",", ""))
    assert width * (1 - 1e-6) <= shown <= width * 1.11


def test_widths_at_the_ends() -> None:
    assert [width_in_words(width) for width in (0.0, 5.0, INF, math.nan)] == [
        "±0",
        "±5",
        "±∞",
        "±∞",
    ]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1 / 6, "16.7 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.000123401, "0.0124 %"),
        (2.5, "250 %"),
    ],
)
def test_a_share_is_rounded_up(share: float, text: str) -> None:
    assert percent(share) == text


def test_control_characters_are_written_out() -> None:
    assert clean("a\x1b[31mb\n\u202ec") == "a\\x1b[31mb\\n\\u202ec"
    assert clean("größer 東京") == "größer 東京"


def test_columns_stand_below_each_other() -> None:
    assert aligned([["a", "n"], ["東京", "10"], ["e\u0301", "7"]], right=[1]) == [
        "a      n",
        "東京  10",
        "e\u0301      7",
    ]


def test_what_json_can_hold() -> None:
    values = [
        finite(value)
        for value in (INF, math.nan, np.int64(3), np.float64(0.5), True, None, "x")
    ]
    assert values == [None, None, 3, 0.5, True, None, "x"]
    assert finite(date(2024, 1, 2)) == "2024-01-02"
