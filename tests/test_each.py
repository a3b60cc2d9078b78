from __future__ import annotations

import pytest

from tests.each import each


def small(case: int) -> None:
    assert case < 3
    1 // case


def test_every_case_that_fails_is_named() -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        each([(f"case {n}", n) for n in (0, 1, 2, 7)], small)
    said = str(failure.value)
    assert said.startswith("2 of 4 cases failed\ncase 0: ZeroDivisionError: ")
    assert "\ncase 7: AssertionError: assert 7 < 3" in said
    assert "case 1" not in said


def test_cases_that_hold_are_silent_and_there_is_one() -> None:
    each([("one", 1)], small)
    with pytest.raises(AssertionError):
        each([], small)
