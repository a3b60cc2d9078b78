"""A catalogue from what is declared when a table is opened."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.query.catalogue.declare import declare
from dither.query.catalogue.types import ANY, Range, Type

TEXTS = dict.fromkeys(("patient_id", "ward", "age", "weight", "day", "seen", "well"))
TYPED = {
    "id": Type.INTEGER,
    "ward": Type.TEXT,
    "age": Type.INTEGER,
    "weight": Type.REAL,
}


def test_texts_are_read_as_declared() -> None:
    found = declare(
        "visits",
        TEXTS,
        unit="Patient_ID",
        bounds={
            "age": (0, 110),
            "weight": (0, 300.0),
            "day": ("2024-01-01", date(2024, 12, 31)),
            "seen": ("2024-01-01", "2024-12-31T23:59"),
        },
        keys={"ward": ["A", "B"], "well": [True, False]},
        budget=3.0,
        population=2500,
    )
    (table,) = found.tables
    assert {field.name: field.type for field in table.fields} == {
        "patient_id": Type.TEXT,
        "ward": Type.TEXT,
        "age": Type.REAL,
        "weight": Type.REAL,
        "day": Type.DATE,
        "seen": Type.TIMESTAMP,
        "well": Type.BOOLEAN,
    }
    assert table.field("age").range == Range(0, 110)
    assert table.field("ward").keys == ("A", "B")
    assert (found.unit, table.owner) == (Unit("Patient_ID"), "patient_id")
    assert (found.epsilon, found.delta) == (3.0, 1e-7)


@pytest.mark.parametrize("unit", ["row", ROW])
def test_rows_as_units(unit: Any) -> None:
    found = declare("visits", {**TYPED, "RowId": Type.INTEGER}, unit=unit)
    assert found.rows_are_units
    assert found.tables[0].owner is None
    assert [field.name for field in found.tables[0].fields] == [
        "id",
        "ward",
        "age",
        "weight",
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ["age", "Patient ID"],
            r'such as unit="Patient ID", or unit="row" if each row is a different person\. By',
        ),
        (
            ["visit_id", "userId", "age"],
            r"these columns may be ids: userId, visit_id\.",
        ),
        (
            ["age", "ward"],
            r'such as unit="patient_id", or unit="row" if each row is a different person\.$',
        ),
    ],
)
def test_a_unit_must_be_said(names: list[str], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        declare("visits", dict.fromkeys(names))


def test_a_unit_with_its_relation() -> None:
    found = declare("visits", TYPED, unit=Unit("id").replacing(), rows=5)
    assert (found.unit, found.tables[0].owner, found.tables[0].rows) == (
        Unit("id").replacing(),
        "id",
        5,
    )


def test_stored_types_stay() -> None:
    found = declare(
        "visits",
        TYPED,
        unit="row",
        bounds={"AGE": (0, 110.0), "weight": (0, 300)},
        keys={"ward": ["A"]},
    )
    assert [field.type for field in found.tables[0].fields] == list(TYPED.values())
    assert found.tables[0].field("age").range == Range(0, 110)
    stated = declare(
        "visits", TYPED, unit="row", types={"id": "TEXT", "age": Type.REAL}
    )
    assert [field.type for field in stated.tables[0].fields] == [
        Type.TEXT,
        Type.TEXT,
        Type.REAL,
        Type.REAL,
    ]


def test_no_bounds_no_keys() -> None:
    (table,) = declare("visits", TEXTS, unit="row").tables
    assert {
        (field.type, field.range, field.keys, field.provenance)
        for field in table.fields
    } == {(Type.TEXT, ANY, None, "")}


def test_columns_that_are_not_listed() -> None:
    found = declare(
        "visits",
        None,
        unit="id",
        types={"id": "integer"},
        bounds={"age": (0, 9)},
        keys={"Age": [1, 2]},
    )
    assert [(field.name, field.type) for field in found.tables[0].fields] == [
        ("id", Type.INTEGER),
        ("Age", Type.INTEGER),
    ]
    with pytest.raises(ArgumentError, match="does not list its columns"):
        declare("visits", None, unit="row")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            {"unit": "patient"},
            r"the column 'patient' in unit= does not exist; did you mean patient_id\? \(or pass",
        ),
        ({"unit": 3}, "unit cannot be 3; pass the name of the column"),
        (
            {"bounds": {"agge": (0, 1)}},
            r"the column 'agge' in bounds= does not exist; did you mean age\?",
        ),
        (
            {"keys": {"wardd": ["A"]}},
            r"the column 'wardd' in keys= does not exist; did you mean ward\?",
        ),
        ({"types": {"agee": "integer"}}, r"the column 'agee' in types= does not exist"),
        (
            {"types": {"age": "int"}},
            r"the type 'int' of 'age' is unknown; did you mean integer\?",
        ),
        ({"types": {"age": int}}, "is unknown"),
        (
            {"types": {"age": "text"}, "bounds": {"age": (0, 1)}},
            "cannot be given for the type text",
        ),
        ({"bounds": {"age": 5}}, "such as \\(0, 110\\)"),
        ({"bounds": {"age": (1, 2, 3)}}, "such as \\(0, 110\\)"),
        ({"bounds": {"age": (5, 1)}}, "swap"),
        ({"bounds": {"age": (0, 1), "AGE": (0, 2)}}, "declared twice"),
        ({"keys": {"ward": "AB"}}, "must be a list"),
        ({"keys": {"ward": 5}}, "must be a list"),
        ({"keys": {"ward": []}}, "keys, not 0; leave"),
        ({"keys": {"ward": ["A", 1]}}, "all booleans; declare the type"),
        ({"keys": {"ward": ["A"]}, "types": {"ward": "integer"}}, "a whole number"),
        ({"budget": 0}, "must be positive"),
        ({"population": 0}, "at least 1"),
        ({"rows": 3}, "cannot have an owner, a link or rows; leave them out"),
    ],
)
def test_what_cannot_be_declared(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        declare("visits", TEXTS, **{"unit": "row"} | facts)


def test_delta_is_stated_or_usual_or_none() -> None:
    assert declare("v", TEXTS, unit="row", population=2500).delta == 1e-7
    assert declare("v", TEXTS, unit="row", population=2500, delta=1e-5).delta == 1e-5
    assert declare("v", TEXTS, unit="row", population=2500, delta=0).delta == 0
    assert declare("v", TEXTS, unit="row").delta == 0


@pytest.mark.parametrize(
    ("more", "type_"),
    [
        ({}, Type.REAL),
        ({"keys": {"age": [1, 2]}}, Type.INTEGER),
        ({"types": {"age": "integer"}}, Type.INTEGER),
    ],
)
def test_bounds_alone_imply_no_whole_numbers(more: Any, type_: Type) -> None:
    found = declare("visits", {"age": None}, unit="row", bounds={"age": (0, 9)}, **more)
    assert found.tables[0].field("age").type is type_
