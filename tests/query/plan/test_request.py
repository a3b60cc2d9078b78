"""What is stated by keyword beside the SQL."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dither
from dither.errors import ArgumentError
from dither.query.plan.request import request_of

SQL = "SELECT 2*COUNT(*), SUM(age) AS years FROM t"


@pytest.fixture
def table() -> Any:
    frame = pd.DataFrame({"age": [1, 2]})
    return dither.open(
        frame, unit="row", bounds={"age": (0, 110)}, budget=(3.0, 1e-6), name="t"
    )


@pytest.mark.parametrize("written", ["2*COUNT(*)", "2 * count(*)", "2*count(*)"])
def test_columns_without_a_name_are_called_as_they_are_written(
    table: Any, written: str
) -> None:
    given = table.preview(SQL, epsilon=1.0, shares={written: 3, "YEARS": 1})
    assert (
        given.to_json()
        == table.preview(
            SQL, epsilon=1.0, shares={"2*count(*)": 3, "years": 1}
        ).to_json()
    )


def test_a_column_that_is_not_there(table: Any) -> None:
    words = r"the answer has no column 'n' for radius, only 2\*count\(\*\), years; give the column a name"
    with pytest.raises(ArgumentError, match=words):
        table.preview(SQL, epsilon=1.0, radius={"n": 1})


def test_a_misspelt_argument() -> None:
    with pytest.raises(
        ArgumentError, match=r"eps is not a known argument; did you mean '?epsilon"
    ):
        request_of({"eps": 1.0})


def test_an_error_by_column_names_one() -> None:
    with pytest.raises(ArgumentError, match="error must name a column"):
        request_of({"error": {}})
