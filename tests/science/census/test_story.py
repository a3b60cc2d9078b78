"""One statistical office, one book: persons and households, a census and a query beside
it, and then nothing is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dither
from dither import BudgetExceeded, Ledger
from dither.errors import UnitMismatch
from dither.ledger.export import export
from dither.ledger.recheck import recheck
from dither.science import census
from tests.science.census.support import SEX, people, places

PERSON = census.unit("row", ["state"])
ANSWER = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def opened(book: Ledger, unit: Any = PERSON) -> dither.Dataset:
    return dither.open(
        pd.DataFrame(people()),
        name="people",
        unit=unit,
        keys={"sex": ["f", "m"]},
        budget=(6.0, 1e-6),
        ledger=book,
    )


def test_the_budget_of_a_census(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        data = opened(book)
        found = census.release(
            data,
            keys=places(),
            attributes=["sex"],
            invariants=["state"],
            rho=0.3,
            provenance="the register of addresses",
        )
        later = data.sql(ANSWER, epsilon=0.5)
        for one in (found, later, found.table("county"), found.union([("01",)])):
            assert "given the exact total of each state" in str(one.guarantee)
        spent = data.account.spent
        assert 0 < spent < 1
        with pytest.raises(BudgetExceeded):
            census.release(data, keys=places(), invariants=["state"], rho=1.0)
        assert data.account.spent == spent
        (again,) = recheck(export(book))
        assert again.spent.loss is not None

        homes = book.account(
            "homes", epsilon=2.0, delta=1e-6, unit=census.unit("household")
        )
        with pytest.raises(UnitMismatch):
            census.release(
                people(), keys=places(), unit="person", rho=0.05, budget=homes
            )
        counted = census.release(
            people(),
            keys=places(),
            attributes=SEX,
            unit="household",
            rho=0.05,
            budget=homes,
        )
        assert "one household (add/remove)" in str(counted.guarantee)
        assert data.account.spent == spent


def test_invariants_stay_when_the_book_is_opened_again(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        opened(book).close()
    with Ledger.open(tmp_path / "book.db") as book:
        found = census.release(
            opened(book), keys=places(), invariants=["state"], rho=0.1
        )
        assert found.guarantee.unit == PERSON
    with Ledger.open(tmp_path / "book.db") as book, pytest.raises(dither.LedgerError):
        opened(book, census.unit("row"))
