"""Python objects as texts: each by itself, equal numbers alike, different ones apart."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.query.engines.duckdb.readers.frame_objects import text_of, texts_of

NOON = datetime(2024, 2, 29, 12)
EAST = timezone(timedelta(hours=14))


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("x", "x"),
        ("é\0", "é\0"),
        ("\ud800x", None),
        ("\ud83d\ude00", None),
        (np.str_("a"), "a"),
        (True, "true"),
        (np.False_, "false"),
        (7, "7"),
        (np.uint8(7), "7"),
        pytest.param(10**5000, None, id="huge"),
        (2**127, str(2**127)),
        (0.5, "0.5"),
        (7.0, "7"),
        (-0.0, "0"),
        (1e22, "1" + "0" * 22),
        (1e300, "1e+300"),
        (np.float32(0.5), "0.5"),
        (np.longdouble(2**53) + 1, str(2**53 + 1)),
        (float("nan"), None),
        (float("inf"), "inf"),
        (Decimal("0.50"), "0.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.00"), "0"),
        (Decimal("9007199254740992.6"), "9007199254740992.6"),
        (Decimal("1E+999999"), None),
        (Decimal("0E+999999"), "0"),
        (Decimal("nan"), None),
        (Decimal("snan"), None),
        (Decimal("inf"), None),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (date(2024, 2, 29), "2024-02-29"),
        (NOON, "2024-02-29 12:00:00"),
        (NOON.replace(microsecond=120_000), "2024-02-29 12:00:00.12"),
        (NOON.replace(tzinfo=EAST), "2024-02-28 22:00:00"),
        (datetime(1, 1, 1, tzinfo=EAST), None),
        (datetime(9999, 12, 31, tzinfo=UTC), "9999-12-31 00:00:00"),
        (
            pd.Timestamp("2024-02-29 12:00:00.123456789"),
            "2024-02-29 12:00:00.123456789",
        ),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (b"x", None),
        ([1], None),
        (Fraction(1, 2), None),
        (object(), None),
    ],
)
def test_objects_as_text(item: Any, text: str | None) -> None:
    assert text_of(item) == text
    assert texts_of([item]) == [text]


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.integers(0, 50).map(lambda n: 2**53 + n / 8),
    st.integers(0, 50).map(lambda n: Decimal(2**53) + Decimal(n) / 8),
)


@given(NUMBERS, NUMBERS)
def test_two_numbers_have_one_text_only_if_they_are_equal(one: Any, other: Any) -> None:
    same = text_of(one) == text_of(other)
    if one == other:
        assert same
    elif type(one) is type(other) or isinstance(one, int) or isinstance(other, int):
        assert not same


@given(st.text(), st.text())
def test_two_texts_are_never_one(one: str, other: str) -> None:
    assert text_of(one) in (one, None)
    assert text_of(one) is None or one == other or text_of(one) != text_of(other)
