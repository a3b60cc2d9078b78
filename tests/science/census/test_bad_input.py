"""Questions that cannot be answered are refused before the charge; data is never
refused, whatever it holds (rule R1).
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither.privacy import Unit
from dither.science import census
from dither.science.census.reading import source_of
from tests.science.census.support import SEX, asked, people, places

ODD = [
    None,
    float("nan"),
    float("inf"),
    "",
    "01 ",
    b"\xff",
    10**400,
    -(2**63),
    1.5,
    True,
    [1],
    {},
    Decimal("NaN"),
    Decimal("1e9999"),
    Fraction(1, 3),
    1j,
    date(2020, 1, 1),
    np.datetime64("NaT"),
    pd.NA,
    "x" * 10_000,
    "\ud800",
    "\0",
    object(),
]


def leaves(data: Any, attributes: Any = SEX) -> Any:
    from dither.science.census.attributes import attributes_of

    source = source_of(data, places(), attributes_of(attributes))
    return source.counted(None, 1, None).leaves  # type: ignore[arg-type]


@pytest.mark.parametrize("column", ["state", "county", "block", "sex"])
def test_odd_records_count_for_nobody_and_leave_others_alone(column: str) -> None:
    data = people(20)
    before = leaves(data)
    for odd in ODD:
        more = {name: [*held, held[0]] for name, held in data.items()}
        more[column][-1] = odd
        after = leaves(more)
        assert (after - before).min() >= 0
        known = (
            odd in (True, "01 ") and column in ("state", "county")
            if isinstance(odd, bool | str)
            else False
        )
        assert (after - before).sum() == int(known)


def test_how_a_reader_holds_a_column_does_not_matter() -> None:
    """One odd record makes texts or floats of a column, and all others count as
    before.
    """
    data = people(12)
    data["state"] = [int(one) for one in data["state"]]
    expected = leaves(data)
    for state in (
        np.array(data["state"], np.int8),
        np.array(data["state"], np.float32),
        np.array(data["state"]).astype(str),
        np.array(data["state"], object),
        pd.Series(data["state"], dtype="Int32"),
        pd.Series(data["state"]).astype("string"),
        pd.Series(data["state"]).astype("category"),
        [f"{one}.0" for one in data["state"]],
        [f"00{one}" for one in data["state"]],
    ):
        assert (leaves(data | {"state": state}) == expected).all()


def test_odd_tables_cost_the_same_and_have_the_same_shape() -> None:
    shapes = set()
    for data in (
        people(),
        {name: [] for name in people()},
        dict.fromkeys(people(), ODD),
    ):
        budget = dither.Budget(9.0, 1e-6, unit=Unit("person"))
        found = asked(data, attributes=SEX, budget=budget)
        shapes.add(
            (found.notes, len(found.table()), budget.spent, found.plan.guarantee)
        )
    assert len(shapes) == 1


def test_odd_numbers_fall_into_no_bin() -> None:
    age = {"age": census.edges([0, 1, 2])}
    data = people(len(ODD)) | {"age": ODD}
    assert leaves(data, age).sum() == len(["01 ", 1.5, Fraction(1, 3)])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"people": [1, 2]}, "cannot be of type list"),
        ({"people": "people.csv"}, "cannot be of type str"),
        ({"people": {"state": [1], "county": [1]}}, "have no column 'block'"),
        ({"people": {"state": [1], "county": [1, 2], "block": [1]}}, "of equal length"),
        ({"attributes": {"age": [1]}}, "have no column 'age'"),
        ({"attributes": {"state": ["01"]}}, "which is also a level"),
        ({"owner": "id"}, "have no column 'id'"),
        ({"owner": [1, 2]}, "of equal length"),
        ({"rows": 2}, "each row is one unit"),
        ({"rows": 0}, "at least 1"),
        ({"rows": 1.5}, "whole number"),
        ({"rows": 10**10, "owner": "sex"}, "rows must be at most"),
        ({"table": "people"}, "leave table out"),
        ({"provenance": ""}, "provenance"),
        ({"provenance": "x" * 999}, "provenance"),
        ({"rho": None, "error": 5}, "depends on the data"),
        ({"rho": None}, "pass exactly one of epsilon, rho, share or error"),
        ({"epsilon": 1}, "pass exactly one of epsilon, rho, share or error"),
        ({"rho": None, "share": 0.5, "budget": None}, "share needs an account"),
        ({"budget": 3}, "must be a dither.Budget"),
        ({"keys": [("1",)], "levels": ["state", "county"]}, "does not have a label"),
        ({"mechanism": "laplace"}, "mechanism"),
    ],
)
def test_wrong_questions_are_refused_before_the_charge(more: Any, words: str) -> None:
    budget = dither.Budget(9.0, 1e-6, unit=Unit("person"))
    stated = {"budget": budget, **more}
    data = stated.pop("people", None)
    with pytest.raises(dither.ArgumentError, match=words):
        asked(data, **stated)
    assert budget.spent == 0


def test_where_the_geography_comes_from_is_told() -> None:
    found = asked(provenance="the register of 2020")
    assert any("from the register of 2020" in one for one in found.notes)
