"""The bundled people that attacks are run on."""

from __future__ import annotations

from dither.audit.attacks.clinic import WARDS, countries, patients, study


def test_one_line_a_patient() -> None:
    people = patients()
    assert len(set(people["patient_id"])) == len(people["patient_id"]) > 20_000
    assert set(people["ward"]) == set(WARDS)
    assert set(people["region"]) == set(countries())
    assert len({len(column) for column in people.values()}) == 1


def test_a_study_of_some() -> None:
    found = study()
    assert 2000 <= len(found.people["ward"]) <= 2100
    assert set(found.columns) | {found.secret} <= set(found.people)
