"""A draft as a text: what is a guess is marked, and what is closed is a comment."""

from __future__ import annotations

from dither.query.catalogue.types import Type
from dither.query.draft.draft import GUESSED, Draft, DraftField, Sheet
from dither.query.draft.text import CHECK, guesses, text
from dither.query.load import parse_catalogue

AGE = DraftField("age", Type.INTEGER, low=0, high=110, by=GUESSED)
ID = DraftField("id", Type.TEXT)
VISITS = Sheet("visits", "visits.csv", "", (ID, AGE))
CODES = Sheet(
    "codes", "codes.csv", "", (ID,), closed="nobody knows whose rows these are"
)


def drafted(*sheets: Sheet) -> Draft:
    return Draft(
        "clinic", sheets, ("id",), "id", epsilon=3.0, guessed=frozenset({"unit"})
    )


def test_it_is_read_as_it_is() -> None:
    found = parse_catalogue(text(drafted(VISITS)))
    assert (found.name, found.unit.name, found.epsilon) == ("clinic", "id", 3.0)
    assert found.table("visits").field("age").provenance == GUESSED


def test_guesses_are_marked() -> None:
    written = text(drafted(VISITS))
    marked = [line for line in written.splitlines() if CHECK in line and line[0] != "#"]
    assert [line.split(" ")[0] for line in marked] == ["unit", "age"]
    assert guesses(drafted(VISITS)) == ['unit = "id"', "visits.age"]


def test_a_closed_table_is_a_comment() -> None:
    written = text(drafted(VISITS, CODES))
    assert "# codes is not open: nobody knows whose rows these are" in written
    assert [table.name for table in parse_catalogue(written).tables] == ["visits"]
