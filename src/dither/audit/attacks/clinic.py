"""The bundled clinic as a table of one line a patient, for attacks that need people.

The clinic is synthetic (dither/data/clinic/README.md): nobody stands behind a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

__all__ = ["WARDS", "Study", "countries", "patients", "study"]

PATIENTS = """
SELECT p.patient_id, p.sex, p.age, p.region, p.born, v.ward, v.day
FROM '{folder}/patients.parquet' AS p
JOIN (
    SELECT patient_id, arg_max(ward, visit_id) AS ward,
        arg_max(day, visit_id) AS day
    FROM '{folder}/visits.parquet' GROUP BY patient_id
) AS v USING (patient_id)
WHERE p.region IS NOT NULL ORDER BY p.patient_id
"""
WARDS = (
    "cardiology",
    "emergency",
    "maternity",
    "oncology",
    "paediatrics",
    "surgery",
)


@cache
def patients() -> dict[str, tuple[Any, ...]]:
    """Every patient with a region and a stay: sex, age, year of birth, region, and of
    the last stay its ward, which is the secret, and its first day.
    """
    import duckdb

    with (
        as_file(files("dither") / "data" / "clinic") as folder,
        duckdb.connect() as connection,
    ):
        found = connection.execute(PATIENTS.format(folder=folder))
        names = [one[0] for one in found.description]
        return dict(zip(names, zip(*found.fetchall(), strict=True), strict=True))


@cache
def countries() -> dict[str, tuple[str, ...]]:
    """For each region its country: a public list."""
    import csv

    text = (files("dither") / "data" / "clinic" / "regions.csv").read_text("utf-8")
    lines = csv.DictReader(text.splitlines())
    return {one["region"]: (one["country"],) for one in lines}


@dataclass(frozen=True)
class Study:
    """A study in the clinic: its people, what an attacker may know of them, and what
    is secret.
    """

    people: dict[str, tuple[Any, ...]]
    columns: tuple[str, ...]
    secret: str
    hierarchies: dict[str, Any]
    edges: dict[str, Any]


EVERY = 12


def study() -> Study:
    """One patient in twelve, about 2,000: age, sex and region, and the ward of the last
    stay.
    """
    people = {name: one[::EVERY] for name, one in patients().items()}
    above = {"region": countries()}
    edges = {"age": range(0, 111, 10), "born": range(1914, 2025, 10)}
    return Study(people, ("age", "sex", "region"), "ward", above, edges)
