"""Several tables at once: what is declared by table, and what that is not."""

from __future__ import annotations

from typing import Any

import pytest

from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.query.catalogue.declare_several import declare_several
from dither.query.catalogue.model import Link
from dither.query.catalogue.types import Range, Type

SCHEMAS: dict[str, Any] = {
    "visits": {"visit_id": Type.INTEGER, "patient_id": Type.TEXT, "cost": Type.REAL},
    "patients": {"id": Type.TEXT, "age": Type.INTEGER},
    "diagnoses": {"visit_id": Type.INTEGER, "code": Type.TEXT},
    "regions": {"region": Type.TEXT, "rowid": Type.INTEGER},
}
WHOLE: dict[str, Any] = {
    "unit": {"visits": "Patient_ID", "Patients": "id"},
    "links": {"diagnoses": ("visit_id", "visits.visit_id")},
    "public": "regions",
    "bounds": {"VISITS": {"cost": (0, 1000)}, "patients": {"age": (0, 110)}},
    "keys": {"diagnoses": {"code": ["A", "B"]}},
    "types": {"visits": {"cost": "integer"}},
    "rows": {"visits": 50},
}


def test_everything_by_table() -> None:
    found = declare_several("clinic", SCHEMAS, **WHOLE, budget=3.0, population=2500)
    assert (found.name, found.unit, found.epsilon, found.delta) == (
        "clinic",
        Unit("Patient_ID"),
        3.0,
        1e-7,
    )
    visits, patients, diagnoses, regions = found.tables
    assert (visits.owner, visits.rows, patients.owner) == ("patient_id", 50, "id")
    assert (visits.field("cost").type, visits.field("cost").range) == (
        Type.INTEGER,
        Range(0, 1000),
    )
    assert diagnoses.link == Link("visit_id", "visits", "visit_id")
    assert diagnoses.field("code").keys == ("A", "B")
    assert regions.public
    assert regions.field("rowid")


def test_one_column_for_all() -> None:
    schemas = {"visits": SCHEMAS["visits"], "costs": {"PATIENT_ID": Type.TEXT}}
    found = declare_several("clinic", schemas, unit="patient_id")
    assert [table.owner for table in found.tables] == ["patient_id", "PATIENT_ID"]


def test_rows_of_one_private_table_as_units() -> None:
    schemas = {
        "visits": {"cost": Type.REAL, "rowid": Type.INTEGER},
        "regions": SCHEMAS["regions"],
    }
    found = declare_several("clinic", schemas, unit="row", public=["regions"])
    assert found.unit == ROW
    assert [field.name for field in found.tables[0].fields] == ["cost"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            {"unit": None},
            r'unit is missing; .* such as unit="patient_id", .* these columns may be ids: patient_id, visit_id, id',
        ),
        (
            {"unit": "patient_id"},
            r'.patients. has no column .patient_id.; .* such as unit=\{"visits": "patient_id", "patients": "id"\}',
        ),
        ({"unit": {"visits": "patient_id"}}, "unit is missing for patients"),
        ({"unit": {}}, "unit is missing for visits, patients"),
        (
            {"unit": {"visits": "patient_id", "patients": 5}},
            "the unit of 'patients' must be the name of a column, not 5",
        ),
        (
            {"unit": {"visits": "patient_id", "regions": "region"}},
            "the table 'regions' is public or linked",
        ),
        (
            {"unit": {"visit": "patient_id"}},
            r"the table 'visit' in unit= does not exist; did you mean visits\?",
        ),
        ({"unit": 5}, "unit cannot be 5; pass the name of the column"),
        (
            {"unit": "row", "links": None, "public": ["diagnoses", "regions"]},
            "the rows of 'visits' and 'patients' are different units",
        ),
        (
            {"bounds": {"age": (0, 110)}},
            r'.age. is a column and not a table; declare it by table, such as bounds=\{"patients": \{"age"',
        ),
        (
            {"bounds": (0, 110)},
            r'bounds must be a dictionary by table; write bounds=\{"visits": \{"age": \(0, 110\)\}\}',
        ),
        (
            {"bounds": {"patients": {"agee": (0, 110)}}},
            "in patients, the column 'agee' in bounds= does not exist",
        ),
        (
            {"rows": 50},
            r'rows must be a dictionary by table; write rows=\{"visits": 50\}',
        ),
        ({"rows": {"visits": 0}}, "rows of 'visits' must be a whole number"),
        (
            {"links": {"diagnoses": "visit_id"}},
            r'write \("visit_id", "visits.visit_id"\)',
        ),
        (
            {"links": {"diagnoses": ("visit", "visits.visit_id")}},
            "in diagnoses, the column 'visit' in links= does not exist",
        ),
        (
            {"links": {"diagnoses": ("visit_id", "visit.visit_id")}},
            "in diagnoses, links must hold a column and the column that it",
        ),
        (
            {"public": ["region"]},
            r"the table 'region' in public= does not exist; did you mean regions\?",
        ),
        ({"public": []}, "unit is missing for regions"),
    ],
)
def test_what_cannot_be_declared(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        declare_several("clinic", SCHEMAS, **WHOLE | facts)
