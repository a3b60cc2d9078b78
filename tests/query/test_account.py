"""Which account pays for a dataset, and where its book is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dither
from dither.query.account import beside, check_book, promise_of


@pytest.mark.parametrize(
    ("budget", "delta", "promise"),
    [
        (None, None, (None, None)),
        (3.0, None, (3.0, None)),
        (3.0, 1e-6, (3.0, 1e-6)),
        ((3.0, 1e-6), None, (3.0, 1e-6)),
    ],
)
def test_a_budget_is_stated_in_numbers(budget: Any, delta: Any, promise: Any) -> None:
    assert promise_of(budget, delta) == promise


@pytest.mark.parametrize("budget", [0, -1.0, True, (1.0, 2.0, 3.0), ((1.0,), 2.0)])
def test_a_budget_that_promises_nothing(budget: Any) -> None:
    with pytest.raises(dither.ArgumentError, match="budget"):
        promise_of(budget, None)


def test_a_delta_is_stated_once() -> None:
    with pytest.raises(dither.ArgumentError, match="pair"):
        promise_of((3.0, 1e-6), 1e-6)


def test_the_book_of_a_file_is_beside_it() -> None:
    assert beside(Path("a/visits.csv.gz")) == Path("a/visits.dither.db")
    assert beside(Path("a/*.parquet")) is None
    assert beside(None) is None


def test_kept_data_needs_a_book() -> None:
    check_book(False, None, None)
    check_book(True, dither.Budget(epsilon=1.0), None)
    check_book(True, 1.0, "book.db")
    with pytest.raises(dither.ArgumentError, match="ledger is missing"):
        check_book(True, 1.0, None)
