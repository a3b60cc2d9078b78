"""What may be typed about a column."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from dither.cli.interview import in_words, stated
from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.draft.draft import DraftField

GUESSED = DraftField("age", Type.INTEGER, 0, 120, "years", by="a guess", typed=False)
TEXT = DraftField("ward", None, typed=False)
NUMBER = DraftField("n", Type.INTEGER)


@pytest.mark.parametrize(
    ("column", "answer", "type_", "low", "high", "measure"),
    [
        (GUESSED, "0..110", Type.INTEGER, 0, 110, "years"),
        (GUESSED, "0 .. 1300 months", Type.INTEGER, 0, 1300, "months"),
        (GUESSED, "0.5..110", Type.REAL, 0.5, 110, "years"),
        (GUESSED, "real 0..110", Type.REAL, 0, 110, "years"),
        (TEXT, "-5 to 5 °C", Type.INTEGER, -5, 5, "°C"),
        (
            TEXT,
            "2020-01-01..2024-12-31",
            Type.DATE,
            date(2020, 1, 1),
            date(2024, 12, 31),
            "",
        ),
        (GUESSED, "text", Type.TEXT, None, None, "years"),
    ],
)
def test_types_and_bounds(
    column: DraftField, answer: str, type_: Type, low: Any, high: Any, measure: str
) -> None:
    found = stated(column, answer)
    assert (found.type, found.low, found.high, found.measure, found.keys) == (
        type_,
        low,
        high,
        measure,
        None,
    )


@pytest.mark.parametrize(
    ("column", "answer", "type_", "keys"),
    [
        (TEXT, '= A, "B, C"', Type.TEXT, ("A", "B, C")),
        (TEXT, "= 1, 2", Type.INTEGER, (1, 2)),
        (TEXT, "text = 1, 2", Type.TEXT, ("1", "2")),
        (NUMBER, "= 1, 2", Type.INTEGER, (1, 2)),
    ],
)
def test_public_values(
    column: DraftField, answer: str, type_: Type, keys: tuple[Any, ...]
) -> None:
    found = stated(column, answer)
    assert (found.type, found.keys, found.low) == (type_, keys, None)


@pytest.mark.parametrize(
    ("column", "answer", "said"),
    [
        (TEXT, "perhaps", "is not understood"),
        (TEXT, "a..b", "two numbers or dates"),
        (TEXT, "5..1", "bounds"),
        (NUMBER, "0.5..1", "a whole number"),
        (NUMBER, "text 1..2", "for the type text"),
        (TEXT, "=", "are missing"),
        (TEXT, '= "A', "not closed"),
        (TEXT, "= A, A", "each value once"),
    ],
)
def test_what_is_refused(column: DraftField, answer: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        stated(column, answer)


@pytest.mark.parametrize(
    "column", [GUESSED, TEXT, DraftField("x", Type.TEXT, keys=("A", "B"))]
)
def test_what_is_shown_can_be_typed(column: DraftField) -> None:
    again = stated(column, in_words(column))
    assert (again.facts, in_words(again)) == (
        column.facts | {"by": again.by} if again.by else column.facts,
        in_words(column),
    )
