"""The catalogue of the plan fixtures: a clinic whose unit is a patient, and a survey in
which each row is a unit.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from dither.privacy import Relation, Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Range, Type

__all__ = ["CATALOGUES", "CLINIC", "REPLACED", "SURVEY"]


def day(year: int, month: int, number: int) -> int:
    return (date(year, month, number) - date(1970, 1, 1)).days


PATIENTS = Table(
    "patients",
    (
        Field("patient_id", Type.TEXT),
        Field("born", Type.DATE, Range(day(1900, 1, 1), day(2024, 12, 31))),
        Field("sex", Type.TEXT, ANY, ("F", "M", "X")),
        Field("region", Type.TEXT),
        Field("weight", Type.REAL, Range(2.0, 250.0)),
    ),
    owner="patient_id",
    rows=1,
)
VISITS = Table(
    "visits",
    (
        Field("visit_id", Type.INTEGER),
        Field("patient_id", Type.TEXT),
        Field("ward", Type.TEXT, ANY, ("A", "B", "C")),
        Field("day", Type.DATE, Range(day(2020, 1, 1), day(2024, 12, 31))),
        Field("cost", Type.INTEGER, Range(0, 20_000)),
        Field("days", Type.INTEGER, Range(0, 60)),
        Field("note", Type.TEXT),
        Field("rating", Type.REAL),
        Field("urgent", Type.BOOLEAN),
    ),
    owner="patient_id",
)
DIAGNOSES = Table(
    "diagnoses",
    (
        Field("visit_id", Type.INTEGER),
        Field("code", Type.TEXT),
        Field("severity", Type.INTEGER, Range(1, 5)),
    ),
    link=Link("visit_id", "visits", "visit_id"),
)
REGIONS = Table(
    "regions",
    (
        Field("region", Type.TEXT),
        Field("country", Type.TEXT),
        Field("beds", Type.INTEGER, Range(0, 1000)),
    ),
    public=True,
)
CLINIC = Catalogue(
    "clinic", (PATIENTS, VISITS, DIAGNOSES, REGIONS), unit=Unit("patient_id")
)

ANSWERS = Table(
    "answers",
    (
        Field("region", Type.TEXT),
        Field("age", Type.INTEGER, Range(0, 110)),
        Field("smokes", Type.BOOLEAN),
        Field(
            "at",
            Type.TIMESTAMP,
            Range(day(2024, 1, 1) * 86_400_000_000, day(2024, 3, 1) * 86_400_000_000),
        ),
    ),
)
SURVEY = Catalogue("survey", (ANSWERS, REGIONS))

FEW = replace(VISITS, rows=40)
CAPPED = Catalogue("capped", (PATIENTS, FEW), unit=Unit("patient_id"))
REPLACED = Catalogue(
    "replaced", (PATIENTS, FEW), unit=Unit("patient_id", Relation.REPLACE)
)
CATALOGUES = {one.name: one for one in (CLINIC, SURVEY, CAPPED, REPLACED)}
