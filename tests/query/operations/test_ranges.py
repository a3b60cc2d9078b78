from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.query.catalogue.types import ANY, Range
from dither.query.operations import ranges
from dither.query.operations.numbers import round_half_away
from dither.query.operations.record import OPERATIONS

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
WHOLES = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


@st.composite
def inside(draw: st.DrawFn, numbers: st.SearchStrategy[float]) -> tuple[Range, float]:
    """A range, open on some sides, and a value in it."""
    low, value, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return Range(
        *draw(
            st.sampled_from(
                [(low, high), (None, high), (low, None), (None, None), (value, value)]
            )
        )
    ), value


def holds(range_: Range, value: float) -> bool:
    return (range_.low is None or range_.low <= value) and (
        range_.high is None or value <= range_.high
    )


def computed(function: Callable[..., float], *values: float) -> float | None:
    """As the engine does: what is not finite is NULL."""
    try:
        found = function(*values)
    except (ArithmeticError, ValueError):
        return None
    return found if isinstance(found, int) or math.isfinite(found) else None


REAL_RULES = {
    "add": ranges.add,
    "sub": ranges.subtract,
    "mul": ranges.multiply,
    "div": ranges.quotient,
    "mod": ranges.remainder,
    "power": ranges.power,
}
WHOLE_RULES = {
    "add": ranges.add,
    "sub": ranges.subtract,
    "mul": ranges.multiply,
    "intdiv": ranges.truncated,
    "mod": lambda a, b: ranges.remainder(a, b, whole=True),
    "div": lambda a, b: ranges.quotient(a, b, whole=True),
}
ONE_RULES = {
    "neg": ranges.negate,
    "abs": ranges.absolute,
    "sqrt": ranges.square_root,
    "exp": ranges.exponential,
    "ln": lambda a: ranges.logarithm(math.log, a),
    "log10": lambda a: ranges.logarithm(math.log10, a),
    "log2": lambda a: ranges.logarithm(math.log2, a),
}


@pytest.mark.parametrize("op", REAL_RULES)
@given(a=inside(FLOATS), b=inside(FLOATS))
def test_reals(op: str, a: tuple[Range, float], b: tuple[Range, float]) -> None:
    found = computed(OPERATIONS[op].python, a[1], b[1])
    assert found is None or holds(REAL_RULES[op](a[0], b[0]), found)


@pytest.mark.parametrize("op", REAL_RULES)
def test_reals_on_a_grid(op: str) -> None:
    """Every value and range over small numbers, where zeros and signs meet."""
    grid = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]
    pieces = [
        (Range(a, b), [x for x in grid if a <= x <= b])
        for a in grid
        for b in grid
        if a <= b
    ]
    for one, xs in pieces:
        for other, ys in pieces:
            range_ = REAL_RULES[op](one, other)
            found = [computed(OPERATIONS[op].python, x, y) for x in xs for y in ys]
            assert all(value is None or holds(range_, value) for value in found)


@pytest.mark.parametrize("op", WHOLE_RULES)
@given(a=inside(WHOLES), b=inside(WHOLES))
def test_wholes(op: str, a: tuple[Range, float], b: tuple[Range, float]) -> None:
    found = computed(OPERATIONS[op].python, a[1], b[1])
    assert found is None or holds(WHOLE_RULES[op](a[0], b[0]), found)


@pytest.mark.parametrize("op", ONE_RULES)
@given(a=inside(FLOATS))
def test_functions_of_one_number(op: str, a: tuple[Range, float]) -> None:
    found = computed(OPERATIONS[op].python, a[1])
    assert found is None or holds(ONE_RULES[op](a[0]), found)


@given(a=inside(FLOATS), digits=st.integers(-15, 15))
def test_rounding(a: tuple[Range, float], digits: int) -> None:
    assert holds(
        ranges.rounded(lambda x: round_half_away(x, digits), a[0]),
        round_half_away(a[1], digits),
    )


@given(
    parts=st.lists(
        st.tuples(inside(FLOATS), st.booleans(), st.booleans()), min_size=1, max_size=4
    )
)
def test_extremes_leave_out_nulls(
    parts: list[tuple[tuple[Range, float], bool, bool]],
) -> None:
    """An argument is there, or surely there; the others are NULL."""
    every = [range_ for (range_, _), _, _ in parts]
    sure = [range_ for (range_, _), _, certain in parts if certain]
    there = [value for (_, value), present, certain in parts if present or certain]
    assert not there or holds(ranges.least(every, sure), min(there))
    assert not there or holds(ranges.greatest(every, sure), max(there))


@given(parts=st.lists(inside(FLOATS), min_size=1))
def test_a_hull_holds_all(parts: list[tuple[Range, float]]) -> None:
    assert all(
        holds(ranges.hull([range_ for range_, _ in parts]), value) for _, value in parts
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ranges.add(Range(0, 110), Range(1, 1)), Range(1, 111)),
        (ranges.multiply(Range(0, 0), ANY), Range(0, 0)),
        (ranges.multiply(Range(0, None), Range(-2, None)), ANY),
        (ranges.multiply(Range(0.1, 3.0), Range(1.0, 10.0)), Range(0.1, 30.0)),
        (ranges.quotient(Range(1.0, 2.0), Range(-1.0, 1.0)), ANY),
        (ranges.quotient(Range(1.0, 2.0), Range(0.0, 4.0)), Range(0.25, None)),
        (
            ranges.quotient(Range(1.0, 2.0), Range(0.0, 4.0), whole=True),
            Range(0.25, 2.0),
        ),
        (ranges.quotient(Range(1.0, 2.0), Range(4.0, None)), Range(0.0, 0.5)),
        (ranges.quotient(ANY, Range(0.0, 0.0)), Range(0.0, 0.0)),
        (ranges.truncated(Range(-7, 7), Range(2, 3)), Range(-3, 3)),
        (ranges.remainder(ANY, Range(10, 10), whole=True), Range(-9, 9)),
        (ranges.remainder(Range(0, None), Range(-10, 3), whole=True), Range(0, 9)),
        (ranges.remainder(Range(0, 4), Range(-10, 3), whole=True), Range(0, 4)),
        (ranges.absolute(Range(-3, 2)), Range(0, 3)),
        (ranges.square_root(Range(-4.0, 9.0)), Range(0.0, 3.0)),
        (ranges.least([Range(0, 110), Range(50, 50)], [Range(50, 50)]), Range(0, 50)),
        (ranges.greatest([ANY, Range(0, 0)], [Range(0, 0)]), Range(0, None)),
        (ranges.least([Range(0, 5), Range(2, 9)], []), Range(0, 9)),
        (ranges.clipped(ANY, Range(0, 9)), Range(0, 9)),
        (ranges.of(-math.inf, 1.0), Range(None, 1.0)),
    ],
)
def test_exact_ranges(found: Range, expected: Range) -> None:
    assert found == expected


def test_logarithms_of_doubles_are_bounded() -> None:
    range_ = ranges.logarithm(math.log, ANY)
    assert range_.low == pytest.approx(-744.4, abs=0.1)
    assert range_.high == pytest.approx(709.8, abs=0.1)


def test_powers() -> None:
    assert ranges.power(Range(-3.0, 2.0), Range(2.0, 2.0)).high == pytest.approx(9)
    assert ranges.power(Range(-3.0, 2.0), Range(2.0, 2.0)).low == 0
    assert ranges.power(Range(-3.0, 2.0), Range(3.0, 3.0)).low == pytest.approx(-27)
    assert ranges.power(Range(-3.0, 2.0), Range(-1.0, -1.0)) == ANY
    assert ranges.power(Range(1.0, 1000.0), Range(200.0, 200.0)).high is None
