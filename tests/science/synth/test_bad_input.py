"""Bad questions are refused before any charge; odd data gets an answer like any other."""

from __future__ import annotations

import math
import warnings
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import Budget
from dither.errors import ArgumentError, DitherError
from dither.science import synth
from dither.science.synth import releasing
from tests.chance import chance
from tests.science.synth.tables import DOMAIN, people

WIDE = synth.numbers(edges=list(range(3001)))
BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"domain": None}, "declared and never read off"),
    ({"domain": pd.DataFrame(people(5))}, "declared and never read off"),
    ({"domain": {"age": WIDE, "sex": WIDE}}, "9,000,000|9,000,"),
    ({"domain": {"height": ["tall", "short"]}}, "no column 'height'"),
    ({"pairs": [("age", "height")]}, "no column 'height'"),
    ({"pairs": [("age", "smoke")]}, "did you mean 'smokes'"),
    ({"pairs": [("age", "age")]}, "two different columns"),
    ({"pairs": [("age",)]}, "two columns each"),
    ({"pairs": "age"}, "must be a list"),
    ({"pairs": ["ab"]}, "two columns each"),
    ({"pairs": [("age", "sex"), ("sex", "age")]}, "name each pair once"),
    ({"pairs": [("age", "sex"), ("sex", "visit"), ("visit", "age")]}, "closes a cycle"),
    ({"n": -1}, "whole number of rows"),
    ({"n": 2.5}, "whole number of rows"),
    ({"n": True}, "whole number of rows"),
    ({"n": 10**12}, "whole number of rows"),
    ({"check": 0.9}, "between 0 and 0.5"),
    ({"check": "yes"}, "check"),
    ({"rows": 3}, "pass owner="),
    ({"owner": "patient"}, "no column 'patient'"),
    ({"owner": list("abcde")}, "rows"),
    ({"owner": list("abcde"), "rows": 0}, "rows"),
    ({"owner": list("abc"), "rows": 1}, "of equal length"),
    ({"owner": np.arange(5) / 2, "rows": 1}, "floats merge"),
    ({"name": "visits"}, "leave table out"),
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": -1}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": 1e-300}, "epsilon|too small"),
    ({"epsilon": None}, "cost|epsilon"),
    ({"error": 5}, "error"),
    ({"seed": 7}, "no argument 'seed'"),
)


@pytest.mark.parametrize(("change", "words"), BAD)
def test_bad_questions_cost_nothing(change: dict[str, Any], words: str) -> None:
    budget = Budget(epsilon=1)
    asked = {"domain": DOMAIN, "epsilon": 0.5, "budget": budget} | change
    with pytest.raises(ArgumentError, match=words):
        synth.mst(people(5), **asked)
    assert budget.spent == 0


@pytest.mark.parametrize("table", [None, 7, "rows.csv", [1, 2], np.zeros((3, 4))])
def test_what_is_no_table(table: Any) -> None:
    budget = Budget(epsilon=1)
    with pytest.raises(ArgumentError, match="table"):
        synth.mst(table, domain=DOMAIN, epsilon=0.5, budget=budget)
    assert budget.spent == 0


def test_a_domain_too_large_for_memory_is_refused_with_its_size() -> None:
    """Before any charge, and before anything of that size is made."""
    budget = Budget(epsilon=1)
    large = {
        "a": synth.numbers(list(range(60_001))),
        "b": synth.numbers(list(range(60_001))),
    }
    with pytest.raises(ArgumentError, match="3,600,000,000"):
        synth.mst({"a": [1], "b": [1]}, domain=large, epsilon=1, budget=budget)
    assert budget.spent == 0


def test_a_book_is_no_budget() -> None:
    with pytest.raises(DitherError, match="budget"):
        synth.mst(people(5), domain=DOMAIN, epsilon=1, budget=7)


def same(table: dict[str, Any], **cost: Any) -> synth.Synthetic:
    """An answer without a word, charged like any other."""
    budget = Budget(epsilon=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = synth.mst(table, domain=DOMAIN, epsilon=0.5, budget=budget, **cost)
    assert budget.charges == 1
    plain = synth.mst(people(5), domain=DOMAIN, epsilon=0.5, **cost)
    assert found.notes == plain.notes
    assert found.guarantee == plain.guarantee
    assert found.columns == plain.columns
    assert [one.columns for one in found.report().errors] == [
        one.columns for one in plain.report().errors
    ]
    assert found.to_pandas().dtypes.equals(plain.to_pandas().dtypes)
    return found


def odd(n: int, **columns: Any) -> dict[str, Any]:
    return people(n) | columns


NOTHING: list[Any] = [None, math.nan, math.inf, -math.inf, "", "x", pd.NA, pd.NaT]
STRANGE: list[Any] = [
    10**400,
    Decimal("sNaN"),
    1j,
    b"\xff",
    object(),
    [1],
    date.min,
    True,
]


@pytest.mark.parametrize(
    "table",
    [
        odd(0),
        odd(1),
        {name: [] for name in people(0)},
        odd(8, age=NOTHING),
        odd(8, age=STRANGE),
        odd(8, sex=NOTHING),
        odd(8, sex=STRANGE),
        odd(8, visit=NOTHING),
        odd(8, visit=STRANGE),
        odd(8, smokes=STRANGE),
        odd(3, age=[2**63, -(2**70), 5]),
        odd(4, age=np.full(4, np.nan)),
        odd(4, sex=["f"] * 4, smokes=[True] * 4),
    ],
    ids=range(13),
)
def test_odd_data_gets_an_answer_like_any_other(table: dict[str, Any]) -> None:
    found = same(table)
    assert str(found)
    found.marginal("age", "sex")
    found.plot().svg()


def test_rows_outside_of_the_domain_count_for_nobody() -> None:
    """1,000 rows of 4,000 have a sex that is not declared; noise is below 40 rows."""
    table = people(4000)
    table["sex"][:1000] = "x"
    found = synth.mst(table, domain=DOMAIN, rho=20)
    assert found.total == pytest.approx(3000, abs=40)
    assert set(found["sex"]) == {"f", "m"}


def test_one_odd_record_changes_no_other() -> None:
    """A text among numbers makes a column of objects; the others count as before."""
    table = people(2000)
    mixed = table | {"age": [*table["age"][:-1].tolist(), "unknown"]}
    codes = DOMAIN.code(table)[:-1]
    assert (DOMAIN.code(mixed)[:-1] == codes).all()
    found = synth.mst(mixed, domain=DOMAIN, rho=20)
    assert found.total == pytest.approx(1999, abs=40)


@pytest.mark.parametrize("check", [0, 0.05])
def test_a_table_of_one_column(check: Any) -> None:
    table = {"sex": ["f"] * 600 + ["m"] * 400}
    found = synth.mst(table, domain={"sex": ["f", "m"]}, rho=2, check=check)
    assert found.edges == ()
    assert found.columns == ("sex",)
    assert found.total == pytest.approx(1000, abs=30)
    assert abs(np.mean(found["sex"] == "f") - 0.6) < 0.05
    assert "no pairs" in str(found)
    assert found.report().mean(2) is None
    found.plot().svg()


def test_a_domain_of_one_cell() -> None:
    found = synth.mst({"a": ["x"] * 50}, domain={"a": ["x"]}, rho=2)
    assert set(found["a"]) <= {"x"}
    two = synth.mst({"a": ["x"], "b": ["y"]}, domain={"a": ["x"], "b": ["y"]}, rho=2)
    assert set(two.rows) <= {("x", "y")}
    assert two.marginal("a", "b").rows


@chance(1e-8)
def test_an_empty_table_may_come_out_with_rows() -> None:
    """Whether it is empty is private: noise decides how many rows there are."""
    sizes = {len(synth.mst(people(0), domain=DOMAIN, epsilon=0.1)) for _ in range(40)}
    assert len(sizes) > 3


@chance(1e-8)
def test_noise_cannot_make_a_table_that_fits_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At such a cost noise decides: in the second case the number of rows is below 500
    as often as above.
    """
    found = synth.mst(people(5), domain=DOMAIN, rho=1e-13, n=10)
    assert len(found) == 10
    monkeypatch.setattr(releasing, "MOST_MADE", 500)
    sizes = {
        len(synth.mst({"a": ["x"]}, domain={"a": ["x", "y"]}, rho=1e-13))
        for _ in range(28)
    }
    assert max(sizes) == 500


def test_names_that_are_none() -> None:
    found = synth.mst(people(50), domain=DOMAIN, rho=1)
    with pytest.raises(ArgumentError, match="use one of 'age'"):
        found["height"]
    with pytest.raises(ArgumentError, match="did you mean 'smokes'"):
        found.marginal("smoke")
    for wrong in ((), ("age", "sex", "smokes"), ("age", "age")):
        with pytest.raises(ArgumentError, match="one column or two"):
            found.marginal(*wrong)
