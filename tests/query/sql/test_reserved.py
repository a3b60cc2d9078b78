"""Columns named like words of SQL."""

from __future__ import annotations

import pandas as pd
import pytest

import dither
from dither.errors import QueryError

COLUMNS = ["who", "case", "from", "order", "age", "current_date", "date"]


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT SUM(case) FROM t", "case"),
        ("SELECT COUNT(*)\nFROM t\nWHERE case = 1", "case"),
        ("SELECT FROM, COUNT(*) FROM t GROUP BY 1", "from"),
        ("SELECT AVG(current_date) FROM t", "current_date"),
        ("SELECT AVG(age) FROM t WHERE 1 =", None),
        ("SELECT AVG(who) FROM t", None),
        ("SELECT AVG(agee) FROM t", None),
        ("SELECT 'case", None),
        ("SELECT COUNT(*) FROM t WHERE date > 'x'", None),
    ],
)
def test_an_error_beside_one_says_to_quote_it(sql: str, name: str | None) -> None:
    frame = pd.DataFrame({column: [1] for column in COLUMNS})
    bounds = dict.fromkeys(COLUMNS[1:], (0, 9))
    with dither.open(
        frame, unit="who", bounds=bounds, budget=3.0, name="t"
    ) as database:
        for ask in (database.sql, database.preview, database.explain_plan):
            with pytest.raises(QueryError) as problem:
                ask(sql, epsilon=1.0)
            hint = (
                f"'{name}' is a keyword of SQL: to use it as a column, write it in double "
                f'quotes, as "{name}"'
            )
            assert (hint in str(problem.value)) == (name is not None)
            assert "is a keyword of SQL" not in str(problem.value) or name is not None
        assert database.preview(
            'SELECT SUM("case") AS n FROM t WHERE "from" = 1', epsilon=1.0
        )
