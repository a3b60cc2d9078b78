"""Values are one item however they are typed, and everything else is "none"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.domain import Domain, canonical
from dither.local.words import FRESH
from tests.chance import chance


@pytest.mark.parametrize(
    ("one", "other"),
    [("é", "e\u0301"), ("Å", "\u212b"), (1, np.int64(1)), (True, np.True_)],
)
def test_one_value_in_two_forms(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(other) is not None


@pytest.mark.parametrize(
    "value", ["", "\ud800", "a\udfff", None, 1.5, float("nan"), b"a", object(), [1]]
)
def test_what_is_no_value(value: Any) -> None:
    assert canonical(value) is None
    domain = Domain(("a", 1, True))
    assert domain.place(value) == -1
    assert domain.places([value], FRESH).tolist() == [3]


def test_modifiers_make_another_emoji() -> None:
    domain = Domain(("👍", "👍🏽", "❤", "❤️"))
    assert domain.places(["👍🏽", "❤️", "👍", "❤"], FRESH).tolist() == [1, 3, 0, 2]


def test_1_and_true_and_the_text_are_three_values() -> None:
    domain = Domain((1, True, "1"), none=False)
    assert [domain.place(value) for value in (True, "1", 1)] == [1, 2, 0]


@chance(1e-14)
def test_without_none_other_values_are_random_items() -> None:
    found = Domain(("a", "b"), none=False).places(["?"] * 4000, FRESH)
    assert np.bincount(found) == pytest.approx([2000, 2000], abs=250)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((), "is empty"),
        (("a", "a"), "twice"),
        (("é", "e\u0301"), "twice"),
        (("a", ""), "not a valid value"),
        (("\ud800",), "not a valid value"),
        ((1.5,), "not a valid value"),
        ((None,), "not a valid value"),
    ],
)
def test_what_is_no_domain(values: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Domain(values)


def test_one_text_is_no_list_of_values() -> None:
    with pytest.raises(ArgumentError, match="not one string"):
        Domain(("a",)).places("a", FRESH)
