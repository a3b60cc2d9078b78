from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import ranges
from dither.query.operations.calls import call, literal
from dither.query.operations.evaluate import (
    by_range,
    ends,
    intervals,
    leaves,
    value,
    values,
)
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    ColumnType,
    Expr,
    KeyLeaf,
    Ref,
)
from dither.query.operations.record import Known

TOTAL = AggregateLeaf(Type.REAL, ANY, 0)
COUNT = AggregateLeaf(Type.REAL, ANY, 1)
WARD = KeyLeaf(Type.TEXT, ANY, 0)
AGE = KeyLeaf(Type.INTEGER, ANY, 1)
KEYS = ("A", 40)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (call("div", TOTAL, COUNT), 2.5),
        (call("div", TOTAL, call("sub", COUNT, COUNT)), None),
        (call("round", call("div", TOTAL, literal(3)), options=(1,)), 3.3),
        (call("ln", call("neg", TOTAL)), None),
        (call("exp", call("mul", TOTAL, literal(1000))), None),
        (call("case", call("eq", WARD, literal("A")), TOTAL, COUNT), 10.0),
        (call("ge", COUNT, literal(4)), True),
        (call("add", AGE, literal(1)), 41),
        (call("concat", WARD, literal("!")), "A!"),
        (call("coalesce", call("nullif", COUNT, literal(4)), literal(0)), 0.0),
        (call("in", AGE, literal(1), literal(None)), None),
        (call("and", call("gt", COUNT, literal(9)), literal(None)), False),
    ],
)
def test_values(expr: Expr, expected: Any) -> None:
    assert value(expr, KEYS, (10, 4)) == expected


def test_whole_columns() -> None:
    keys, numbers = [("A", 40), ("B", None)], [(10, 4), (1, 0)]
    assert values(call("div", TOTAL, COUNT), keys, numbers) == [2.5, None]
    assert values(call("add", AGE, literal(1)), keys, numbers) == [41, None]
    assert values(literal(5), keys, numbers) == [5, 5]
    assert values(TOTAL, [], []) == []


def test_intervals_of_whole_columns() -> None:
    known = [[(8.0, 12.0), (3.0, 5.0)], [(0.0, math.inf), None]]
    found = intervals(call("add", TOTAL, COUNT), [KEYS, KEYS], known)
    assert found == [(11.0, 17.0), None]
    assert intervals(TOTAL, [KEYS, KEYS], known) == [(8.0, 12.0), (0.0, math.inf)]


def test_an_interval_holds_what_an_absent_aggregate_makes() -> None:
    """COALESCE is its second argument then; the true value is the first one."""
    expr = call("coalesce", call("add", TOTAL, COUNT), literal(-3))
    known = [[(8.0, 12.0), (3.0, 5.0)]] * 2
    found = intervals(expr, [KEYS, KEYS], known, [set(), {0}])
    assert found == [(11.0, 17.0), (-3.0, 17.0)]


def test_what_is_not_finite_is_null() -> None:
    assert value(TOTAL, (), (math.nan, 1)) is None
    assert value(call("add", TOTAL, COUNT), (), (None, 1)) is None
    assert value(call("mul", TOTAL, TOTAL), (), (10**200, 1)) is None
    assert value(call("least", TOTAL, COUNT), (), (math.inf, 1)) == 1


def test_dates_as_keys() -> None:
    month = KeyLeaf(Type.DATE, ANY, 0)
    assert value(
        call("add_months", month, options=(1,)), (dt.date(2024, 1, 31),), ()
    ) == dt.date(2024, 2, 29)


def test_rows_are_not_evaluated() -> None:
    with pytest.raises(TypeError, match="keys and aggregates"):
        value(Ref.to(0, ColumnType("x", Type.REAL)), (), ())


def test_leaves() -> None:
    assert leaves(call("div", TOTAL, call("add", COUNT, AGE))) == {0, 1}
    assert leaves(WARD) == set()


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (TOTAL, (8.0, 12.0)),
        (call("div", TOTAL, COUNT), (8 / 5, 4.0)),
        (call("div", TOTAL, call("sub", COUNT, literal(4))), (-math.inf, math.inf)),
        (call("mul", call("neg", TOTAL), literal(2)), (-24.0, -16.0)),
        (call("abs", call("sub", TOTAL, literal(10))), (0.0, 2.0)),
        (call("round", call("div", TOTAL, literal(5))), (2.0, 2.0)),
        (call("floor", call("div", TOTAL, literal(5))), (1.0, 2.0)),
        (call("sqrt", call("sub", TOTAL, literal(8))), (0.0, 2.0)),
        (call("sqrt", call("neg", TOTAL)), None),
        (call("least", TOTAL, literal(9)), (8.0, 9.0)),
        (call("greatest", TOTAL, literal(None), literal(9)), (9.0, 12.0)),
        (
            call(
                "greatest",
                call("neg", TOTAL),
                call("sqrt", call("sub", COUNT, literal(4))),
            ),
            (-12.0, 1.0),
        ),
        (
            call("coalesce", call("sqrt", call("sub", COUNT, literal(4))), literal(-5)),
            (-5.0, 1.0),
        ),
        (call("cast", TOTAL, options=(Type.INTEGER,)), (8.0, 12.0)),
        (call("coalesce", TOTAL, literal(0)), (8.0, 12.0)),
        (call("case", call("eq", WARD, literal("A")), TOTAL, COUNT), (8.0, 12.0)),
        (call("case", call("eq", WARD, literal("B")), TOTAL, COUNT), (3.0, 5.0)),
        (call("case", call("gt", COUNT, literal(3)), TOTAL, COUNT), None),
        (call("add", AGE, literal(1)), (41.0, 41.0)),
        (call("mod", TOTAL, COUNT), None),
        (call("power", TOTAL, COUNT), None),
        (call("gt", TOTAL, COUNT), None),
        (WARD, None),
    ],
)
def test_ends(expr: Expr, expected: tuple[float, float] | None) -> None:
    found = ends(expr, KEYS, [(8.0, 12.0), (3.0, 5.0)])
    assert found == (expected if expected is None else pytest.approx(expected))


def test_aggregates_without_an_interval() -> None:
    assert ends(call("add", TOTAL, COUNT), KEYS, [(8.0, 12.0), None]) is None


NUMBERS = st.floats(-1e6, 1e6)
UNARY = ["neg", "abs", "floor", "ceil", "round", "sqrt", "ln", "exp"]
BINARY = ["add", "sub", "mul", "div", "least", "greatest"]


def trees(depth: int) -> st.SearchStrategy[Expr]:
    leaf = st.sampled_from([TOTAL, COUNT]) | NUMBERS.map(literal)
    if depth == 0:
        return leaf
    below = trees(depth - 1)
    power = st.builds(
        lambda a, n: call("power", a, literal(n)),
        below,
        st.sampled_from([2, 3, -1, 0.5]),
    )
    one, two = (
        st.builds(call, st.sampled_from(UNARY), below),
        st.builds(call, st.sampled_from(BINARY), below, below),
    )
    return st.one_of(leaf, one, two, power)


@given(
    expr=trees(3),
    parts=st.lists(
        st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted), min_size=2, max_size=2
    ),
)
def test_values_lie_between_the_ends(expr: Expr, parts: list[list[float]]) -> None:
    found = value(expr, (), [middle for _, middle, _ in parts])
    interval = ends(expr, (), [(low, high) for low, _, high in parts])
    if found is not None and interval is not None:
        assert interval[0] <= found <= interval[1]


class Group:
    """A group in which everything lies from 1 to 4."""

    def known(self, expr: Expr) -> Known:  # noqa: ARG002 - whatever is asked about
        return Known(Range(1.0, 4.0), sure=True)

    def fixed(self, expr: Expr) -> bool:  # noqa: ARG002
        return False

    def value(self, expr: Expr) -> None:  # noqa: ARG002
        return None


def test_rules_for_intervals() -> None:
    expr = call("neg", TOTAL)
    assert isinstance(expr, Call)
    assert by_range(ranges.negate)(Group(), expr) == Known(Range(-4.0, -1.0), sure=True)
    partly = by_range(ranges.negate, total=lambda _: False)
    assert partly(Group(), expr).sure is False
