"""A cell whose interval holds all that was public before no information: it is marked, and
never ranked first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

import dither
from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.mechanisms import Laplace
from dither.query.answer.assemble import Answer
from dither.query.answer.known import known_of
from dither.query.answer.noisy import Noisy, NoisyVector
from dither.query.plan.choose import plan_of
from dither.query.plan.plan import Plan
from dither.query.plan.request import request_of
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from dither.release import Around
from dither.table import TableRelease
from dither.text import tells, told_nothing

FRAME = pd.DataFrame(
    {
        "g": ["a", "b", "c"] * 4,
        "x": np.linspace(0, 10, 12),
        "day": pd.to_datetime(["2024-01-01"] * 12),
    }
)
DAYS = datetime(2024, 1, 1), datetime(2024, 12, 31)
FIGURES = {
    "COUNT(*)": (0, math.inf),
    "SUM(x)": (0, math.inf),
    "SUM(x - 5)": (-math.inf, math.inf),
    "COUNT(DISTINCT CAST(x AS INTEGER))": (0, 11),
    "AVG(x)": (0, 10),
    "VAR_POP(x)": (0, 25),
    "VAR_SAMP(x)": (0, 25),
    "STDDEV(x)": (0, 5),
    "COVAR_POP(x, x)": (-25, 25),
    "CORR(x, x)": (-1, 1),
    "MEDIAN(x)": (0, 10),
    "MAX(x)": (0, 10),
}


@pytest.fixture(scope="module")
def opened() -> Iterator[Dataset]:
    with dither.open(
        FRAME,
        name="t",
        unit="row",
        bounds={"x": (0.0, 10.0), "day": DAYS},
        keys={"g": ["a", "b", "c"]},
        budget=(4.0, 1e-6),
        ledger=":memory:",
    ) as database:
        yield database


def planned(opened: Dataset, sql: str) -> Plan:
    question = bind(parse(sql), opened.catalogue)
    return plan_of(question, request_of({"epsilon": 1.0}), opened.account.terms)


@pytest.mark.parametrize(("figure", "ends"), FIGURES.items())
def test_what_is_known_of_each_aggregate_without_an_answer(
    opened: Dataset, figure: str, ends: tuple[float, float]
) -> None:
    plan = planned(opened, f"SELECT {figure} FROM t")
    (measurement,) = plan.measurements
    assert known_of(plan.question.aggregates[0], measurement.vector) == ends


def answered(opened: Dataset, sql: str) -> Answer:
    """Means of three groups: 3 and 7 of many rows, and 10 of a noise that is all there is."""
    plan = planned(opened, sql)
    (measurement,) = plan.measurements
    total = measurement.vector.moments.total
    means = np.array([[1.0, 0.0], [7.0, 3.0], [3.0, 7.0]]) * 100 * total
    means[0] = 0, total
    vector = NoisyVector(measurement.vector.row, means.astype(np.int64))
    return Answer(plan, Noisy((), (vector,)))


@pytest.mark.parametrize("order", ["m", "m DESC", "-m", "m * 2 DESC"])
@pytest.mark.parametrize("limit", ["", " LIMIT 2"])
def test_a_cell_without_information_is_never_ranked_first(
    opened: Dataset, order: str, limit: str
) -> None:
    sql = f"SELECT g, AVG(x) AS m FROM t GROUP BY g ORDER BY {order}{limit}"
    places = [row[0] for row in answered(opened, sql).rows]
    rising = order == "m"
    assert places[:2] == (["b", "c"] if rising else ["c", "b"])
    assert places[2:] == ([] if limit else ["a"])


def test_dates_and_arithmetic_have_their_range(opened: Dataset) -> None:
    plan = planned(opened, "SELECT g, MAX(day), AVG(x) / 2 + 1 FROM t GROUP BY g")
    vectors = tuple(
        NoisyVector(one.vector.row, np.zeros((3, one.vector.noisy_size), np.int64))
        for one in plan.measurements
    )
    known = Answer(plan, Noisy((), vectors)).known()
    assert known[0] == [None, DAYS, (1.0, 6.0)]


def test_an_interval_tells_something_if_it_leaves_something_out() -> None:
    assert not tells((0, 10), None, (0, 10))
    assert not tells((-1.0, 1.0 - 1e-15), None, (-1.0, 1.0))
    assert tells((0, 9), None, (0, 10))
    assert tells((1, math.inf), None, (0, math.inf))
    assert tells((0, 10), None, None)
    assert tells(None, None, (0, 10))
    # Rows are not declared: the noise alone decides
    assert tells((-math.inf, math.inf), (4, 5), (0, 10))
    assert not tells((-math.inf, math.inf), (-2, 11), (0, 10))


def test_the_words() -> None:
    assert told_nothing((0, 20_000)) == "no information: 0 to 20,000 is possible"
    assert told_nothing((-1.0, 1.0)) == "no information: -1 to 1 is possible"
    assert told_nothing((0.0, math.inf)) == "no information: 0 or more is possible"
    assert told_nothing((-math.inf, math.inf)) == (
        "no information: any number is possible"
    )


WORDS = "no information: 0 to 10 is possible"


@pytest.fixture
def table() -> TableRelease:
    source = dither.mean([1.0], bounds=(0, 10), epsilon=1.0).sources
    cells = [[None, (2.0, 4.0)], [None, (0.0, 10.0)]]
    return TableRelease(
        ("g", "m"),
        (("a", 3.0), ("b", 9.0)),
        source,
        lambda _: cells,
        known=lambda: [[None, (0.0, 10.0)]] * 2,
        keys=("g",),
    )


def test_print_html_and_markdown_say_so(table: TableRelease) -> None:
    for text in (str(table), table._repr_html_(), table.to_markdown()):
        assert WORDS in text
        assert "9" not in text.replace("95 %", "")


def test_json_says_so(table: TableRelease) -> None:
    first, second = json.loads(table.to_json())["rows"]
    assert "words" not in first
    assert second["values"] == ["b", None]
    assert second["words"] == [None, WORDS]
    assert second["high"] == [None, 10.0]


def test_frames_leave_it_out_or_mark_it(table: TableRelease) -> None:
    assert np.isnan(table.to_pandas()["m"][1])
    kept = table.to_pandas(untold="keep")
    assert list(kept["m"]) == [3.0, 9.0]
    assert list(kept["m_told"]) == [True, False]
    assert table.to_polars()["m"].null_count() == 1
    assert table.to_arrow()["m"].null_count == 1
    assert table.to_csv().splitlines()[2] == "b,,0.0,10.0"
    assert table.to_csv(untold="keep").splitlines()[2] == "b,9.0,0.0,10.0,false"
    with pytest.raises(ArgumentError, match='must be "missing" or "keep"'):
        table.to_pandas(untold="drop")


def test_a_column_taken_out_of_the_table_says_so(table: TableRelease) -> None:
    assert table["m"].reasons() == [None, WORDS]
    assert f"b: {WORDS}" in str(table["m"])


def test_an_array_without_information_says_so() -> None:
    some = dither.mean([5.0] * 10_000, bounds=(0, 10), epsilon=1.0)
    assert "no information" not in str(some)
    nothing = replace(some, spread=Around(5.0, Laplace(sensitivity=9, epsilon=1.0)))
    assert str(nothing).startswith(f"mean: {WORDS}\n")
    assert WORDS in nothing._repr_html_()
    assert nothing.to_pandas()["mean"].isna().all()
    assert json.loads(nothing.to_json())["rows"][0]["words"] == [WORDS]
    assert "no information" not in str(nothing.round())
    assert dither.variance([1.0], bounds=(0, 10), epsilon=1.0).limits == (0.0, 25.0)
    assert dither.quantile([1.0], 0.5, bounds=(0, 10), epsilon=1.0).limits == (0, 10)


def test_rows_about_several_entries_are_shown_as_they_are() -> None:
    """A mixing matrix has a row for each pair of groups, and limits for each entry."""
    groups = {0: "a", 1: "a", 2: "b"}
    mixing = dither.science.graphs.mixing(
        [(0, 1), (1, 2)], groups=groups, vertices=list(groups), epsilon=1.0
    )
    assert mixing.reasons() == [None] * 3
    assert mixing.to_json()
