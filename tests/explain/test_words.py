"""Numbers in words: a most is never below, a least never above."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.explain import words

shares = st.floats(1e-8, 1.0)


def value(text: str) -> Fraction:
    return Fraction(text.removesuffix(" %").replace(",", ""))


@settings(deadline=None)
@given(shares)
def test_percents_are_rounded_outwards(share: float) -> None:
    exact = 100 * Fraction(share)
    assert (
        exact * (1 - Fraction(1, 10**11))
        <= value(words.at_most(share))
        <= exact * Fraction(1001, 1000)
    )
    assert (
        exact * Fraction(999, 1000)
        <= value(words.at_least(share))
        <= exact * (1 + Fraction(1, 10**11))
    )


@pytest.mark.parametrize(
    ("share", "most", "least"),
    [
        (0.0, "0 %", "0 %"),
        (1.0, "100 %", "100 %"),
        (0.05, "5 %", "5 %"),
        (0.6224593, "62.25 %", "62.24 %"),
        (0.99999999, "100 %", "99.99 %"),
        (1e-12, "1e-10 %", "0 %"),
        (7.5, "750 %", "750 %"),
        (123.456, "12,350 %", "12,340 %"),
    ],
)
def test_percents(share: float, most: str, least: str) -> None:
    assert (words.at_most(share), words.at_least(share)) == (most, least)


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (0.0, "1"),
        (0.5, "1.649"),
        (5.0, "148.5"),
        (10.0, "22,030"),
        (20.0, "10^9"),
        (1e6, "10^434,295"),
        (1e300, "∞"),
    ],
)
def test_factors(loss: float, text: str) -> None:
    assert words.factor(loss) == text


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (0.0, "0"),
        (1e-6, "1 in 1,000,000"),
        (1.7065e-5, "1 in 58,000"),
        (0.02, "1 in 50"),
        (0.3, "30 %"),
        (1.0, "100 %"),
        (1e-30, "1 in 10^30"),
        (5e-324, "1 in 10^323"),
    ],
)
def test_chances(chance: float, text: str) -> None:
    assert words.one_in(chance) == text


@settings(deadline=None)
@given(st.floats(1e-12, 0.05))
def test_a_chance_is_never_made_smaller(chance: float) -> None:
    shown = 1 / int(words.one_in(chance).removeprefix("1 in ").replace(",", ""))
    assert chance * (1 - 1e-9) <= shown <= chance * 1.1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.5, "0.5"),
        (1.22801, "1.229"),
        (math.inf, "∞"),
        (1e12, "1e+12"),
        (3e-7, "3e-07"),
        (20000.0, "20,000"),
    ],
)
def test_plain_numbers(number: float, text: str) -> None:
    assert words.plain(number) == text


def test_stated_numbers_stay_as_they_were_stated() -> None:
    assert (
        words.share(0.5),
        words.share(0.001),
        words.tiny(1e-6),
        words.tiny(0.3),
    ) == (
        "50 %",
        "0.1 %",
        "1e-06",
        "0.3",
    )
