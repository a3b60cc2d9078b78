"""What names suggest: the unit first of all, since a wrong one protects the wrong
people.
"""

from __future__ import annotations

import pytest

from dither.query.catalogue.types import Type
from dither.query.draft.guesses import Guess, guess, likely_link, units

TEXT, WHOLE, REAL = Type.TEXT, Type.INTEGER, Type.REAL


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        (["visit_id", "patient_id", "ward"], "patient_id"),
        (["year", "month", "flight", "tailnum", "origin"], "tailnum"),
        (["rownames", "Survived", "PassengerId", "Age"], "PassengerId"),
        (["order_id", "customerID", "amount"], "customerID"),
        (["id", "user", "posted_at"], "user"),
        (["household_no", "year"], "household_no"),
        (["zip_code", "email"], "email"),
    ],
)
def test_the_unit_comes_first(names: list[str], unit: str) -> None:
    assert next(iter(units([dict.fromkeys(names)]))) == unit


@pytest.mark.parametrize(
    "name",
    [
        "year",
        "rownames",
        "row_id",
        "rowid",
        "Unnamed: 0",
        "index",
        "zip_code",
        "age",
        "number_of_children",
        "no",
    ],
)
def test_what_is_nobodys_id(name: str) -> None:
    assert units([{name: None}]) == {}


def test_an_event_is_only_possible() -> None:
    found = units([{"visit_id": WHOLE, "patient_id": TEXT}, {"visit_id": WHOLE}])
    assert list(found) == ["patient_id", "visit_id"]
    assert found["patient_id"] > found["visit_id"]


def test_more_tables_make_it_more_likely() -> None:
    assert (
        next(
            iter(units([{"user_id": None, "customer_id": None}, {"CUSTOMER_ID": None}]))
        )
        == "customer_id"
    )


@pytest.mark.parametrize("type_", [Type.REAL, Type.DATE, Type.BOOLEAN])
def test_ids_are_texts_or_whole_numbers(type_: Type) -> None:
    assert units([{"patient_id": type_}]) == {}


@pytest.mark.parametrize(
    ("name", "type_", "guessed"),
    [
        ("age", None, Guess(WHOLE, 0, 120, "years")),
        ("AgeAtVisit_age", REAL, Guess(REAL, 0, 120, "years")),
        ("age_months", None, Guess(WHOLE, measure="months")),
        ("weight_kg", None, Guess(REAL, 0, 400, "kg")),
        ("cost_eur", None, Guess(REAL, measure="euros")),
        ("stay_days", WHOLE, Guess(WHOLE, measure="days")),
        ("is_smoker", None, Guess(Type.BOOLEAN)),
        ("created_at", None, Guess(Type.TIMESTAMP)),
        ("visit_date", None, Guess(Type.DATE)),
        ("hour", None, Guess(WHOLE, 0, 24, "hours of the day")),
        ("time_hour", None, Guess()),
        ("page", None, Guess()),
        ("ward", None, Guess()),
        ("age", TEXT, Guess(TEXT)),
        ("year", Type.DATE, Guess(Type.DATE)),
        ("", None, Guess()),
    ],
)
def test_columns(name: str, type_: Type | None, guessed: Guess) -> None:
    assert guess(name, type_) == guessed


def test_links() -> None:
    assert likely_link("visit_id", "visits")
    assert likely_link("VisitID", "visit")
    assert not likely_link("visit_id", "patients")
    assert not likely_link("id", "visits")
    assert not likely_link("visit_day", "visits")
